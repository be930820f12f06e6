// Behind the scenes: bots, the host's buttons, what the seat does, faults.

import { byId, el, toast } from './dom.js';
import { control } from './control.js';
import { store } from './store.js';

const POLL_MS = 2_000;
const LINKS = { online: 'connected', lost: 'connection lost, can resume', offline: 'not connected' };

/** What can go wrong at a click: label, hint, request. */
const FAULTS = [
  ['Drop the connection', 'TCP ends without a word.', ['gateway', { kind: 'drop' }]],
  ['Ask to reconnect', 'Op 7: the bot has to come back and resume.', ['gateway', { kind: 'reconnect' }]],
  ['Invalidate the session', 'Op 9: the bot has to log in afresh.', ['gateway', { kind: 'invalid_session', resumable: false }]],
  ['Miss a heartbeat', 'The next two heartbeats get no answer.', ['faults', { on: 'heartbeat', times: 2 }]],
  ['Fail three requests', 'The next three answer 500.', ['faults', { on: 'request', kind: 'status', status: 500, times: 3 }]],
  ['Fail after posting', 'The next message is posted, and the answer is 500.', ['faults', { on: 'request', kind: 'status_after', status: 500, method: 'POST', path: '/messages' }]],
  ['Lose an answer', 'The next message is posted, and the answer never arrives.', ['faults', { on: 'request', kind: 'lose_response', method: 'POST', path: '/messages' }]],
  ['Rate-limit', 'The next request has to wait three seconds.', ['faults', { on: 'request', kind: 'rate_limit', retry_after_ms: 3000 }]],
  ['Slow down', 'The next five requests take two seconds each.', ['faults', { on: 'request', kind: 'delay', ms: 2000, times: 5 }]],
  ['Deliver twice', 'The next message event arrives twice.', ['faults', { on: 'dispatch', kind: 'duplicate', event: 'MESSAGE_CREATE' }]],
];

export function drawBots() {
  byId('bots').replaceChildren(...store.bots.map((bot) => el('li', { 'data-link': bot.link },
    el('span', { class: 'lamp', 'aria-hidden': 'true' }), el('b', {}, bot.name), ' ', el('span', { class: 'quiet' }, LINKS[bot.link] ?? bot.link))));
}

export function drawFaults() {
  const armed = store.faults.map((fault) => el('li', {}, `armed: ${describe(fault)}`));
  const clear = el('li', {}, el('button', { type: 'button', class: 'link', onclick: () => control('DELETE', 'faults') }, 'Disarm all'));
  byId('armed').replaceChildren(...armed, ...(armed.length ? [clear] : []));
}

function describe(fault) {
  const what = [fault.on, fault.kind?.replaceAll('_', ' '), fault.status, fault.event].filter(Boolean).join(' ');
  return `${what}, ${fault.times} more`;
}

function wide(label, hint, onclick, tone) {
  return el('button', { type: 'button', class: 'wide', 'data-tone': tone, onclick }, el('b', {}, label), el('span', { class: 'quiet' }, hint));
}

async function drawActions() {
  const list = await control('GET', 'actions');
  byId('actions-box').hidden = !list?.length;
  byId('actions').replaceChildren(...(list ?? []).map((action) => wide(action.label, action.hint, async () => {
    const done = await control('POST', `actions/${encodeURIComponent(action.name)}`);
    if (done) toast(done.message);
  }, 'danger')));
}

function value(one) {
  return typeof one === 'object' && one !== null ? JSON.stringify(one) : String(one);
}

function lines(list) {
  return el('dl', { class: 'facts' }, list.map((line) => el('div', { 'data-tone': line.tone },
    el('dt', {}, value(line.label)), el('dd', {}, value(line.value)))));
}

function section(one) {
  return el('div', { class: 'facts-section' }, el('h4', {}, value(one.title)),
    el('ul', {}, (one.rows ?? []).map((row) => el('li', {}, [row].flat().map((cell) => el('span', {}, value(cell)))))));
}

async function drawSeat() {
  const panel = await fetch('/control/panel').then((answer) => answer.json()).catch(() => null);
  byId('seat-box').hidden = panel === null;
  if (panel === null) return;
  const known = panel.lines || panel.sections || panel.state;
  const facts = known ? panel.lines ?? [] : Object.entries(panel).map(([label, one]) => ({ label, value: one }));
  byId('seat-title').textContent = panel.title ?? 'What the seat is doing';
  byId('seat').replaceChildren(
    ...(panel.state ? [el('p', { class: 'seat-state' }, value(panel.state))] : []),
    ...(facts.length ? [lines(facts)] : []), ...(panel.sections ?? []).map(section));
}

export async function startPanel() {
  byId('faults').replaceChildren(...FAULTS.map(([label, hint, [path, body]]) => wide(label, hint, async () => {
    const done = await control('POST', path, body);
    if (done) toast(done.connections === 0 ? 'No bot is connected.' : label);
  })));
  await Promise.all([drawActions(), drawSeat()]);
  if (byId('seat-box').hidden) return;
  setInterval(() => document.hidden || drawSeat(), POLL_MS);
}

export { drawSeat };
