"""Kill it anywhere: after the restart a message has exactly one reply or one fixed line."""

import signal

from .case import Case
from .fake import GENERAL
from .waiting import until


class Crashes(Case):
    def settled_once(self, seat, message: str, rounds: int = 1) -> dict:
        """One post of the bot for the message, and the row settled."""
        reply = self.answered_once(seat, message)
        until(lambda: any(x["k"] == "settled" for x in seat.about("rows", message)), "a settled row")
        return reply

    def a_kill_in_mid_turn_gives_one_fixed_line(self):
        seat = self.serving()
        message = self.fake.say("slow 20")
        until(lambda: self.fake.eyes(message), "the turn under way")
        seat.kill()
        seat.restart()
        reply = self.settled_once(seat, message)
        self.assertNotIn("That took", reply["content"])
        self.assertIn("interrupted", seat.turn(message).read_text())

    def a_kill_before_the_turn_starts_loses_nothing(self):
        seat = self.serving()
        slow = self.fake.say("slow 20")
        until(lambda: self.fake.eyes(slow), "the turn under way")
        waiting = self.fake.say("say I waited")
        until(lambda: seat.about("inbox", waiting), "the message taken")
        seat.kill()
        seat.restart()
        self.settled_once(seat, slow)
        self.assertEqual(self.settled_once(seat, waiting)["content"], "I waited")

    def a_kill_while_the_answer_is_on_its_way_posts_it_once(self):
        cases = [
            ("before Discord saw it", {"delay": 30.0}),
            ("after Discord took it", {"lose": True}),
            ("refused for now", {"status": 503, "body": {"message": "later", "code": 0}}),
        ]
        seat = self.serving()
        for number, (name, fault) in enumerate(cases):
            with self.subTest(name):
                self.fake.fault("POST", "/messages$", **fault)
                before = len(self.fake.requests("POST", f"/{GENERAL}/messages"))
                message = self.fake.say(f"say answer {number}")
                until(
                    lambda b=before: len(self.fake.requests("POST", f"/{GENERAL}/messages")) > b,
                    "the POST",
                )
                seat.kill()
                seat.restart()
                reply = self.settled_once(seat, message)
                self.assertEqual(reply["content"], f"answer {number}")

    def a_kill_between_two_parts_delivers_the_rest(self):
        seat = self.serving()
        self.fake.wait_reply(self.fake.say("hello"))
        self.fake.switch(delay=0.3)  # so that the parts come one by one
        message = self.fake.say("long 9000")
        until(lambda: len(self.fake.from_bot()) >= 3, "two parts")
        seat.kill()
        self.fake.switch(delay=0.0)
        seat.restart()
        self.settled_once(seat, message)
        posts = [p["content"] for p in self.fake.posts() if p["new"]]
        self.assertEqual(len(posts), len(set(posts)), "no part twice")
        self.assertGreaterEqual(sum(len(p) for p in posts), 9000)

    def kills_at_many_moments_lose_and_double_nothing(self):
        seat = self.serving()
        messages = []
        for number in range(12):
            messages.append(self.fake.say(f"say round {number}"))
            # Each round is killed a little later in the life of its message.
            for _ in range(number * 3):
                self.fake.state()
            seat.kill()
            seat.restart()
        for message in messages:
            self.fake.wait_reply(message, seconds=120)
        last = self.fake.say("say last")
        self.fake.wait_reply(last)
        for number, message in enumerate(messages):
            self.assertEqual(len(self.fake.replies(message)), 1, f"round {number}")

    def a_message_said_while_it_was_down_is_answered_after_the_start(self):
        seat = self.serving()
        self.fake.wait_reply(self.fake.say("hello"))
        seat.kill()
        missed = [self.fake.say(f"say missed {n}") for n in range(5)]
        seat.restart()
        for number, message in enumerate(missed):
            self.assertEqual(self.fake.wait_reply(message)["content"], f"missed {number}")
            self.assertEqual(len(self.fake.replies(message)), 1)

    def a_polite_stop_finishes_the_turn_in_flight(self):
        seat = self.serving()
        message = self.fake.say("slow 2")
        until(lambda: self.fake.eyes(message), "the turn under way")
        self.assertEqual(seat.terminate(), 0)
        self.assertEqual(len(self.fake.replies(message)), 1)
        self.assertFalse((seat.journal / "run.lock").exists())
        self.assertFalse((seat.journal / "STOP").exists())

    def an_interrupt_from_the_keyboard_is_polite_too(self):
        seat = self.serving()
        seat.process.send_signal(signal.SIGINT)
        self.assertEqual(seat.exit_code(), 0)
        seat.serve()
        self.answered_once(seat, self.fake.say("say back again"))

    def a_torn_last_line_survives_the_restart(self):
        seat = self.serving()
        message = self.fake.say("hello")
        self.fake.wait_reply(message)
        until(lambda: seat.about("rows", message)[-1]["k"] == "settled", "a settled row")
        seat.kill()
        for path in (seat.journal / "commits").iterdir():
            with path.open("ab") as log:
                log.write(b'{"v":1,"g":99999,"at":"2026-')
        seat.restart()
        self.settled_once(seat, self.fake.say("say after the tear"))
        self.assertEqual(len(self.fake.replies(message)), 1)
