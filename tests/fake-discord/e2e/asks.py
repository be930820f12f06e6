"""Asks: the terminal's way to decide them, and the ways in which nobody can be asked."""

import json

from .desk import EDIT, LIST, Desk
from .fake import GENERAL

CHANGED = LIST.replace("wax", "oil")


class Terminal(Desk):
    def the_terminal_lists_shows_and_decides(self):
        seat = self.at_desk().serve()
        self.assertEqual(seat.run_once("asks"), (0, "nothing waits for a permission\n"))
        message, card = self.asked()
        code, said = seat.run_once("asks", "--json")
        self.assertEqual(code, 0, said)
        (about,) = [json.loads(line) for line in said.splitlines()]
        self.assertEqual((about["what"], about["turn"], about["card"]), ("Edit todo.md", message, card["id"]))
        self.assertIn("Ana", about["for"])
        ask = about["ask"]
        self.assertIn(ask, card["content"])
        code, said = seat.run_once("asks", ask)
        self.assertEqual(code, 0, said)
        self.assertIn("-- wax\n+- oil\n", said)
        self.assertIn(about["ask"], said)
        status = json.loads(seat.run_once("status", "--json")[1])
        self.assertIn(ask, json.dumps(status))
        self.assertIn(ask, seat.run_once("status")[1])
        for wrong, code in ((("0" * 16, "--once"), 1), (("nonsense",), 4), ((ask, "--once", "--deny"), 4)):
            self.assertEqual(seat.run_once("asks", *wrong)[0], code, wrong)
        self.unchanged()
        self.without_a_name(seat, ask)
        self.assertEqual(seat.run_once("asks", ask, "--once"), (0, f"{ask}: allowed once\n"))
        self.assertIn("did", self.told(message))
        self.assertEqual(self.todo.read_text(), CHANGED)
        self.assertIn("in the terminal", self.closed(card))
        self.assertEqual(seat.run_once("asks", ask, "--deny")[0], 1, "it is over")
        why = seat.run_once("why", message)[1]
        for words in ("asked for permission: edit", "decided: once by terminal", "begins to change", "tool: edit"):
            self.assertIn(words, why)
        self.assertEqual(seat.terminate(), 0)
        self.assertEqual(seat.run_once("asks"), (0, "nothing waits for a permission\n"))
        code, said = seat.run_once("asks", ask, "--once")
        self.assertEqual(code, 1)
        self.assertIn("nothing runs", said)


    def without_a_name(self, seat, ask: str) -> None:
        """Without a binding all of them are meant, and an ask names its own."""
        here = [seat.program, "asks", "--data-root", seat.root]
        code, said = seat.once([*here, "--json"])
        (about,) = [json.loads(line) for line in said.splitlines()]
        self.assertEqual((code, about["ask"], about["binding"]), (0, ask, "e2e"))
        code, said = seat.once([*here, ask])
        self.assertEqual(code, 0, said)
        self.assertIn("Edit todo.md", said)
        for wrong, wanted in (("0" * 16, 1), ("nobody", 2), ("--once", 4)):
            self.assertEqual(seat.once([*here, wrong])[0], wanted, wrong)


class Unasked(Desk):
    def a_card_that_cannot_be_posted_is_a_no(self):
        seat = self.at_desk().serve()
        self.fake.fault("POST", rf"/channels/{GENERAL}/messages$", status=403,
                        body={"code": 50013, "message": "Missing Permissions"}, times=1)
        message = self.fake.say(EDIT)
        self.assertIn("ask-undelivered", self.told(message))
        self.unchanged()
        self.assertEqual(self.used(seat, message)[0]["reason"], "ask-undelivered")

    def a_brake_that_is_set_by_hand_denies_what_is_open(self):
        seat = self.at_desk().serve()
        message, card = self.asked("create b.md: x")
        (seat.journal / "STOP").write_text("test\n")
        self.assertIn("stopped", self.told(message))
        self.assertIn("stop", self.closed(card).lower())
        self.unchanged()
