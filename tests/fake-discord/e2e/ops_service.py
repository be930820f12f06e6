"""The unit's promises, kept by a supervisor that reads the unit itself."""

import json
import os
import signal
from pathlib import Path

from .case import Case
from .fake import GENERAL
from .ops_supervisor import Supervisor
from .seat import NAME
from .waiting import until


class Service(Case):
    def unit(self, seat) -> str:
        code, text = seat.once(
            [seat.program, "service", "render", "--repo", seat.work, "--data-root", seat.root]
        )
        self.assertEqual(code, 0, text)
        return text

    def supervised(self, watchdog=None, **changes) -> Supervisor:
        seat = self.seat(**changes)
        supervisor = Supervisor(self.unit(seat), NAME, seat, watchdog).start()
        self.addCleanup(supervisor.stop)
        return supervisor

    def active(self, supervisor, starts: int = 1) -> None:
        until(
            lambda: supervisor.state == "active" and len(supervisor.starts) >= starts,
            f"start {starts} to be ready",
        )

    def ended(self, supervisor) -> None:
        until(lambda: not supervisor._thread.is_alive(), "the unit to end")

    def a_kill_is_followed_by_a_start_that_clears_the_dead_lock_and_answers(self):
        supervisor = self.supervised()
        self.active(supervisor)
        self.fake.wait_reply(self.fake.say("say one"))
        supervisor.process.kill()
        self.active(supervisor, starts=2)
        self.fake.wait_reply(self.fake.say("say two"))
        self.assertEqual(supervisor.exits, [-signal.SIGKILL])
        self.assertFalse((supervisor.seat.journal / "STOP").exists(), "its own brake is gone")

    def a_brake_is_never_tried_again(self):
        seat = self.seat()
        code, said = seat.run_once("stop")
        self.assertEqual(code, 0, said)
        supervisor = Supervisor(self.unit(seat), NAME, seat).start()
        self.addCleanup(supervisor.stop)
        self.ended(supervisor)
        self.assertEqual((supervisor.exits, supervisor.state), ([3], "failed"))
        self.assertTrue((seat.journal / "STOP").exists(), "a person's brake stays")

    def a_stop_while_it_runs_ends_it_for_good(self):
        supervisor = self.supervised()
        self.active(supervisor)
        code, said = supervisor.seat.run_once("stop")
        self.assertEqual(code, 0, said)
        self.ended(supervisor)
        self.assertEqual((supervisor.exits, supervisor.state), ([0], "inactive"))

    def an_invalid_binding_ends_as_failed_after_a_bounded_number_of_tries(self):
        seat = self.seat()
        seat.write_binding('{"bindingVersion": 1, "unknownKey": true}')
        supervisor = Supervisor(self.unit(seat), NAME, seat).start()
        self.addCleanup(supervisor.stop)
        self.ended(supervisor)
        self.assertEqual(supervisor.state, "failed")
        self.assertEqual(supervisor.exits, [2] * 5)
        self.assertLess(len(seat.log()), 64 * 1024, "a bounded log")

    def a_plain_stop_lets_the_turn_finish_and_leaves_no_brake(self):
        supervisor = self.supervised()
        self.active(supervisor)
        message = self.fake.say("slow 2")
        seat = supervisor.seat
        until(lambda: seat.about("rows", message), "the row")
        supervisor.stop()
        self.assertEqual(supervisor.exits, [0])
        self.assertIn("STOPPING=1", supervisor.notes)
        self.assertEqual(len(self.fake.replies(message)), 1)
        self.assertFalse((seat.journal / "STOP").exists())
        self.assertFalse((seat.journal / "run.lock").exists())

    def the_reload_signal_takes_the_edited_binding_without_a_new_connection(self):
        supervisor = self.supervised()
        self.active(supervisor)
        seat = supervisor.seat
        before = self.fake.state()["connects"]
        seat.binding["limits"] = {"turnsPerDay": 77}
        seat.write_binding(json.dumps(seat.binding))
        supervisor.reload()
        until(lambda: seat.lines("reloads"), "the outcome")
        until(lambda: any(note == "RELOADING=1" for note in supervisor.notes), "its word")
        until(lambda: supervisor.notes.count("READY=1") == 2, "the end of it")
        self.assertEqual(seat.lines("reloads")[0]["k"], "applied")
        self.assertEqual(self.fake.state()["connects"], before)
        self.assertEqual(supervisor.exits, [])

    def a_deaf_gateway_is_degraded_and_starves_the_watchdog(self):
        supervisor = self.supervised(watchdog=4)
        self.active(supervisor)
        self.fake.wait_reply(self.fake.say("say here"))
        seat = supervisor.seat
        until(lambda: supervisor.notes.count("WATCHDOG=1") >= 3, "signs of life")
        # Acknowledgements go on, and Discord has a message that it never told of.
        untold = self.fake.say("not listed here", author=GENERAL)
        newest = str(int(untold) + (6_000 << 22))
        self.fake.fault(
            "GET",
            rf"/channels/{GENERAL}$",
            times=1000,
            status=200,
            body={
                "id": GENERAL,
                "type": 0,
                "guild_id": seat.binding["guildId"],
                "name": "general",
                "last_message_id": newest,
            },
        )
        until(lambda: self.degraded(seat, "gateway-deaf"), "the status to say so")
        told = self.degraded(seat, "gateway-deaf")
        self.assertIn(GENERAL, told["words"])
        self.assertTrue(told["since"])
        until(lambda: supervisor.exits, "the watchdog's end of it")
        self.assertEqual((supervisor.watchdogs, supervisor.exits[0]), (1, -signal.SIGABRT))
        self.active(supervisor, starts=2)
        self.fake.wait_reply(self.fake.say("say again"))

    def degraded(self, seat, what: str):
        code, said = seat.run_once("status", "--json")
        self.assertEqual(code, 0, said)
        found = (json.loads(said)["last"] or {}).get("degraded") or []
        return next((one for one in found if one["what"] == what), None)

    def a_seat_that_hangs_starves_the_watchdog(self):
        supervisor = self.supervised(watchdog=3)
        self.active(supervisor)
        # A process that is stopped is the deadest of all: it cannot even say that it is.
        supervisor.process.send_signal(signal.SIGSTOP)
        until(lambda: supervisor.watchdogs > 0, "the watchdog")
        supervisor.process.send_signal(signal.SIGCONT)
        self.active(supervisor, starts=2)
        self.fake.wait_reply(self.fake.say("say again"))

    def a_start_without_a_network_is_not_ready_and_asks_for_time(self):
        self.fake.gateway("close", code=4000, when="hello", times=3)
        supervisor = self.supervised(watchdog=2)
        until(
            lambda: any(n.startswith("EXTEND_TIMEOUT_USEC=") for n in supervisor.notes),
            "a word from the start",
        )
        self.assertNotIn("READY=1", supervisor.notes)
        self.active(supervisor)
        self.assertEqual(supervisor.exits, [], "no start was given up")

    # --- the commands --------------------------------------------------------------------------

    def with_systemctl(self, seat, script: str):
        """A stand-in for systemctl on the search path; it writes down what it was asked."""
        folder = Path(self.folder) / "bin"
        folder.mkdir(exist_ok=True)
        asked = folder / "asked"
        program = folder / "systemctl"
        program.write_text(f'#!/bin/sh\necho "$@" >> {asked}\n{script}\n')
        program.chmod(0o755)
        surroundings = seat.environment()
        seat.environment = lambda: {**surroundings, "PATH": f"{folder}:{os.environ['PATH']}"}
        return lambda: asked.read_text().splitlines() if asked.exists() else []

    def service(self, seat, *words) -> tuple[int, str]:
        return seat.once([seat.program, "service", *words, "--data-root", seat.root])

    def an_install_writes_the_unit_and_an_uninstall_removes_it(self):
        seat = self.seat()
        asked = self.with_systemctl(seat, "exit 0")
        units = Path(self.folder) / "units"
        code, said = self.service(seat, "install", NAME, "--dir", units)
        self.assertEqual(code, 0, said)
        for command in ("enable --now", "status", "journalctl", "stop", "enable-linger"):
            self.assertIn(command, said)
        unit = units / "guildhall@.service"
        self.assertIn(str(seat.program.resolve()), unit.read_text())
        self.assertEqual([p.name for p in units.iterdir()], [unit.name], "nothing beside it")
        self.assertEqual(asked(), ["--user --no-pager daemon-reload"])
        for secret in (seat.token_file.read_text().strip(), seat.binding["guildId"]):
            self.assertNotIn(secret, unit.read_text())
        code, said = self.service(seat, "install", NAME, "--dir", units, "--no-reload")
        self.assertEqual((code, len(asked())), (0, 1), said)
        code, said = self.service(seat, "uninstall", "--dir", units)
        self.assertEqual(code, 0, said)
        self.assertFalse(unit.exists())

    def an_uninstall_refuses_while_an_instance_is_active_or_might_be(self):
        seat = self.seat()
        units = Path(self.folder) / "units"
        cases = [
            ('case "$*" in *list-units*) echo "guildhall@e2e.service loaded active running x";; esac', 3),
            ('case "$*" in *list-units*) echo "no bus" >&2; exit 1;; esac', 1),
        ]
        for script, wanted in cases:
            with self.subTest(script):
                self.with_systemctl(seat, script)
                self.assertEqual(self.service(seat, "install", "--dir", units)[0], 0)
                code, said = self.service(seat, "uninstall", "--dir", units)
                self.assertEqual(code, wanted, said)
                self.assertTrue((units / "guildhall@.service").exists())

    def a_service_status_shows_unit_brakes_and_lock(self):
        seat = self.serving()
        self.with_systemctl(
            seat,
            "printf 'LoadState=loaded\\nActiveState=failed\\nSubState=failed\\n"
            "Result=exit-code\\nExecMainCode=1\\nExecMainStatus=3\\nNRestarts=2\\n'",
        )
        code, said = self.service(seat, "status", NAME)
        self.assertEqual(code, 0, said)
        for words in ("failed", "exit code 3", "brake", "restarts: 2", "STOP not set", "running yes"):
            self.assertIn(words, said)
        code, said = self.service(seat, "status", NAME, "--json")
        self.assertEqual(json.loads(said)["state"]["ActiveState"], "failed", said)
