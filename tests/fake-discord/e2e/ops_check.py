"""`check` in full: each thing that an operator can get wrong has a line of its own."""

import json
import os
from pathlib import Path

from .case import Case
from .fake import ANA, BOT, GENERAL, GUILD

# Discord's permission bits. Source: API reference, Permissions.
DENIED = {
    "View Channel": 1 << 10,
    "Send Messages": 1 << 11,
    "Send Messages in Threads": 1 << 38,
    "Read Message History": 1 << 16,
    "Add Reactions": 1 << 6,
}


class Check(Case):
    def lines(self, seat) -> tuple[int, list[dict], str]:
        """The exit code, one object for each fact, and what stands on stderr."""
        code, said = seat.run_once("check", "--json")
        facts = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
        self.assertTrue(facts, said)
        self.assertEqual(self.fake.posts(), [], "nothing is sent to a channel")
        return code, facts, said

    def wrong(self, seat) -> list[str]:
        _, facts, _ = self.lines(seat)
        return [f"{f['fact']} {' '.join(f['hints'])}" for f in facts if f["state"] != "ok"]

    def answer_channel(self, **fields) -> None:
        body = {"id": GENERAL, "type": 0, "guild_id": GUILD, "name": "general", **fields}
        self.fake.fault("GET", rf"/channels/{GENERAL}$", status=200, body=body, times=1)

    def each_permission_that_an_overwrite_denies_is_named_with_its_channel(self):
        seat = self.seat()
        for name, bit in DENIED.items():
            with self.subTest(name):
                overwrite = {"id": GUILD, "type": 0, "allow": "0", "deny": str(bit)}
                self.answer_channel(permission_overwrites=[overwrite])
                code, facts, said = self.lines(seat)
                self.assertEqual(code, 2, said)
                wrong = [fact["fact"] for fact in facts if fact["state"] == "not-ok"]
                self.assertEqual(len(wrong), 1, wrong)
                self.assertIn(GENERAL, wrong[0])
                self.assertTrue(wrong[0].endswith(f": {name}"), wrong[0])

    def a_channel_that_cannot_be_read_is_told_in_five_different_ways(self):
        seat = self.seat()
        told = {}
        for status in (401, 403, 404, 503):
            body = {"message": "no", "code": {401: 0, 403: 50001, 404: 10003, 503: 0}[status]}
            self.fake.fault("GET", rf"/channels/{GENERAL}$", status=status, body=body, times=20)
            code, facts, _ = self.lines(seat)
            wrong = [fact["fact"] for fact in facts if fact["state"] == "not-ok"]
            self.assertTrue(wrong)
            told[status] = next((fact for fact in wrong if GENERAL in fact), wrong[0])
            self.assertEqual(code, 1 if status == 503 else 2, status)
            self.fake.fault("GET", "nothing-is-called-this")
            self.drain(GENERAL)
        lost = {**seat.binding, "discord": {"apiUrl": "https://no-such-host.invalid"}}
        seat.write_binding(json.dumps(lost))
        code, facts, _ = self.lines(seat)
        self.assertEqual(code, 1)
        told["dns"] = next(fact["fact"] for fact in facts if fact["state"] == "not-ok")
        self.assertIn("resolved", told["dns"])
        kinds = {text.replace(GENERAL, "") for text in told.values()}
        self.assertEqual(len(kinds), 5, told)

    def drain(self, channel: str) -> None:
        """Uses up the faults that are left for a channel."""
        import http.client

        from .fake import TOKEN

        for _ in range(25):
            link = http.client.HTTPConnection(self.fake.address, timeout=20)
            link.request("GET", f"/api/v10/channels/{channel}", headers={"Authorization": f"Bot {TOKEN}"})
            answer = link.getresponse()
            answer.read()
            link.close()
            if answer.status == 200:
                return
        raise AssertionError("the faults do not end")

    def an_interactions_endpoint_is_told(self):
        seat = self.seat()
        body = {
            "id": "800000000000000002",
            "flags": 1 << 19,
            "interactions_endpoint_url": "https://example.invalid/in",
        }
        self.fake.fault("GET", r"/applications/@me$", status=200, body=body, times=5)
        self.assertTrue(any("interactions endpoint" in line.lower() for line in self.wrong(seat)))

    def a_seat_that_only_hears_mentions_works_without_the_content_intent(self):
        seat = self.seat(channels=[{"id": GENERAL, "name": "general", "mode": "mention"}])
        seat.binding["users"] = [{"id": ANA, "name": "Ana"}]
        seat.write_binding(json.dumps(seat.binding))
        self.fake.switch(content_intent_off=True)
        code, facts, said = self.lines(seat)
        self.assertEqual(code, 0, said)
        self.assertTrue(any(f["state"] == "warning" and "intent" in f["fact"] for f in facts), said)

    def a_missing_server_is_told_with_the_exact_way_in(self):
        seat = self.seat()
        self.fake.fault("GET", rf"/guilds/{GUILD}$", status=404, body={"message": "x", "code": 10004})
        wrong = " ".join(self.wrong(seat))
        bits = sum(DENIED.values())
        self.assertIn("client_id=800000000000000002", wrong)
        self.assertIn(f"permissions={bits}&", wrong)
        self.assertIn(f"guild_id={GUILD}", wrong)

    def each_root_on_disk_is_looked_at(self):
        places = Path(self.folder) / "roots"
        (places / "real").mkdir(parents=True)
        (places / "link").symlink_to(places / "real")
        (places / "real" / "inner").mkdir()
        (places / "file").write_text("")
        cases = [
            ("real", {}, None),
            ("link", {}, "symbolic link"),
            ("link/inner", {}, "behind a link"),
            ("missing", {}, "make the folder"),
            ("file", {}, "no folder"),
            ("real", {"write": "ask"}, "no listed user is an operator"),
        ]
        for path, more, word in cases:
            with self.subTest(path):
                roots = [{"name": "notes", "path": str(places / path), **more}]
                changed = {**self.seat_binding(), "tools": {"roots": roots}}
                self.made.write_binding(json.dumps(changed))
                wrong = self.wrong(self.made)
                if word is None:
                    self.assertEqual([line for line in wrong if "roots" in line], [])
                else:
                    self.assertTrue(any(word in line for line in wrong), wrong)

    def seat_binding(self) -> dict:
        if self.made is None:
            self.seat()
        return self.made.binding

    def a_thing_that_would_refuse_a_start_is_told(self):
        seat = self.seat()
        seat.journal.mkdir(mode=0o700)
        (seat.journal / "STOP").write_text("lunch\n")
        os.chmod(seat.token_file, 0o644)
        wrong = " ".join(self.wrong(seat))
        for word in ("STOP is set: lunch", "chmod go-rwx"):
            self.assertIn(word, wrong)

    def a_bot_of_another_token_is_told(self):
        seat = self.seat(botUserId="800000000000000077")
        self.assertIn(BOT, " ".join(self.wrong(seat)))
