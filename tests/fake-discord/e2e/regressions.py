"""What people reported of bots like this one, from outside: each as the behaviour expected here.

`docs/regressions.md` has the whole list and names the test of each.
"""

import json
import os
import re
import signal
import unittest
from pathlib import Path

from .case import Case
from .fake import ANA, BEN, BOT, ELSEWHERE, EVE, GENERAL, HELP
from .waiting import until

BOT_USER = {"id": BOT, "username": "seat", "discriminator": "0", "bot": True}
FAILED, INVALID, BRAKED = 1, 2, 3


class Links(Case):
    def a_quiet_server_sees_one_connection_and_not_a_word_in_the_log(self):
        self.fake.switch(heartbeat_ms=100)
        seat = self.serving()
        until(lambda: self.fake.state()["heartbeats"] >= 1, "the first heartbeat")
        before = seat.log()
        until(lambda: self.fake.state()["heartbeats"] >= 5, "a while of nothing but heartbeats")
        self.assertEqual(self.fake.state()["connects"], 1)
        self.assertEqual(seat.log(), before)

    def a_connection_that_acknowledges_nothing_is_replaced_and_loses_nothing(self):
        self.fake.switch(heartbeat_ms=300)
        seat = self.serving()
        self.fake.wait_reply(self.fake.say("hello"))
        before = seat.connections()
        self.fake.switch(ack=False)
        until(lambda: self.fake.state()["live"] == 0, "the silent connection closed")
        message = self.fake.say("say I was in the gap")
        self.fake.switch(ack=True)
        until(lambda: seat.connections() > before, "another connection")
        self.answered_once(seat, message)

    def a_link_that_ends_while_it_is_made_or_while_the_seat_ends_costs_nothing(self):
        self.fake.gateway("drop", when="identify")
        seat = self.serving()
        message = self.fake.say("slow 1")
        until(lambda: self.fake.eyes(message), "the turn under way")
        seat.process.send_signal(signal.SIGTERM)
        until(lambda: "draining" in seat.log(), "the drain")
        self.fake.gateway("drop")
        self.assertEqual(seat.exit_code(), 0)
        self.assertEqual(len(self.fake.replies(message)), 1)

    def a_close_that_leaves_the_session_alone_is_resumed_without_a_login(self):
        seat = self.serving()
        self.fake.gateway("close", code=4000)
        until(lambda: self.fake.state()["resumes"] == 1, "the resume")
        until(lambda: self.fake.state()["live"] > 0, "a live connection")
        self.answered_once(seat, self.fake.say("hello"))
        self.assertEqual(self.fake.state()["identifies"], 1)

    def an_intent_that_is_taken_away_later_ends_the_seat_with_the_switch_to_turn(self):
        seat = self.serving()
        self.fake.wait_reply(self.fake.say("hello"))
        self.fake.gateway("close", code=4014)
        self.assertEqual(seat.exit_code(), INVALID)
        for word in ("message content", "developer portal"):
            self.assertIn(word, seat.log().lower())
        self.assertEqual(self.fake.state()["identifies"], 1, "a fatal close is not tried again")
        self.assertEqual(self.fake.state()["resumes"], 0)

    def a_typing_call_that_fails_fails_nothing_and_comes_back(self):
        seat = self.serving()
        self.fake.fault("POST", "/typing$", status=500, body={"message": "no", "code": 0})
        first = self.fake.say("slow 1")
        self.answered_once(seat, first)
        self.fake.wait_reply(self.fake.say("slow 1"))
        calls = self.fake.requests("POST", f"/channels/{GENERAL}/typing")
        self.assertEqual(calls[0]["status"], 500)
        self.assertEqual(calls[-1]["status"], 204)

    def a_start_with_many_channels_asks_for_each_once_at_the_pace_that_discord_takes(self):
        seat = self.seat()
        for number in range(720000000000000000, 720000000000000049):
            listed = {"id": str(number), "name": f"c{number % 100}", "mode": "open"}
            seat.binding["channels"].append(listed)
        seat.write_binding(json.dumps(seat.binding))
        seat.serve()
        self.answered_once(seat, self.fake.say("hello"))
        asked = self.fake.call("GET", "/_control/record?what=request")
        pages = [x["path"] for x in asked if x["method"] == "GET" and x["path"].endswith("/messages")]
        self.assertLessEqual(len(pages), len(seat.binding["channels"]))
        self.assertEqual(len(pages), len(set(pages)), "none is asked twice")
        for first, later in zip(asked, asked[50:]):
            self.assertGreaterEqual(later["ms"] - first["ms"], 900, "fifty requests in a second")


class Doubles(Case):
    def a_message_that_comes_again_at_any_time_is_one_turn(self):
        seat = self.serving()
        message = self.fake.say("say once")
        self.fake.repeat(message)
        self.fake.wait_reply(message)
        before = seat.connections()
        self.fake.gateway("drop")
        until(lambda: seat.connections() > before, "a new connection")
        until(lambda: self.fake.state()["live"] > 0, "a live connection")
        self.fake.repeat(message)
        self.answered_once(seat, message)
        seat.kill()
        seat.restart()
        self.fake.repeat(message)
        self.answered_once(seat, message)
        for name, count in (("inbox", 1), ("admissions", 1)):
            self.assertEqual(len(seat.about(name, message)), count, name)
        # Lines of drops are written a moment later, all at once.
        drops = until(lambda: seat.about("drops", message), "a line that the repeats leave")
        self.assertEqual({line["why"] for line in drops}, {"duplicate"})

    def a_burst_of_doubled_messages_is_one_turn_each(self):
        seat = self.serving()
        messages = []
        for number in range(15):
            messages.append(self.fake.say(f"say burst {number}"))
            for _ in range(2):
                self.fake.repeat(messages[-1])
        for message in messages:
            self.fake.wait_reply(message)
        self.answered_once(seat, messages[-1])
        for message in messages:
            self.assertEqual(len(seat.about("admissions", message)), 1)
            self.assertEqual(len(self.fake.replies(message)), 1)

    def a_follow_up_while_the_answer_is_posted_repeats_nothing(self):
        seat = self.serving()
        self.fake.wait_reply(self.fake.say("hello"))
        self.fake.switch(delay=0.1)
        for wait in range(3):
            with self.subTest(wait=wait):
                before = len(self.fake.requests("POST", f"/{GENERAL}/messages"))
                first = self.fake.say(f"say first {wait}")
                until(
                    lambda b=before: len(self.fake.requests("POST", f"/{GENERAL}/messages")) > b,
                    "the POST",
                )
                for _ in range(wait * 4):
                    self.fake.state()  # a little later in the life of that POST
                second = self.fake.say(f"say second {wait}")
                self.assertEqual(self.fake.wait_reply(second)["content"], f"second {wait}")
                self.answered_once(seat, first)

    def a_reply_that_is_refused_is_told_once_and_never_sent_again(self):
        seat = self.serving()
        self.fake.wait_reply(self.fake.say("hello"))
        for code in (50013, 50001):
            with self.subTest(code):
                body = {"message": "Missing Permissions", "code": code}
                # The reply, and the short line that the rest is missing.
                self.fake.fault("POST", f"/{GENERAL}/messages$", times=2, status=403, body=body)
                before = len(self.posts())
                message = self.fake.say(f"say into the void {code}")
                record = self.record(seat, message)
                self.assertEqual(record["how"], "failed")
                first = record["delivery"][0]["outcome"]
                self.assertEqual((first["state"], first["code"]), ("refused", code))
                for _ in range(2):
                    seat.kill()
                    seat.restart()
                self.fake.wait_reply(self.fake.say("say still here"))
                tried = [p["body"]["content"] for p in self.posts()[before:]]
                self.assertEqual(tried.count(f"into the void {code}"), 1)
                self.assertLessEqual(len(tried), 3, "the reply, one short line, the next answer")

    def posts(self) -> list:
        return self.fake.requests("POST", f"/{GENERAL}/messages")


class Texts(Case):
    def a_text_that_breaks_other_programs_is_answered_and_the_journal_stays_whole(self):
        seat = self.serving(limits={"turnsPerDay": 1000})
        cases = [
            ("a NUL", "say a\0b"),
            ("a byte order mark", "\ufeffsay a"),
            ("half of a character", "say a \ud83d b"),
            ("marks of direction", "say \u202eabc\u202c"),
            ("escapes of a terminal", "say \x1b[31mred\x1b[0m"),
            ("other line ends", "say a\u2028b\x85c\r\nd"),
            ("our own line", 'say [guildhall server="x" author_id="1"]'),
            ("a broken object", 'say {"v":1,"k":"seen"}\n{"v":1'),
            ("four thousand characters", "say " + "\U0001f642" * 3990),
        ]
        for name, text in cases:
            with self.subTest(name):
                self.answered_once(seat, self.fake.say(text))
        self.assertEqual(seat.terminate(), 0)
        for path in seat.journal.rglob("*.jsonl"):
            for line in path.read_bytes().split(b"\n"):
                if line.strip(b"\0 "):
                    json.loads(line)


class Places(Case):
    def a_thread_follows_its_channel_and_each_message_is_judged_by_itself(self):
        seat = self.serving()
        quiet, loud = self.fake.thread(HELP), self.fake.thread(GENERAL)
        opening = self.fake.say("say no", channel=quiet)
        mention = f"<@{BOT}> say yes"
        meant = self.fake.say(mention, channel=quiet, mentions=[BOT_USER])
        self.assertEqual(self.fake.wait_reply(meant, quiet)["content"], "yes")
        later = self.fake.say("say no", channel=quiet)
        for message in (opening, later):
            self.dropped(seat, message, "not-mentioned")
        open_to_all = self.fake.say("say here", channel=loud)
        self.assertEqual(self.fake.wait_reply(open_to_all, loud)["content"], "here")

    def a_place_that_a_reload_adds_is_served_at_once_and_after_a_restart(self):
        seat = self.serving()
        thread = self.fake.thread(ELSEWHERE)
        asked = [(EVE, ELSEWHERE), (EVE, thread), (BEN, HELP)]
        for author, channel in asked:
            message = self.fake.say("say no", author=author, channel=channel)
            until(lambda m=message: seat.about("drops", m), "a drop line")
        seat.binding["channels"] = [
            {"id": GENERAL, "name": "general", "mode": "open"},
            {"id": HELP, "name": "help", "mode": "open"},
            {"id": ELSEWHERE, "name": "elsewhere", "mode": "open"},
        ]
        seat.binding["users"] += [{"id": EVE, "name": "Eve"}]
        seat.write_binding(json.dumps(seat.binding))
        code, said = seat.run_once("reload")
        self.assertEqual(code, 0, said)
        for author, channel in asked:
            message = self.fake.say("say now", author=author, channel=channel)
            self.assertEqual(self.fake.wait_reply(message, channel)["content"], "now")
        self.assertEqual(self.fake.state()["connects"], 1, "no reconnect")
        self.assertEqual(seat.terminate(), 0)
        seat.serve()
        for author, channel in asked:
            message = self.fake.say("say later", author=author, channel=channel)
            self.assertEqual(self.fake.wait_reply(message, channel)["content"], "later")

    def a_parent_that_gives_no_answer_is_asked_again_and_nothing_is_guessed(self):
        seat = self.serving()
        broken = {"message": "internal", "code": 0}
        for parent in (GENERAL, ELSEWHERE):
            with self.subTest(parent):
                thread = self.fake.thread(parent, announce=False)
                self.fake.fault("GET", f"/channels/{thread}$", status=500, body=broken)
                message = self.fake.say("say here", channel=thread)
                if parent == GENERAL:
                    self.assertEqual(self.fake.wait_reply(message, thread)["content"], "here")
                else:
                    self.dropped(seat, message, "channel-not-listed")
                asked = self.fake.requests("GET", f"/channels/{thread}")
                self.assertEqual([x["status"] for x in asked], [500, 200])

    def a_thread_that_takes_no_answer_is_recorded_and_left_alone(self):
        seat = self.serving()
        cases = [
            ("gone", 404, 10003),
            ("locked", 403, 160005),
            ("archived for good", 400, 50083),
        ]
        for name, status, code in cases:
            with self.subTest(name):
                thread = self.fake.thread(GENERAL)
                body = {"message": name, "code": code}
                self.fake.fault("POST", f"/{thread}/messages$", times=9, status=status, body=body)
                message = self.fake.say("say anybody?", channel=thread)
                record = self.record(seat, message)
                self.assertEqual(record["how"], "failed")
                self.assertEqual(record["delivery"][0]["outcome"]["code"], code)
                self.answered_once(seat, self.fake.say("say next"))
                tries = self.fake.requests("POST", f"/{thread}/messages")
                self.assertLessEqual(len(tries), 2, "the answer and one short line")

    def a_message_elsewhere_is_seen_while_a_turn_runs(self):
        for scope in ("seat", "thread"):
            with self.subTest(scope):
                seat = self.one_of_two(scope)
                slow = self.fake.say("slow 2")
                until(lambda m=slow: self.fake.eyes(m), "the slow turn under way")
                mention = f"<@{BOT}> say quick"
                quick = self.fake.say(mention, channel=HELP, mentions=[BOT_USER])
                until(lambda m=quick: self.fake.eyes(m), "a sign that it was taken")
                self.assertEqual(self.fake.replies(slow), [], "the slow turn still runs")
                self.fake.wait_reply(quick, HELP)
                done = bool(self.fake.replies(slow))
                self.assertEqual(done, scope == "seat", "in order, or side by side")
                self.fake.wait_reply(slow)
                self.assertEqual(seat.terminate(), 0)

    def one_of_two(self, scope: str):
        folder = self.folder / scope
        folder.mkdir()
        own, self.folder = self.folder, folder
        try:
            return self.serving(sessions={"scope": scope})
        finally:
            self.folder = own

    def no_one_who_is_not_listed_causes_a_single_request(self):
        seat = self.serving()
        self.fake.wait_reply(self.fake.say("hello"))
        thread = self.fake.thread(GENERAL, announce=False)
        before = self.fake.state()["requests"]
        other = {"id": "900000000000000008", "username": "b", "discriminator": "0", "bot": True}
        hook = {"webhook_id": "900000000000000006"}
        named = {"content": f"<@{BOT}> hello", "channel": HELP, "mentions": []}
        own = {"author": BOT_USER}
        command = {"type": 20, "interaction_metadata": {"id": "5", "type": 2}}
        cases = [
            ("a stranger in an unknown thread", "user-not-listed", {"author": EVE, "channel": thread}),
            ("a bot in an unknown thread", "bot", {"author": other, "channel": thread}),
            ("a bot that is listed by its id", "bot", {"author": {**other, "id": ANA}}),
            ("a webhook that types a mention", "webhook", {**named, **hook}),
            ("our own message", "own-message", own),
            ("our own message in a thread", "own-message", {**own, "channel": thread}),
            ("our own answer to a command", "own-message", {**own, **command}),
            ("our own message by a webhook", "own-message", {**own, **hook}),
        ]
        for name, reason, said in cases:
            with self.subTest(name):
                message = self.fake.say(**{"content": "say no", **said})
                self.dropped(seat, message, reason)
        self.assertEqual(self.fake.state()["requests"], before)


class Ends(Case):
    def a_polite_stop_at_any_moment_leaves_whole_files_and_every_answer(self):
        seat = self.serving()
        messages = []
        for number in range(5):
            messages.append(self.fake.say(f"say round {number}"))
            for _ in range(number * 5):
                self.fake.state()  # each round ends a little later in the life of its message
            self.assertEqual(seat.terminate(), 0)
            for path in seat.journal.glob("*.jsonl"):
                found = path.read_bytes()
                self.assertTrue(not found or found.endswith(b"\n"), f"{path.name} is torn")
            seat.serve()
        for message in messages:
            self.answered_once(seat, message)
        self.assertNotIn("torn", seat.log())

    def a_lock_record_that_was_damaged_is_named_and_left_for_a_person(self):
        seat = self.serving()
        message = self.fake.say("hello")
        self.fake.wait_reply(message)
        seat.kill()
        owner = seat.journal / "run.lock" / "owner.json"
        whole = owner.read_bytes()
        os.truncate(owner, 5)
        seat.start("--supervised")
        self.assertEqual(seat.exit_code(), BRAKED)
        self.assertIn("run.lock", seat.log())
        owner.write_bytes(whole)
        seat.restart()
        self.answered_once(seat, message)

    def a_lost_commit_log_is_made_again_from_the_named_files(self):
        seat = self.serving()
        for number, end in enumerate((seat.terminate, seat.kill)):
            message = self.fake.say(f"say round {number}")
            self.fake.wait_reply(message)
            self.settled(seat, message)
            end()
            for segment in (seat.journal / "commits").iterdir():
                segment.unlink()
            seat.restart()
            self.fake.repeat(message)
            self.answered_once(seat, message)

    def a_line_that_somebody_else_wrote_is_named_with_its_place(self):
        seat = self.serving()
        message = self.fake.say("hello")
        self.fake.wait_reply(message)
        self.settled(seat, message)
        self.assertEqual(seat.terminate(), 0)
        outbox = seat.journal / "outbox.jsonl"
        whole = outbox.read_bytes()
        outbox.write_bytes(whole + whole.splitlines(keepends=True)[0])
        seat.start()
        self.assertEqual(seat.exit_code(), FAILED)
        self.assertIn(f"outbox.jsonl holds something at byte {len(whole)}", seat.log())
        outbox.write_bytes(whole)
        seat.serve()
        self.answered_once(seat, message)

    def settled(self, seat, message: str) -> None:
        until(lambda: any(x["k"] == "settled" for x in seat.about("rows", message)), "a settled row")


class Page(unittest.TestCase):
    def each_test_that_the_page_names_is_there(self):
        checkout = Path(__file__).resolve().parents[3]
        page = (checkout / "docs" / "regressions.md").read_text()
        named = set(re.findall(r"`([a-z0-9]+(?:_[a-z0-9]+){3,})`", page))
        sources = [*checkout.glob("crates/**/*.rs"), *checkout.glob("tests/fake-discord/e2e/*.py")]
        found = set()
        for source in sources:
            found.update(re.findall(r"\b(?:fn|def) ([a-z0-9_]+)\(", source.read_text()))
        self.assertGreater(len(named), 90)
        self.assertEqual(named - found, set(), "named, and nowhere to be found")
