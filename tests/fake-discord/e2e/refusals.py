"""Bad input: one clear message each, with what to do, and the right exit code."""

import json
import os
import pwd
import shutil
import stat
from pathlib import Path

from .case import Case
from .fake import BOT
from .seat import NAME
from .waiting import until

FAILED, INVALID, BRAKED, USAGE = 1, 2, 3, 4


class Refusals(Case):
    def refused(self, seat, code, *words, seconds=60) -> str:
        """`run` ends by itself, with this code and all of these words in what it says."""
        seat.start()
        found = seat.exit_code(seconds)
        log = seat.log()
        codes = code if isinstance(code, tuple) else (code,)
        self.assertIn(found, codes, log)
        for word in words:
            self.assertIn(word.lower(), log.lower())
        self.assertNotIn("panicked", log)
        self.assertNotIn("RUST_BACKTRACE", log)
        self.assertEqual(self.fake.posts(), [])
        return log

    def a_binding_that_is_no_json_is_refused(self):
        seat = self.seat()
        seat.write_binding('{"bindingVersion": 1,\n  "name": oops}')
        self.refused(seat, INVALID, "line 2")

    def every_fault_of_a_binding_is_told_at_once(self):
        seat = self.seat()
        broken = {**seat.binding, "guildId": "0", "surprise": 1, "channels": []}
        del broken["seat"]
        broken["users"] = [{"id": BOT, "name": "the bot itself"}, {"id": "12ab", "name": "no id"}]
        seat.write_binding(json.dumps(broken))
        log = self.refused(seat, INVALID, "guildId", "surprise", "channels", "seat", "users[0]")
        self.assertIn("users[1].id", log)

    def a_binding_that_is_not_there_is_refused(self):
        seat = self.seat()
        seat.binding_file.unlink()
        self.refused(seat, INVALID, f"{NAME}.json")

    def a_binding_that_others_can_read_is_refused(self):
        seat = self.seat()
        os.chmod(seat.binding_file, 0o644)
        self.refused(seat, INVALID, "0600")

    def a_missing_token_file_is_refused(self):
        seat = self.seat()
        seat.token_file.unlink()
        self.refused(seat, INVALID, "token")

    def a_token_file_that_others_can_read_is_refused(self):
        seat = self.seat()
        for mode in (0o644, 0o640, 0o602):
            with self.subTest(oct(mode)):
                os.chmod(seat.token_file, mode)
                self.refused(seat, INVALID, "token", "0600")

    def a_token_file_that_is_a_link_is_refused(self):
        seat = self.seat()
        real = self.folder / "real-token"
        seat.token_file.rename(real)
        seat.token_file.symlink_to(real)
        self.refused(seat, INVALID, "token", "link")

    def an_empty_token_file_is_refused(self):
        seat = self.seat()
        seat.token_file.write_text("\n")
        self.refused(seat, INVALID, "token")

    def a_wrong_token_is_told_as_one(self):
        seat = self.seat()
        self.fake.switch(wrong_token=True)
        self.refused(seat, (FAILED, INVALID), "token")
        self.assertLessEqual(self.fake.state()["requests"], 3, "a refused token is not tried again")

    def a_bot_that_is_not_in_the_server_is_told_how_to_get_in(self):
        seat = self.seat()
        self.fake.switch(no_guild=True)
        self.refused(seat, (FAILED, INVALID), "server", "invite")

    def the_missing_content_intent_is_told_with_the_switch_to_turn(self):
        seat = self.seat()
        self.fake.switch(content_intent_off=True)
        self.refused(seat, (FAILED, INVALID), "message content", "developer portal")
        self.assertLessEqual(self.fake.state()["identifies"], 1, "a fatal close is not tried again")

    def another_bot_behind_the_token_is_refused(self):
        seat = self.seat(botUserId="800000000000000777")
        self.refused(seat, (FAILED, INVALID), BOT)

    def a_name_that_is_not_the_file_s_is_refused(self):
        seat = self.seat(name="other")
        self.refused(seat, INVALID, "name")

    def a_brake_refuses_with_its_own_code(self):
        seat = self.seat()
        seat.journal.mkdir(mode=0o700)
        for brake in (seat.journal / "STOP", seat.root / "ESTOP"):
            with self.subTest(brake.name):
                brake.write_text("by hand\n")
                os.chmod(brake, 0o600)
                self.refused(seat, BRAKED, brake.name)
                brake.unlink()
        self.assertEqual(self.fake.state()["identifies"], 0)

    def a_second_run_on_one_binding_is_refused(self):
        seat = self.serving()
        code, said = seat.run_once("run")
        self.assertEqual(code, BRAKED, said)
        message = self.fake.say("say still mine")
        self.assertEqual(self.fake.wait_reply(message)["content"], "still mine")

    def a_lock_of_a_dead_process_names_the_way_out(self):
        seat = self.serving()
        seat.kill()
        code, said = seat.run_once("run")
        self.assertIn(code, (FAILED, BRAKED), said)
        self.assertIn("unlock", said)

    def an_unknown_option_is_a_usage_error(self):
        seat = self.seat()
        code, said = seat.run_once("run", "--no-such-option")
        self.assertEqual(code, USAGE, said)

    def a_network_that_is_down_is_waited_for(self):
        seat = self.seat(discord={"apiUrl": "http://127.0.0.1:9"})
        seat.start()
        until(lambda: seat.log() or seat.process.poll() is not None, "a line in the log")
        seat.must_run()
        self.assertEqual(seat.terminate(), 0)


class Disks(Case):
    def a_data_root_that_cannot_be_written_is_refused(self):
        seat = self.seat()
        as_user = {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            as_user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            os.chmod(self.folder, 0o755)
            for path in [seat.token_file, seat.work, seat.home, seat.root, *seat.files()]:
                os.chown(path, nobody.pw_uid, nobody.pw_gid)
            copy = self.folder / "guildhall"
            shutil.copy2(seat.program, copy)
            seat.program = copy
        os.chmod(seat.root / "discord", 0o500)
        seat.start(**as_user)
        self.assertIn(seat.exit_code(), (FAILED, INVALID), seat.log())
        self.assertIn(str(seat.root), seat.log())
        self.assertNotIn("panicked", seat.log())
        os.chmod(seat.root / "discord", 0o700)

    def a_full_disk_loses_nothing_and_says_so(self):
        seat = self.seat()
        small = SmallDisk(self, seat.journal)
        seat.serve()
        self.fake.wait_reply(self.fake.say("say before"))
        small.fill()
        asked = [self.fake.say(f"say while full {n}") for n in range(40)]
        until(lambda: "room" in seat.log().lower() or seat.process.poll() is not None, "a word on it")
        self.assertNotIn("panicked", seat.log())
        small.free()
        if seat.process.poll() is not None:
            self.assertEqual(seat.process.returncode, FAILED)
            seat.restart()
        answers = [f"while full {number}" for number in range(len(asked))]
        until(lambda: answers[-1] in self.said(), "the last answer", seconds=120)
        said = self.said()
        self.assertEqual([text for text in said if text in answers], answers, "once, in order")
        told = set(said) - {"before", *answers}
        self.assertLessEqual(len(told), 1, f"one fixed line at most says that it is full: {told}")

    def said(self) -> list[str]:
        return [message["content"] for message in self.fake.from_bot()]


class SmallDisk:
    """A small file system of its own under the journal; it needs root, as CI has."""

    def __init__(self, case: Case, at: Path, mib: int = 24):
        if os.geteuid() != 0:
            case.skipTest("mounting a small disk needs root")
        at.mkdir(mode=0o700)
        done = os.system(f"mount -t tmpfs -o size={mib}m,mode=0700 guildhall-e2e '{at}'")
        case.assertEqual(done, 0, "mount")
        case.addCleanup(os.system, f"umount -l '{at}'")
        self.filler = at / "filler"

    def fill(self) -> None:
        with self.filler.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"\0" * 4096)
            except OSError:
                pass
        os.chmod(self.filler, stat.S_IRUSR | stat.S_IWUSR)

    def free(self) -> None:
        self.filler.unlink()
