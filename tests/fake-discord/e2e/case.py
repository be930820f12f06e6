"""What every test case has: a folder, a fake, a seat, and questions about what must hold."""

from __future__ import annotations

import json
import shutil
import tempfile
import unittest
from pathlib import Path

from .fake import GENERAL, Fake
from .seat import Seat
from .waiting import until


def parsed(text: bytes) -> dict | None:
    """A JSON object, or nothing while it is being written."""
    try:
        return json.loads(text)
    except ValueError:
        return None


class Case(unittest.TestCase):
    """One fake and one seat for each test, so that tests run in any order."""

    maxDiff = None

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="guildhall-e2e-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.fake = Fake(self.folder)
        self.addCleanup(self.fake.stop)

    def seat(self, **changes) -> Seat:
        """A seat with its files in place, not yet started."""
        made = Seat(self.fake, self.folder, **changes)
        self.made = made
        self.addCleanup(made.stop)
        return made

    def serving(self, **changes) -> Seat:
        """A seat that is connected."""
        return self.seat(**changes).serve()

    def run(self, result=None):
        """Shows the program's log with a failure."""
        self.made = None
        before = len(result.failures) + len(result.errors) if result else 0
        found = super().run(result)
        if result and len(result.failures) + len(result.errors) > before and self.last_log:
            print(f"--- log of {self.id()}\n{self.last_log[-6000:]}\n---", flush=True)
        return found

    last_log = ""

    def tearDown(self):
        self.last_log = self.made.log() if self.made else ""

    # --- what must hold ------------------------------------------------------------------------

    def answered_once(self, seat: Seat, message: str, channel: str = GENERAL) -> dict:
        """The one reply to a message, after everything that could make a second one had its time.

        A later message on the same route is answered after every part of the earlier one, so its
        reply shows that nothing more comes.
        """
        reply = self.fake.wait_reply(message, channel)
        later = self.fake.say("say done", channel=channel)
        self.fake.wait_reply(later, channel)
        self.assertEqual(len(self.fake.replies(message, channel)), 1, "replies")
        return reply

    def record(self, seat: Seat, message: str) -> dict:
        """The turn record, once it is whole."""
        until(seat.turn(message).exists, "the turn record")
        return until(lambda: parsed(seat.turn(message).read_bytes()), "a whole record")

    def dropped(self, seat: Seat, message: str, reason: str) -> None:
        """One line that says why, and not a trace anywhere else."""
        until(lambda: seat.about("drops", message), f"a drop line for {message}")
        found = seat.about("drops", message)
        self.assertEqual(len(found), 1, found)
        self.assertIn(reason, found[0].values(), found)
        self.never_worked_on(seat, message)

    def never_worked_on(self, seat: Seat, message: str) -> None:
        for name in ("admissions", "rows", "outbox"):
            self.assertEqual(seat.about(name, message), [], f"{name} names {message}")
        self.assertFalse(seat.turn(message).exists(), "a turn record")
        self.assertEqual(self.fake.eyes(message), [], "a read receipt")
        self.assertEqual(self.fake.replies(message), [], "a reply")
