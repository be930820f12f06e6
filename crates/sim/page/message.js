// One message as a list item.

import { avatar, el, when } from './dom.js';
import { control } from './control.js';
import { inline, markdown, oneLine } from './markdown.js';
import { attachment } from './file.js';
import { choose, store, userOf } from './store.js';

const EMOJI = ['👍', '👀', '✅', '❌', '🎉', '❤️', '😂', '🤔'];
const THREAD_CREATED = 18;
const THREAD_STARTER = 21;
const LOADING = 1 << 7;
const STYLES = { 1: 'primary', 2: 'secondary', 3: 'success', 4: 'danger', 5: 'link' };
const GROUP_MS = 5 * 60_000;

const authorOf = (message) => (message.is_webhook
  ? { id: message.author.id, name: message.author.username, bot: true }
  : userOf(message.author.id));

/** Whether a message goes under the same heading as the one before it. */
export function continues(message, before) {
  return before && before.author.id === message.author.id && !message.referenced_message
    && before.type !== THREAD_CREATED && message.type !== THREAD_CREATED && !message.only_for === !before.only_for
    && new Date(message.timestamp) - new Date(before.timestamp) < GROUP_MS;
}

function replyLine(message) {
  if (message.type !== 19) return null;
  const target = message.referenced_message;
  if (!target) return el('p', { class: 'reply-line' }, 'The message this replies to was deleted.');
  const jump = () => {
    const node = document.querySelector(`[data-id="${target.id}"]`);
    node?.scrollIntoView({ block: 'center' });
    node?.classList.add('flash');
    setTimeout(() => node?.classList.remove('flash'), 1600);
  };
  return el('p', { class: 'reply-line' },
    el('span', { class: 'hidden' }, 'In reply to '),
    el('button', { type: 'button', class: 'reply-jump', onclick: jump },
      el('b', {}, userOf(target.author.id).name), ' ', oneLine(target.content) || '(no text)'));
}

function button(message, component) {
  const style = STYLES[component.style] ?? 'secondary';
  const label = [component.emoji?.name, component.label].filter(Boolean).join(' ');
  if (style === 'link') {
    return el('a', { class: 'component', 'data-style': style, href: safe(component.url), target: '_blank', rel: 'noopener noreferrer' }, label, ' ↗');
  }
  const press = async (event) => {
    const node = event.currentTarget;
    node.setAttribute('aria-busy', 'true');
    store.failed.delete(message.id);
    const done = await control('POST', 'presses', {
      channel: message.channel_id, message: message.id, user: store.speaker, custom_id: component.custom_id,
    });
    if (!done) node.removeAttribute('aria-busy');
  };
  return el('button', { type: 'button', class: 'component', 'data-style': style, disabled: component.disabled, onclick: press }, label);
}

function safe(url) {
  return /^https?:\/\//.test(url ?? '') ? url : '#';
}

function menu(message, component) {
  const choices = (component.options ?? []).map((option) => el('option', { value: option.value }, option.label));
  const pick = (event) => control('POST', 'presses', {
    channel: message.channel_id, message: message.id, user: store.speaker,
    custom_id: component.custom_id, values: [event.target.value],
  });
  return el('select', { class: 'menu', 'aria-label': component.placeholder ?? 'Choose', disabled: component.disabled, onchange: pick },
    el('option', { value: '' }, component.placeholder ?? 'Choose…'), choices);
}

function component(message, one) {
  switch (one.type) {
    case 1: return el('div', { class: 'components' }, (one.components ?? []).map((inner) => component(message, inner)));
    case 2: return button(message, one);
    case 3: return menu(message, one);
    case 10: return el('div', { class: 'text' }, markdown(one.content ?? ''));
    case 9: case 17: return el('div', { class: 'container' }, [...(one.components ?? []), one.accessory].filter(Boolean).map((inner) => component(message, inner)));
    case 14: return el('hr');
    default: return null;
  }
}

function embed(one) {
  return el('div', { class: 'embed' },
    one.author?.name ? el('p', { class: 'small' }, one.author.name) : null,
    one.title ? el('p', { class: 'embed-title' }, inline(one.title)) : null,
    one.description ? el('div', { class: 'text' }, markdown(one.description)) : null,
    one.fields?.length ? el('dl', {}, one.fields.map((field) => el('div', {}, el('dt', {}, inline(field.name)), el('dd', {}, markdown(field.value))))) : null,
    one.footer?.text ? el('p', { class: 'small' }, one.footer.text) : null);
}

function poll(one) {
  return el('div', { class: 'embed' },
    el('p', { class: 'embed-title' }, one.question?.text ?? 'Poll'),
    el('ul', {}, (one.answers ?? []).map((answer) => el('li', {}, answer.poll_media?.text ?? ''))));
}

function reactions(message) {
  if (!message.reactions?.length) return null;
  return el('div', { class: 'reactions' }, message.reactions.map((reaction) => {
    const mine = reaction.users.includes(store.speaker);
    const names = reaction.users.map((id) => userOf(id).name).join(', ');
    return el('button', {
      type: 'button', class: 'reaction', 'aria-pressed': String(mine), title: names,
      'aria-label': `${reaction.emoji.name}, ${reaction.count}, from ${names}`,
      onclick: () => react(message, reaction.emoji.name, mine),
    }, el('span', { 'aria-hidden': 'true' }, reaction.emoji.name), ` ${reaction.count}`);
  }));
}

function react(message, emoji, taken) {
  return control(taken ? 'DELETE' : 'POST', 'reactions', {
    channel: message.channel_id, message: message.id, user: store.speaker, emoji,
  });
}

function toolbar(message, actions) {
  const mine = message.author.id === store.speaker;
  const picker = el('span', { class: 'picker', hidden: true }, EMOJI.map((emoji) => el('button', {
    type: 'button', class: 'tool', 'aria-label': `React with ${emoji}`,
    onclick: () => { picker.hidden = true; react(message, emoji, false); },
  }, emoji)));
  const tool = (label, text, onclick) => el('button', { type: 'button', class: 'tool', onclick, 'aria-label': label, title: label }, text);
  const toggle = () => {
    picker.hidden = !picker.hidden;
    if (!picker.hidden) picker.querySelector('button').focus();
  };
  return el('div', { class: 'tools', role: 'group', 'aria-label': 'For this message' },
    tool('Reply', '↩', () => actions.reply(message)),
    tool('Add a reaction', '☺', toggle), picker,
    actions.canThread(message) ? tool('Start a thread', '⑂', () => actions.thread(message)) : null,
    mine ? tool('Edit', '✎', () => actions.edit(message)) : null,
    mine ? tool('Delete', '🗑', () => actions.remove(message)) : null);
}

function body(message) {
  const snapshot = message.message_snapshots?.[0]?.message;
  const loading = (message.flags & LOADING) !== 0;
  return [
    loading ? el('p', { class: 'quiet' }, 'is thinking…') : null,
    message.content ? el('div', { class: 'text' }, markdown(message.content),
      message.edited_timestamp ? el('span', { class: 'edited', title: when(message.edited_timestamp) }, '(edited)') : null) : null,
    snapshot ? el('blockquote', { class: 'forward' }, el('p', { class: 'small' }, 'Forwarded'), markdown(snapshot.content)) : null,
    message.poll ? poll(message.poll) : null,
    (message.embeds ?? []).map(embed),
    (message.attachments ?? []).map(attachment),
    (message.components ?? []).map((one) => component(message, one)),
    store.failed.get(message.id) === store.speaker ? el('p', { class: 'failed', role: 'status' }, 'This interaction failed: the bot did not answer in time.') : null,
    threadLink(message),
    reactions(message),
    message.only_for ? el('p', { class: 'small' }, `Only ${userOf(message.only_for).name} can see this.`) : null,
  ];
}

function threadLink(message) {
  if (!message.thread) return null;
  const count = store.channels.get(message.thread.id)?.message_count ?? message.thread.message_count;
  return el('button', { type: 'button', class: 'thread-link', onclick: () => choose(message.thread.id) },
    el('b', {}, message.thread.name), ` ${count} ${count === 1 ? 'message' : 'messages'} ›`);
}

function systemLine(message) {
  const author = authorOf(message);
  const parts = [el('b', {}, author.name), ' '];
  if (message.type === THREAD_CREATED) {
    const id = message.message_reference?.channel_id;
    parts.push('started a thread: ', el('button', { type: 'button', class: 'link', onclick: () => choose(id) }, message.content));
  } else if (message.type === THREAD_STARTER) {
    parts.push('started this thread from a message: ', el('q', {}, oneLine(message.referenced_message?.content ?? '') || '…'));
  } else if (message.type === 7) {
    parts.push('joined the server.');
  } else {
    parts.push(message.content || `(system message of type ${message.type})`);
  }
  return el('li', { class: 'message system', 'data-id': message.id }, el('p', {}, parts));
}

/** The list item of a message; `before` is the message above it. */
export function messageItem(message, before, actions) {
  if (![0, 19, 20, 23].includes(message.type)) return systemLine(message);
  const author = authorOf(message);
  const grouped = continues(message, before);
  const mentioned = message.mentions.some((user) => user.id === store.speaker);
  const time = el('time', { datetime: message.timestamp, title: new Date(message.timestamp).toLocaleString() }, when(message.timestamp));
  const head = el('p', { class: grouped ? 'head hidden' : 'head' },
    el('b', { class: 'author' }, author.name),
    author.bot ? el('span', { class: 'tag' }, message.is_webhook ? 'HOOK' : 'BOT') : null, time);
  return el('li', {
    class: 'message', 'data-id': message.id, 'data-grouped': Boolean(grouped), 'data-mentioned': mentioned,
    'data-private': Boolean(message.only_for),
  }, replyLine(message), grouped ? null : avatar(author), head, body(message), toolbar(message, actions));
}
