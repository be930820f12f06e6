// A file that stands at a message: its name and size, and its text where it is a short text.

import { el } from './dom.js';

const TEXT_MAX_BYTES = 256 * 1024;

/** The path of a file, wherever the page itself was opened. */
const pathOf = (file) => new URL(file.url).pathname;

function size(bytes) {
  if (bytes < 1024) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
  return `${Math.round(bytes / 1024)} KiB`;
}

const isText = (file) => /^text\//.test(file.content_type ?? '') && file.size <= TEXT_MAX_BYTES;

/** Reads the text once, when it is opened for the first time. */
function viewer(file) {
  const text = el('pre', { class: 'file-text', tabindex: '0', 'aria-label': `Text of ${file.filename}` });
  let read = false;
  const open = async ({ currentTarget: details }) => {
    if (!details.open || read) return;
    read = true;
    try {
      const answer = await fetch(pathOf(file));
      text.textContent = answer.ok ? await answer.text() : 'This file is no longer kept.';
    } catch {
      read = false;
      text.textContent = 'The simulator cannot be reached.';
    }
    details.scrollIntoView({ block: 'nearest' });
  };
  return el('details', { class: 'file-view', ontoggle: open }, el('summary', {}, `Show ${file.filename}`), text);
}

/** The chip of a file, and its text where it has one. */
export function attachment(file) {
  return el('div', { class: 'file-box' },
    el('a', { class: 'file', href: pathOf(file), download: file.filename }, '📄 ', file.filename, el('span', { class: 'quiet' }, ` ${size(file.size)}`)),
    isText(file) ? viewer(file) : null);
}
