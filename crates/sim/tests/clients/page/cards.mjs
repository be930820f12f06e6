// Cards on the page: a small bot posts them, and people press their buttons.
//
// In: the tools of page.mjs. Out: cases. Never: a bot that outlives its case.

import assert from 'node:assert/strict';
import { once } from 'node:events';

const DIFF = Array.from({ length: 60 }, (_, line) => `+ line ${line + 1} of the change`).join('\n');
const REFUSAL = 'Only an operator may decide this.';

/** A bot that lets one person decide, and answers everybody else in private. */
async function startBot({ origin, facts, discord }, operator) {
  const { Client, Events, GatewayIntentBits, MessageFlags } = discord;
  const client = new Client({ intents: [GatewayIntentBits.Guilds, GatewayIntentBits.GuildMessages], rest: { api: `${origin}/api` } });
  const faults = [];
  client.on(Events.Error, (error) => faults.push(error));
  client.on(Events.InteractionCreate, async (press) => {
    try {
      if (press.user.id !== operator) {
        await press.reply({ content: REFUSAL, flags: MessageFlags.Ephemeral });
        return;
      }
      await press.deferUpdate();
      const content = press.customId.endsWith(':once') ? '**Allowed once** by Olga.' : '**Denied** by Olga.';
      await press.message.edit({ content, components: [], allowedMentions: { parse: [] } });
    } catch (error) {
      faults.push(error);
    }
  });
  const ready = once(client, Events.ClientReady);
  await client.login(facts.token);
  await ready;
  return {
    async stop() {
      await client.destroy();
      assert.deepEqual(faults, [], 'faults of the bot');
    },
  };
}

async function postCard({ origin, facts, channelId, userId }, number) {
  const button = (label, style) => ({ type: 2, style, label, custom_id: `ask:${number}:${label.toLowerCase()}` });
  const form = new FormData();
  form.set('payload_json', JSON.stringify({
    content: `<@${userId('Olga')}> Create \`notes/today.md\` in **notes**?\n\`\`\`diff\n${DIFF.slice(0, 120)}\n\`\`\``,
    nonce: `card-${number}`, enforce_nonce: true,
    allowed_mentions: { parse: [], users: [userId('Olga')] },
    components: [{ type: 1, components: [button('Once', 3), button('Deny', 4)] }],
    attachments: [{ id: '0', filename: 'change.diff' }],
  }));
  form.set('files[0]', new Blob([DIFF], { type: 'text/plain; charset=utf-8' }), 'change.diff');
  const answer = await fetch(`${origin}/api/v10/channels/${channelId('general')}/messages`, {
    method: 'POST', headers: { authorization: `Bot ${facts.token}` }, body: form,
  });
  assert.equal(answer.status, 200, await answer.clone().text());
  return answer.json();
}

/** The cases; `tools` are what page.mjs gives. */
export function cards(tools) {
  const { speakAs, visit, picture, accessible, userId } = tools;
  const inCase = (run) => async (page) => {
    const small = await startBot(tools, userId('Olga'));
    try {
      await visit(page, 'general');
      await run(page);
    } finally {
      await small.stop();
    }
  };
  const itemOf = (page, card) => page.locator(`[data-id="${card.id}"]`);
  return {
    'a card shows its buttons, its mention and the whole of its file': inCase(async (page) => {
      await speakAs(page, 'Olga');
      const card = await postCard(tools, 1);
      const item = itemOf(page, card);
      await item.getByRole('button', { name: 'Once', exact: true }).waitFor();
      assert.equal(await item.getByRole('button', { name: 'Deny', exact: true }).count(), 1);
      assert.equal(await item.getAttribute('data-mentioned'), '', 'it is marked for the one it mentions');
      assert.equal(await item.locator('.mention[data-mine]').textContent(), '@Olga');
      const file = item.locator('.file');
      assert.match(await file.textContent(), /change\.diff 1 KiB/);
      const [download] = await Promise.all([page.waitForEvent('download'), file.click()]);
      assert.equal(download.suggestedFilename(), 'change.diff');
      await item.getByText('Show change.diff').click();
      await item.locator('.file-text', { hasText: 'line 60 of the change' }).waitFor();
      assert.equal(await item.locator('.file-text').textContent(), DIFF);
      const hidden = await item.locator('.file-text').evaluate((node) => node.getBoundingClientRect().bottom - document.getElementById('scroll').getBoundingClientRect().bottom);
      assert.ok(hidden < 1, `${hidden} px of the text are out of view`);
      await accessible(page, 'a card with its file');
      await picture(page, 'card-open');
      await speakAs(page, 'Eve');
      assert.equal(await itemOf(page, card).getAttribute('data-mentioned'), null);
      assert.equal(await itemOf(page, card).locator('.mention[data-mine]').count(), 0);
    }),

    'a member who presses is told so alone, and the card stays open': inCase(async (page) => {
      await speakAs(page, 'Eve');
      const card = await postCard(tools, 2);
      await itemOf(page, card).getByRole('button', { name: 'Once', exact: true }).click();
      const line = page.locator('.message[data-private]', { hasText: REFUSAL });
      await line.waitFor();
      await line.getByText('Only Eve can see this.').waitFor();
      assert.equal(await itemOf(page, card).getByRole('button', { name: 'Once', exact: true }).getAttribute('aria-busy'), null);
      await picture(page, 'card-member');
      await speakAs(page, 'Olga');
      assert.equal(await line.count(), 0, 'nobody else sees the line');
      await itemOf(page, card).getByRole('button', { name: 'Once', exact: true }).waitFor();
    }),

    'an operator presses Once and the card becomes its outcome': inCase(async (page) => {
      await speakAs(page, 'Olga');
      const card = await postCard(tools, 3);
      await itemOf(page, card).getByRole('button', { name: 'Once', exact: true }).focus();
      await page.keyboard.press('Enter');
      const item = itemOf(page, card);
      await item.locator('strong', { hasText: 'Allowed once' }).waitFor();
      await item.locator('.edited').waitFor();
      assert.equal(await item.locator('.component').count(), 0, 'the buttons are gone');
      assert.equal(await item.locator('.failed').count(), 0);
      await item.locator('.file', { hasText: 'change.diff' }).waitFor();
      await picture(page, 'card-once');
    }),

    'an operator presses Deny, and everybody sees the outcome': inCase(async (page) => {
      await speakAs(page, 'Olga');
      const card = await postCard(tools, 4);
      await itemOf(page, card).getByRole('button', { name: 'Deny', exact: true }).click();
      await itemOf(page, card).locator('strong', { hasText: 'Denied' }).waitFor();
      assert.equal(await itemOf(page, card).locator('.component').count(), 0);
      await speakAs(page, 'Eve');
      await itemOf(page, card).locator('strong', { hasText: 'Denied' }).waitFor();
      await picture(page, 'card-denied');
    }),

    'a card that was decided elsewhere while its button was pressed is told in words': async (page) => {
      await visit(page, 'general');
      await speakAs(page, 'Olga');
      const card = await postCard(tools, 5);
      await itemOf(page, card).getByRole('button', { name: 'Once', exact: true }).waitFor();
      await tools.bot('PATCH', `/channels/${card.channel_id}/messages/${card.id}`, { content: 'Time ran out: denied.', components: [] });
      await itemOf(page, card).getByText('Time ran out: denied.').waitFor();
      assert.equal(await itemOf(page, card).locator('.component').count(), 0);
    },
  };
}
