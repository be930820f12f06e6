"""A discord.py bot that knows a few words. Only its base URL is not Discord's."""

import os

import discord
import yarl

ORIGIN = os.environ["SIM_ORIGIN"]
discord.http.Route.BASE = f"{ORIGIN}/api/v10"
discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(ORIGIN.replace("http", "ws", 1))

intents = discord.Intents.default()
intents.message_content = True
intents.presences = False
client = discord.Client(intents=intents)
tree = discord.app_commands.CommandTree(client)


@tree.command(name="greet", description="Says hello")
async def greet(interaction, who: str):
    await interaction.response.send_message(f"hello {who}")


@client.event
async def setup_hook():
    await tree.sync()


class Press(discord.ui.View):
    """One button that never goes out."""

    def __init__(self):
        super().__init__(timeout=None)

    @discord.ui.button(label="Go", style=discord.ButtonStyle.success, custom_id="go")
    async def go(self, interaction, button):
        await interaction.response.edit_message(content=f"pressed by {interaction.user.name}", view=None)


async def ping(message):
    await message.reply("pong")


async def react(message):
    await message.add_reaction("👀")


async def edit(message):
    async with message.channel.typing():
        sent = await message.channel.send("before")
    await sent.edit(content="after")


async def history(message):
    read = [one async for one in message.channel.history(limit=3)]
    await message.channel.send(f"read {len(read)}")


async def search(message):
    member = (await message.guild.query_members("an", limit=5))[0]
    await message.channel.send(f"found {member.display_name}")


async def long(message):
    try:
        await message.channel.send("x" * 2001)
    except discord.HTTPException as refusal:
        await message.channel.send(f"refused {refusal.code}")


async def forbidden(message):
    try:
        hidden = discord.utils.get(message.guild.channels, name="vault")
        await hidden.send("let me in")
    except discord.Forbidden as refusal:
        await message.channel.send(f"refused {refusal.code}")


async def thread(message):
    made = await message.create_thread(name="made by a bot")
    await made.send("first")


async def card(message):
    await message.channel.send("press me", view=Press())


async def forum(message):
    place = next(one for one in message.guild.channels if isinstance(one, discord.ForumChannel))
    await place.create_thread(name="a post", content="its first message")
    await message.channel.send("posted")


WORDS = {
    word.__name__: word
    for word in (ping, react, edit, history, search, long, forbidden, thread, card, forum)
}


@client.event
async def on_message(message):
    if not message.author.bot and message.content in WORDS:
        await WORDS[message.content](message)


client.run(os.environ["SIM_TOKEN"], log_level=30)
