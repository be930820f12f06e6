"""The other commands, beside a seat that runs and one that does not."""

import json

from .case import Case
from .fake import BOT, EVE, GENERAL
from .waiting import until


class Commands(Case):
    def a_check_tells_each_fact_and_sends_nothing(self):
        seat = self.seat()
        code, said = seat.run_once("check")
        self.assertEqual(code, 0, said)
        for fact in (BOT, "general", "help"):
            self.assertIn(fact, said)
        self.assertEqual(self.fake.posts(), [])
        self.assertEqual(self.fake.state()["identifies"], 1)
        ends = self.fake.call("GET", "/_control/record?what=disconnect")
        self.assertEqual([end["code"] for end in ends], [1000], "the session is ended for good")

    def a_check_that_fails_says_what_and_exits_so(self):
        seat = self.seat()
        cases = [
            ("a wrong token", {"wrong_token": True}, "token"),
            ("another server", {"no_guild": True}, "invite"),
            ("the content intent", {"content_intent_off": True}, "message content"),
        ]
        for name, switch, word in cases:
            with self.subTest(name):
                self.fake.switch(**switch)
                code, said = seat.run_once("check")
                self.fake.switch(**{key: False for key in switch})
                self.assertIn(code, (1, 2), said)
                self.assertIn(word, said.lower())

    def a_message_s_life_can_be_asked_for(self):
        seat = self.serving()
        answered = self.fake.say("say this")
        dropped = self.fake.say("say that", author=EVE)
        reply = self.fake.wait_reply(answered)["id"]
        until(lambda: seat.about("drops", dropped), "the drop line")
        until(lambda: seat.turn(answered).exists(), "the turn record")
        cases = [
            (answered, 0, (reply, "settled")),
            (dropped, 0, ("user-not-listed",)),
        ]
        for message, wanted, words in cases:
            with self.subTest(message):
                for given in (message, f"https://discord.com/channels/1/{GENERAL}/{message}"):
                    code, said = seat.run_once("why", given)
                    self.assertEqual(code, wanted, said)
                    for word in words:
                        self.assertIn(word, said)
                code, said = seat.run_once("why", message, "--json")
                self.assertEqual(code, wanted, said)
                json.loads(said)
        code, said = seat.run_once("why", "1234567890123456789")
        self.assertNotEqual(said.strip(), "")
        self.assertNotIn("panicked", said)

    def a_status_works_whether_it_runs_or_not(self):
        seat = self.seat()
        for when in ("before the first start", "running", "after a stop", "after a kill"):
            with self.subTest(when):
                if when == "running":
                    seat.serve()
                    self.fake.wait_reply(self.fake.say("hello"))
                elif when == "after a stop":
                    self.assertEqual(seat.terminate(), 0)
                elif when == "after a kill":
                    seat.serve().kill()
                for options in ((), ("--json",)):
                    code, said = seat.run_once("status", *options)
                    self.assertEqual(code, 0, said)
                    self.assertTrue(said.strip())
                json.loads(said)

    def each_command_has_help_with_an_example(self):
        seat = self.seat()
        for verb in ("demo", "run", "check", "schema", "status", "why"):
            with self.subTest(verb):
                code, said = seat.once([seat.program, verb, "--help"])
                self.assertEqual(code, 0, said)
                self.assertIn(f"guildhall {verb}", said)

    def the_schema_is_json_and_knows_the_fields(self):
        seat = self.seat()
        code, said = seat.once([seat.program, "schema"])
        self.assertEqual(code, 0, said)
        self.assertEqual(set(seat.binding) - set(json.loads(said)["properties"]), set())
