"""Git from outside: a person asks, the model calls, and what `git` itself then says of the work tree."""

import os
import subprocess

from .desk import ModelledDesk, calls
from .fake import ANA
from .model import Script, answers

TOKEN = "e2e-push-token-of-nobody"
LOCK = """import pathlib, sys
out = pathlib.Path(__file__).resolve().parents[2] / "vault-calls"
with out.open("a") as calls:
    calls.write(" ".join(sys.argv[1:]) + "\\n")
if sys.argv[1] == "reserve":
    with open("registry.md", "a") as registry:
        registry.write("DEC-7 " + sys.argv[-1] + "\\n")
    print("DEC-7")
"""


class Git(ModelledDesk):
    def setUp(self):
        super().setUp()
        self.tree = self.folder / "files" / "tree"
        self.tree.mkdir()
        (self.tree / "a.txt").write_text("one\n")
        self.git("init", "-q", "-b", "main")
        self.begin()
        self.token = self.folder / "push.token"
        self.token.write_text(TOKEN + "\n")
        os.chmod(self.token, 0o600)

    def git(self, *words: str) -> str:
        identity = ["-c", "user.name=P", "-c", "user.email=p@example.org"]
        done = subprocess.run(
            ["git", *identity, *words], cwd=self.tree, check=True, capture_output=True, text=True,
        )
        return done.stdout.strip()

    def begin(self) -> None:
        self.git("add", ".")
        self.git("commit", "-q", "-m", "begin")

    def tools(self, **git) -> dict:
        bound = {"branch": "main", "identity": "seat", "author": "Seat <seat@example.org>",
                 "tokenFile": str(self.token), **git}
        return {"roots": [{"name": "tree", "path": str(self.tree), "write": True, "git": bound}]}

    def at_tree(self, **git):
        return self.modelled_desk(tools=self.tools(**git))

    def does(self, *wanted, **said) -> list[str]:
        """What the tools gave back for these calls, made one after the other in one turn."""
        self.model.play(*(Script(calls(one)) for one in wanted), answers("that is all"))
        self.assertIn("that is all", self.told(self.fake.say("go on", **said)))
        return [self.results(number)[0] for number in range(-len(wanted), 0)]

    def a_commit_has_the_file_the_author_and_who_asked_for_it(self):
        seat = self.at_tree().serve()
        status, wrote, done = self.does(
            ("git_status", {"root": "tree"}),
            ("write_file", {"root": "tree", "path": "b.txt", "text": "two\n"}),
            ("git_commit", {"root": "tree", "message": "Add b", "paths": ["b.txt"]}),
        )
        self.assertIn("branch main", status)
        self.assertIn("b.txt", wrote)
        self.assertIn("Committed ", done)
        self.assertIn("pushed: false", done)
        self.assertEqual(self.git("log", "-1", "--format=%an <%ae>"), "Seat <seat@example.org>")
        self.assertEqual(self.git("log", "-1", "--format=%B"), "Add b\n\nRequested-by: Ana")
        self.assertEqual(self.git("show", "--stat", "--format=", "HEAD").split("|")[0].strip(), "b.txt")
        self.assertEqual(self.git("status", "--porcelain"), "")
        for path in [*seat.files(), seat.log_path]:
            if path.is_file() and path != self.token:
                self.assertNotIn(TOKEN.encode(), path.read_bytes(), path)

    def a_requester_whose_name_cannot_be_seen_is_named_by_their_id(self):
        self.at_tree().serve()
        (self.tree / "a.txt").write_text("changed\n")
        commit = ("git_commit", {"root": "tree", "message": "Change a", "paths": ["a.txt"]})
        self.does(commit, member={"nick": "\u200b\u200b", "roles": []})
        self.assertEqual(self.git("log", "-1", "--format=%B"), f"Change a\n\nRequested-by: {ANA}")

    def a_token_file_that_is_not_private_keeps_the_seat_from_starting(self):
        def gone():
            self.token.unlink()

        def open_to_others():
            os.chmod(self.token, 0o640)

        def a_link():
            self.token.rename(self.folder / "elsewhere")
            self.token.symlink_to(self.folder / "elsewhere")

        for way in (open_to_others, a_link, gone):
            with self.subTest(way.__name__):
                seat = self.made or self.at_tree()
                way()
                code, said = seat.run_once("run")
                self.assertEqual(code, 2, said)
                self.assertIn("git token of root tree", said)
                self.token.unlink(missing_ok=True)
                self.token.write_text(TOKEN)
                os.chmod(self.token, 0o600)

    def a_repository_that_cannot_be_served_is_named_and_keeps_nobody_from_the_rest(self):
        seat = self.at_tree()
        self.git("config", "core.sshCommand", "evil")
        _, said = seat.run_once("check", "--json")
        told = [line for line in said.splitlines() if line.startswith("{") and "root tree, git\"" in line]
        self.assertEqual(len(told), 1, said)
        self.assertIn("core.sshcommand", told[0])
        seat.serve()
        status, read = self.does(
            ("git_status", {"root": "tree"}), ("read_file", {"root": "tree", "path": "a.txt"}),
        )
        self.assertTrue(status.startswith("config-key"), status)
        self.assertIn("one", read)
        self.assertIn("git verbs refuse", seat.log())
        self.git("config", "--unset", "core.sshCommand")
        self.assertIn("branch main", self.does(("git_status", {"root": "tree"}))[0])

    def a_reservation_goes_with_the_record_and_no_call_writes_the_tools(self):
        (self.tree / "tools").mkdir()
        (self.tree / "tools" / "vault_lock.py").write_text(LOCK)
        (self.tree / "tools" / "validate_vault.py").write_text("")
        self.begin()
        self.git("remote", "add", "origin", "https://127.0.0.1:1/vault.git")
        self.at_tree(protocol="vault").serve()
        tool, reserved, wrote, done = self.does(
            ("write_file", {"root": "tree", "path": "tools/vault_lock.py", "text": "print('evil')"}),
            ("reserve_id", {"root": "tree", "prefix": "DEC", "title": "Bees"}),
            ("write_file", {"root": "tree", "path": "DEC-7.md", "text": "# Bees\n"}),
            ("git_commit", {"root": "tree", "message": "Bees", "paths": ["DEC-7.md"]}),
        )
        self.assertTrue(tool.startswith("vault-tools"), tool)
        self.assertIn("DEC-7", reserved)
        self.assertIn("DEC-7.md", wrote)
        self.assertIn("registry.md", done)
        names = self.git("show", "--name-only", "--format=", "HEAD").split()
        self.assertEqual(names, ["DEC-7.md", "registry.md"])
        made = (self.folder / "files" / "vault-calls").read_text().splitlines()
        self.assertEqual([line.split()[0] for line in made], ["reserve", "lock", "unlock", "check", "check"])

    def a_change_of_the_server_s_address_between_two_starts_is_refused(self):
        self.git("remote", "add", "origin", "https://127.0.0.1:1/one.git")
        seat = self.at_tree().serve()
        self.assertTrue(self.does(("git_push", {"root": "tree"}))[0].startswith("push-failed"))
        self.assertEqual(seat.terminate(), 0)
        self.git("remote", "set-url", "origin", "https://127.0.0.1:1/two.git")
        seat.serve()
        self.assertTrue(self.does(("git_push", {"root": "tree"}))[0].startswith("credential-redirect"))
        notes = list(seat.root.rglob("git/tree/remote"))
        self.assertEqual(len(notes), 1)
        notes[0].unlink()
        self.assertEqual(seat.terminate(), 0)
        seat.serve()
        self.assertTrue(self.does(("git_push", {"root": "tree"}))[0].startswith("push-failed"))
