// Small helpers that build DOM nodes. Content always becomes text nodes, never markup.

/** An element with attributes, listeners (`onclick`, ...) and children. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

export const byId = (id) => document.getElementById(id);

/** A short time of day, or a date and time when it was another day. */
export function when(iso) {
  const date = new Date(iso);
  const time = date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  const today = new Date().toDateString() === date.toDateString();
  return today ? time : `${date.toLocaleDateString([], { day: 'numeric', month: 'short' })}, ${time}`;
}

/** Tells the person something for a few seconds. */
export function toast(text, tone = 'plain') {
  const node = el('p', { class: 'toast', 'data-tone': tone }, text);
  byId('toasts').append(node);
  setTimeout(() => node.remove(), 6000);
}

/** A round picture made of a name. */
export function avatar(user, size = '') {
  const letters = user.name.split(/\s+/).map((word) => [...word][0] ?? '').join('').slice(0, 2);
  const tone = [...user.id].reduce((sum, digit) => (sum * 7 + Number(digit)) % 97, 3) % 7;
  const kind = user.bot ? 'bot' : String(tone);
  return el('span', { class: `avatar ${size}`, 'data-kind': kind, 'aria-hidden': 'true' }, letters);
}
