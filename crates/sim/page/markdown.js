// Discord's markdown as DOM nodes. In: message text. Out: nodes. Never: innerHTML.

import { el, when } from './dom.js';
import { store, userOf } from './store.js';

const LINK = /^https?:\/\/[^\s<>"]+[^\s<>"'.,;:!?)\]}]/;

/** Inline rules, tried in this order at every position: pattern and what it becomes. */
const INLINE = [
  [/^\\([^A-Za-z0-9\s])/, (m) => m[1]],
  [/^(`+)([^`](?:[\s\S]*?[^`])?)\1(?!`)/, (m) => el('code', {}, m[2].trim() || m[2])],
  [/^\*\*\*([\s\S]+?)\*\*\*/, (m) => el('strong', {}, el('em', {}, inline(m[1])))],
  [/^\*\*([\s\S]+?)\*\*(?!\*)/, (m) => el('strong', {}, inline(m[1]))],
  [/^__([\s\S]+?)__(?!_)/, (m) => el('u', {}, inline(m[1]))],
  [/^~~([\s\S]+?)~~/, (m) => el('s', {}, inline(m[1]))],
  [/^\|\|([\s\S]+?)\|\|/, (m) => spoiler(m[1])],
  [/^\*(?!\s)([^*\n]+?)\*(?!\*)/, (m) => el('em', {}, inline(m[1]))],
  [/^_(?!\s)([^_\n]+?)_(?![A-Za-z0-9_])/, (m) => el('em', {}, inline(m[1]))],
  [/^<@!?(\d+)>/, (m) => mention(m[1])],
  [/^<@&(\d+)>/, (m) => el('span', { class: 'mention' }, `@${store.roles.get(m[1])?.name ?? 'role'}`)],
  [/^<#(\d+)>/, (m) => el('span', { class: 'mention' }, `#${store.channels.get(m[1])?.name ?? 'channel'}`)],
  [/^<t:(\d+)(?::[tTdDfFR])?>/, (m) => el('time', {}, when(new Date(Number(m[1]) * 1000).toISOString()))],
  [/^<a?:(\w+):\d+>/, (m) => `:${m[1]}:`],
  [/^@(everyone|here)/, (m) => el('span', { class: 'mention' }, m[0])],
  [/^\[([^\]\n]+)\]\((https?:\/\/[^\s)]+)\)/, (m) => link(m[2], inline(m[1]))],
  [/^<(https?:\/\/[^\s>]+)>/, (m) => link(m[1], m[1])],
];

function link(href, content) {
  return el('a', { href, target: '_blank', rel: 'noopener noreferrer' }, content);
}

function mention(id) {
  const mine = id === store.speaker;
  return el('span', { class: 'mention', 'data-mine': mine }, `@${userOf(id).name}`);
}

function spoiler(text) {
  const node = el('button', { type: 'button', class: 'spoiler' }, 'show spoiler');
  node.addEventListener('click', () => {
    node.replaceWith(el('span', { class: 'spoiler-open' }, inline(text)));
  });
  return node;
}

/** One run of text as nodes. */
export function inline(text) {
  const nodes = [];
  let plain = '';
  const flush = () => {
    if (plain) nodes.push(plain);
    plain = '';
  };
  for (let at = 0; at < text.length;) {
    const rest = text.slice(at);
    const wordBefore = /[A-Za-z0-9]/.test(text[at - 1] ?? '');
    const url = wordBefore ? null : LINK.exec(rest);
    if (url) {
      flush();
      nodes.push(link(url[0], url[0]));
      at += url[0].length;
      continue;
    }
    const rule = INLINE.find(([pattern]) => !(wordBefore && rest[0] === '_') && pattern.test(rest));
    if (rule) {
      const match = rule[0].exec(rest);
      flush();
      nodes.push(rule[1](match));
      at += match[0].length;
    } else {
      plain += rest[0];
      at += 1;
    }
  }
  flush();
  return nodes;
}

function codeBlock(language, code) {
  const label = language ? el('span', { class: 'code-language' }, language) : null;
  const pre = el('pre', { tabindex: '0', 'aria-label': language ? `Code, ${language}` : 'Code' }, el('code', {}, code));
  return el('div', { class: 'code-block' }, label, pre);
}

const ITEM = /^(\s*)(?:[-*]|(\d+)\.)\s+(.*)$/;

/** Takes the lines of one list off the front. */
function list(lines) {
  const ordered = ITEM.exec(lines[0])[2] !== undefined;
  const start = ordered ? Number(ITEM.exec(lines[0])[2]) : undefined;
  const node = el(ordered ? 'ol' : 'ul', { start });
  while (lines.length && ITEM.test(lines[0])) {
    const [, indent, , text] = ITEM.exec(lines.shift());
    node.append(el('li', { 'data-depth': Math.min(3, Math.floor(indent.length / 2)) }, inline(text)));
  }
  return node;
}

/** Text between code blocks: headings, quotes, lists, lines. */
function blocks(text) {
  const lines = text.split('\n');
  const nodes = [];
  let paragraph = [];
  const flush = () => {
    if (paragraph.some((line) => line.trim())) {
      const joined = paragraph.join('\n').replace(/^\n+|\n+$/g, '');
      nodes.push(el('p', {}, inline(joined)));
    }
    paragraph = [];
  };
  while (lines.length) {
    const heading = /^(#{1,3})\s+(.+)$/.exec(lines[0]);
    if (heading) {
      flush();
      lines.shift();
      // A paragraph on purpose: a message must not disturb the page's own outline.
      nodes.push(el('p', { class: `heading heading-${heading[1].length}` }, inline(heading[2])));
    } else if (/^-#\s+/.test(lines[0])) {
      flush();
      nodes.push(el('p', { class: 'small' }, inline(lines.shift().replace(/^-#\s+/, ''))));
    } else if (lines[0].startsWith('>>> ')) {
      flush();
      nodes.push(el('blockquote', {}, blocks(lines.splice(0).join('\n').slice(4))));
    } else if (/^> ?/.test(lines[0])) {
      flush();
      const quoted = [];
      while (lines.length && /^> ?/.test(lines[0])) quoted.push(lines.shift().replace(/^> ?/, ''));
      nodes.push(el('blockquote', {}, blocks(quoted.join('\n'))));
    } else if (ITEM.test(lines[0])) {
      flush();
      nodes.push(list(lines));
    } else {
      paragraph.push(lines.shift());
    }
  }
  flush();
  return nodes;
}

/** A whole message as nodes. */
export function markdown(text) {
  const nodes = [];
  let rest = text;
  for (;;) {
    const fence = /```(?:([A-Za-z0-9+#._-]*)\n)?([\s\S]*?)\n?```/.exec(rest);
    if (!fence) break;
    nodes.push(...blocks(rest.slice(0, fence.index)));
    nodes.push(codeBlock(fence[1] ?? '', fence[2]));
    rest = rest.slice(fence.index + fence[0].length).replace(/^\n/, '');
  }
  nodes.push(...blocks(rest));
  return nodes;
}

/** One line without marks, for reply lines and titles. */
export function oneLine(text) {
  return text
    .replace(/```[\s\S]*?```/g, '(code)')
    .replace(/<@!?(\d+)>/g, (_, id) => `@${userOf(id).name}`)
    .replace(/[*_~`|>#]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 120);
}
