"""What tests of tools and asks share: folders to work in, cards, and what people do with them.

In: changes to the binding, who presses or replies. Out: the card as Discord has it, what the presser
was told, the lines of one ask. Never: an ask of which the test does not say how it ends.
"""

from __future__ import annotations

import hashlib
import http.client
import os
from pathlib import Path

from .case import Case
from .desk import calls
from .fake import ANA, BEN
from .model import Script, text
from .native import ModelCase
from .seat import Seat
from .waiting import until

BEFORE = "one\ntwo\nthree\n"
OPERATORS = [
    {"id": ANA, "name": "Ana", "operator": True},
    {"id": BEN, "name": "Ben"},
]
# How a card stands in a channel: while its ask is open, and once it has ended.
OPEN, ENDED = "**Permission needed**", "**Permission was asked**"
# Discord's kinds of answers to a press, and how a reply names what it replies to.
MESSAGE, DEFERRED_UPDATE, REPLY = 4, 6, 19

NOT_DECIDER = "Only an operator of this seat can decide that."
NO_SUCH_ASK = "That button belongs to no request that I know of. Nothing was changed."
ASK_OVER = "That request is over already; nothing was changed by this. Its card says how it ended."
ALLOWED = "That was allowed already, once. Nothing more is needed."
DENIED = "That was denied already."


class AskCase(Case):
    """A seat with a library to read, notes to write, and drafts whose every write is asked for."""

    def setUp(self):
        super().setUp()
        self.library, self.notes, self.drafts = (self.folder / n for n in ("library", "notes", "drafts"))
        for folder in (self.library, self.notes, self.drafts):
            folder.mkdir(mode=0o755)
        self.file = self.drafts / "plan.txt"
        self.file.write_text(BEFORE)

    def roots(self) -> list[dict]:
        return [
            {"name": "library", "path": str(self.library)},
            {"name": "notes", "path": str(self.notes), "write": True},
            {"name": "drafts", "path": str(self.drafts), "write": "ask"},
        ]

    def tooled(self, tools: dict | None = None, **changes) -> Seat:
        """A seat with tools and one operator, not yet started."""
        plain = {"tools": {"roots": self.roots(), **(tools or {})}, "users": OPERATORS}
        return self.seat(**{**plain, **changes})

    # --- asks ----------------------------------------------------------------------------------

    def opened(self, seat: Seat, turn: str, count: int = 1) -> dict:
        """The newest ask of a turn, once so many are there and its card stands."""
        def posted():
            found = [x for x in seat.lines("approvals") if x["k"] == "opened" and x["turn"] == turn]
            return len(found) >= count and self.of_ask(seat, found[-1]["ask"], "posted") and found[-1]

        ask = until(posted, f"a card for the turn {turn}", also=seat.must_run)
        return {**ask, "card": self.of_ask(seat, ask["ask"], "posted")[0]["message"]}

    def of_ask(self, seat: Seat, ask: str, kind: str | None = None) -> list[dict]:
        lines = [x for x in seat.lines("approvals") if x["ask"] == ask]
        return [x for x in lines if kind in (None, x["k"])]

    def asked(self, seat: Seat, words: str = "edit plan.txt: two => 2", **say) -> tuple[str, dict]:
        """Somebody asks for a change, and its card stands: the message, and the ask."""
        message = self.fake.say(words, **say)
        return message, self.opened(seat, message)

    def card(self, ask: dict) -> dict:
        """The card as it stands in Discord now."""
        found = self.fake.call("GET", f"/_control/messages?channel={ask['place']}")
        return next(m for m in found if m["id"] == ask["card"])

    def button(self, ask: dict, word: str) -> str:
        return f"ask:{ask['ask']}:{word}"

    def press(self, ask: dict, word: str = "once", user: str = ANA, **more) -> str:
        """Somebody presses a button of a card; gives the press's id."""
        body = {"channel": ask["place"], "message": ask["card"], "user": user}
        body["custom_id"] = self.button(ask, word)
        return self.fake.call("POST", "/_control/presses", {**body, **more})["id"]

    def told_privately(self, press: str) -> str:
        """What only the presser sees; the answer has to be of that kind."""
        found = self.answer_to(press)
        self.assertEqual(found["answer"], MESSAGE, found)
        self.assertEqual(len(found["said"]), 1, found)
        self.assertTrue(found["said"][0]["private"], "others see it")
        return found["said"][0]["content"]

    def accepted(self, press: str) -> None:
        found = self.answer_to(press)
        self.assertEqual((found["answer"], found["said"]), (DEFERRED_UPDATE, []), found)

    def answer_to(self, press: str) -> dict:
        def answered():
            one = next(p for p in self.presses() if p["id"] == press)
            return one if one["answer"] is not None else None

        return until(answered, "an answer to the press", 10)

    def presses(self) -> list[dict]:
        return self.fake.call("GET", "/_control/presses")

    def reply_to(self, ask: dict, words: str, author: str = ANA) -> str:
        """Somebody replies to a card."""
        channel = ask["place"]
        reference = {"type": 0, "message_id": ask["card"], "channel_id": channel}
        return self.fake.say(words, author=author, channel=channel, type=REPLY, message_reference=reference)

    # --- what must hold ------------------------------------------------------------------------

    def closed(self, seat: Seat, ask: dict, *words: str) -> dict:
        """The card once it says how its ask ended, with no button left."""
        until(lambda: self.of_ask(seat, ask["ask"], "closed"), "a closed ask")
        card = self.card(ask)
        self.assertTrue(card["content"].startswith(f"{ENDED} (ask `{ask['ask']}`)"), card["content"])
        for word in words:
            self.assertIn(word, card["content"])
        self.assertEqual(card["components"], [], "buttons that decide nothing any more")
        return card

    def still_open(self, seat: Seat, ask: dict) -> None:
        kinds = [x["k"] for x in self.of_ask(seat, ask["ask"])]
        self.assertEqual(kinds, ["opened", "posted"])
        card = self.card(ask)
        self.assertTrue(card["content"].startswith(OPEN), card["content"])
        self.assertEqual(len(card["components"]), 1)
        self.unchanged(seat)

    def unchanged(self, seat: Seat) -> None:
        """Nothing was written, and nothing began to be."""
        self.assertEqual(self.file.read_text(), BEFORE)
        self.assertEqual(sorted(x.name for x in self.drafts.iterdir()), ["plan.txt"])
        self.assertEqual(seat.lines("calls"), [])

    def ended(self, seat: Seat, ask: dict) -> dict:
        """The one line that ended an ask."""
        ends = ("decided", "expired", "undelivered", "withdrawn")
        found = [x for x in self.of_ask(seat, ask["ask"]) if x["k"] in ends]
        self.assertEqual(len(found), 1, found)
        return found[0]

    def uses(self, seat: Seat, message: str) -> list[tuple]:
        """Tool, outcome and reason of each call in a turn's record."""
        tools = self.record(seat, message)["tools"]
        return [(t["name"], t["outcome"], t.get("reason")) for t in tools]

    def file_of(self, attachment: dict) -> bytes:
        """What a reader who opens an attachment gets."""
        path = attachment["url"].split("/", 3)[3]
        link = http.client.HTTPConnection(self.fake.address, timeout=30)
        try:
            link.request("GET", "/" + path)
            response = link.getresponse()
            self.assertEqual(response.status, 200)
            return response.read()
        finally:
            link.close()


class AskingModelCase(AskCase, ModelCase):
    """The same, with a model that plays a script."""

    def playing(self, tools: dict | None = None, **changes) -> Seat:
        engine = {"kind": "native", "baseUrl": self.model.base_url, "model": "tiny"}
        return self.tooled(tools, engine=engine, **changes)

    def results(self, number: int = -1) -> list[str]:
        """The results of calls that a request carries, oldest first."""
        messages = self.model.seen[number]["body"]["messages"]
        return [m["content"] for m in messages if m["role"] == "tool"]


def calling(*wanted: tuple, said: str = "") -> Script:
    """A message of a model that calls tools, and says something before."""
    return Script([*([text(said)] if said else []), *calls(*wanted)])


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def pathless(text: str, folder: Path) -> bool:
    """Whether a text names no path of this machine."""
    return str(folder) not in text and os.path.realpath(folder) not in text
