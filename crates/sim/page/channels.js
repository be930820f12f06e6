// The channel list: channels, their threads, direct messages.

import { byId, el } from './dom.js';
import { canSee, choose, compareIds, store, userOf } from './store.js';

const THREADS = [10, 11, 12];
export const FORUM = 15;
const CATEGORY = 4;
const DIRECT = 1;

export const isThread = (channel) => THREADS.includes(channel.type);

export function nameOf(channel) {
  if (channel.type !== DIRECT) return channel.name;
  const other = channel.recipients.find((id) => id !== store.speaker) ?? channel.recipients[0];
  return userOf(other).name;
}

function mark(channel) {
  if (channel.type === FORUM) return '▤';
  if (channel.type === 2) return '♪';
  if (channel.type === DIRECT) return '@';
  if (isThread(channel)) return '↳';
  return '#';
}

function kindOf(channel) {
  if (channel.type === FORUM) return 'forum';
  if (channel.type === DIRECT) return 'direct message';
  if (isThread(channel)) return 'thread';
  return 'channel';
}

function entry(channel) {
  const unread = store.unread.get(channel.id) ?? 0;
  const archived = channel.thread_metadata?.archived;
  const label = `${nameOf(channel)}, ${kindOf(channel)}${archived ? ', archived' : ''}${unread ? `, ${unread} new` : ''}`;
  return el('button', {
    type: 'button',
    class: 'channel',
    'aria-current': channel.id === store.channel ? 'page' : null,
    'aria-label': label,
    'data-unread': unread > 0,
    'data-archived': archived,
    onclick: () => choose(channel.id),
  }, el('span', { class: 'channel-mark', 'aria-hidden': 'true' }, mark(channel)),
  el('span', { class: 'channel-name' }, nameOf(channel)),
  unread ? el('span', { class: 'badge' }, String(Math.min(unread, 99))) : null);
}

function withThreads(channel) {
  const threads = [...store.channels.values()]
    .filter((thread) => thread.parent_id === channel.id && isThread(thread) && canSee(thread))
    .sort((a, b) => compareIds(a.id, b.id));
  const inner = threads.length ? el('ul', {}, threads.map((thread) => el('li', {}, entry(thread)))) : null;
  return el('li', {}, entry(channel), inner);
}

/** Channels that the speaker can see, in order. */
export function visibleChannels() {
  return [...store.channels.values()]
    .filter((channel) => !isThread(channel) && channel.type !== CATEGORY && canSee(channel))
    .sort((a, b) => (a.type === DIRECT) - (b.type === DIRECT) || a.position - b.position);
}

export function drawChannels() {
  byId('guild').textContent = store.guild.name;
  const focused = document.activeElement?.closest?.('#channels') && document.activeElement.getAttribute('aria-label');
  byId('channels').replaceChildren(...visibleChannels().map(withThreads));
  if (focused) {
    const name = focused.split(',')[0];
    [...byId('channels').querySelectorAll('button')]
      .find((button) => button.getAttribute('aria-label').startsWith(`${name},`))?.focus();
  }
}
