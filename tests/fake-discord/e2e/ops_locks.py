"""run.lock, STOP and ESTOP through the real program: each sentence about them."""

import json
import os
import random
import subprocess
import threading
import time
from pathlib import Path

from .case import Case
from .waiting import until

FAIL_POINT = "GUILDHALL_FAIL_POINT"
PERSON = "a person's own reason\n"


def boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def start_ticks(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])


class Locks(Case):
    def lock(self, seat, record) -> None:
        """A lock as something left it: a record, bytes, or None for a lock without a record."""
        seat.journal.mkdir(mode=0o700, exist_ok=True)
        folder = seat.journal / "run.lock"
        folder.mkdir(mode=0o700)
        if record is not None:
            owner = folder / "owner.json"
            owner.write_bytes(record if isinstance(record, bytes) else json.dumps(record).encode())
            os.chmod(owner, 0o600)

    def bystander(self) -> subprocess.Popen:
        """A process of ours that is no seat; nothing may ever signal it."""
        process = subprocess.Popen(["sleep", "600"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def each_command_does_with_each_lock_what_the_table_says(self):
        other = self.bystander()
        alive, ticks, boot = other.pid, start_ticks(other.pid), boot_id()
        gone = subprocess.Popen(["true"])
        gone.wait()
        earlier = "00000000-0000-4000-8000-000000000000"
        live = {"pid": alive, "start": ticks, "boot": boot}
        # name, what stands there, then exit codes of run, unlock and recover
        cases = [
            ("a dead owner", {**live, "pid": gone.pid}, 3, 0, 0),
            ("a reused pid", {**live, "start": ticks - 5}, 3, 0, 0),
            ("a pid of an earlier boot", {**live, "boot": earlier}, 3, 0, 0),
            ("a record from the future", {**live, "start": ticks + 10**9}, 3, 0, 0),
            ("an interrupted start", None, 3, 0, 0),
            ("a live owner", live, 3, 3, 3),
            ("no boot id", {"pid": alive, "start": ticks}, 3, 3, 3),
            ("no boot id, and dead", {"pid": gone.pid, "start": ticks}, 3, 0, 0),
            ("a start that is no tick", {**live, "start": "soon"}, 3, 3, 3),
            ("a boot that is no boot id", {**live, "boot": "today"}, 3, 3, 3),
            ("an unparsable record", b"{", 3, 3, 3),
            ("an empty record", b"", 3, 3, 3),
        ]
        seat = self.seat()
        for name, record, run, unlock, recover in cases:
            for command, wanted in (("run", run), ("unlock", unlock), ("recover", recover)):
                with self.subTest(f"{name}: {command}"):
                    self.lock(seat, record)
                    before = self.picture(seat)
                    code, said = seat.run_once(command)
                    self.assertEqual(code, wanted, said)
                    self.assertIsNone(other.poll(), "nobody was signalled")
                    if wanted != 0:
                        self.assertEqual(self.picture(seat), before, "nothing was touched")
                    else:
                        self.assertFalse((seat.journal / "run.lock").exists())
                        stop = (seat.journal / "STOP").exists()
                        self.assertEqual(stop, command == "unlock", "STOP")
                    self.clear(seat)
        for make in ("a file", "a link"):
            with self.subTest(make):
                seat.journal.mkdir(mode=0o700, exist_ok=True)
                path = seat.journal / "run.lock"
                path.write_text("") if make == "a file" else path.symlink_to("/nowhere")
                for command in ("run", "unlock", "recover"):
                    code, said = seat.run_once(command)
                    self.assertEqual(code, 3, said)
                    self.assertIn("run.lock", said)
                self.assertTrue(path.is_symlink() or path.is_file())
                path.unlink()

    def picture(self, seat) -> list:
        found = sorted(seat.journal.rglob("*"))
        return [(str(p), p.read_bytes() if p.is_file() else None) for p in found]

    def clear(self, seat) -> None:
        lock = seat.journal / "run.lock"
        if lock.is_dir():
            for entry in lock.iterdir():
                entry.unlink()
            lock.rmdir()
        (seat.journal / "STOP").unlink(missing_ok=True)

    def a_stop_signals_nobody_but_a_proven_owner(self):
        other = self.bystander()
        ticks, boot = start_ticks(other.pid), boot_id()
        cases = [
            {"pid": other.pid, "start": ticks - 1, "boot": boot},
            {"pid": other.pid, "start": ticks, "boot": "00000000-0000-4000-8000-000000000000"},
            {"pid": other.pid, "start": ticks},
        ]
        seat = self.seat()
        for record in cases:
            self.lock(seat, record)
            code, said = seat.run_once("stop")
            self.assertEqual(code, 0, said)
            self.assertTrue((seat.journal / "STOP").exists())
            self.assertIsNone(other.poll())
            self.clear(seat)

    def a_brake_is_a_refusal_whatever_else_is_wrong(self):
        seat = self.seat()
        for brake in (seat.journal / "STOP", seat.root / "ESTOP"):
            for options in ((), ("--supervised",)):
                with self.subTest(f"{brake.name} {options}"):
                    seat.journal.mkdir(mode=0o700, exist_ok=True)
                    brake.write_text(PERSON)
                    code, said = seat.run_once("run", *options)
                    self.assertEqual(code, 3, said)
                    self.assertIn(PERSON.strip(), said)
                    self.assertEqual(brake.read_text(), PERSON)
                    brake.unlink()

    def a_crowd_of_fifty_starts_has_one_winner(self):
        seat = self.seat()
        crowd = [
            subprocess.Popen(
                seat.command("run"),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=seat.work,
                env=seat.environment(),
            )
            for _ in range(50)
        ]
        for process in crowd:
            self.addCleanup(lambda p=process: (p.kill(), p.wait()))
        until(lambda: sum(p.poll() is not None for p in crowd) == 49, "49 to be refused", 120)
        codes = [p.poll() for p in crowd if p.poll() is not None]
        self.assertEqual(codes, [3] * 49)
        until(lambda: self.fake.state()["live"] == 1, "the winner to connect")
        self.fake.wait_reply(self.fake.say("say once"))
        winner = next(p for p in crowd if p.poll() is None)
        owner = json.loads((seat.journal / "run.lock" / "owner.json").read_text())
        self.assertEqual(owner["pid"], winner.pid)
        winner.terminate()
        self.assertEqual(winner.wait(timeout=60), 0)

    def an_unlock_that_races_with_starts_never_makes_two_owners(self):
        seat = self.seat()
        for _ in range(10):
            self.lock(seat, {"pid": 2**22 - 3, "start": 1, "boot": boot_id()})
            commands = [seat.command("run", "--supervised")] * 2
            commands += [seat.command("unlock"), seat.command("run")]
            random.shuffle(commands)
            crowd = [
                subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd=seat.work,
                    env=seat.environment(),
                )
                for command in commands
            ]
            try:
                settled = lambda: sum(p.poll() is None for p in crowd) <= 1
                until(settled, "all but one owner to end")
            finally:
                for process in crowd:
                    process.kill()
                    process.wait()
            self.clear(seat)

    def a_person_s_brake_at_any_moment_of_a_recovery_survives_it(self):
        seat = self.seat()
        points = ("recover.braked", "clear.record-removed", "recover.cleared", "brake.moved")
        for point in points:
            with self.subTest(point):
                self.lock(seat, {"pid": 2**22 - 3, "start": 1, "boot": boot_id()})
                surroundings = {**seat.environment(), FAIL_POINT: point}
                died = subprocess.run(
                    seat.command("recover"), env=surroundings, cwd=seat.work, capture_output=True
                )
                self.assertEqual(died.returncode, -9, died.stderr)
                stop = seat.journal / "STOP"
                stop.write_text(PERSON)
                code, said = seat.run_once("run", "--supervised")
                self.assertEqual(code, 3, said)
                self.assertEqual(stop.read_text(), PERSON)
                stop.unlink()
                code, said = seat.run_once("recover")
                self.assertEqual(code, 0, said)
                self.assertFalse(stop.exists(), "what the dead recovery left is no brake")
                self.clear(seat)

    def a_brake_that_is_set_while_a_recovery_runs_holds(self):
        seat = self.seat()
        stop = seat.journal / "STOP"
        for round_number in range(40):
            self.lock(seat, {"pid": 2**22 - 3, "start": 1, "boot": boot_id()})
            delay = round_number / 40 * 0.03

            def person():
                time.sleep(delay)
                subprocess.run(seat.command("stop"), env=seat.environment(), capture_output=True)

            hand = threading.Thread(target=person)
            hand.start()
            code, said = seat.run_once("recover")
            hand.join()
            self.assertIn(code, (0, 3), said)
            self.assertTrue(stop.exists(), f"the brake of round {round_number} is gone")
            self.assertEqual(seat.run_once("run", "--supervised")[0], 3)
            self.clear(seat)
