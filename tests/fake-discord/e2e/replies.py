"""A message in, one reply out: what the reply carries, and what Discord may do to it."""

from .case import Case
from .fake import ANA, BOT, GENERAL, HELP
from .waiting import until


class Replies(Case):
    def a_reply_carries_its_nonce_its_reference_and_no_mention(self):
        seat = self.serving()
        message = self.fake.say("say good evening")
        self.answered_once(seat, message)
        post = self.fake.posts()[0]
        self.assertEqual(post["content"], "good evening")
        self.assertIs(post["enforce_nonce"], True)
        self.assertIsInstance(post["nonce"], str)
        self.assertTrue(1 <= len(post["nonce"]) <= 25, post["nonce"])
        allowed = post["allowed_mentions"]
        self.assertEqual(allowed.get("parse"), [])
        self.assertFalse(allowed.get("users") or allowed.get("roles"), allowed)
        self.assertFalse(allowed.get("replied_user", False), allowed)
        reference = post["message_reference"]
        self.assertEqual(reference["message_id"], message)
        self.assertIs(reference["fail_if_not_exists"], False)

    def a_read_receipt_comes_before_a_slow_answer(self):
        self.serving()
        message = self.fake.say("slow 2")
        until(lambda: self.fake.eyes(message), "the eyes")
        self.assertEqual(self.fake.replies(message), [])
        self.assertEqual(self.fake.eyes(message)[0]["emoji"], "\N{EYES}")
        self.fake.wait_reply(message)

    def a_slow_answer_shows_typing(self):
        self.serving()
        message = self.fake.say("slow 10")
        until(lambda: self.fake.requests("POST", f"/channels/{GENERAL}/typing"), "typing")
        self.fake.wait_reply(message)

    def a_refused_read_receipt_does_not_fail_the_turn(self):
        seat = self.serving()
        refused = {"message": "Reaction blocked", "code": 90001}
        self.fake.fault("PUT", "/reactions/", status=403, body=refused)
        self.answered_once(seat, self.fake.say("hello"))

    def an_answer_that_fails_is_one_fixed_line(self):
        seat = self.serving()
        reply = self.answered_once(seat, self.fake.say("fail"))
        self.assertTrue(reply["content"].strip())

    def a_mention_is_answered_where_one_is_needed(self):
        self.serving()
        seat_user = {"id": BOT, "username": "seat", "discriminator": "0", "bot": True}
        message = self.fake.say(f"<@{BOT}> say yes", channel=HELP, mentions=[seat_user])
        self.assertEqual(self.fake.wait_reply(message, HELP)["content"], "yes")

    def a_thread_of_a_listed_channel_is_answered_announced_or_not(self):
        self.serving()
        for announce in (True, False):
            with self.subTest(announce=announce):
                thread = self.fake.thread(GENERAL, announce=announce)
                message = self.fake.say("say here", channel=thread)
                self.assertEqual(self.fake.wait_reply(message, thread)["content"], "here")

    def a_reply_of_a_person_is_talk_too(self):
        self.serving()
        first = self.fake.say("hello")
        self.fake.wait_reply(first)
        reference = {"message_id": first, "channel_id": GENERAL, "type": 0}
        second = self.fake.say("say again", type=19, message_reference=reference)
        self.assertEqual(self.fake.wait_reply(second)["content"], "again")

    def an_edit_of_a_waiting_message_changes_what_is_asked(self):
        self.serving()
        self.fake.wait_reply(self.fake.say("hello"))
        slow = self.fake.say("slow 3")
        until(lambda: self.fake.eyes(slow), "the slow turn")
        waiting = self.fake.say("say before")
        self.fake.edit(waiting, "say after")
        self.assertEqual(self.fake.wait_reply(waiting)["content"], "after")

    def a_waiting_message_that_is_deleted_is_withdrawn(self):
        seat = self.serving()
        slow = self.fake.say("slow 3")
        until(lambda: self.fake.eyes(slow), "the slow turn")
        waiting = self.fake.say("say never")
        until(lambda: seat.about("inbox", waiting), "the message taken")
        self.fake.delete(waiting)
        until(lambda: seat.about("drops", waiting), "its drop line")
        self.answered_once(seat, slow)
        self.assertNotIn("never", [x["content"] for x in self.fake.from_bot()])

    def every_post_has_a_nonce_of_its_own(self):
        self.serving()
        messages = [self.fake.say(f"say {n}", author=ANA) for n in range(8)]
        for message in messages:
            self.fake.wait_reply(message)
        nonces = [post["nonce"] for post in self.fake.posts()]
        self.assertEqual(len(set(nonces)), len(messages))


class Lies(Case):
    """Networks and servers that answer late, wrongly, or not at all."""

    def a_lost_answer_to_a_post_does_not_post_twice(self):
        seat = self.serving()
        self.fake.fault("POST", "/messages$", lose=True)
        message = self.fake.say("say once")
        self.answered_once(seat, message)
        same = [p for p in self.fake.posts() if p["content"] == "once"]
        self.assertEqual(len({p["nonce"] for p in same}), 1, same)
        self.assertEqual([p["new"] for p in same].count(True), 1, same)

    def a_server_error_is_tried_again_with_the_same_nonce(self):
        seat = self.serving()
        for status in (500, 502, 503):
            with self.subTest(status=status):
                before = len(self.fake.requests("POST", f"/{GENERAL}/messages"))
                body = {"message": "internal", "code": 0}
                self.fake.fault("POST", "/messages$", status=status, body=body)
                message = self.fake.say(f"say after {status}")
                self.answered_once(seat, message)
                tries = self.fake.requests("POST", f"/{GENERAL}/messages")[before:]
                said = [t["body"] for t in tries if t["body"]["content"] == f"after {status}"]
                self.assertEqual(len({b["nonce"] for b in said}), 1, said)

    def a_rate_limit_is_waited_out(self):
        seat = self.serving()
        limits = [
            ("user", {"Retry-After": "1", "X-RateLimit-Scope": "user"}, False),
            ("global", {"Retry-After": "1", "X-RateLimit-Scope": "global"}, True),
        ]
        for name, headers, everywhere in limits:
            with self.subTest(name):
                body = {"message": "limited", "retry_after": 0.8, "global": everywhere}
                self.fake.fault("POST", "/messages$", status=429, headers=headers, body=body)
                before = len(self.fake.requests("POST", f"/{GENERAL}/messages"))
                self.answered_once(seat, self.fake.say(f"say {name}"))
                tries = self.fake.requests("POST", f"/{GENERAL}/messages")[before:]
                waited = tries[1]["ms"] - tries[0]["ms"]
                self.assertGreaterEqual(waited, 800, "tried again before it was allowed")

    def a_repeated_event_is_answered_once_and_says_duplicate(self):
        seat = self.serving()
        message = self.fake.say("hello")
        self.fake.wait_reply(message)
        self.fake.repeat(message)
        self.answered_once(seat, message)
        until(lambda: seat.about("drops", message), "a drop line for the repeat")
        self.assertIn("duplicate", seat.about("drops", message)[0].values())

    # Each loss makes the next wait longer, so a seat sees three of them.

    def a_lost_link_in_mid_turn_costs_nothing(self):
        self.loses_its_link(
            ("dropped", {"do": "drop"}),
            ("asked to reconnect", {"do": "reconnect"}),
            ("unknown error", {"do": "close", "code": 4000}),
        )

    def a_lost_session_in_mid_turn_costs_nothing(self):
        self.loses_its_link(
            ("session invalid, resumable", {"do": "invalid", "resumable": True}),
            ("session invalid", {"do": "invalid", "resumable": False}),
            ("session timed out", {"do": "close", "code": 4009}),
        )

    def loses_its_link(self, *orders):
        seat = self.serving()
        for name, order in orders:
            with self.subTest(name):
                message = self.fake.say("slow 1")
                until(lambda m=message: self.fake.eyes(m), "the turn under way")
                before = seat.connections()
                self.fake.gateway(**order)
                until(lambda b=before: seat.connections() > b, "a new connection")
                until(lambda: self.fake.state()["live"] > 0, "a live connection")
                self.answered_once(seat, message)

    def a_message_said_while_the_link_is_down_is_answered_after_it(self):
        seat = self.serving()
        self.fake.wait_reply(self.fake.say("hello"))
        # The first try after the drop ends at HELLO, so that the message comes in the gap.
        self.fake.gateway("drop", when="hello")
        self.fake.gateway("drop")
        until(lambda: self.fake.state()["live"] == 0, "the link gone")
        message = self.fake.say("say I was here")
        self.answered_once(seat, message)

    def a_reply_to_a_message_that_is_gone_is_still_posted(self):
        self.serving()
        message = self.fake.say("slow 2")
        until(lambda: self.fake.eyes(message), "the turn under way")
        self.fake.delete(message)
        until(self.fake.from_bot, "a post without a target")
