// Drives the page the way a person does, and fails on the first thing that is not as it should be.
// SCREENSHOTS=folder keeps pictures.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { cards } from './cards.mjs';

const require = createRequire(join(process.env.GUILDHALL_NODE_MODULES, 'here.js'));
const { chromium } = require('playwright-core');
const discord = require('discord.js');
const axeSource = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const origin = process.env.SIM_ORIGIN;
const facts = await fetch(`${origin}/control`).then((answer) => answer.json());
const userId = (name) => facts.users.find((user) => user.name === name).id;
const channelId = (name) => facts.channels.find((channel) => channel.name === name).id;

async function control(method, path, body) {
  const answer = await fetch(`${origin}/control/${path}`, {
    method, headers: { 'content-type': 'application/json' }, body: body && JSON.stringify(body),
  });
  const json = await answer.json();
  assert.equal(answer.status, 200, JSON.stringify(json));
  return json;
}

async function bot(method, path, body) {
  const answer = await fetch(`${origin}/api/v10${path}`, {
    method,
    headers: { authorization: `Bot ${facts.token}`, 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
  return answer.status === 204 ? null : answer.json();
}

const browser = await chromium.launch({
  executablePath: process.env.GUILDHALL_CHROMIUM,
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
const complaints = [];
/** Whether a refused request is what a case is about. */
let refusals = false;

async function open(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  page.on('pageerror', (error) => complaints.push(`script error: ${error.message}`));
  page.on('console', (line) => line.type() === 'error' && !(refusals && /status of 403/.test(line.text())) && complaints.push(`console: ${line.text()}`));
  await page.goto(`${origin}/`);
  await page.waitForSelector('.channel[aria-current]', { state: 'attached' });
  return page;
}

const last = (page) => page.locator('#log .message').last();
const speakAs = (page, name) => page.locator('.chip label', { hasText: name }).click();
const visit = (page, name) => page.locator('#channels').getByRole('button', { name: new RegExp(`^${name},`) }).click();

async function say(page, text) {
  await page.fill('#draft', text);
  await page.press('#draft', 'Enter');
}

async function picture(page, name) {
  if (process.env.SCREENSHOTS) await page.screenshot({ path: join(process.env.SCREENSHOTS, `${name}.png`) });
}

async function accessible(page, place) {
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  const serious = violations.filter((one) => ['serious', 'critical'].includes(one.impact));
  const told = serious.map((one) => `${one.id}: ${one.nodes.map((node) => node.html).slice(0, 3).join(' | ')}`);
  assert.deepEqual(told, [], `accessibility of ${place}`);
}

const cases = {
  async 'a person speaks and the message shows up with its mention'(page) {
    await speakAs(page, 'Ben');
    await say(page, 'hello @Seat, this is **bold** and <img src=x onerror=alert(1)>');
    const item = last(page);
    await item.locator('.mention', { hasText: '@Seat' }).waitFor();
    assert.equal(await item.locator('strong').textContent(), 'bold');
    assert.match(await item.locator('.text').textContent(), /<img src=x onerror=alert\(1\)>/);
    assert.equal(await page.locator('#log img').count(), 0);
    assert.equal(await item.locator('.author').textContent(), 'Ben');
  },

  async 'code, lists, quotes and links are drawn and nothing else becomes a link'(page) {
    const content = 'Look:\n```rust\nfn main() { println!("<b>hi</b>"); }\n```\n1. one\n2. `two`\n> quoted\n[good](https://example.org/a) [bad](javascript:alert(1)) ||hidden||';
    await bot('POST', `/channels/${channelId('general')}/messages`, { content });
    await page.locator('pre', { hasText: 'println!' }).waitFor();
    const item = last(page);
    assert.equal(await item.locator('.code-language').textContent(), 'rust');
    assert.equal(await item.locator('ol > li').count(), 2);
    assert.equal(await item.locator('blockquote').textContent(), 'quoted');
    assert.deepEqual(await item.locator('a').evaluateAll((all) => all.map((one) => one.href)), ['https://example.org/a']);
    await item.locator('.spoiler').click();
    await item.locator('.spoiler-open', { hasText: 'hidden' }).waitFor();
  },

  async 'a reply is made by the keyboard and shown as a reply'(page) {
    await control('POST', 'messages', { channel: 'general', author: 'Ana', content: 'who is here?' });
    const item = page.locator('.message', { hasText: 'who is here?' }).last();
    await item.waitFor();
    await item.getByRole('button', { name: 'Reply' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('#context', { hasText: 'Replying to Ana' }).waitFor();
    await page.keyboard.type('I am');
    await page.keyboard.press('Enter');
    await page.locator('.message:has(.reply-line)', { hasText: 'I am' }).locator('.reply-jump', { hasText: 'who is here?' }).waitFor();
    assert.equal(await page.locator('#context').isHidden(), true);
  },

  async 'people react, and take it back'(page) {
    const item = page.locator('.message', { hasText: 'I am' }).last();
    await item.hover();
    await item.getByRole('button', { name: 'Add a reaction' }).click();
    await item.getByRole('button', { name: 'React with 🎉' }).click();
    const reaction = item.locator('.reaction[aria-pressed="true"]');
    await reaction.waitFor();
    await reaction.click();
    await reaction.waitFor({ state: 'detached' });
  },

  async 'own messages are edited and deleted'(page) {
    await say(page, 'first wording');
    await last(page).locator('.text', { hasText: 'first wording' }).waitFor();
    await page.press('#draft', 'ArrowUp');
    await page.locator('#context', { hasText: 'Editing' }).waitFor();
    await page.fill('#draft', 'second wording');
    await page.press('#draft', 'Enter');
    const item = page.locator('.message', { hasText: 'second wording' });
    await item.locator('.edited').waitFor();
    await item.hover();
    await item.getByRole('button', { name: 'Delete' }).click();
    await item.waitFor({ state: 'detached' });
  },

  async 'an edit by the bot changes the message in its place'(page) {
    const path = `/channels/${channelId('general')}/messages`;
    const sent = await bot('POST', path, { content: 'thinking' });
    await page.locator(`[data-id="${sent.id}"]`, { hasText: 'thinking' }).waitFor();
    await bot('PATCH', `${path}/${sent.id}`, { content: 'done' });
    await page.locator(`[data-id="${sent.id}"]`, { hasText: 'done' }).locator('.edited').waitFor();
  },

  async 'typing shows and ends with the message'(page) {
    await bot('POST', `/channels/${channelId('general')}/typing`);
    await page.locator('#typing', { hasText: 'Seat is typing' }).waitFor();
    await bot('POST', `/channels/${channelId('general')}/messages`, { content: 'typed' });
    await last(page).locator('.text', { hasText: 'typed' }).waitFor();
    assert.equal(await page.locator('#typing').textContent(), '');
  },

  async 'a button is pressed, and silence is told to the one who pressed'(page) {
    const components = [{ type: 1, components: [{ type: 2, style: 3, label: 'Allow once', custom_id: 'allow' }] }];
    const sent = await bot('POST', `/channels/${channelId('general')}/messages`, { content: 'card', components });
    const item = page.locator(`[data-id="${sent.id}"]`);
    await item.getByRole('button', { name: 'Allow once' }).click();
    await item.locator('.failed', { hasText: 'This interaction failed' }).waitFor();
    await speakAs(page, 'Ana');
    assert.equal(await page.locator(`[data-id="${sent.id}"] .failed`).count(), 0);
  },

  async 'a thread is started from a message and spoken in'(page) {
    const said = await control('POST', 'messages', { channel: 'general', author: 'Ben', content: 'let us talk about tea' });
    const item = page.locator(`[data-id="${said.id}"]`);
    await item.hover();
    await item.getByRole('button', { name: 'Start a thread' }).click();
    await say(page, 'Tea');
    await page.locator('#title', { hasText: 'Tea' }).waitFor();
    await page.locator('.system', { hasText: 'let us talk about tea' }).waitFor();
    await say(page, 'green, please');
    await last(page).locator('.text', { hasText: 'green, please' }).waitFor();
    await page.locator('#topic').getByRole('button', { name: '#general' }).click();
    await page.locator(`[data-id="${said.id}"] .thread-link`, { hasText: 'Tea' }).waitFor();
  },

  async 'a forum shows its posts and takes a new one'(page) {
    await visit(page, 'questions');
    await page.locator('.post', { hasText: 'How do I see what is queued?' }).waitFor();
    await page.locator('.new-post summary').click();
    await page.fill('#post-name', 'May I?');
    await page.fill('#post-content', 'Just asking.');
    await accessible(page, 'the forum');
    await page.getByRole('button', { name: 'Post as Ana' }).click();
    await page.locator('#title', { hasText: 'May I?' }).waitFor();
    await last(page).locator('.text', { hasText: 'Just asking.' }).waitFor();
  },

  async 'people see only the channels that are theirs'(page) {
    const names = () => page.locator('.channel-name').allTextContents();
    await speakAs(page, 'Eve');
    assert.equal((await names()).includes('operators'), false);
    await speakAs(page, 'Olga');
    assert.equal((await names()).includes('operators'), true);
  },

  async 'new messages elsewhere are counted and read'(page) {
    await visit(page, 'general');
    await control('POST', 'messages', { channel: 'help', author: 'Ana', content: 'anybody?' });
    const help = page.getByRole('button', { name: 'help, channel, 1 new' });
    await help.click();
    await last(page).locator('.text', { hasText: 'anybody?' }).waitFor();
    await visit(page, 'general');
    await page.getByRole('button', { name: 'help, channel', exact: true }).waitFor();
  },

  async 'a fault is armed at a click and disarmed'(page) {
    await page.getByRole('button', { name: /^Fail three requests/ }).click();
    await page.locator('#armed', { hasText: 'status 500' }).waitFor();
    await page.getByRole('button', { name: 'Disarm all' }).click();
    await page.locator('#armed li').first().waitFor({ state: 'detached' });
    assert.deepEqual(await control('GET', 'faults'), []);
  },

  async 'a slash command goes to the bot, and other slashes are text'(page) {
    await visit(page, 'general');
    const option = { type: 3, name: 'who', description: 'Whom' };
    await bot('POST', `/applications/${facts.application}/commands`, { name: 'greet', description: 'Says hello', options: [option] });
    await say(page, '/greet Ben and Ana');
    await page.waitForFunction(() => document.getElementById('draft').value === '');
    const list = await control('GET', 'messages?channel=general');
    assert.equal(list.some((message) => message.content.startsWith('/greet')), false);
    await say(page, '/etc/hosts is a file');
    await last(page).locator('.text', { hasText: '/etc/hosts is a file' }).waitFor();
  },

  async 'a refusal is told in words'(page) {
    await control('PATCH', 'threads', { thread: 'release notes', locked: true });
    refusals = true;
    await speakAs(page, 'Eve');
    await visit(page, 'release notes');
    await say(page, 'am I allowed?');
    await page.locator('.toast', { hasText: 'Thread is locked' }).waitFor();
    assert.equal(await page.inputValue('#draft'), 'am I allowed?');
    await page.fill('#draft', '');
    await speakAs(page, 'Olga');
    await visit(page, 'general');
  },
};

async function looks() {
  for (const colorScheme of ['light', 'dark']) {
    for (const [width, height] of [[360, 740], [768, 1024], [1440, 900]]) {
      const page = await open({ colorScheme, viewport: { width, height }, reducedMotion: 'reduce' });
      await page.waitForSelector('.message');
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(overflow <= 0, `${width} px is too narrow by ${overflow}`);
      await accessible(page, `${width} px, ${colorScheme}`);
      await picture(page, `${colorScheme}-${width}`);
      for (const sheet of ['side', 'panel']) {
        const opener = page.locator(`[data-open="${sheet}"]`);
        if (!(await opener.isVisible())) continue;
        await opener.click();
        await page.locator(`#${sheet}`).waitFor({ state: 'visible' });
        await accessible(page, `${sheet} at ${width} px, ${colorScheme}`);
        await picture(page, `${colorScheme}-${width}-${sheet}`);
        await page.keyboard.press('Escape');
        await page.locator(`#${sheet}`).waitFor({ state: 'hidden' });
        assert.equal(await opener.evaluate((node) => node === document.activeElement), true, 'focus goes back');
      }
      await page.context().close();
    }
  }
}

const page = await open();
let failed = 0;
const tools = { origin, facts, discord, bot, channelId, userId, speakAs, visit, picture, accessible };
const all = { ...cases, ...cards(tools) };
for (const [name, run] of [...Object.entries(all), ['it looks right and is accessible at every width', looks]]) {
  try {
    await run(page);
    assert.deepEqual(complaints, [], 'complaints of the browser');
    console.log(`ok   ${name}`);
  } catch (error) {
    failed += 1;
    complaints.length = 0;
    console.log(`FAIL ${name}\n     ${error.stack}`);
    await picture(page, `failed-${failed}`);
  }
}
await browser.close();
process.exit(failed ? 1 : 0);
