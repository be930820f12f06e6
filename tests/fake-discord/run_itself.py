"""Tests of the fake itself and of the tests' own tools: `python run_itself.py`.

In: nothing. Out: Python's test report. Never: the program under test. The judge of the fake is a
well-known client that nobody here wrote: what it accepts is Discord enough.
"""

import asyncio
import http.client
import io
import json
import sys
import unittest

import aiohttp
import discord
import yarl

from e2e.case import Case
from e2e.fake import ANA, BOT, EVE, GENERAL, GUILD, TOKEN
from e2e.parts import joined, open_fence
from run_e2e import Sentences

CONTENT = 1 << 15


class Client(discord.Client):
    """Echoes what it hears, as a reply."""

    def __init__(self):
        intents = discord.Intents.none()
        intents.guilds = intents.guild_messages = intents.message_content = True
        super().__init__(intents=intents, max_messages=None)
        self.events = asyncio.Queue()

    async def on_ready(self):
        self.events.put_nowait(("ready", self.user.id))

    async def on_resumed(self):
        self.events.put_nowait(("resumed", None))

    async def on_interaction(self, press):
        if str(press.user.id) != ANA:
            await press.response.send_message("not yours", ephemeral=True)
        else:
            await press.response.defer()
            await press.message.edit(content="allowed once", view=None)
        self.events.put_nowait(("press", press.data["custom_id"]))

    async def on_message(self, message):
        self.events.put_nowait(("message", message.content))
        if message.author.id != self.user.id:
            await message.add_reaction("\N{EYES}")
            await message.reply(f"echo {message.content}")

    async def wait(self, kind):
        async with asyncio.timeout(30):
            while True:
                found = await self.events.get()
                if found[0] == kind:
                    return found[1]


class Judge(Case):
    """A foreign client, unchanged but for the address."""

    def with_client(self, story):
        discord.http.Route.BASE = f"{self.fake.origin}/api/v10"
        address = self.fake.origin.replace("http", "ws")
        discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(address)

        async def run():
            client = Client()
            running = asyncio.create_task(client.start(TOKEN))
            try:
                await client.wait("ready")
                await story(client)
            finally:
                await client.close()
                await asyncio.gather(running, return_exceptions=True)

        asyncio.run(run())

    def a_foreign_client_logs_in_hears_and_answers(self):
        async def story(client):
            guild = client.get_guild(int(GUILD))
            self.assertEqual([c.name for c in guild.text_channels], ["general", "help", "elsewhere"])
            message = await asyncio.to_thread(self.fake.say, "good day")
            self.assertEqual(await client.wait("message"), "good day")
            self.assertEqual(await client.wait("message"), "echo good day")
            self.assertEqual(len(self.fake.replies(message)), 1)
            self.assertEqual(self.fake.eyes(message)[0]["emoji"], "\N{EYES}")
            channel = guild.get_channel(int(GENERAL))
            history = [m.content async for m in channel.history(limit=10)]
            self.assertEqual(history, ["echo good day", "good day"])

        self.with_client(story)

    def a_foreign_client_resumes_and_hears_what_it_missed(self):
        async def story(client):
            await asyncio.to_thread(self.fake.gateway, "drop")
            await asyncio.to_thread(self.fake.say, "in the gap")
            self.assertEqual(await client.wait("message"), "in the gap")
            self.assertEqual(self.fake.state()["identifies"], 1)

        self.with_client(story)


    def a_foreign_client_posts_a_card_with_a_file_and_answers_its_presses(self):
        async def story(client):
            view = discord.ui.View(timeout=None)
            for label in ("Once", "Deny"):
                view.add_item(discord.ui.Button(label=label, custom_id=f"ask:1:{label.lower()}"))
            channel = client.get_guild(int(GUILD)).get_channel(int(GENERAL))
            file = discord.File(io.BytesIO(b"+ a line\n"), "change.diff")
            card = await channel.send("may it?", view=view, file=file)
            self.assertEqual(await card.attachments[0].read(), b"+ a line\n")
            for who, choice in ((EVE, "deny"), (ANA, "once")):
                await asyncio.to_thread(self.press, card.id, who, f"ask:1:{choice}")
                self.assertEqual(await client.wait("press"), f"ask:1:{choice}")
            eve, ana = await asyncio.to_thread(self.fake.call, "GET", "/_control/presses")
            self.assertEqual((eve["answer"], [s["content"] for s in eve["said"]]), (4, ["not yours"]))
            self.assertTrue(eve["said"][0]["private"])
            self.assertEqual((ana["answer"], ana["said"]), (6, []))
            kept = (await asyncio.to_thread(self.fake.from_bot))[0]
            self.assertEqual((kept["content"], kept["components"]), ("allowed once", []))

        self.with_client(story)

    def press(self, message, user, custom_id):
        wish = {"channel": GENERAL, "message": str(message), "user": user, "custom_id": custom_id}
        self.fake.call("POST", "/_control/presses", wish)


class Rules(Case):
    """Discord's rules that a seat leans on, asked for directly."""

    def rest(self, method, path, body=None, token=TOKEN):
        link = http.client.HTTPConnection(self.fake.address, timeout=30)
        headers = {"Authorization": f"Bot {token}", "Content-Type": "application/json"}
        link.request(method, f"/api/v10{path}", json.dumps(body) if body else None, headers)
        response = link.getresponse()
        raw = response.read()
        link.close()
        return response.status, json.loads(raw) if raw else None

    def post(self, **body):
        return self.rest("POST", f"/channels/{GENERAL}/messages", body)

    def a_nonce_makes_one_message_and_belongs_to_its_author(self):
        first = self.post(content="once", nonce="n1", enforce_nonce=True)
        again = self.post(content="other words", nonce="n1", enforce_nonce=True)
        loose = self.post(content="once more", nonce="n1")
        self.assertEqual((first[0], again[0], loose[0]), (200, 200, 200))
        self.assertEqual(again[1]["id"], first[1]["id"])
        self.assertEqual(again[1]["content"], "once")
        self.assertNotEqual(loose[1]["id"], first[1]["id"])

    def a_repeat_of_a_deleted_message_is_unknown(self):
        made = self.post(content="gone", nonce="n2", enforce_nonce=True)[1]
        self.fake.delete(made["id"])
        status, body = self.post(content="gone", nonce="n2", enforce_nonce=True)
        self.assertEqual((status, body["code"]), (404, 10008))

    def a_bad_message_is_refused_with_discord_s_own_code(self):
        missing = {"message_id": "999999999999999999"}
        cases = [
            ("empty", {"content": ""}, 50006),
            ("blank", {"content": " \n"}, 50006),
            ("too long", {"content": "x" * 2001}, 50035),
            ("nonce too long", {"content": "x", "nonce": "n" * 26}, 50035),
            ("reply to nothing", {"content": "x", "message_reference": missing}, 50035),
        ]
        for name, body, code in cases:
            with self.subTest(name):
                status, found = self.post(**body)
                self.assertEqual((status, found["code"]), (400, code))
        kept = {**missing, "fail_if_not_exists": False}
        self.assertEqual(self.post(content="x", message_reference=kept)[0], 200)
        self.assertEqual(self.post(content="\U0001f600" * 2000)[0], 200)

    def a_lost_answer_is_lost_after_the_message_was_made(self):
        self.fake.fault("POST", "/messages$", lose=True)
        with self.assertRaises((http.client.HTTPException, ConnectionError)):
            self.post(content="made", nonce="n3", enforce_nonce=True)
        status, found = self.post(content="made", nonce="n3", enforce_nonce=True)
        self.assertEqual(status, 200)
        self.assertEqual([m["id"] for m in self.fake.from_bot()], [found["id"]])

    def card(self):
        button = {"type": 2, "style": 3, "label": "Once", "custom_id": "ask:1:once"}
        rows = [{"type": 1, "components": [button]}]
        payload = {"content": f"<@{ANA}> may it?", "nonce": "card", "enforce_nonce": True,
                   "components": rows, "allowed_mentions": {"parse": [], "users": [ANA]}}
        part = 'Content-Disposition: form-data; name="{}"'
        body = "\r\n".join([
            "--b", part.format("payload_json"), "", json.dumps(payload),
            "--b", part.format('files[0]"; filename="change.diff'), "Content-Type: text/plain", "",
            "+ a line", "--b--", "",
        ])
        link = http.client.HTTPConnection(self.fake.address, timeout=30)
        headers = {"Authorization": f"Bot {TOKEN}", "Content-Type": "multipart/form-data; boundary=b"}
        link.request("POST", f"/api/v10/channels/{GENERAL}/messages", body, headers)
        response = link.getresponse()
        found = json.loads(response.read())
        link.close()
        self.assertEqual(response.status, 200, found)
        return found

    def press(self, card, **more):
        wish = {"channel": GENERAL, "message": card["id"], "user": EVE, "custom_id": "ask:1:once"}
        return self.fake.call("POST", "/_control/presses", {**wish, **more})

    def a_card_is_one_message_with_its_file_and_an_edit_keeps_the_file(self):
        card = self.card()
        self.assertEqual(self.card()["id"], card["id"])
        self.assertEqual([m["id"] for m in card["mentions"]], [ANA])
        file = card["attachments"][0]
        self.assertEqual((file["filename"], file["size"]), ("change.diff", 8))
        link = http.client.HTTPConnection(self.fake.address, timeout=30)
        link.request("GET", file["url"].removeprefix(self.fake.origin))
        self.assertEqual(link.getresponse().read(), b"+ a line")
        link.close()
        path = f"/channels/{GENERAL}/messages/{card['id']}"
        status, edited = self.rest("PATCH", path, {"content": "over", "components": []})
        self.assertEqual((status, edited["components"]), (200, []))
        self.assertEqual(edited["attachments"], card["attachments"])
        with self.assertRaises(AssertionError):
            self.press(card)
        self.press(card, stale=True)

    def a_press_is_answered_once_in_time_and_its_token_is_in_no_record(self):
        card = self.card()
        press, late = self.press(card), self.press(card, age=3.0)
        deferred = {"type": 6}
        answers = [
            self.rest("POST", f"/interactions/{p['id']}/{token}/callback", deferred)
            for p, token in [
                (press, "another"),
                (press, press["token"]),
                (press, press["token"]),
                (late, late["token"]),
            ]
        ]
        codes = [(status, body and body["code"]) for status, body in answers]
        self.assertEqual(codes, [(404, 10062), (204, None), (400, 40060), (404, 10062)])
        lines = json.dumps(self.fake.call("GET", "/_control/record"))
        self.assertIn("/callback", lines)
        self.assertNotIn(press["token"], lines)

    def the_pages_of_a_history_are_newest_first_and_bounded(self):
        ids = [self.fake.say(f"m{n}") for n in range(6)]
        path = f"/channels/{GENERAL}/messages"
        cases = [
            ("newest", "?limit=2", [ids[5], ids[4]]),
            ("after", f"?limit=2&after={ids[1]}", [ids[3], ids[2]]),
            ("before", f"?limit=2&before={ids[3]}", [ids[2], ids[1]]),
            ("around", f"?limit=3&around={ids[2]}", [ids[3], ids[2], ids[1]]),
        ]
        for name, query, wanted in cases:
            with self.subTest(name):
                self.assertEqual([m["id"] for m in self.rest("GET", path + query)[1]], wanted)
        self.assertEqual(self.rest("GET", path + "?limit=101")[0], 400)

    def a_switch_makes_the_token_wrong_or_the_server_unknown(self):
        self.assertEqual(self.rest("GET", "/users/@me", token="another")[0], 401)
        self.fake.switch(no_guild=True)
        self.assertEqual(self.rest("GET", f"/guilds/{GUILD}")[0], 404)
        self.fake.switch(wrong_token=True)
        self.assertEqual(self.rest("GET", "/users/@me")[0], 401)

    def frames(self, intents: int, story):
        async def run():
            async with aiohttp.ClientSession() as http_session:
                async with http_session.ws_connect(self.fake.origin + "/?v=10") as socket:
                    await socket.receive_json()
                    identity = {"token": TOKEN, "intents": intents, "properties": {}}
                    await socket.send_json({"op": 2, "d": identity})
                    return await story(socket)

        return asyncio.run(run())

    def a_content_comes_empty_without_its_intent_unless_the_bot_is_mentioned(self):
        async def story(socket):
            heard = []
            for _ in range(2):
                await socket.receive_json()
            await asyncio.to_thread(self.fake.say, "secret")
            heard.append((await socket.receive_json())["d"]["content"])
            mention = [{"id": BOT}]
            await asyncio.to_thread(lambda: self.fake.say("to you", author=EVE, mentions=mention))
            heard.append((await socket.receive_json())["d"]["content"])
            return heard

        self.assertEqual(self.frames(513, story), ["", "to you"])

    def a_switched_off_intent_closes_with_its_code(self):
        async def story(socket):
            await socket.receive()
            return socket.close_code

        self.fake.switch(content_intent_off=True)
        self.assertEqual(self.frames(513 | CONTENT, story), 4014)


class Parts(unittest.TestCase):
    def a_split_text_is_joined_by_the_rule_alone(self):
        cases = [
            ("one part", ["all of it"], "all of it"),
            ("prose", ["one two ", "three"], "one two three"),
            ("a cut fence", ["```rs\na\n```", "```rs\nb\n```"], "```rs\na\nb\n```"),
            ("two fences of the text's own", ["```\na\n```\n", "```\nb\n```"], "```\na\n```\n```\nb\n```"),
            ("tildes", ["~~~\na\n~~~", "~~~\nb\n~~~ \nc"], "~~~\na\nb\n~~~ \nc"),
            ("three parts", ["```\na\n```", "```\nb\n```", "```\nc\n```"], "```\na\nb\nc\n```"),
        ]
        for name, parts, text in cases:
            with self.subTest(name):
                self.assertEqual(joined(parts), text)

    def an_open_fence_is_seen(self):
        cases = [
            ("```\na", "```"),
            ("```\na\n```", None),
            ("````\n```\n", "````"),
            ("~~~\n```\n", "~~~"),
            ("```a`b", None),
            ("    ```\na", None),
            ("a ``` b", None),
        ]
        for text, marks in cases:
            with self.subTest(text):
                self.assertEqual(open_fence(text), marks)


class Own(Sentences):
    testMethodPrefix = (*Sentences.testMethodPrefix, "content_", "history_")


def main() -> int:
    suite = Own().loadTestsFromModule(sys.modules[__name__])
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    return 0 if result.wasSuccessful() and result.testsRun > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
