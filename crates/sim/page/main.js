// The page: connects, and draws what each event touches.

import { byId } from './dom.js';
import { drawChannels, visibleChannels } from './channels.js';
import { addMessage, drawConversation, drawTyping, removeMessage, toEnd, updateMessage } from './conversation.js';
import { drawContext, drawSpeakers, resetComposer, startComposer } from './composer.js';
import { drawBots, drawFaults, drawSeat, startPanel } from './panel.js';
import { canSee, choose, listen, receive, store } from './store.js';

const RETRY_MS = 1_000;

/** The chosen channel, or the first one that the speaker can see. */
function settleChannel() {
  const wanted = store.channels.get(store.channel ?? location.hash.slice(1));
  const fits = wanted && canSee(wanted) ? wanted : visibleChannels()[0];
  if (fits && fits.id !== store.channel) choose(fits.id);
}

function drawAll() {
  settleChannel();
  drawSpeakers();
  drawChannels();
  drawConversation();
  drawContext();
  drawTyping();
  drawBots();
  drawFaults();
}

listen((kind, detail) => {
  switch (kind) {
    case 'state': return drawAll();
    case 'speaker':
      resetComposer();
      return drawAll();
    case 'channel':
      location.hash = store.channel;
      resetComposer();
      drawChannels();
      drawConversation();
      drawTyping();
      return openSheet('side', false);
    case 'channels':
      drawChannels();
      settleChannel();
      return detail.id === store.channel || detail.parent_id === store.channel ? drawConversation() : undefined;
    case 'message':
      addMessage(detail);
      drawTyping();
      return detail.channel_id === store.channel ? undefined : drawChannels();
    case 'edit': return updateMessage(detail);
    case 'delete': return removeMessage(detail.id);
    case 'typing': return drawTyping();
    case 'failed': case 'answered': {
      const message = store.messages.get(detail.channel)?.get(detail.message);
      return message ? updateMessage(message) : redrawBusy();
    }
    case 'bots': return drawBots();
    case 'faults': return drawFaults();
    case 'panel': return drawSeat();
    default: return undefined;
  }
});

/** A press was answered without any change of the message: its button rests again. */
function redrawBusy() {
  for (const node of document.querySelectorAll('[aria-busy]')) node.removeAttribute('aria-busy');
}

/** Shows or hides the channel list or the panel on narrow screens. */
function openSheet(name, open) {
  document.body.dataset[name] = open ? 'open' : 'closed';
  byId('shade').hidden = !['side', 'panel'].some((one) => document.body.dataset[one] === 'open');
  for (const node of document.querySelectorAll(`[data-open="${name}"]`)) node.setAttribute('aria-expanded', String(open));
  if (open) byId(name).querySelector('button')?.focus();
}

function startSheets() {
  for (const node of document.querySelectorAll('[data-open]')) {
    node.addEventListener('click', () => openSheet(node.dataset.open, document.body.dataset[node.dataset.open] !== 'open'));
  }
  const close = (name) => {
    openSheet(name, false);
    document.querySelector(`[data-open="${name}"]`)?.focus();
  };
  for (const node of document.querySelectorAll('[data-close]')) node.addEventListener('click', () => close(node.dataset.close));
  byId('shade').addEventListener('click', () => ['side', 'panel'].forEach((name) => openSheet(name, false)));
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    ['side', 'panel'].filter((name) => document.body.dataset[name] === 'open').forEach(close);
    for (const picker of document.querySelectorAll('.picker:not([hidden])')) picker.hidden = true;
  });
}

function connect() {
  const socket = new WebSocket(`ws://${location.host}/page/live`);
  socket.addEventListener('open', () => { byId('offline').hidden = true; });
  socket.addEventListener('message', (event) => receive(JSON.parse(event.data)));
  socket.addEventListener('close', () => {
    byId('offline').hidden = false;
    setTimeout(connect, RETRY_MS);
  });
}

byId('newer').addEventListener('click', toEnd);
window.addEventListener('hashchange', () => {
  const id = location.hash.slice(1);
  if (id !== store.channel && store.channels.has(id)) choose(id);
});
startComposer();
startSheets();
startPanel();
connect();
