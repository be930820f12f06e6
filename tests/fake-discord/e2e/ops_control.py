"""The socket of a running seat, and the same commands when it is down."""

import json
import os
import socket
import stat

from .case import Case
from .seat import NAME
from .waiting import until


class Control(Case):
    def talk(self, seat, data: bytes, seconds: float = 30) -> bytes:
        """Sends bytes, gives the first line of the answer, or nothing when it was let go."""
        folder = os.open(seat.journal, os.O_PATH)
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(seconds)
        try:
            client.connect(f"/proc/self/fd/{folder}/control.sock")
            client.sendall(data)
            return client.makefile("rb").readline()
        finally:
            client.close()
            os.close(folder)

    def ask(self, seat, **request) -> dict:
        return json.loads(self.talk(seat, json.dumps(request).encode() + b"\n"))

    def a_running_seat_tells_what_it_does_and_is_not_troubled_by_rubbish(self):
        seat = self.serving()
        found = os.stat(seat.journal / "control.sock")
        self.assertEqual(stat.S_IMODE(found.st_mode), 0o600)
        self.assertEqual(self.ask(seat, do="status")["status"]["connector"]["phase"], "serving")
        for rubbish in (b"\n", b"\0" * 100 + b"\n", b"[" * 4000 + b"\n", b"{" * 9000, b'{"do":1}\n'):
            with self.subTest(rubbish[:8]):
                try:
                    answer = self.talk(seat, rubbish)
                except ConnectionError:
                    answer = b""
                if answer:
                    self.assertEqual(json.loads(answer)["code"], "bad-request")
        self.answered_once(seat, self.fake.say("say still here"))

    def a_process_of_another_user_is_not_heard(self):
        seat = self.serving()
        if os.geteuid() != 0:
            self.assertEqual(stat.S_IMODE(os.stat(seat.journal).st_mode), 0o700)
            return
        # Only root can be somebody else here; the folders are opened as a careless person might.
        for folder in (self.folder, seat.root, seat.root / "discord", seat.journal):
            os.chmod(folder, 0o711)
        os.chmod(seat.journal / "control.sock", 0o666)
        child = os.fork()
        if child == 0:
            code = 2
            try:
                os.setgid(65534)
                os.setuid(65534)
                client = socket.socket(socket.AF_UNIX)
                client.settimeout(20)
                client.connect(str(seat.journal / "control.sock"))
                client.sendall(b'{"do":"status"}\n')
                code = 1 if client.recv(1) else 0
            except (ConnectionError, BrokenPipeError):
                code = 0
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        self.assertEqual(os.waitstatus_to_exitcode(status), 0, "0: let go without a word")
        self.assertIn("another user", seat.log())

    def a_row_that_waits_is_cancelled_and_one_that_runs_is_aborted(self):
        seat = self.serving()
        runs = self.fake.say("slow 60")
        until(lambda: any("turn started" in line for line in seat.log().splitlines()), "a run")
        waits = self.fake.say("say never")
        until(lambda: seat.about("rows", waits), "the second row")
        code, said = seat.run_once("rows", "--json")
        self.assertEqual(code, 0, said)
        rows = {row["row"]: row["state"] for row in map(json.loads, said.splitlines())}
        self.assertEqual((rows[waits], rows[runs]), ("queued", "claimed"))
        self.assertEqual(seat.run_once("rows", runs, "--cancel")[0], 1, "it has begun")
        code, said = seat.run_once("rows", waits, "--cancel")
        self.assertEqual(code, 0, said)
        self.assertIn("cancelled", [line.get("how") for line in seat.about("rows", waits)])
        code, said = seat.run_once("rows", runs, "--abort")
        self.assertEqual(code, 0, said)
        until(
            lambda: any(line["k"] == "settled" for line in seat.about("rows", runs)),
            "the aborted turn's end",
        )
        self.assertEqual(self.fake.replies(waits), [])
        self.answered_once(seat, self.fake.say("say next"))

    def a_row_is_cancelled_while_nothing_runs(self):
        seat = self.serving()
        self.fake.say("slow 60")
        until(lambda: any("turn started" in line for line in seat.log().splitlines()), "a run")
        waits = self.fake.say("say never")
        until(lambda: seat.about("rows", waits), "the second row")
        seat.kill()
        self.assertEqual(seat.run_once("rows", waits, "--cancel")[0], 3, "the lock is a dead one's")
        self.assertEqual(seat.run_once("recover")[0], 0)
        code, said = seat.run_once("rows", waits, "--cancel")
        self.assertEqual(code, 0, said)
        seat.serve()
        self.answered_once(seat, self.fake.say("say next"))
        self.assertEqual(self.fake.replies(waits), [])

    def a_reload_over_the_socket_gives_its_outcome(self):
        seat = self.serving()
        self.assertEqual(self.ask(seat, do="reload")["outcome"], "applied")
        seat.write_binding("{")
        self.assertEqual(self.ask(seat, do="reload")["outcome"], "refused")
        self.assertEqual([line["k"] for line in seat.lines("reloads")], ["applied", "refused"])

    def the_socket_goes_with_the_seat_and_a_dead_one_s_is_replaced(self):
        seat = self.serving()
        path = seat.journal / "control.sock"
        seat.kill()
        self.assertTrue(path.exists(), "a crash leaves it")
        for command in (("status",), ("rows",), ("deliveries",)):
            code, said = seat.run_once(*command)
            self.assertEqual(code, 0, said)
        seat.restart()
        self.assertEqual(self.ask(seat, do="rows")["rows"], [])
        self.assertEqual(seat.terminate(), 0)
        self.assertFalse(path.exists())

    def a_seat_that_does_not_answer_is_told_as_such(self):
        seat = self.serving()
        self.assertEqual(NAME, json.loads(seat.run_once("status", "--json")[1])["binding"])
        code, said = seat.run_once("status", "--json")
        self.assertEqual((code, json.loads(said)["answers"]), (0, True), said)
