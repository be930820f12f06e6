"""Who and what never reaches the engine: each leaves one line that says why."""

from .case import Case
from .fake import ANA, BEN, BOT, ELSEWHERE, EVE, GENERAL, HELP
from .waiting import until

BOT_USER = {"id": BOT, "username": "seat", "discriminator": "0", "bot": True}


class Drops(Case):
    def nothing_unlisted_reaches_the_engine(self):
        seat = self.serving()
        other_bot = {"id": "900000000000000008", "username": "b", "discriminator": "0", "bot": True}
        hook = {"id": "900000000000000007", "username": "hook", "discriminator": "0000"}
        system = {"id": ANA, "username": "ana", "discriminator": "0", "system": True}
        cases = [
            ("a person who is not listed", "user-not-listed", {"author": EVE}),
            ("a channel that is not listed", "channel-not-listed", {"channel": ELSEWHERE}),
            ("a channel not for this person", "channel-not-for-user", {"author": BEN}),
            ("another bot", "bot", {"author": other_bot}),
            ("a webhook", "webhook", {"author": hook, "webhook_id": hook["id"]}),
            ("a webhook in a listed name", "webhook", {"webhook_id": "900000000000000006"}),
            ("a system author", "system", {"author": system}),
            ("another server", "other-guild", {"guild_id": "700000000000000999"}),
            ("a pin", "not-talk", {"type": 6}),
            ("a join", "not-talk", {"type": 7}),
            ("a type that nobody knows yet", "not-talk", {"type": 250}),
            ("no mention where one is needed", "not-mentioned", {"channel": HELP}),
            ("everyone", "not-mentioned", {"channel": HELP, "mention_everyone": True}),
            ("a role", "not-mentioned", {"channel": HELP, "mention_roles": ["700000000000000008"]}),
        ]
        sent = []
        for name, reason, said in cases:
            sent.append((name, reason, self.fake.say(f"say {name}", **said)))
        for name, reason, message in sent:
            with self.subTest(name):
                self.dropped(seat, message, reason)
        # The seat is well: what is listed is still answered, and nothing else was.
        message = self.fake.say("hello")
        self.fake.wait_reply(message)
        self.assertEqual(len(self.fake.posts()), 1)

    def a_thread_of_an_unlisted_channel_is_dropped(self):
        seat = self.serving()
        for announce in (True, False):
            with self.subTest(announce=announce):
                thread = self.fake.thread(ELSEWHERE, announce=announce)
                message = self.fake.say("say no", channel=thread)
                self.dropped(seat, message, "channel-not-listed")

    def a_message_over_the_bound_gets_one_fixed_line(self):
        seat = self.serving(limits={"inboundMaxChars": 100, "turnsPerDay": 1000})
        message = self.fake.say("say " + "x" * 200)
        reply = self.answered_once(seat, message)
        self.assertNotIn("xxx", reply["content"])
        self.assertFalse(seat.turn(message).exists())

    def the_daily_ceiling_is_told_once_and_then_kept_silently(self):
        seat = self.serving(limits={"turnsPerDay": 2})
        for number in range(2):
            self.fake.wait_reply(self.fake.say(f"say {number}"))
        over = [self.fake.say("say too many") for _ in range(3)]
        for message in over:
            until(lambda m=message: seat.about("drops", m), f"a drop line for {message}")
        self.assertEqual(len(self.fake.from_bot()), 3, "two answers and one line")
        self.assertIsNone(seat.process.poll())


class Load(Case):
    def a_hundred_messages_at_once_are_each_answered_once_and_in_order(self):
        seat = self.serving()
        messages = [self.fake.say(f"say number {n}") for n in range(100)]
        for message in messages:
            self.fake.wait_reply(message, seconds=120)
        answered = [
            (x["message_reference"]["message_id"], x["content"]) for x in self.fake.from_bot()
        ]
        wanted = [(message, f"number {n}") for n, message in enumerate(messages)]
        self.assertEqual(answered, wanted)
        until(lambda: len(list((seat.journal / "turns").iterdir())) == 100, "turn records")

    def a_flood_of_strangers_leaves_the_seat_quick_and_small(self):
        seat = self.serving()
        self.fake.wait_reply(self.fake.say("hello"))
        self.fake.flood(2000, "say noise {n}")
        self.fake.wait_reply(self.fake.say("say warm"))
        before = seat.memory_kib()
        for _ in range(2):
            self.fake.flood(10000, "say noise {n}")
        message = self.fake.say("say still here")
        self.assertEqual(self.fake.wait_reply(message)["content"], "still here")
        grown = seat.memory_kib() - before
        self.assertLess(grown, 8 * 1024, "KiB more after 20 000 dropped events")
        until(lambda: len(seat.lines("drops")) == 22000, "a line for each dropped event")
        self.assertEqual(len(self.fake.posts()), 3)
        self.assertEqual(self.fake.state()["connects"], 1, "the link was kept")
