// What the page knows, kept up to date by the simulator's events.

const TYPING_MS = 10_000;

export const store = {
  guild: { id: '', name: '' },
  users: new Map(),
  roles: new Map(),
  channels: new Map(),
  messages: new Map(),
  bots: [],
  faults: [],
  typing: new Map(),
  unread: new Map(),
  failed: new Map(),
  speaker: null,
  channel: null,
};

const listeners = new Set();

/** Calls `listener(kind, detail)` after every change. */
export function listen(listener) {
  listeners.add(listener);
}

function changed(kind, detail) {
  for (const listener of listeners) listener(kind, detail);
}

export const people = () => [...store.users.values()].filter((user) => !user.bot);

export const userOf = (id) => store.users.get(id) ?? { id: id ?? '0', name: 'Somebody', note: '', bot: false };

export const speaker = () => userOf(store.speaker);

export const canSee = (channel, user = store.speaker) => channel.seen_by.includes(user);

/** The messages of a channel that the speaker may see, oldest first. */
export function messagesOf(channel) {
  const all = store.messages.get(channel);
  if (!all) return [];
  const seen = [...all.values()].filter((message) => !message.only_for || message.only_for === store.speaker);
  return seen.sort((a, b) => compareIds(a.id, b.id));
}

export function compareIds(a, b) {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

export function choose(channel) {
  store.channel = channel;
  store.unread.delete(channel);
  changed('channel');
}

export function speakAs(user) {
  store.speaker = user;
  sessionStorage.setItem('speaker', userOf(user).name);
  changed('speaker');
}

function keep(message) {
  if (!store.messages.has(message.channel_id)) store.messages.set(message.channel_id, new Map());
  const kept = store.messages.get(message.channel_id);
  const known = kept.has(message.id);
  kept.set(message.id, message);
  return known;
}

function fill(state) {
  store.guild = state.guild;
  store.users = new Map(state.users.map((user) => [user.id, user]));
  store.roles = new Map(state.roles.map((role) => [role.id, role]));
  store.channels = new Map(state.channels.map((channel) => [channel.id, channel]));
  store.messages = new Map();
  state.messages.forEach(keep);
  store.bots = state.bots;
  store.faults = state.faults;
  if (!store.users.has(store.speaker)) {
    const name = sessionStorage.getItem('speaker');
    const wanted = people().find((user) => user.name === name);
    store.speaker = (wanted ?? people()[1] ?? people()[0])?.id ?? null;
  }
  changed('state');
}

function take(message) {
  const known = keep(message);
  if (!known) {
    store.typing.delete(`${message.channel_id}/${message.author.id}`);
    const mine = message.author.id === store.speaker;
    if (message.channel_id !== store.channel && !mine) {
      store.unread.set(message.channel_id, (store.unread.get(message.channel_id) ?? 0) + 1);
    }
  }
  changed(known ? 'edit' : 'message', message);
}

function typing({ channel, user }) {
  const key = `${channel}/${user}`;
  clearTimeout(store.typing.get(key)?.timer);
  const timer = setTimeout(() => {
    store.typing.delete(key);
    changed('typing');
  }, TYPING_MS);
  store.typing.set(key, { channel, user, timer });
  changed('typing');
}

/** Takes in one event of the simulator. */
export function receive(event) {
  switch (event.type) {
    case 'state': return fill(event);
    case 'message': return take(event.message);
    case 'delete':
      store.messages.get(event.channel)?.delete(event.id);
      return changed('delete', event);
    case 'typing': return typing(event);
    case 'channel':
      store.channels.set(event.channel.id, event.channel);
      return changed('channels', event.channel);
    case 'channel_gone':
      store.channels.delete(event.id);
      return changed('channels', event);
    case 'bots':
      store.bots = event.bots;
      return changed('bots');
    case 'faults':
      store.faults = event.faults;
      return changed('faults');
    case 'interaction_failed':
      store.failed.set(event.message, event.user);
      return changed('failed', event);
    case 'interaction_answered': return changed('answered', event);
    case 'panel': return changed('panel');
    default: return undefined;
  }
}
