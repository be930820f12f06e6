"""Who may decide an ask, and by what: presses, replies, and the words of everybody else."""

from .asking import (
    ALLOWED,
    ASK_OVER,
    BEFORE,
    DENIED,
    ENDED,
    NO_SUCH_ASK,
    NOT_DECIDER,
    OPERATORS,
    REPLY,
    AskCase,
)
from .fake import ANA, BEN, BOT, ELSEWHERE, EVE, GENERAL, GUILD, HELP
from .waiting import until

AFTER = "one\n2\nthree\n"
THREADS = {
    "sessions": {"scope": "thread"},
    "channels": [{"id": c, "name": n, "mode": "open"} for c, n in ((GENERAL, "general"), (HELP, "help"))],
}


class Presses(AskCase):
    def a_press_of_somebody_who_may_not_decide_gets_a_private_line_and_has_no_effect(self):
        seat = self.tooled().serve()
        message, ask = self.asked(seat, author=BEN)
        nobody = "900000000000000077"
        for who, user in (("listed", BEN), ("a stranger", EVE), ("nobody known", nobody)):
            for word in ("once", "deny"):
                with self.subTest(who=who, word=word):
                    press = self.press(ask, word, user)
                    self.assertEqual(self.told_privately(press), NOT_DECIDER)
                    self.still_open(seat, ask)
        lines = until(lambda: self.refused_presses(seat, 6), "six lines")
        self.assertEqual({line["author"] for line in lines}, {BEN, EVE, nobody})
        self.assertEqual(self.fake.from_bot()[-1]["id"], ask["card"], "a line that everybody sees")
        self.accepted(self.press(ask))
        self.record(seat, message)
        self.closed(seat, ask, "Allowed once by `Ana`")

    def refused_presses(self, seat, count: int) -> list:
        lines = [line for line in seat.lines("drops") if line["why"] == "approval"]
        return lines if len(lines) >= count else []

    def a_press_with_another_word_or_on_another_message_decides_nothing(self):
        seat = self.tooled(**THREADS).serve()
        first, one = self.asked(seat)
        _, two = self.asked(seat, "create new.txt: two", channel=HELP)
        thread = self.fake.thread(GENERAL)
        plain = self.fake.wait_reply(self.fake.say("say nothing", channel=thread), thread)
        own, other = self.button(one, "once"), self.button(two, "once")
        forged = [
            ("another card's button", one, {"custom_id": other}),
            ("on a message that is no card", one, {"message": plain["id"], "channel": thread}),
            ("on the other card", two, {"custom_id": own}),
            ("on the message that asked", one, {"message": first}),
            ("a word that no button has", one, {"custom_id": own.replace("once", "always")}),
            ("a word of a session", one, {"custom_id": own.replace("once", "session")}),
            ("upper case", one, {"custom_id": own.upper()}),
            ("an ask that nobody made", one, {"custom_id": "ask:0123456789abcdef:once"}),
            ("a half of an ask", one, {"custom_id": own[:12] + ":once"}),
            ("more than an ask", one, {"custom_id": own + ":once"}),
            ("nothing", one, {"custom_id": ""}),
            ("rubbish", one, {"custom_id": "\0'; --"}),
        ]
        for name, ask, more in forged:
            with self.subTest(name):
                press = self.press(ask, stale=True, **more)
                self.assertEqual(self.told_privately(press), NO_SUCH_ASK)
                self.still_open(seat, one)
                self.still_open(seat, two)

    def a_press_from_elsewhere_or_of_another_kind_is_not_even_answered(self):
        seat = self.tooled().serve()
        _, ask = self.asked(seat)
        once = self.button(ask, "once")
        presses = [
            self.press(ask, guild=None),
            self.press(ask, guild="700000000000000099"),
            self.press(ask, raw={"type": 2}),
            self.press(ask, raw={"message": None}),
            self.press(ask, raw={"data": {"component_type": 3, "custom_id": once, "values": ["x"]}}),
            self.press(ask, raw={"member": None}),
        ]
        # Events keep their order: once this one is answered, the others were seen.
        self.assertEqual(self.told_privately(self.press(ask, user=EVE)), NOT_DECIDER)
        self.still_open(seat, ask)
        for one in self.presses():
            if one["id"] in presses:
                self.assertEqual((one["answer"], one["said"]), (None, []), one)
        # The same card in another channel of the server is another message.
        moved = self.press(ask, raw={"channel_id": ELSEWHERE, "guild_id": GUILD})
        self.assertEqual(self.told_privately(moved), NO_SUCH_ASK)
        self.still_open(seat, ask)

    def each_press_after_the_decision_is_told_how_it_ended_and_changes_nothing(self):
        seat = self.tooled().serve()
        for word, line in (("once", ALLOWED), ("deny", DENIED)):
            with self.subTest(word):
                self.file.write_text(BEFORE)
                message, ask = self.asked(seat)
                self.accepted(self.press(ask, word))
                late = [self.press(ask, other, stale=True) for other in ("once", "deny") * 3]
                for press in late:
                    self.assertEqual(self.told_privately(press), line)
                self.record(seat, message)
                self.closed(seat, ask)
                self.assertEqual(self.told_privately(self.press(ask, "once", BEN, stale=True)), NOT_DECIDER)
                self.ended(seat, ask)
                kinds = [x["k"] for x in seat.about("calls", message)]
                self.assertEqual(kinds, ["begun", "done"] if word == "once" else [])
                # The next process knows it too.
                seat.kill()
                seat.restart()
                for other in ("once", "deny"):
                    self.assertEqual(self.told_privately(self.press(ask, other, stale=True)), line)

    def an_acknowledgement_that_fails_loses_no_decision(self):
        seat = self.tooled().serve()
        gone = {"message": "Unknown interaction", "code": 10062}
        for status, answer in ((404, gone), (500, {"message": "no", "code": 0})):
            with self.subTest(status):
                self.file.write_text(BEFORE)
                self.fake.fault("POST", "/callback$", status=status, body=answer)
                message, ask = self.asked(seat)
                self.press(ask)
                self.record(seat, message)
                self.closed(seat, ask, "Allowed once by `Ana`, and done.")
                self.assertEqual(self.file.read_text(), AFTER)

    def a_press_is_answered_while_discord_is_slow_with_everything_else(self):
        seat = self.tooled().serve()
        message, ask = self.asked(seat)
        self.fake.fault("PATCH", "/messages/", times=3, delay=2.0)
        self.accepted(self.press(ask))
        self.record(seat, message)
        self.closed(seat, ask, "and done")


class Replies(AskCase):
    def a_reply_that_is_one_word_of_an_operator_decides_and_becomes_no_turn(self):
        seat = self.tooled().serve()
        cases = [("once", "once"), ("Deny", "denied"), (" ONCE\n", "once"), ("deny", "denied")]
        for words, answer in cases:
            with self.subTest(words):
                self.file.write_text(BEFORE)
                message, ask = self.asked(seat, author=BEN)
                reply = self.reply_to(ask, words)
                self.record(seat, message)
                end = self.ended(seat, ask)
                self.assertEqual((end["by"], end["via"], end["answer"]), (ANA, "reply", answer))
                self.closed(seat, ask, "by `Ana`")
                self.assertEqual(self.file.read_text(), AFTER if answer == "once" else BEFORE)
                self.became_no_turn(seat, reply)

    def became_no_turn(self, seat, message: str) -> None:
        self.assertEqual(seat.about("rows", message), [])
        dropped = until(lambda: seat.about("drops", message), "a line for the word")
        self.assertEqual([line["why"] for line in dropped], ["approval"])
        self.assertFalse(seat.turn(message).exists())

    def a_word_needs_no_mention_where_others_need_one(self):
        seat = self.tooled().serve()
        mention = {"mentions": [{"id": BOT, "username": "seat", "discriminator": "0", "bot": True}]}
        words = f"<@{BOT}> edit plan.txt: two => 2"
        message, ask = self.asked(seat, words, author=BEN, channel=HELP, **mention)
        other = self.reply_to(ask, "once", author=BEN)
        self.reply_to(ask, "once")
        self.record(seat, message)
        self.closed(seat, ask, "by `Ana`, and done")
        until(lambda: seat.about("drops", other), "the other's line")

    def each_reply_of_somebody_who_may_not_decide_gets_one_line_at_most(self):
        seat = self.tooled().serve()
        _, ask = self.asked(seat, author=BEN)
        reply = self.reply_to(ask, "once", author=BEN)
        said = until(lambda: self.fake.replies(reply), "the line")
        self.assertEqual([m["content"] for m in said], [NOT_DECIDER])
        self.became_no_turn(seat, reply)
        self.still_open(seat, ask)
        stranger = self.reply_to(ask, "once", author=EVE)
        self.dropped(seat, stranger, "user-not-listed")
        self.still_open(seat, ask)

    def no_other_words_decide_and_none_are_lost(self):
        seat = self.tooled().serve()
        message, ask = self.asked(seat)
        # The last one has a letter of another script.
        words = ["approve", "once please", "yes", "allow", "always", "say not yet", "`once`", "on\u0441e"]
        waiting = [self.reply_to(ask, each) for each in words]
        plain = [self.fake.say("once"), self.fake.say("say after")]
        reference = {"type": 0, "message_id": message, "channel_id": GENERAL}
        waiting.append(self.fake.say("once", type=REPLY, message_reference=reference))
        for queued in [*waiting, *plain]:
            until(lambda q=queued: seat.about("rows", q), "it waits")
        self.still_open(seat, ask)
        self.accepted(self.press(ask))
        self.record(seat, message)
        for queued in [*waiting, *plain]:
            self.fake.wait_reply(queued)
            self.assertEqual(len(self.fake.replies(queued)), 1)
        self.assertEqual(self.fake.replies(plain[1])[0]["content"], "after")
        self.assertEqual(len([x for x in seat.lines("approvals") if x["k"] == "decided"]), 1)

    def a_reply_after_the_end_is_told_so_and_a_reply_that_comes_twice_counts_once(self):
        seat = self.tooled().serve()
        message, ask = self.asked(seat)
        reply = self.reply_to(ask, "deny")
        self.fake.repeat(reply)
        self.record(seat, message)
        self.closed(seat, ask, "Denied by `Ana`.")
        late = self.reply_to(ask, "once")
        said = until(lambda: self.fake.replies(late), "the line")
        self.assertEqual([m["content"] for m in said], [ASK_OVER])
        self.became_no_turn(seat, late)
        self.ended(seat, ask)
        self.assertEqual(self.fake.replies(reply), [])
        self.unchanged(seat)

    def a_word_that_an_edit_makes_is_no_answer(self):
        seat = self.tooled().serve()
        message, ask = self.asked(seat)
        reply = self.reply_to(ask, "say I am not sure")
        self.fake.edit(reply, "once")
        # Events keep their order: once this one is answered, the edit was seen.
        self.told_privately(self.press(ask, user=EVE))
        self.still_open(seat, ask)
        self.accepted(self.press(ask, "deny"))
        self.record(seat, message)
        self.fake.wait_reply(reply)
        self.unchanged(seat)

    def a_card_that_somebody_else_wrote_decides_nothing(self):
        seat = self.tooled().serve()
        _, ask = self.asked(seat)
        copied = self.fake.say(self.card(ask)["content"], author=EVE)
        copy = {**ask, "card": copied}
        reply = self.reply_to(copy, "once")
        until(lambda: seat.about("rows", reply), "it waits as any other message")
        self.assertEqual(self.told_privately(self.press(copy, stale=True)), NO_SUCH_ASK)
        self.still_open(seat, ask)


class Several(AskCase):
    def each_message_that_comes_while_an_ask_is_open_waits_and_is_answered_once(self):
        seat = self.tooled().serve()
        _, ask = self.asked(seat)
        queued = [self.fake.say(f"say number {n}", author=BEN) for n in range(5)]
        for one in queued:
            until(lambda o=one: seat.about("rows", o), "a row")
            self.assertEqual(self.fake.replies(one), [])
        self.still_open(seat, ask)
        self.accepted(self.press(ask))
        for number, one in enumerate(queued):
            self.assertEqual(self.fake.wait_reply(one)["content"], f"number {number}")
        self.answered_once(seat, queued[-1])
        for one in queued:
            self.assertEqual(len(self.fake.replies(one)), 1)

    def each_ask_of_several_places_is_decided_by_its_own_word_in_any_order(self):
        seat = self.tooled(**THREADS).serve()
        places = [GENERAL, HELP, self.fake.thread(GENERAL)]
        asks = [self.asked(seat, f"create new{n}.txt: text {n}", channel=c) for n, c in enumerate(places)]
        self.assertEqual([ask["place"] for _, ask in asks], places)
        self.assertEqual(len({ask["ask"] for _, ask in asks}), 3)
        words = ["once", "deny", "once"]
        for number in (2, 1, 0):
            message, ask = asks[number]
            if number == 1:
                self.reply_to(ask, words[number])
            else:
                self.accepted(self.press(ask, words[number]))
            self.record(seat, message)
            self.closed(seat, ask)
            made = self.drafts / f"new{number}.txt"
            self.assertEqual(made.exists(), words[number] == "once")
            for other, _ in enumerate(asks[:number]):
                self.assertFalse((self.drafts / f"new{other}.txt").exists())
        self.assertEqual((self.drafts / "new2.txt").read_text(), "text 2")

    def an_operator_decides_in_a_place_that_is_not_theirs_to_talk_in(self):
        users = [{**OPERATORS[0], "channels": [GENERAL]}, OPERATORS[1]]
        seat = self.tooled(**THREADS, users=users).serve()
        message, ask = self.asked(seat, author=BEN, channel=HELP)
        self.reply_to(ask, "once")
        self.record(seat, message)
        self.assertIn(ENDED, self.closed(seat, ask, "by `Ana`")["content"])
        self.assertEqual(self.file.read_text(), AFTER)
