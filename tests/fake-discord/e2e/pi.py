"""The real pi from outside: the program, a scripted model behind pi, and a Discord that is not ours."""

import json
import os
import signal
import sys
from pathlib import Path

from .desk import LIST, ModelledDesk, calls
from .fake import BEN
from .model import Hold, Script, answers, end, fails, text
from .waiting import until

CHANGED = LIST.replace("wax", "oil")
READ = ["list_dir", "read_file", "search"]
DESK = ["workspace_list", "workspace_read", "workspace_create", "workspace_edit"]
EDIT_CALL = ("workspace_edit", {"path": "todo.md", "old": "wax", "new": "oil"})


def installed(variable: str) -> str:
    found = os.environ.get(variable)
    if not found or not Path(found).exists():
        sys.exit(f"{variable} names no file: run these tests as `cargo xtask test --only e2e`")
    return found


class PiCase(ModelledDesk):
    def pis(self) -> dict[str, list[str]]:
        node = installed("GUILDHALL_TEST_PI_NODE")
        return {
            "1.6.0": [node, installed("GUILDHALL_TEST_PI_160")],
            "0.73.1": [node, installed("GUILDHALL_TEST_PI_0731")],
        }

    def engine(self, version: str = "1.6.0") -> dict:
        base = self.model.base_url
        return {"kind": "pi", "command": self.pis()[version], "baseUrl": base,
                "provider": "scripted", "model": "tiny"}

    def with_pi(self, version: str = "1.6.0", **changes):
        return self.at_desk(engine=self.engine(version), **changes)

    def offered(self, number: int = -1) -> list[str]:
        return [t["function"]["name"] for t in self.model.seen[number]["body"].get("tools") or []]

    def processes(self, seat) -> list[int]:
        """The seat's children and theirs."""
        parents = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] != "Z":
                parents.setdefault(int(fields[1]), []).append(int(stat.parent.name))
        found, new = [], [seat.process.pid]
        while new:
            new = [child for parent in new for child in parents.get(parent, [])]
            found += new
        return found

    def alive(self, pids: list[int]) -> list[int]:
        def lives(pid):
            try:
                return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
            except OSError:
                return False
        return [pid for pid in pids if lives(pid)]


class Both:
    """What each supported version of pi does."""

    def an_answer_a_call_and_a_session_that_goes_on(self):
        seat = self.with_pi(self.version).serve()
        self.model.play(answers("Good ", "evening."))
        message = self.fake.say("hello there")
        self.assertEqual(self.told(message), "Good evening.")
        self.assertEqual(self.offered(), [*READ, *DESK])
        usage = self.record(seat, message)["usage"]
        self.assertEqual((usage["inputTokens"], usage["outputTokens"]), (40, 7))
        self.model.play(
            Script(calls(("read_file", {"root": "shelf", "path": "welcome.md"}))),
            answers("The kettle is Ben's."),
        )
        message = self.fake.say("whose is the kettle?")
        self.assertIn("Ben's", self.told(message))
        self.assertIn("The kettle is Ben's", json.dumps(self.model.seen[-1]["body"]["messages"][-1]))
        used = self.used(seat, message)
        self.assertEqual([(u["name"], u["outcome"]) for u in used], [("read_file", "done")])
        self.assertEqual(seat.terminate(), 0)
        seat.serve()
        self.model.play(answers("still"))
        self.assertEqual(self.told(self.fake.say("after a restart?")), "still")
        talk = json.dumps(self.model.seen[-1]["body"]["messages"])
        for words in ("hello there", "Good evening.", "whose is the kettle?", "after a restart?"):
            self.assertIn(words, talk)
        self.assertNotIn(str(self.folder), talk, "no path of the machine")

    def bound_to(self, seat, **engine) -> None:
        seat.write_binding(json.dumps({**seat.binding, "engine": {**self.engine(self.version), **engine}}))

    def a_key_reaches_the_provider_and_no_environment_and_no_argument(self):
        key = "sk-pi-" + "5eCr3t" * 4
        file = self.folder / "it's a key"
        file.write_text(f"{key}\n")
        file.chmod(0o600)
        seat = self.with_pi(self.version)
        plain = seat.environment()
        seat.environment = lambda: {**plain, "E2E_PI_KEY": key}
        for name, where in (("file", {"keyFile": str(file)}), ("environment", {"keyEnv": "E2E_PI_KEY"})):
            with self.subTest(name):
                self.bound_to(seat, **where)
                seat.serve()
                self.model.play(answers("yes"))
                self.assertEqual(self.told(self.fake.say("hello")), "yes")
                headers = {k.lower(): v for k, v in self.model.seen[-1]["headers"].items()}
                self.assertEqual(headers["authorization"], f"Bearer {key}")
                self.kept_to_itself(seat, key)
                self.assertEqual(seat.terminate(), 0)
                holding = [p for p in seat.root.rglob("*") if p.is_file() and key.encode() in p.read_bytes()]
                self.assertEqual(holding, [], "the key stays on disk")

    def kept_to_itself(self, seat, key: str) -> None:
        pids = self.processes(seat)
        self.assertTrue(pids, "a warm pi")
        for pid in pids:
            for what in ("environ", "cmdline"):
                self.assertNotIn(key.encode(), Path(f"/proc/{pid}/{what}").read_bytes(), what)
        session = next(seat.root.rglob("session.jsonl"))
        for path in [session, *session.parents]:
            if path == seat.root:
                break
            self.assertEqual(path.stat().st_mode & 0o077, 0, path)

    def a_day_s_money_counts_by_the_price_of_the_binding(self):
        # A dollar for a token, of which a hello has 40 and 7.
        price = {"inputPerMTok": 1_000_000, "outputPerMTok": 1_000_000}
        seat = self.at_desk(engine={**self.engine(self.version), "price": price}, limits={"usdPerDay": 40})
        seat.serve()
        self.model.play(answers("yes"))
        message = self.fake.say("hello")
        self.assertEqual(self.told(message), "yes")
        self.assertEqual(self.record(seat, message)["usage"]["microUsd"], 47_000_000)
        self.assertIn("spending limit", self.told(self.fake.say("once more")))
        self.assertEqual(seat.terminate(), 0)

    def a_base_url_means_the_same_as_to_native(self):
        seat = self.with_pi(self.version)
        for base in (self.model.origin, self.model.origin + "/", self.model.base_url):
            with self.subTest(base):
                self.bound_to(seat, baseUrl=base)
                seat.serve()
                self.model.play(answers("yes"))
                self.assertEqual(self.told(self.fake.say("hello")), "yes")
                self.assertEqual(self.model.seen[-1]["path"], "/v1/chat/completions")
                self.assertEqual(seat.terminate(), 0)

    def a_thinking_level_that_pi_does_not_know_is_refused_by_the_check(self):
        seat = self.with_pi(self.version)
        for level, wanted in (("high", 0), ("hgih", 1)):
            self.bound_to(seat, thinking=level)
            code, said = seat.run_once("check")
            self.assertEqual(code, wanted, f"{level}: {said}")
            self.assertEqual(code == 1, "engine.thinking" in said)

    def the_check_proves_version_and_tools(self):
        code, said = self.with_pi(self.version).run_once("check")
        self.assertEqual(code, 0, said)
        self.assertIn("pi, model tiny", said)


class Supported(Both, PiCase):
    version = "1.6.0"


class Oldest(Both, PiCase):
    version = "0.73.1"


class Turns(PiCase):
    def a_change_waits_for_a_person_and_is_made_or_not(self):
        seat = self.with_pi().serve()
        for word, want in (("deny", LIST), ("once", CHANGED)):
            self.model.play(Script(calls(EDIT_CALL)), answers(f"that was {word}"))
            message = self.fake.say("oil, please")
            card = self.fake.card(message)
            self.assertIn("-- wax\n+- oil", card["content"])
            self.unchanged()
            self.fake.answer_to(self.fake.press(card, word, BEN))
            self.assertEqual(self.told(message), f"that was {word}")
            self.assertEqual(self.todo.read_text(), want)
            self.assertIn("Allowed once" if word == "once" else "Denied", self.closed(card))
        outcomes = [line["answer"] for line in seat.lines("approvals") if line["k"] == "decided"]
        self.assertEqual(outcomes, ["denied", "once"])
        self.assertEqual(self.kinds(seat, "calls"), ["begun", "done"])

    def no_tool_of_pi_s_own_wakes_and_exactly_the_bound_ones_are_offered(self):
        shelf, desk = self.tools()["roots"]
        cases = [
            ("none", None, {}, []),
            ("the desk alone", self.tools(), {"discord": ["workspace"]}, DESK),
            ("a shelf", {"roots": [shelf]}, {}, READ),
        ]
        seat = self.with_pi()
        for name, tools, sets, want in cases:
            with self.subTest(name):
                binding = {k: v for k, v in seat.binding.items() if k != "tools"}
                binding.update({"tools": tools} if tools else {})
                binding.update({"platformToolsets": sets} if sets else {})
                seat.write_binding(json.dumps(binding))
                seat.serve()
                own = [(n, {"command": "id", "path": "todo.md"}) for n in ("bash", "read", "write", "edit")]
                self.model.play(Script(calls(*own)), answers("none of them is there"))
                self.assertIn("none of them", self.told(self.fake.say("hello")))
                self.assertEqual(self.offered(), want)
                # pi says "not found" for each; nothing of ours was called, nothing of its own ran.
                self.assertEqual(len(self.results()), len(own))
                for result in self.results():
                    self.assertNotIn("uid=", json.dumps(result))
                self.unchanged()
                self.assertEqual(seat.terminate(), 0)

    def a_call_as_text_is_not_posted_and_its_dialect_is_on_record(self):
        seat = self.with_pi().serve()
        call = '<tool_call>\n{"name": "workspace_edit", "arguments": {"path": "todo.md"}}\n</tool_call>'
        self.model.play(answers(call))
        message = self.fake.say("do it")
        self.assertNotIn("<tool_call>", self.told(message))
        self.assertEqual(self.used(seat, message)[0]["reason"], "raw-tool-call-hermes")
        self.unchanged()

    def another_engine_keeps_the_journal_and_the_route(self):
        seat = self.at_desk().serve()
        first = self.fake.say("say one")
        self.told(first)
        self.assertEqual(seat.terminate(), 0)
        seat.write_binding(json.dumps({**seat.binding, "engine": self.engine()}))
        seat.serve()
        self.model.play(answers("two"))
        second = self.fake.say("and now?")
        self.assertEqual(self.told(second), "two")
        records = [self.record(seat, message) for message in (first, second)]
        self.assertEqual(records[0]["route"], records[1]["route"])
        self.assertEqual([r["epoch"] for r in records], [1, 2])
        self.assertEqual(len(self.fake.replies(first)), 1)


class Ends(PiCase):
    def a_pi_that_is_killed_fails_its_turn_and_the_next_one_works(self):
        seat = self.with_pi().serve()
        self.model.play(Script([text("well"), Hold]), answers("here again"))
        message = self.fake.say("think")
        until(lambda: self.model.seen, "a request of pi")
        group = self.processes(seat)
        self.assertTrue(group)
        for pid in group:
            os.kill(pid, signal.SIGKILL)
        self.told(message)
        record = self.record(seat, message)
        self.assertEqual((record["how"], record.get("why") or record.get("error")), ("failed", "engine-died"))
        self.assertEqual(self.told(self.fake.say("still there?")), "here again")
        self.assertEqual(len(self.fake.replies(message)), 1)

    def a_turn_that_takes_too_long_or_is_aborted_leaves_no_process(self):
        limits = {"turnsPerDay": 100, "turnTimeoutSeconds": 12}
        seat = self.with_pi(limits=limits).serve()
        for how in ("time", "abort"):
            with self.subTest(how):
                before = len(self.model.seen)
                self.model.play(Script([text("well"), Hold]))
                message = self.fake.say(f"think about {how}")
                until(lambda: len(self.model.seen) > before, "a request of pi")
                group = self.processes(seat)
                self.assertTrue(group)
                if how == "abort":
                    self.assertEqual(seat.run_once("rows", message, "--abort")[0], 0)
                self.told(message)
                settled = "cancelled" if how == "abort" else "failed"
                self.assertEqual(self.record(seat, message)["how"], settled)
                until(lambda: not self.alive(group), "the whole group to be gone")
        self.model.play(answers("fine"))
        self.assertEqual(self.told(self.fake.say("and now?")), "fine")

    def a_seat_that_ends_or_is_killed_takes_its_pi_with_it(self):
        seat = self.with_pi().serve()
        for how in ("term", "kill"):
            self.model.play(answers("yes"))
            self.assertEqual(self.told(self.fake.say(f"there, before {how}?")), "yes")
            group = self.processes(seat)
            self.assertTrue(group, "a warm process")
            if how == "term":
                self.assertEqual(seat.terminate(), 0)
            else:
                seat.kill()
            until(lambda: not self.alive(group), "no pi without its seat")
            seat.restart()

    def each_no_of_a_provider_is_told_as_what_it_is(self):
        seat = self.with_pi().serve()
        cases = [
            ("provider-key", [fails(401, '{"error": {"message": "no such key"}}')]),
            ("provider-refused", [fails(404, '{"error": {"message": "no such model"}}')]),
            ("engine-rubbish", [Script(["data: {{{{ rubbish\n\n"])] * 4),
        ]
        for error, scripts in cases:
            with self.subTest(error):
                self.model.play(*scripts)
                message = self.fake.say("hello")
                self.told(message)
                self.assertEqual(self.record(seat, message)["error"], error)


class Starts(PiCase):
    def a_pi_that_is_not_there_or_too_old_is_refused_with_what_to_do(self):
        seat = self.with_pi()
        old = self.folder / "old"
        old.mkdir()
        (old / "cli.js").write_text("process.exit(0)\n")
        package = {"name": "@earendil-works/pi-coding-agent", "version": "0.60.0"}
        (old / "package.json").write_text(json.dumps(package))
        node = installed("GUILDHALL_TEST_PI_NODE")
        for command, words in (
            ([node, str(self.folder / "nowhere.js")], "pi"),
            ([node, str(old / "cli.js")], "0.73.1"),
            (["pi"], "pi"),
        ):
            with self.subTest(command[-1]):
                engine = {**self.engine(), "command": command}
                seat.write_binding(json.dumps({**seat.binding, "engine": engine}))
                for verb in ("check", "run"):
                    code, said = seat.run_once(verb)
                    self.assertIn(code, (1, 2), said)
                    self.assertIn(words, said)
        self.assertEqual(self.fake.posts(), [])


DEAF = """
import json, os, sys, time
if "ends" in open(sys.argv[0] + ".mood").read():
    sys.exit("Error: no such model in /home/somebody/models.json")
open(sys.argv[0] + ".pid", "w").write(str(os.getpid()))
for line in sys.stdin:
    asked = json.loads(line)
    data = {"model": {"id": "tiny"}} if asked["type"] == "get_state" else {}
    print(json.dumps({"id": asked["id"], "type": "response", "success": True, "data": data}), flush=True)
    open(sys.argv[0] + ".heard", "a").write(asked["type"] + "\\n")
while True:
    time.sleep(1)
"""


class Stubborn(PiCase):
    """A pi that does not do what it is told."""

    def deaf(self, mood: str, **changes):
        self.entry = self.folder / "cli.py"
        self.entry.write_text(DEAF.replace("\\\\n", "\\n"))
        self.said("mood").write_text(mood)
        package = {"name": "@earendil-works/pi-coding-agent", "version": "1.6.0"}
        (self.folder / "package.json").write_text(json.dumps(package))
        engine = {**self.engine(), "command": [sys.executable, str(self.entry)]}
        return self.seat(engine=engine, **changes)

    def said(self, what: str) -> Path:
        return Path(f"{self.entry}.{what}")

    def a_pi_that_ignores_the_end_of_its_input_dies_with_its_seat(self):
        seat = self.deaf("hangs").serve()
        self.fake.say("hello")
        until(lambda: self.said("heard").exists() and "prompt" in self.said("heard").read_text(), "a prompt")
        pid = int(self.said("pid").read_text())
        self.assertEqual(self.alive([pid]), [pid])
        seat.kill()
        until(lambda: not self.alive([pid]), "its end")

    def a_run_that_takes_too_long_is_aborted_before_it_is_killed(self):
        seat = self.deaf("hangs", limits={"turnTimeoutSeconds": 1}).serve()
        message = self.fake.say("hello")
        self.assertIn("longer than I am allowed", self.told(message))
        pid = int(self.said("pid").read_text())
        until(lambda: not self.alive([pid]), "its end")
        self.assertEqual(self.said("heard").read_text().split()[-2:], ["prompt", "abort"])
        self.assertEqual(seat.terminate(), 0)

    def a_start_that_fails_says_why_and_is_not_tried_with_each_message(self):
        seat = self.deaf("ends")
        code, said = seat.run_once("check")
        self.assertEqual(code, 1, said)
        self.assertIn("pi 1.6.0 ended at its start: Error: no such model in <path>", said)
        self.said("mood").write_text("hangs")
        seat.serve()
        self.said("mood").write_text("ends")
        for number in range(4):
            self.told(self.fake.say(f"hello {number}"))
        tries = seat.log().count("ERROR pi did not start")
        self.assertIn("not tried yet", seat.log())
        self.assertLess(tries, 4, "each message was a start")
        self.assertEqual(seat.terminate(), 0)
