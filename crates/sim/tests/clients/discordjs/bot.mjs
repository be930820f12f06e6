// A discord.js bot that knows a few words. Only its base URL is not Discord's.

import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(join(process.env.GUILDHALL_NODE_MODULES, 'here.js'));
const { Client, GatewayIntentBits, ChannelType } = require('discord.js');

const client = new Client({
  intents: [
    GatewayIntentBits.Guilds, GatewayIntentBits.GuildMessages, GatewayIntentBits.MessageContent,
    GatewayIntentBits.GuildMessageReactions, GatewayIntentBits.GuildMessageTyping,
  ],
  rest: { api: `${process.env.SIM_ORIGIN}/api` },
});

const words = {
  ping: (message) => message.reply('pong'),
  react: (message) => message.react('👀'),
  edit: async (message) => {
    await message.channel.sendTyping();
    const sent = await message.channel.send('before');
    await sent.edit('after');
  },
  history: async (message) => {
    const read = await message.channel.messages.fetch({ limit: 3 });
    await message.channel.send(`read ${read.size}`);
  },
  search: async (message) => {
    const found = await message.guild.members.search({ query: 'an', limit: 5 });
    await message.channel.send(`found ${found.map((member) => member.displayName).join(', ')}`);
  },
  long: (message) => refused(message, () => message.channel.send('x'.repeat(2001))),
  forbidden: (message) => refused(message, () => {
    const hidden = message.guild.channels.cache.find((channel) => channel.name === 'vault');
    return hidden.send('let me in');
  }),
  thread: async (message) => {
    const thread = await message.startThread({ name: 'made by a bot' });
    await thread.send('first');
  },
  card: (message) => message.channel.send({
    content: 'press me',
    components: [{ type: 1, components: [{ type: 2, style: 3, label: 'Go', custom_id: 'go' }] }],
  }),
  forum: async (message) => {
    const forum = message.guild.channels.cache.find((channel) => channel.type === ChannelType.GuildForum);
    await forum.threads.create({ name: 'a post', message: { content: 'its first message' } });
    await message.channel.send('posted');
  },
};

async function refused(message, attempt) {
  try {
    await attempt();
    await message.channel.send('not refused');
  } catch (error) {
    await message.channel.send(`refused ${error.code}`);
  }
}

client.on('messageCreate', (message) => {
  if (message.author.bot) return;
  words[message.content]?.(message).catch((error) => console.error(message.content, error));
});
client.once('clientReady', () => client.application.commands.set([
  { name: 'greet', description: 'Says hello', options: [{ type: 3, name: 'who', description: 'Whom', required: true }] },
]));
client.on('interactionCreate', (interaction) => {
  if (interaction.isChatInputCommand()) {
    interaction.reply(`hello ${interaction.options.getString('who')}`).catch((error) => console.error('command', error));
    return;
  }
  interaction.update({ content: `pressed by ${interaction.user.username}`, components: [] })
    .catch((error) => console.error('interaction', error));
});
client.on('error', (error) => console.error('client', error.message));
await client.login(process.env.SIM_TOKEN);
