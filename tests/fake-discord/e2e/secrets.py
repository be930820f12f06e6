"""What must never be written down: message text, and the token."""

import stat
from pathlib import Path

from .case import Case
from .fake import EVE, TOKEN
from .waiting import until

MARK = "xylophone-marmalade"


class Secrets(Case):
    def no_text_and_no_token_is_in_the_log_or_the_journal(self):
        seat = self.serving()
        for text in (f"say {MARK}", f"slow 1 {MARK}", f"{MARK}?", f"```\n{MARK}\n```"):
            self.fake.wait_reply(self.fake.say(text))
        stranger = self.fake.say(f"say {MARK}", author=EVE)
        until(lambda: seat.about("drops", stranger), "the stranger's drop line")
        failing = {"message": f"error {MARK}", "code": 50013}
        self.fake.fault("PUT", "/reactions/", status=403, body=failing)
        self.fake.wait_reply(self.fake.say("hello"))
        process = Path(f"/proc/{seat.process.pid}")
        for name in ("cmdline", "environ"):
            self.assertNotIn(TOKEN.encode(), (process / name).read_bytes(), name)
        self.assertEqual(seat.terminate(), 0)
        for path in [seat.log_path, *seat.journal.rglob("*")]:
            if path.is_file():
                content = path.read_bytes()
                self.assertNotIn(MARK.encode(), content, f"{path.name} holds a message's text")
        for path in [seat.log_path, *seat.files()]:
            if path.is_file():
                self.assertNotIn(TOKEN.encode(), path.read_bytes(), f"{path.name} holds the token")
        record = self.fake.record_path.read_bytes()
        self.assertNotIn(TOKEN.encode(), record, "the token went into a path or a body")

    def each_file_and_folder_is_private(self):
        seat = self.serving()
        self.fake.wait_reply(self.fake.say("hello"))
        for path in seat.files():
            mode = stat.S_IMODE(path.lstat().st_mode)
            with self.subTest(path.name):
                self.assertEqual(mode, 0o700 if path.is_dir() else 0o600)
        self.assertEqual(seat.terminate(), 0)

    def the_files_are_the_documented_ones(self):
        seat = self.serving()
        message = self.fake.say("hello")
        self.fake.wait_reply(message)
        until(seat.turn(message).exists, "the turn record")
        self.assertEqual(seat.terminate(), 0)
        for name in ("inbox", "outbox", "admissions", "rows"):
            lines = seat.about(name, message) or seat.lines(name)
            self.assertTrue(lines, name)
            for line in lines:
                self.assertEqual(line["v"], 1, name)
                self.assertRegex(line["at"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$", name)
                self.assertIn("k", line, name)
        kinds = [line["k"] for line in seat.lines("outbox")]
        self.assertEqual(kinds, ["intent", "confirmed"])
        rows = [line["k"] for line in seat.about("rows", message)]
        self.assertEqual(rows, ["queued", "claimed", "answered", "settled"])
