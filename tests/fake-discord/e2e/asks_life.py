"""What happens to an open ask when the world changes: the file, the binding, the process."""

import json
import os

from .asking import ASK_OVER, BEFORE, NOT_DECIDER, OPERATORS, AskCase
from .fake import ANA, BEN
from .waiting import until

AFTER = "one\n2\nthree\n"
INTERRUPTED = "I was interrupted while I worked on this, so there is no answer."


class LifeCase(AskCase):
    def settled(self, seat, message: str) -> dict:
        until(lambda: [x for x in seat.about("rows", message) if x["k"] == "settled"], "a settled row")
        return self.record(seat, message)

    def replied_once(self, message: str, ask: dict) -> str:
        """The one reply to the message that asked, beside the card."""
        def others():
            return [m["content"] for m in self.fake.replies(message) if m["id"] != ask["card"]]

        until(others, "a reply")
        later = self.fake.say("say done")
        self.fake.wait_reply(later)
        self.assertEqual(len(others()), 1, others())
        return others()[0]

    def told_of_the_end(self, seat, reply: str) -> None:
        """A word that comes too late gets its fixed line and is no turn."""
        said = until(lambda: self.fake.replies(reply), "the line")
        self.assertEqual([m["content"] for m in said], [ASK_OVER])
        self.assertEqual(seat.about("rows", reply), [], "the word became a turn")


class Targets(LifeCase):
    """A decision is about the very file that the card was about."""

    def each_change_of_the_target_while_it_was_asked_for_is_a_named_refusal(self):
        self.outside = self.folder / "outside.txt"
        self.outside.write_text(BEFORE)
        cases = [
            ("written over", lambda f: f.write_text("one\ntwo\nfour\n"), "changed-since-read"),
            ("one byte more", lambda f: f.write_text(BEFORE + "x"), "changed-since-read"),
            ("another file with the same text", self.replace, "changed-since-read"),
            ("gone", lambda f: f.unlink(), "changed-since-read"),
            ("a link", self.link, "symlink"),
            ("a second name", lambda f: os.link(f, f.parent.parent / "second"), "hard-link"),
            ("a folder", self.folder_instead, "not-regular"),
            ("its folder moved away", lambda f: f.parent.rename(self.drafts / "moved"), "parent-moved"),
            ("its folder is another", self.other_folder, "parent-moved"),
            ("its folder is a link", self.folder_link, "symlink"),
        ]
        seat = self.tooled().serve()
        for number, (name, change, reason) in enumerate(cases):
            with self.subTest(name):
                inside = self.drafts / f"in{number}"
                inside.mkdir(mode=0o755)
                target = inside / "plan.txt"
                target.write_text(BEFORE)
                message, ask = self.asked(seat, f"edit in{number}/plan.txt: two => 2")
                change(target)
                before = self.pictured()
                self.accepted(self.press(ask))
                self.settled(seat, message)
                self.assertEqual(self.uses(seat, message), [("edit", "refused", reason)])
                self.assertEqual(self.pictured(), before, "something was written")
                lines = seat.about("calls", message)
                self.assertEqual([(x["k"], x.get("why")) for x in lines], [("begun", None), ("refused", reason)])
                self.closed(seat, ask, f"Allowed once by `Ana`, and not done: `{reason}`.")
                self.assertIn(f"{reason}: ", self.fake.replies(message)[-1]["content"])
                self.assertEqual(self.outside.read_text(), BEFORE)

    def pictured(self) -> list:
        """Every file of the drafts, with its text."""
        found = sorted(p for p in self.drafts.rglob("*") if p.is_file())
        return [(str(p), p.read_bytes()) for p in found]

    def replace(self, file) -> None:
        beside = file.with_name("beside")
        beside.write_text(BEFORE)
        os.replace(beside, file)

    def link(self, file) -> None:
        file.unlink()
        file.symlink_to(self.outside)

    def folder_instead(self, file) -> None:
        file.unlink()
        file.mkdir()

    def other_folder(self, file) -> None:
        file.parent.rename(self.drafts / "was")
        file.parent.mkdir()
        file.write_text(BEFORE)

    def folder_link(self, file) -> None:
        away = self.folder / "away"
        file.parent.rename(away)
        file.parent.symlink_to(away)

    def a_file_that_came_to_be_meanwhile_is_not_replaced(self):
        seat = self.tooled().serve()
        message, ask = self.asked(seat, "create new.txt: mine")
        (self.drafts / "new.txt").write_text("theirs")
        self.accepted(self.press(ask))
        self.settled(seat, message)
        self.assertEqual((self.drafts / "new.txt").read_text(), "theirs")
        self.assertEqual(self.uses(seat, message), [("create", "refused", "exists")])
        self.closed(seat, ask, "not done: `exists`")

    def a_root_that_was_exchanged_meanwhile_is_not_written_to(self):
        seat = self.tooled().serve()
        message, ask = self.asked(seat)
        self.drafts.rename(self.folder / "old")
        self.drafts.mkdir(mode=0o755)
        self.file.write_text(BEFORE)
        self.accepted(self.press(ask))
        self.settled(seat, message)
        self.assertEqual(self.uses(seat, message), [("edit", "refused", "root-replaced")])
        for folder in (self.drafts, self.folder / "old"):
            self.assertEqual((folder / "plan.txt").read_text(), BEFORE)
            self.assertEqual(len(list(folder.iterdir())), 1)


class Bindings(LifeCase):
    def a_reload_that_takes_the_writes_away_wins_over_a_decision(self):
        library, notes, drafts = self.roots()
        plain = {k: v for k, v in drafts.items() if k != "write"}
        cases = [
            ("the write", {"tools": {"roots": [library, notes, plain]}}),
            ("the root", {"tools": {"roots": [library, notes]}}),
            ("all tools", {"tools": None}),
        ]
        seat = self.tooled()
        binding = seat.binding
        for name, change in cases:
            with self.subTest(name):
                seat.write_binding(json.dumps(binding))
                seat.serve()
                message, ask = self.asked(seat)
                changed = {k: v for k, v in {**binding, **change}.items() if v is not None}
                seat.write_binding(json.dumps(changed))
                self.assertEqual(seat.run_once("reload")[0], 0)
                self.accepted(self.press(ask))
                self.settled(seat, message)
                self.unchanged(seat)
                (use,) = self.uses(seat, message)
                self.assertEqual(use[1], "refused")
                self.assertIn(use[2], ("root-readonly", "unknown-root", "not-offered"))
                self.closed(seat, ask, f"Allowed once by `Ana`, and not done: `{use[2]}`.")
                (line,) = self.of_ask(seat, ask["ask"], "refused")
                self.assertEqual(line["why"], use[2])
                self.assertEqual(seat.terminate(), 0)

    def an_operator_who_is_none_any_more_decides_nothing_and_a_new_one_does(self):
        seat = self.tooled().serve()
        message, ask = self.asked(seat, author=BEN)
        users = [{"id": ANA, "name": "Ana"}, {"id": BEN, "name": "Ben", "operator": True}]
        seat.write_binding(json.dumps({**seat.binding, "users": users}))
        self.assertEqual(seat.run_once("reload")[0], 0)
        self.assertEqual(self.told_privately(self.press(ask)), NOT_DECIDER)
        reply = self.reply_to(ask, "once")
        said = until(lambda: self.fake.replies(reply), "the line")
        self.assertEqual([m["content"] for m in said], [NOT_DECIDER])
        self.still_open(seat, ask)
        self.accepted(self.press(ask, "once", BEN))
        self.settled(seat, message)
        self.closed(seat, ask, "Allowed once by `Ben`, and done.")
        self.assertEqual(self.file.read_text(), AFTER)

    def an_operator_who_is_not_listed_any_more_decides_nothing(self):
        seat = self.tooled().serve()
        message, ask = self.asked(seat, author=BEN)
        seat.write_binding(json.dumps({**seat.binding, "users": [OPERATORS[1]]}))
        self.assertEqual(seat.run_once("reload")[0], 0)
        self.assertEqual(self.told_privately(self.press(ask)), NOT_DECIDER)
        self.dropped(seat, self.reply_to(ask, "once"), "user-not-listed")
        self.still_open(seat, ask)
        # Nobody on Discord may decide now; the machine's own terminal may.
        self.assertEqual(seat.run_once("asks", ask["ask"], "--deny")[0], 0)
        self.settled(seat, message)
        self.closed(seat, ask, "Denied in the terminal.")


class Processes(LifeCase):
    def a_kill_while_an_ask_is_open_voids_it_and_the_message_gets_its_one_line(self):
        seat = self.tooled().serve()
        message, ask = self.asked(seat)
        seat.kill()
        seat.restart()
        self.assertTrue(self.replied_once(message, ask).startswith(INTERRUPTED))
        self.assertEqual(self.settled(seat, message)["how"], "interrupted")
        self.closed(seat, ask, "Expired: ", "nothing was done")
        self.assertEqual([x["k"] for x in self.of_ask(seat, ask["ask"])], ["opened", "posted", "expired", "closed"])
        for press in [self.press(ask, word, stale=True) for word in ("once", "deny", "once")]:
            self.assertEqual(self.told_privately(press), ASK_OVER)
        self.told_of_the_end(seat, self.reply_to(ask, "once"))
        self.unchanged(seat)

    def a_word_that_was_given_while_nothing_ran_decides_nothing(self):
        seat = self.tooled().serve()
        message, ask = self.asked(seat)
        seat.kill()
        press = self.press(ask)
        reply = self.reply_to(ask, "once")
        seat.restart()
        self.assertTrue(self.replied_once(message, ask).startswith(INTERRUPTED))
        self.closed(seat, ask, "Expired: ")
        self.assertEqual([x["k"] for x in self.of_ask(seat, ask["ask"])], ["opened", "posted", "expired", "closed"])
        self.told_of_the_end(seat, reply)
        found = next(p for p in self.presses() if p["id"] == press)
        self.assertIn([x["content"] for x in found["said"]], ([], [ASK_OVER]))
        self.unchanged(seat)

    def kills_at_many_moments_around_a_decision_leave_a_file_and_a_card_that_agree(self):
        seat = self.tooled().serve()
        outcomes = set()
        for number in range(16):
            with self.subTest(number):
                self.file.write_text(BEFORE)
                message, ask = self.asked(seat)
                self.press(ask)
                # Each round is killed a little later in the life of its decision.
                for _ in range(number):
                    self.fake.state()
                seat.kill()
                seat.restart()
                self.settled(seat, message)
                self.replied_once(message, ask)
                card = self.closed(seat, ask)["content"].split("\n")[-1]
                outcomes.add(self.agrees(seat, message, self.ended(seat, ask)["k"], card))
                left = [p.name for p in self.drafts.iterdir() if p.name != "plan.txt"]
                self.assertEqual(left, [], "what a dead process began to write stays")
        self.assertGreater(len(outcomes), 1, outcomes)

    def agrees(self, seat, message: str, ended: str, card: str) -> tuple:
        """The file, the lines of the call and the card say the same; gives which case it is."""
        kinds = tuple(x["k"] for x in seat.about("calls", message))
        text = self.file.read_text()
        wanted = {
            ("expired", (), BEFORE): "Expired",
            ("decided", (), BEFORE): "not carried out",
            ("decided", ("begun", "done"), AFTER): "and done",
            ("decided", ("begun", "unknown"), BEFORE): "not known",
        }
        found = (ended, kinds, text)
        self.assertIn(found, wanted)
        self.assertIn(wanted[found], card)
        return found

    def a_polite_end_denies_what_is_open_and_the_turn_ends_with_its_answer(self):
        seat = self.tooled().serve()
        message, ask = self.asked(seat)
        queued = self.fake.say("say later")
        until(lambda: seat.about("rows", queued), "it waits")
        self.assertEqual(seat.terminate(), 0)
        self.unchanged(seat)
        self.assertEqual(self.ended(seat, ask)["answer"], "stopped")
        self.assertEqual(self.uses(seat, message), [("edit", "refused", "stopped")])
        seat.serve()
        self.assertIn("stopped: ", self.replied_once(message, ask))
        self.closed(seat, ask, "A stop denied it.")
        self.assertEqual(self.fake.wait_reply(queued)["content"], "later")
        self.unchanged(seat)

    def a_stop_denies_what_is_open_and_the_seat_ends(self):
        seat = self.tooled().serve()
        message, ask = self.asked(seat)
        code, said = seat.run_once("stop")
        self.assertEqual(code, 0, said)
        self.assertIn(seat.exit_code(), (0, 3))
        self.unchanged(seat)
        self.assertEqual(self.ended(seat, ask)["answer"], "stopped")
        self.assertEqual(self.uses(seat, message), [("edit", "refused", "stopped")])
        self.assertIn("stopped: ", self.fake.replies(message)[-1]["content"])
        (seat.journal / "STOP").unlink()
        seat.serve()
        self.closed(seat, ask, "A stop denied it.")
        self.replied_once(message, ask)

    def an_emergency_stop_ends_the_turn_that_asks_and_nothing_more_is_asked(self):
        seat = self.tooled().serve()
        message, ask = self.asked(seat)
        queued = self.fake.say("edit plan.txt: three => 3")
        until(lambda: seat.about("rows", queued), "it waits")
        estop = [seat.program, "estop", "--data-root", seat.root]
        code, said = seat.once([*estop, "--why", "a test"])
        self.assertEqual(code, 0, said)
        self.closed(seat, ask)
        self.settled(seat, message)
        self.assertIn("emergency stop", self.fake.replies(message)[-1]["content"])
        self.assertEqual(self.ended(seat, ask)["answer"], "stopped")
        self.assertEqual(self.told_privately(self.press(ask, stale=True)), "A stop denied that.")
        self.assertEqual(len([x for x in seat.lines("approvals") if x["k"] == "opened"]), 1)
        self.unchanged(seat)
        code, said = seat.once([*estop, "--release", "--yes"])
        self.assertEqual(code, 0, said)
        second = self.opened(seat, queued)
        self.accepted(self.press(second, "deny"))
        self.settled(seat, queued)
        self.unchanged(seat)
