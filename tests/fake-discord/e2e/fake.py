"""The fake as a process of its own, and its control as method calls.

In: ids and switches. Out: what the fake saw. Never: a look into the fake's memory.
"""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import urllib.parse
from pathlib import Path

from .waiting import until

PROGRAM = Path(__file__).resolve().parent.parent / "fake_discord.py"

GUILD = "700000000000000001"
BOT = "800000000000000001"
GENERAL, HELP, ELSEWHERE = "710000000000000001", "710000000000000002", "710000000000000003"
ANA, BEN, EVE = "900000000000000001", "900000000000000002", "900000000000000003"
TOKEN = "fake.token-of-no-bot.zQ7x"


class Fake:
    def __init__(self, folder: Path):
        self.record_path = folder / "record.jsonl"
        users = [{"id": ANA, "name": "Ana"}, {"id": BEN, "name": "Ben"}, {"id": EVE, "name": "Eve"}]
        config = json.dumps({"token": TOKEN, "guild": GUILD, "bot": BOT, "users": users})
        self.process = subprocess.Popen(
            [sys.executable, PROGRAM, "--until-stdin-ends", "--record", self.record_path]
            + ["--config", config],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        about = self.process.stdout.readline()
        assert about, "the fake Discord did not start"
        self.origin = json.loads(about)["origin"]
        self.address = urllib.parse.urlsplit(self.origin).netloc

    def stop(self) -> None:
        self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def call(self, method: str, path: str, body=None):
        link = http.client.HTTPConnection(self.address, timeout=120)
        try:
            link.request(method, path, None if body is None else json.dumps(body))
            response = link.getresponse()
            found = json.loads(response.read())
        finally:
            link.close()
        assert response.status == 200, (path, response.status, found)
        return found

    # --- orders --------------------------------------------------------------------------------

    def say(self, content: str, author=ANA, channel: str = GENERAL, **raw) -> str:
        """Somebody writes; gives the message's id."""
        body = {"channel": channel, "author": author, "content": content, "raw": raw}
        return self.call("POST", "/_control/messages", body)["id"]

    def edit(self, message: str, content: str, channel: str = GENERAL) -> None:
        body = {"channel": channel, "message": message, "content": content}
        self.call("POST", "/_control/edits", body)

    def delete(self, message: str, channel: str = GENERAL) -> None:
        self.call("POST", "/_control/deletes", {"channel": channel, "message": message})

    def repeat(self, message: str, channel: str = GENERAL) -> None:
        self.call("POST", "/_control/repeat", {"channel": channel, "message": message})

    def flood(self, count: int, content: str, author=EVE, channel: str = GENERAL) -> None:
        body = {"channel": channel, "author": author, "content": content, "count": count}
        self.call("POST", "/_control/flood", body)

    def thread(self, parent: str, announce: bool = True) -> str:
        body = {"parent": parent, "name": "a thread", "announce": announce}
        return self.call("POST", "/_control/threads", body)["id"]

    def press(self, card: dict, word: str, user: str, **more) -> dict:
        """Somebody presses a button of a card: `once` or `deny`, or whatever `custom_id` says."""
        rows = card.get("components") or []
        found = [b["custom_id"] for row in rows for b in row["components"]]
        chosen = next((it for it in found if it.endswith(f":{word}")), None)
        body = {"channel": card["channel_id"], "message": card["id"], "user": user}
        made = self.call("POST", "/_control/presses", {**body, "custom_id": chosen, **more})
        return {**made, "custom_id": chosen}

    def answer_to(self, press: dict) -> dict:
        """How the seat answered a press, once it did."""
        mine = lambda: next(p for p in self.call("GET", "/_control/presses") if p["id"] == press["id"])
        return until(lambda: mine()["answer"] is not None and mine(), "an answer to a press")

    def fault(self, method: str, path: str, **more) -> None:
        self.call("POST", "/_control/faults", {"method": method, "path": path, **more})

    def gateway(self, do: str, **more):
        return self.call("POST", "/_control/gateway", {"do": do, **more})

    def switch(self, **switches) -> None:
        self.call("POST", "/_control/switches", switches)

    def card(self, message: str, channel: str = GENERAL) -> dict:
        """The card that a message led to, once it stands with its buttons."""
        def found():
            cards = [m for m in self.replies(message, channel) if m.get("components")]
            return cards and cards[0]
        return until(found, f"a card for {message}")

    def shown(self, card: dict) -> dict:
        """A card as it stands now."""
        channel = card["channel_id"]
        all_of_it = self.call("GET", f"/_control/messages?channel={channel}")
        return next(m for m in all_of_it if m["id"] == card["id"])

    # --- questions -----------------------------------------------------------------------------

    def state(self) -> dict:
        return self.call("GET", "/_control/state")

    def posts(self) -> list:
        """What the bot asked to post, repeats under the same nonce included."""
        return self.call("GET", "/_control/posts")

    def requests(self, method: str, ending: str) -> list:
        lines = self.call("GET", "/_control/record?what=request")
        return [x for x in lines if x["method"] == method and x["path"].endswith(ending)]

    def eyes(self, message: str) -> list:
        """Read receipts on a message."""
        lines = self.call("GET", "/_control/record?what=request")
        mark = f"/messages/{message}/reactions/"
        return [x for x in lines if x["method"] == "PUT" and mark in x["path"]]

    def replies(self, message: str, channel: str = GENERAL) -> list:
        """What stands in the channel as the bot's reply to a message: the first part of each."""
        found = self.call("GET", f"/_control/messages?channel={channel}")
        return [
            x
            for x in found
            if x["author"]["id"] == BOT
            and (x.get("message_reference") or {}).get("message_id") == message
        ]

    def from_bot(self, channel: str = GENERAL) -> list:
        found = self.call("GET", f"/_control/messages?channel={channel}")
        return [x for x in found if x["author"]["id"] == BOT]

    def wait_reply(self, message: str, channel: str = GENERAL, seconds: float = 60) -> dict:
        return until(lambda: self.replies(message, channel), f"a reply to {message}", seconds)[0]
