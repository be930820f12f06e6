"""Reload: its outcomes, and a binding that is rewritten a thousand times under load."""

import hashlib
import json
import os
import random
import signal

from .case import Case
from .fake import ANA, BEN, ELSEWHERE, EVE, GENERAL, HELP
from .waiting import until


class Reload(Case):
    def a_reload_tells_what_became_of_it(self):
        seat = self.serving()
        channel = {"id": ELSEWHERE, "name": "elsewhere", "mode": "open"}
        unknown = {**channel, "id": "719999999999999999"}
        cases = [
            ("a limit", {"limits": {"turnsPerDay": 99}}, 0, "applied", "turnsPerDay"),
            ("a channel", {"channels": seat.binding["channels"] + [channel]}, 0, "applied", ELSEWHERE),
            ("a channel that cannot be read", {"channels": seat.binding["channels"] + [unknown]}, 1, "refused", unknown["id"]),
            ("a fixed field", {"seat": "Another"}, 1, "refused", "seat"),
        ]
        for name, change, wanted, outcome, word in cases:
            with self.subTest(name):
                before = len(seat.lines("reloads"))
                seat.write_binding(json.dumps({**seat.binding, **change}))
                code, said = seat.run_once("reload")
                self.assertEqual(code, wanted, said)
                self.assertIn(word, said)
                last = seat.lines("reloads")
                self.assertEqual((len(last), last[-1]["k"]), (before + 1, outcome))
        self.fake.wait_reply(self.fake.say("say new", channel=ELSEWHERE), ELSEWHERE)
        self.assertEqual(self.fake.from_bot(GENERAL), [], "nothing is sent to Discord")

    def a_reload_of_an_invalid_file_signals_nobody(self):
        seat = self.serving()
        seat.write_binding(json.dumps({**seat.binding, "users": []}))
        code, said = seat.run_once("reload")
        self.assertEqual(code, 2, said)
        self.assertEqual(seat.lines("reloads"), [])

    def a_reload_without_an_owner_says_that_the_file_applies_at_the_next_start(self):
        seat = self.seat()
        code, said = seat.run_once("reload")
        self.assertEqual(code, 1, said)
        self.assertIn("next start", said)

    def a_signal_before_the_seat_serves_waits_and_kills_nobody(self):
        self.fake.switch(delay=1.0)
        seat = self.seat().start()
        lock = seat.journal / "run.lock" / "owner.json"
        until(lock.exists, "the lock", also=seat.must_run)
        seat.process.send_signal(signal.SIGHUP)
        self.fake.switch(delay=0.0)
        until(lambda: seat.lines("reloads"), "the reload's outcome", also=seat.must_run)

    def a_turn_in_flight_ends_under_the_limits_that_it_started_with(self):
        seat = self.serving()
        message = self.fake.say("slow 8")
        until(lambda: "turn started" in seat.log(), "the run")
        seat.write_binding(json.dumps({**seat.binding, "limits": {"turnTimeoutSeconds": 5}}))
        self.assertEqual(seat.run_once("reload")[0], 0)
        self.fake.wait_reply(message)
        how = [line.get("how") for line in seat.about("rows", message) if line["k"] == "settled"]
        until(lambda: seat.turn(message).exists(), "the turn's record")
        self.assertNotIn("failed", how)

    def a_binding_that_is_rewritten_a_thousand_times_never_widens_and_costs_no_link(self):
        seat = self.serving()
        connects = self.fake.state()["connects"]
        slow = self.fake.say("slow 6")
        chance = random.Random(5)
        digests, strangers, friends = set(), [], []
        for round_number in range(1000):
            # Ben is listed in some rounds, and Eve in none.
            users = [{"id": ANA, "name": "Ana"}]
            if round_number % 2:
                users.append({"id": BEN, "name": "Ben", "channels": [HELP]})
            limits = {"turnsPerDay": 1000 + round_number}
            text = json.dumps({**seat.binding, "users": users, "limits": limits})
            digests.add(hashlib.sha256(text.encode()).hexdigest())
            self.rewrite(seat, text, round_number % 7)
            if chance.random() < 0.3:
                seat.process.send_signal(signal.SIGHUP)
            if round_number % 50 == 0:
                strangers.append(self.fake.say("say no", author=EVE))
                friends.append(self.fake.say(f"say {round_number}", author=ANA))
            seat.must_run()
        last = json.dumps(seat.binding)
        self.rewrite(seat, last, 0)
        digests.add(hashlib.sha256(last.encode()).hexdigest())
        code, said = seat.run_once("reload")
        self.assertEqual(code, 0, said)
        for message in [slow, *friends]:
            self.fake.wait_reply(message)
        for message in strangers:
            self.dropped(seat, message, "user-not-listed")
        self.assertEqual(self.fake.state()["connects"], connects, "no reconnect")
        lines = seat.lines("reloads")
        self.assertTrue({"applied", "refused"} <= {line["k"] for line in lines})
        for line in lines:
            if line["k"] == "applied":
                self.assertIn(line["file"], digests, "only a file that was written whole")

    def rewrite(self, seat, text: str, manner: int) -> None:
        path = seat.binding_file
        beside = path.with_suffix(".new")
        if manner in (0, 1):
            beside.write_text(text)
            os.chmod(beside, 0o600)
            os.replace(beside, path)
        elif manner == 2:
            with path.open("w") as file:
                for at in range(0, len(text), 100):
                    file.write(text[at : at + 100])
                    file.flush()
        elif manner == 3:
            path.write_text(text[: len(text) // 2])
        elif manner == 4:
            path.write_text("")
        elif manner == 5:
            path.unlink(missing_ok=True)
        else:
            path.touch(mode=0o600)
            os.chmod(path, 0o000)
        if path.exists() and manner != 6:
            os.chmod(path, 0o600)
