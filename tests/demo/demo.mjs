// Drives `guildhall demo` in a real browser, as a stranger would: says hello, is answered, kills the
// seat in the middle of a turn, sees it come back and say so, has it read, search and change files,
// and allows or denies what it asks.
//
// In: GUILDHALL_BIN, GUILDHALL_CHROMIUM, GUILDHALL_NODE_MODULES. Out: exit code 0, and pictures where
// PICTURES names a folder. Never: a process that is left behind.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const need = (name) => process.env[name] ?? assert.fail(`${name} is not set: run this through cargo xtask test`);
const require = createRequire(join(need('GUILDHALL_NODE_MODULES'), 'here.js'));
const { chromium } = require('playwright-core');

const demo = spawn(need('GUILDHALL_BIN'), ['demo', '--no-open', '--json', '--think', '1500'], { stdio: ['ignore', 'pipe', 'pipe'] });
let said = '';
demo.stderr.on('data', (bytes) => { said += bytes; });
const [line] = await once(createInterface({ input: demo.stdout }), 'line');
const facts = JSON.parse(line);

const browser = await chromium.launch({
  executablePath: need('GUILDHALL_CHROMIUM'),
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
const complaints = [];

async function open(width, height, scheme) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  page.on('pageerror', (error) => complaints.push(`script error: ${error.message}`));
  page.on('console', (entry) => entry.type() === 'error' && complaints.push(`console: ${entry.text()}`));
  await page.goto(facts.page);
  await page.waitForSelector('.channel[aria-current]', { state: 'attached' });
  return page;
}

const speakAs = (page, name) => page.locator('.chip label', { hasText: name }).click();
async function say(page, text) {
  await page.fill('#draft', text);
  await page.press('#draft', 'Enter');
}
const message = (page, text) => page.locator('#log .message', { hasText: text });
async function messages() {
  const general = facts.channels.find((channel) => channel.name === 'general').id;
  const answer = await fetch(`${facts.control}/messages?channel=${general}&limit=50`).then((a) => a.json());
  return Array.isArray(answer) ? answer : answer.messages;
}
const repliesTo = async (text) => {
  const all = await messages();
  const asked = all.find((one) => one.content === text);
  return all.filter((one) => one.message_reference?.message_id === asked?.id);
};
async function until(what, found) {
  const end = Date.now() + 60_000;
  for (;;) {
    const value = await found();
    if (value) return value;
    if (Date.now() > end) assert.fail(`waited for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
async function picture(page, name) {
  if (process.env.PICTURES) await page.screenshot({ path: join(process.env.PICTURES, `${name}.png`) });
}

// Reads, searches, asks, changes, commits: what the seat may do, and what a person has to allow.
async function tools(page) {
  const desk = join(facts.files, 'desk');
  const todo = () => readFileSync(join(desk, 'todo.md'), 'utf8');
  const answer = async (text) => {
    await say(page, text);
    await until(`an answer to ${text}`, async () => (await repliesTo(text)).some((one) => !one.content.includes('Permission')));
    return (await repliesTo(text)).find((one) => !one.content.includes('Permission')).content;
  };
  const card = (text) => message(page, text).filter({ hasText: 'Permission needed' }).last();

  await speakAs(page, 'Ana');
  assert.match(await answer('list handbook'), /welcome\.md/);
  assert.match(await answer('read handbook/tools/loans.md'), /spokeshave \| Ana/);
  assert.match(await answer('search handbook for Olga'), /welcome\.md:5/);
  assert.match(await answer('read handbook/../../data/secrets/bot.token'), /refused/);
  assert.match(await answer('fetch https://pages.example.org/opening-hours'), /Tuesday to Friday \| 9 to 18/);
  assert.match(await answer('fetch http://127.0.0.1/'), /refused/);

  const before = todo();
  const edit = 'edit desk/todo.md: order beeswax => order linseed oil';
  await say(page, edit);
  await card('Edit todo.md').waitFor();
  await picture(page, 'demo-card-1440-light');
  await card('Edit todo.md').getByRole('button', { name: 'Once' }).click();
  await page.getByText('Only an operator of this seat can decide that.').first().waitFor();
  assert.equal(todo(), before, 'Ana is no operator');
  await speakAs(page, 'Olga');
  await card('Edit todo.md').getByRole('button', { name: 'Once' }).click();
  await until('the change', async () => todo() !== before);
  assert.equal(todo(), before.replace('order beeswax', 'order linseed oil'));
  await until('the answer', async () => (await repliesTo(edit)).some((one) => one.content.includes('Edited todo.md')));
  await message(page, 'Allowed once by').filter({ hasText: 'and done' }).first().waitFor();

  const create = 'create desk/plan.md: Saturday';
  await say(page, create);
  await card('Create plan.md').waitFor();
  await card('Create plan.md').getByRole('button', { name: 'Deny' }).click();
  await until('the refusal', async () => (await repliesTo(create)).some((one) => one.content.includes('denied')));
  assert.ok(!existsSync(join(desk, 'plan.md')), 'a denied file is not there');

  await speakAs(page, 'Ben');
  const commit = 'commit desk/todo.md: Linseed oil instead of wax';
  await say(page, commit);
  await card('Commit 1 file').waitFor();
  await speakAs(page, 'Olga');
  await card('Commit 1 file').getByRole('button', { name: 'Once' }).click();
  await until('the commit', async () => (await repliesTo(commit)).some((one) => one.content.includes('pushed: false')));
  const log = execFileSync('git', ['-C', desk, 'log', '-1', '--format=%an|%B'], { encoding: 'utf8' });
  assert.match(log, /^Seat\|Linseed oil instead of wax\n\nRequested-by: Ben\n/);
  assert.equal(execFileSync('git', ['-C', desk, 'status', '--porcelain'], { encoding: 'utf8' }), '');
}

try {
  const page = await open(1440, 900, 'light');
  await until('the seat to serve', async () => (await fetch(`${facts.control}/panel`).then((a) => a.ok && a.text())).includes('serving'));

  await speakAs(page, 'Ana');
  await say(page, 'hello');
  await message(page, 'practice seat').first().waitFor();
  await until('the eyes', async () => (await messages()).find((one) => one.content === 'hello')?.reactions?.length);
  assert.equal((await repliesTo('hello')).length, 1, 'one reply to the greeting');

  await speakAs(page, 'Eve');
  await say(page, 'hello from somebody who is not listed');
  await speakAs(page, 'Ben');
  await say(page, 'code');
  await until('an answer with code', async () => (await repliesTo('code')).length === 1);
  assert.equal((await repliesTo('hello from somebody who is not listed')).length, 0, 'a stranger is not answered');
  await picture(page, 'demo-1440-light');

  await say(page, 'slow 5');
  await until('the turn to begin', async () => (await messages()).find((one) => one.content === 'slow 5')?.reactions?.length);
  await page.getByRole('button', { name: 'Kill the seat' }).click();
  await until('the one fixed line', async () => (await repliesTo('slow 5')).length === 1);
  await page.getByText('I was interrupted while I worked on this').first().waitFor();
  await picture(page, 'demo-killed-1440-light');
  await say(page, 'who are you?');
  await until('an answer after the recovery', async () => (await repliesTo('who are you?')).length === 1);
  assert.equal((await repliesTo('slow 5')).length, 1, 'no second line after the recovery');

  await tools(page);

  for (const [width, height, scheme] of [[360, 780, 'dark'], [768, 1024, 'light']]) {
    const narrow = await open(width, height, scheme);
    await message(narrow, 'who are you?').first().waitFor();
    const wide = await narrow.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= width, `nothing sticks out at ${width} px: ${wide}`);
    await picture(narrow, `demo-${width}-${scheme}`);
    await narrow.context().close();
  }
  assert.deepEqual(complaints, []);
} finally {
  await browser.close();
  demo.kill('SIGINT');
  const [code] = demo.exitCode === null ? await once(demo, 'exit') : [demo.exitCode];
  assert.equal(code, 0, `the demo ends in order\n${said}`);
  const folder = said.match(/may read and change are in (\S+)/)?.[1];
  assert.ok(folder && !existsSync(folder), 'nothing is left behind');
}
console.log('demo: 1 passed, 0 failed');
