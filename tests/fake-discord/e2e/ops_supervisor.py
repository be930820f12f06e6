"""A supervisor that does what the unit says, for machines without systemd.

In: the unit that `guildhall service render` prints, with its times divided so that a test is short.
Out: starts, restarts, signals, a state as systemd names it. Never: a directive that it makes up.
"""

from __future__ import annotations

import os
import shlex
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

# Divides every time of the unit: 15 seconds between tries become 0.15.
FASTER = 100.0


def directives(text: str) -> dict[str, list[str]]:
    """The unit's keys with their values, sections left out."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.startswith(("#", "[")):
            found.setdefault(key, []).append(value)
    return found


class Supervisor:
    """One instance of the template unit. `watchdog` replaces the unit's WatchdogSec, in seconds."""

    def __init__(self, unit: str, name: str, seat, watchdog: float | None = None):
        self.unit = directives(unit)
        self.name, self.seat = name, seat
        self.watchdog = watchdog
        self.state, self.result = "inactive", "success"
        self.starts: list[float] = []
        self.exits: list[int] = []
        self.notes: list[str] = []
        self.watchdogs = 0
        self.process: subprocess.Popen | None = None
        self._wanted = True
        self._fed = 0.0
        self._path = Path(seat.folder) / "notify"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(self._path))
        self._socket.settimeout(0.02)
        self._thread = threading.Thread(target=self._live, daemon=True)

    def one(self, key: str) -> str:
        return self.unit[key][0]

    def number(self, key: str) -> float:
        return float(self.one(key))

    def start(self) -> "Supervisor":
        self._thread.start()
        return self

    # --- what an operator does -----------------------------------------------------------------

    def stop(self, seconds: float = 60) -> None:
        """KillMode=mixed: SIGTERM to the main process, and SIGKILL to the rest when it has ended."""
        self._wanted = False
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self._thread.join(timeout=seconds)
        assert not self._thread.is_alive(), "the stop took too long"
        self._socket.close()

    def reload(self) -> None:
        line = self.one("ExecReload").replace("$MAINPID", str(self.process.pid))
        subprocess.run(shlex.split(line), check=True)

    # --- its own life --------------------------------------------------------------------------

    def _live(self) -> None:
        while True:
            self._spawn()
            code = self._watch()
            self.exits.append(code)
            self._kill_the_rest()
            if not self._again(code):
                return

    def _spawn(self) -> None:
        self.starts.append(time.monotonic())
        self.state, self._fed = "activating", time.monotonic()
        words = [w.replace("%i", self.name) for w in shlex.split(self.one("ExecStart"))]
        watchdog = self.watchdog or self.number("WatchdogSec")
        environment = {
            **self.seat.environment(),
            "NOTIFY_SOCKET": str(self._path),
            "WATCHDOG_USEC": str(int(watchdog * 1_000_000)),
        }
        with self.seat.log_path.open("ab") as log:
            self.process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.seat.work,
                env=environment,
                start_new_session=True,
            )

    def _watch(self) -> int:
        while True:
            self._listen()
            code = self.process.poll()
            if code is not None:
                return code
            patience = self.watchdog or self.number("WatchdogSec")
            if self.state == "active" and time.monotonic() - self._fed > patience:
                self.watchdogs += 1
                self.process.send_signal(signal.SIGABRT)
                self.process.wait(timeout=self.number("TimeoutAbortSec"))

    def _listen(self) -> None:
        try:
            data = self._socket.recv(4096)
        except (TimeoutError, OSError):
            return
        for line in data.decode().splitlines():
            self.notes.append(line)
            if line == "READY=1":
                self.state, self._fed = "active", time.monotonic()
            elif line == "WATCHDOG=1":
                self._fed = time.monotonic()
            elif line == "STOPPING=1":
                self.state = "deactivating"

    def _kill_the_rest(self) -> None:
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def _again(self, code: int) -> bool:
        """Restart=on-failure with its exceptions and its bounds."""
        clean = code in (0, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP, -signal.SIGPIPE)
        self.result = "success" if clean else "exit-code" if code > 0 else "signal"
        self.state = "inactive" if clean else "failed"
        never = [int(word) for word in self.one("RestartPreventExitStatus").split()]
        if not self._wanted or clean or code in never or self.one("Restart") != "on-failure":
            return False
        self.state = "auto-restart"
        time.sleep(self.number("RestartSec") / FASTER)
        span = self.number("StartLimitIntervalSec") / FASTER
        lately = [at for at in self.starts if time.monotonic() - at < span]
        if len(lately) >= int(self.number("StartLimitBurst")):
            self.state = "failed"
            return False
        return self._wanted
