"""The program under test as a process: `guildhall run` on a data root of its own.

In: a fake, changes to the binding. Out: exit codes, the log, the files it wrote. Never: a look
into the program's memory, a file of it changed behind its back unless a test says so.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from .fake import ANA, BEN, BOT, GENERAL, GUILD, HELP, TOKEN, Fake
from .waiting import until

NAME = "e2e"
PROGRAM_VARIABLE = "GUILDHALL_BIN"


def program() -> Path:
    found = os.environ.get(PROGRAM_VARIABLE)
    if not found or not Path(found).is_file():
        sys.exit(
            f"{PROGRAM_VARIABLE} does not name the guildhall program.\n"
            "Run these tests as `cargo xtask test --only e2e`, which builds it and sets this."
        )
    return Path(found)


class Seat:
    def __init__(self, fake: Fake, folder: Path, **changes):
        self.fake, self.folder = fake, folder
        self.root = folder / "data"
        self.home = folder / "home"
        self.work = folder / "work"
        self.log_path = folder / "log.txt"
        self.token_file = folder / "token"
        self.program = program()
        self.process: subprocess.Popen | None = None
        for made in (self.home, self.work):
            made.mkdir()
        (self.root / "discord").mkdir(parents=True)
        os.chmod(self.root, 0o700)
        os.chmod(self.root / "discord", 0o700)
        self.token_file.write_text(TOKEN + "\n")
        os.chmod(self.token_file, 0o600)
        self.binding = {**self.plain_binding(), **changes}
        self.write_binding(json.dumps(self.binding, indent=2))

    def plain_binding(self) -> dict:
        return {
            "bindingVersion": 1,
            "name": NAME,
            "seat": "Practice",
            "guildId": GUILD,
            "guildName": "Stand",
            "botUserId": BOT,
            "tokenFile": str(self.token_file),
            "channels": [
                {"id": GENERAL, "name": "general", "mode": "open"},
                {"id": HELP, "name": "help", "mode": "mention"},
            ],
            "users": [
                {"id": ANA, "name": "Ana"},
                {"id": BEN, "name": "Ben", "channels": [HELP]},
            ],
            "engine": {"kind": "practice"},
            "limits": {"turnsPerDay": 100000},
            "discord": {"apiUrl": self.fake.origin},
        }

    @property
    def binding_file(self) -> Path:
        return self.root / "discord" / f"{NAME}.json"

    @property
    def journal(self) -> Path:
        return self.root / "discord" / NAME

    def write_binding(self, text: str) -> None:
        self.binding_file.write_text(text)
        os.chmod(self.binding_file, 0o600)

    # --- the process ---------------------------------------------------------------------------

    def command(self, verb: str, *after: str) -> list:
        """A command on this binding."""
        return [self.program, verb, NAME, *after, "--data-root", self.root]

    def environment(self) -> dict:
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "RUST_BACKTRACE": "1"}

    def start(self, *options: str, **popen) -> "Seat":
        """Starts `run` and comes back at once."""
        assert self.process is None or self.process.poll() is not None, "it runs already"
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen(
                self.command("run", *options),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.work,
                env=self.environment(),
                **popen,
            )
        return self

    def serve(self, *options: str, **popen) -> "Seat":
        """Starts `run` and waits until it is connected."""
        before = self.connections()
        self.start(*options, **popen)
        until(lambda: self.connections() > before, "READY or RESUMED", also=self.must_run)
        until(lambda: self.fake.state()["live"] > 0, "a live connection", also=self.must_run)
        return self

    def connections(self) -> int:
        state = self.fake.state()
        return state["identifies"] + state["resumes"]

    def must_run(self) -> None:
        code = self.process.poll()
        assert code is None, f"it ended with {code}:\n{self.log()[-4000:]}"

    def run_once(self, verb: str, *after: str, seconds: float = 60) -> tuple[int, str]:
        """Another command on the same binding: exit code, and all that it printed."""
        return self.once(self.command(verb, *after), seconds)

    def once(self, command: list, seconds: float = 60) -> tuple[int, str]:
        """Any command in this seat's surroundings."""
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=self.work,
            env=self.environment(),
            timeout=seconds,
            check=False,
        )
        return done.returncode, done.stdout.decode(errors="replace")

    def exit_code(self, seconds: float = 60) -> int:
        """Waits for the end of `run`."""
        try:
            return self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {seconds} s:\n{self.log()[-4000:]}") from None

    def terminate(self, seconds: float = 60) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.exit_code(seconds)

    def kill(self) -> None:
        """As a power cut would for a process."""
        self.process.kill()
        self.process.wait()

    def restart(self) -> "Seat":
        """After a kill, as a supervisor does it: a dead lock is cleared on the way in."""
        return self.serve("--supervised")

    def stop(self) -> None:
        if self.process and self.process.poll() is None:
            self.kill()

    # --- what it left --------------------------------------------------------------------------

    def log(self) -> str:
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def lines(self, name: str) -> list[dict]:
        """A log of the journal, with a last line that is still being written left out."""
        path = self.journal / f"{name}.jsonl"
        if not path.exists():
            return []
        whole, _, _ = path.read_bytes().rpartition(b"\n")
        return [json.loads(line) for line in whole.split(b"\n") if line.strip(b"\0 ")]

    def about(self, name: str, message: str) -> list[dict]:
        """The lines of a log that name a message."""
        return [line for line in self.lines(name) if message in line.values()]

    def turn(self, message: str) -> Path:
        return self.journal / "turns" / f"{message}.json"

    def files(self) -> list[Path]:
        return [path for path in self.root.rglob("*")]

    def memory_kib(self) -> int:
        """Resident memory now."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        line = next(x for x in status.splitlines() if x.startswith("VmRSS:"))
        return int(line.split()[1])
