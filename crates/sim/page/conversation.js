// The middle of the page: the log of one channel, or the posts of a forum.

import { avatar, byId, el, when } from './dom.js';
import { control } from './control.js';
import { FORUM, isThread, nameOf } from './channels.js';
import { messageItem } from './message.js';
import { oneLine } from './markdown.js';
import { canSee, choose, compareIds, messagesOf, store, userOf } from './store.js';
import { actions } from './composer.js';

const NEAR_END_PX = 120;

const scroll = () => byId('scroll');
const atEnd = () => scroll().scrollHeight - scroll().scrollTop - scroll().clientHeight < NEAR_END_PX;

export function toEnd() {
  scroll().scrollTop = scroll().scrollHeight;
  byId('newer').hidden = true;
}

function drawBar(channel) {
  const parent = isThread(channel) ? store.channels.get(channel.parent_id) : null;
  const sign = channel.type === 1 ? '@' : isThread(channel) || channel.type === FORUM ? '' : '#';
  byId('title').replaceChildren(sign + nameOf(channel));
  document.title = `${sign}${nameOf(channel)} · ${store.guild.name}`;
  const back = parent ? el('button', { type: 'button', class: 'link', onclick: () => choose(parent.id) }, `${parent.type === FORUM ? '' : '#'}${parent.name}`) : null;
  const state = [channel.thread_metadata?.archived ? 'archived' : null, channel.thread_metadata?.locked ? 'locked' : null].filter(Boolean).join(', ');
  byId('topic').replaceChildren(...[back ? ['Thread in ', back] : (channel.topic ?? ''), state ? ` · ${state}` : ''].flat());
}

/** Draws everything of the chosen channel again. */
export function drawConversation() {
  const channel = store.channels.get(store.channel);
  if (!channel) return;
  drawBar(channel);
  const forum = channel.type === FORUM;
  byId('forum').hidden = !forum;
  byId('log').hidden = forum;
  byId('composer').hidden = forum;
  if (forum) {
    byId('log').replaceChildren();
    drawForum(channel);
    return;
  }
  const messages = messagesOf(channel.id);
  const items = messages.map((message, index) => messageItem(message, messages[index - 1], actions));
  const intro = el('li', { class: 'intro' }, el('p', { class: 'intro-title' }, `${channel.type === 0 ? '#' : ''}${nameOf(channel)}`),
    el('p', { class: 'quiet' }, 'This is where the conversation begins.'));
  // Another channel is not news: a screen reader hears only what comes from now on.
  scroll().setAttribute('aria-busy', 'true');
  byId('log').replaceChildren(intro, ...items);
  toEnd();
  requestAnimationFrame(() => scroll().removeAttribute('aria-busy'));
}

/** Adds a message at its place, and follows it when the person is at the end. */
export function addMessage(message) {
  if (message.channel_id !== store.channel) return drawForumIfParent(message.channel_id);
  if (message.only_for && message.only_for !== store.speaker) return undefined;
  const follow = atEnd() || message.author.id === store.speaker;
  const messages = messagesOf(message.channel_id);
  const index = messages.findIndex((one) => one.id === message.id);
  const item = messageItem(message, messages[index - 1], actions);
  const next = messages.slice(index + 1).map((one) => itemOf(one.id)).find(Boolean);
  byId('log').insertBefore(item, next ?? null);
  if (follow) toEnd();
  else byId('newer').hidden = false;
  return undefined;
}

const itemOf = (id) => byId('log').querySelector(`[data-id="${id}"]`);

/** Draws a changed message again where it stands. */
export function updateMessage(message) {
  const old = itemOf(message.id);
  if (!old) return;
  const follow = atEnd();
  const messages = messagesOf(message.channel_id);
  const index = messages.findIndex((one) => one.id === message.id);
  const focus = old.contains(document.activeElement) ? document.activeElement.getAttribute('aria-label') : null;
  const item = messageItem(message, messages[index - 1], actions);
  old.replaceWith(item);
  if (focus) [...item.querySelectorAll('[aria-label]')].find((node) => node.getAttribute('aria-label') === focus)?.focus();
  if (follow) toEnd();
}

export function removeMessage(id) {
  const old = itemOf(id);
  if (!old) return;
  const grouped = old.nextElementSibling?.hasAttribute('data-grouped');
  old.remove();
  if (grouped) drawConversation();
}

function drawForumIfParent(channel) {
  const parent = store.channels.get(channel)?.parent_id;
  if (parent && parent === store.channel) drawConversation();
}

function post(thread) {
  const first = messagesOf(thread.id)[0];
  const owner = userOf(thread.owner_id);
  return el('li', {}, el('button', { type: 'button', class: 'post', onclick: () => choose(thread.id) },
    avatar(owner), el('span', { class: 'post-body' },
      el('b', { class: 'post-title' }, thread.name),
      el('span', { class: 'post-text' }, first ? oneLine(first.content) : ''),
      el('span', { class: 'quiet' }, `${owner.name} · ${thread.message_count} ${thread.message_count === 1 ? 'answer' : 'answers'} · ${when(first?.timestamp ?? thread.thread_metadata.create_timestamp)}${thread.thread_metadata.archived ? ' · archived' : ''}`))));
}

function drawForum(forum) {
  const threads = [...store.channels.values()]
    .filter((thread) => thread.parent_id === forum.id && canSee(thread))
    .sort((a, b) => compareIds(b.id, a.id));
  const name = el('input', { id: 'post-name', maxlength: '100', required: true, autocomplete: 'off' });
  const content = el('textarea', { id: 'post-content', rows: '3', maxlength: '2000', required: true });
  const submit = async (event) => {
    event.preventDefault();
    const made = await control('POST', 'threads', { channel: forum.id, user: store.speaker, name: name.value, content: content.value });
    if (made) choose(made.id);
  };
  const form = el('form', { class: 'post-form', onsubmit: submit },
    el('label', { for: 'post-name' }, 'Title'), name,
    el('label', { for: 'post-content' }, 'First message'), content,
    el('button', { type: 'submit', class: 'primary' }, `Post as ${userOf(store.speaker).name}`));
  byId('forum').replaceChildren(
    el('details', { class: 'new-post' }, el('summary', {}, 'New post'), form),
    threads.length ? el('ul', { class: 'posts' }, threads.map(post)) : el('p', { class: 'quiet' }, 'No posts yet.'));
}

export function drawTyping() {
  const names = [...store.typing.values()].filter((one) => one.channel === store.channel && one.user !== store.speaker)
    .map((one) => userOf(one.user).name);
  const line = byId('typing');
  if (!names.length) return line.replaceChildren();
  const text = names.length > 2 ? 'Several people are typing' : `${names.join(' and ')} ${names.length === 1 ? 'is' : 'are'} typing`;
  return line.replaceChildren(el('span', { class: 'dots', 'aria-hidden': 'true' }, el('i'), el('i'), el('i')), text);
}
