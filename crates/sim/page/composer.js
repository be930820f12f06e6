// Who speaks, and what they are about to say.

import { avatar, byId, el } from './dom.js';
import { control } from './control.js';
import { isThread, nameOf } from './channels.js';
import { oneLine } from './markdown.js';
import { choose, messagesOf, people, speakAs, speaker, store, userOf } from './store.js';

const TYPING_EVERY_MS = 8_000;

/** What Enter does: `{kind: 'send' | 'reply' | 'edit' | 'thread', message}`. */
let intent = { kind: 'send', message: null };
let lastTyping = 0;

export function drawSpeakers() {
  const chips = people().map((user) => {
    const id = `speaker-${user.id}`;
    const input = el('input', { type: 'radio', name: 'speaker', id, value: user.id, class: 'hidden', onchange: () => speakAs(user.id) });
    input.checked = user.id === store.speaker;
    return el('span', { class: 'chip' }, input, el('label', { for: id, title: user.note }, avatar(user, 'small'), el('span', {}, user.name),
      user.note ? el('span', { class: 'chip-note' }, user.note) : null));
  });
  byId('speakers').replaceChildren(...chips);
}

export function drawContext() {
  const channel = store.channels.get(store.channel);
  const texts = {
    send: null,
    reply: () => `Replying to ${userOf(intent.message.author.id).name}: ${oneLine(intent.message.content)}`,
    edit: () => 'Editing your message',
    thread: () => `Name of the thread about: ${oneLine(intent.message.content)}`,
  };
  const text = texts[intent.kind]?.();
  byId('context').hidden = !text;
  byId('context-text').textContent = text ?? '';
  byId('send').textContent = { send: 'Send', reply: 'Reply', edit: 'Save', thread: 'Start' }[intent.kind];
  if (channel) byId('draft').placeholder = `Message ${channel.type === 0 ? '#' : ''}${nameOf(channel)} as ${speaker().name}`;
}

function aim(kind, message, text = '') {
  intent = { kind, message };
  const draft = byId('draft');
  if (text || kind === 'send') draft.value = text;
  grow();
  drawContext();
  draft.focus();
}

/** What a message's buttons do. */
export const actions = {
  reply: (message) => aim('reply', message),
  edit: (message) => aim('edit', message, readable(message.content)),
  thread: (message) => aim('thread', message),
  remove: (message) => control('DELETE', 'messages', { channel: message.channel_id, message: message.id }),
  canThread: (message) => {
    const channel = store.channels.get(message.channel_id);
    return channel && channel.type === 0 && !isThread(channel) && !message.thread && !message.only_for;
  },
};

/** `<@id>` as `@Name`, for editing. */
function readable(content) {
  return content.replace(/<@!?(\d+)>/g, (_, id) => `@${userOf(id).name}`);
}

/** `@Name` as `<@id>`; the longest name wins. */
function withMentions(text) {
  const users = [...store.users.values()].sort((a, b) => b.name.length - a.name.length);
  return users.reduce((result, user) => {
    const name = user.name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    return result.replace(new RegExp(`(^|[^\\w<])@${name}(?![\\w])`, 'gi'), `$1<@${user.id}>`);
  }, text);
}

/** `/name rest` as the use of a registered command; `rest` goes to its first option. */
async function commandOf(text) {
  const [, name, rest] = /^\/(\S+)\s*([\s\S]*)$/.exec(text) ?? [];
  const commands = await control('GET', 'commands', undefined, true);
  const found = commands?.find((one) => one.name === name);
  if (!found) return null;
  const option = found.options?.[0]?.name;
  return { channel: store.channel, user: store.speaker, name, options: option && rest ? { [option]: rest } : {} };
}

async function submit(event) {
  event.preventDefault();
  const draft = byId('draft');
  const content = withMentions(draft.value.trim());
  if (!content) return;
  const { kind, message } = intent;
  const channel = store.channel;
  const command = kind === 'send' && content.startsWith('/') ? await commandOf(draft.value.trim()) : null;
  const requests = command ? { send: () => control('POST', 'commands', command) } : {
    send: () => control('POST', 'messages', { channel, author: store.speaker, content }),
    reply: () => control('POST', 'messages', { channel, author: store.speaker, content, reply_to: message.id }),
    edit: () => control('PATCH', 'messages', { channel, message: message.id, content }),
    thread: () => control('POST', 'threads', { channel, user: store.speaker, name: draft.value.trim().slice(0, 100), message: message.id }),
  };
  const done = await requests[kind]();
  if (!done) return;
  lastTyping = 0;
  aim('send', null);
  if (kind === 'thread') choose(done.id);
}

function grow() {
  const draft = byId('draft');
  draft.rows = Math.min(8, Math.max(1, draft.value.split('\n').length));
}

function typed() {
  grow();
  const now = Date.now();
  if (intent.kind !== 'edit' && byId('draft').value.trim() && now - lastTyping > TYPING_EVERY_MS) {
    lastTyping = now;
    control('POST', 'typing', { channel: store.channel, user: store.speaker }, true);
  }
}

function keys(event) {
  if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    byId('composer').requestSubmit();
  } else if (event.key === 'Escape' && intent.kind !== 'send') {
    aim('send', null);
  } else if (event.key === 'ArrowUp' && !event.currentTarget.value) {
    const own = messagesOf(store.channel).findLast((message) => message.author.id === store.speaker);
    if (own) {
      event.preventDefault();
      actions.edit(own);
    }
  }
}

/** Another channel or speaker: whatever was aimed at is off. */
export function resetComposer() {
  intent = { kind: 'send', message: null };
  drawContext();
}

export function startComposer() {
  byId('composer').addEventListener('submit', submit);
  byId('draft').addEventListener('input', typed);
  byId('draft').addEventListener('keydown', keys);
  byId('context-cancel').addEventListener('click', () => aim('send', null));
}
