"""`init`: from a token to the first reply, by flags and at a terminal."""

import json
import os
import pty
import select
import stat
import time

from .case import Case
from .fake import ANA, BOT, GENERAL, GUILD, TOKEN
from .seat import NAME


class Init(Case):
    def bare(self):
        """A seat whose binding is not there yet."""
        seat = self.seat()
        seat.binding_file.unlink()
        return seat

    def words(self, seat, *flags) -> list:
        return [seat.program, "init", NAME, "--data-root", seat.root, "--api-url", self.fake.origin, *flags]

    def served(self, seat) -> None:
        """What was written serves."""
        self.assertEqual(stat.S_IMODE(os.stat(seat.binding_file).st_mode), 0o600)
        binding = json.loads(seat.binding_file.read_text())
        self.assertEqual((binding["guildId"], binding["botUserId"]), (GUILD, BOT))
        self.assertNotIn(TOKEN, seat.binding_file.read_text())
        seat.serve()
        self.fake.wait_reply(self.fake.say("say first"))

    def a_script_gives_every_answer_as_a_flag(self):
        seat = self.bare()
        code, said = seat.once(
            self.words(seat, "--yes", "--token-file", seat.token_file)
            + ["--channel", f"{GENERAL}:open", "--channel", "help", "--user", f"{ANA}:Ana:operator"]
        )
        self.assertEqual(code, 0, said)
        self.assertIn("everything needed is in order", said)
        self.served(seat)

    def a_script_that_says_too_little_is_told_the_flag_and_nothing_is_written(self):
        seat = self.bare()
        whole = ["--yes", "--token-file", seat.token_file, "--channel", GENERAL, "--user", f"{ANA}:Ana"]
        cases = [
            ("no channel", whole[:3] + whole[5:], "--channel"),
            ("no user", whole[:5], "--user"),
            ("a channel that is not there", [*whole, "--channel", "nowhere"], "--channel"),
            ("a stranger", [*whole, "--user", "123456789012345678:Nobody"], "Nobody"),
            ("another server", [*whole, "--guild", "123456789012345678"], "invite"),
        ]
        for name, flags, word in cases:
            with self.subTest(name):
                code, said = seat.once(self.words(seat, *flags))
                self.assertIn(code, (2, 4), said)
                self.assertIn(word, said)
                self.assertFalse(seat.binding_file.exists())
        self.fake.switch(wrong_token=True)
        code, said = seat.once(self.words(seat, *whole))
        self.assertEqual(code, 2, said)
        self.assertIn("token", said)

    def a_binding_that_is_there_is_left_alone(self):
        seat = self.seat()
        before = seat.binding_file.read_bytes()
        code, said = seat.once(self.words(seat, "--yes", "--token-file", seat.token_file))
        self.assertEqual(code, 2, said)
        self.assertEqual(seat.binding_file.read_bytes(), before)

    def a_person_answers_at_a_terminal_and_has_a_reply_within_a_minute(self):
        seat = self.bare()
        began = time.monotonic()
        answers = [
            ("Name of the binding", ""),
            ("Token (it does not show)", TOKEN),
            ("Which server", ""),
            ("Which channels", "nowhere"),
            ("is not on the list", None),
            ("Which channels", "1:open help"),
            ("Who is listed", f"{ANA}:Ana:operator"),
            ("Name of the seat", ""),
            ("Engine", ""),
        ]
        code, shown = self.at_a_terminal(seat, self.words(seat), answers)
        self.assertEqual(code, 0, shown)
        self.assertNotIn(TOKEN, shown, "what is typed as a token does not show")
        self.assertIn("Read Message History", shown)
        self.served(seat)
        self.assertLess(time.monotonic() - began, 60)

    def at_a_terminal(self, seat, command, answers) -> tuple[int, str]:
        """Types each answer once its question stands there."""
        child, terminal = pty.fork()
        if child == 0:
            try:
                os.chdir(seat.work)
                os.execve(command[0], [str(word) for word in command], seat.environment())
            finally:
                os._exit(127)
        shown, seen = "", 0
        try:
            for question, answer in answers:
                deadline = time.monotonic() + 40
                while question not in shown[seen:]:
                    self.assertLess(time.monotonic(), deadline, f"no {question!r} in {shown}")
                    shown += self.read(terminal)
                seen = shown.index(question, seen) + len(question)
                if answer is not None:
                    os.write(terminal, answer.encode() + b"\n")
            while chunk := self.read(terminal):
                shown += chunk
        finally:
            os.close(terminal)
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status), shown

    @staticmethod
    def read(terminal) -> str:
        """What the program printed next; nothing when it has ended."""
        ready, _, _ = select.select([terminal], [], [], 40)
        try:
            return os.read(terminal, 65536).decode(errors="replace") if ready else ""
        except OSError:
            return ""
