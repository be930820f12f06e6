"""A seat with files: a shelf that it may read, a desk where each change needs a person.

In: changes to the binding. Out: cards, what became of files, lines about asks and calls. Never: a
file outside the test's own folder.
"""

from __future__ import annotations

import json

from .case import Case
from .fake import ANA, BEN, GENERAL
from .model import Model
from .waiting import until

LIST = "# To do\n\n- wax\n- door\n"
EDIT = "edit todo.md: wax => oil"


class Desk(Case):
    def setUp(self):
        super().setUp()
        self.shelf, self.desk = self.folder / "files" / "shelf", self.folder / "files" / "desk"
        for made in (self.shelf, self.desk):
            made.mkdir(parents=True)
        (self.shelf / "welcome.md").write_text("# Welcome\n\nThe kettle is Ben's.\n")
        self.todo = self.desk / "todo.md"
        self.todo.write_text(LIST)

    def tools(self, **more) -> dict:
        roots = [
            {"name": "shelf", "path": str(self.shelf)},
            {"name": "desk", "path": str(self.desk), "write": "ask"},
        ]
        return {"roots": roots, **more}

    def at_desk(self, **changes):
        """A seat at its desk, not yet started: Ana may ask, Ben decides."""
        users = [{"id": ANA, "name": "Ana"}, {"id": BEN, "name": "Ben", "operator": True}]
        return self.seat(**{"users": users, "tools": self.tools(), **changes})

    def asked(self, text: str = EDIT, channel: str = GENERAL, **raw) -> tuple[str, dict]:
        """Ana asks for a change: her message and the card."""
        message = self.fake.say(text, channel=channel, **raw)
        return message, self.fake.card(message, channel)

    def told(self, message: str, channel: str = GENERAL) -> str:
        """The reply to a message that is no card, once it stands."""
        plain = lambda: [
            m for m in self.fake.replies(message, channel)
            if "ermission" not in m["content"].split("\n")[0]
        ]
        return until(plain, f"an answer to {message}")[0]["content"]

    def closed(self, card: dict) -> str:
        """What a card says once it has no buttons any more."""
        return until(
            lambda: not self.fake.shown(card).get("components") and self.fake.shown(card)["content"],
            "a closed card",
        )

    def once_answered(self, seat, message: str, channel: str = GENERAL) -> None:
        """Exactly one reply beside the card, after everything that could make another."""
        later = self.fake.say("say done", channel=channel)
        self.told(later, channel)
        replies = [m for m in self.fake.replies(message, channel) if "ermission" not in m["content"]]
        self.assertEqual(len(replies), 1, replies)

    def unchanged(self) -> None:
        self.assertEqual(self.todo.read_text(), LIST)
        self.assertEqual(sorted(p.name for p in self.desk.iterdir() if p.name != ".git"), ["todo.md"])

    def kinds(self, seat, name: str) -> list[str]:
        return [line["k"] for line in seat.lines(name)]

    def used(self, seat, message: str) -> list[dict]:
        return self.record(seat, message)["tools"]


class ModelledDesk(Desk):
    def setUp(self):
        super().setUp()
        self.model = Model()
        self.addCleanup(self.model.stop)

    def modelled_desk(self, **changes):
        engine = {"kind": "native", "baseUrl": self.model.base_url, "model": "tiny"}
        return self.at_desk(engine=engine, **changes)

    def results(self, number: int = -1) -> list[str]:
        """What the tools of the last step gave back to the model."""
        messages = self.model.seen[number]["body"]["messages"]
        last = max(i for i, m in enumerate(messages) if m["role"] == "assistant")
        return [m["content"] for m in messages[last + 1:] if m["role"] == "tool"]


def calls(*wanted: tuple[str, dict | str]) -> list:
    """Deltas of one step that calls tools."""
    from .model import chunk, end

    made = []
    for index, (name, arguments) in enumerate(wanted):
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        call = {"index": index, "id": f"call-{index}-{abs(hash((name, text))) % 10**9}", "type": "function"}
        made.append(chunk({"tool_calls": [{**call, "function": {"name": name, "arguments": text}}]}))
    return [*made, *end(reason="tool_calls")]
