"""`guildhall diagnose` over scripted models: what a model does is told, and nothing is left behind."""

import json
import os
import signal
import subprocess
import tempfile
from pathlib import Path

from .desk import ModelledDesk, calls
from .model import Hold, Script, answers, fails, text
from .waiting import until

FILE = "check.txt"
GOOD = [
    Script(calls(("create", {"path": FILE, "text": "alpha\nbeta\ngamma\n"}))), answers("made"),
    Script(calls(("edit", {"path": FILE, "old": "beta", "new": "delta"}))), answers("changed"),
    Script(calls(("edit", {"path": FILE, "old": "delta", "new": "Grüße, 漢字, 🙂"}))), answers("changed"),
    Script(calls(("read", {"path": FILE}))), answers("gamma"),
    Script(calls(("edit", {"path": FILE, "old": "alpha", "new": "omega"}))),
    answers("It was not done: the change was denied."),
]
RAW = '<tool_call>\n{"name": "create", "arguments": {"path": "check.txt", "text": "alpha"}}\n</tool_call>'


class Diagnosis(ModelledDesk):
    def left_behind(self) -> list[Path]:
        return list(Path(tempfile.gettempdir()).glob("guildhall-diagnose-*"))

    def diagnosed(self, seat, *options: str) -> tuple[int, dict, str]:
        done = subprocess.run(
            seat.command("diagnose", "--json", *options), cwd=seat.work, env=seat.environment(),
            capture_output=True, text=True, timeout=120, check=False,
        )
        return done.returncode, json.loads(done.stdout or "{}"), done.stderr

    def verdicts(self, found: dict) -> list[str]:
        return [finding["verdict"] for finding in found["findings"]]

    def a_model_that_does_everything_passes_and_the_binding_is_not_touched(self):
        seat = self.modelled_desk()
        before = sorted(p for p in seat.files())
        self.model.play(*GOOD)
        code, found, said = self.diagnosed(seat)
        self.assertEqual(code, 0, said)
        self.assertEqual(self.verdicts(found), ["passed"] * 5)
        self.assertEqual([f["calls"] for f in found["findings"]], [1] * 5)
        self.assertTrue(all(f["inputTokens"] > 0 for f in found["findings"]), found)
        self.assertIn("create: ", said, "a person sees that something goes on")
        for request in self.model.seen:
            names = [t["function"]["name"] for t in request["body"]["tools"]]
            self.assertEqual(names, ["list", "read", "create", "edit"])
        self.unchanged()
        self.assertEqual(sorted(p for p in seat.files()), before, "no journal, no session")
        self.assertEqual(self.fake.state()["identifies"], 0)

    def a_model_that_writes_its_calls_as_text_is_told_with_its_dialect(self):
        seat = self.modelled_desk()
        self.model.play(*[answers(RAW) for _ in range(5)])
        code, found, _ = self.diagnosed(seat)
        self.assertEqual(code, 1)
        self.assertEqual(self.verdicts(found), ["raw-markup"] * 5)
        self.assertEqual({f["dialect"] for f in found["findings"]}, {"hermes"})
        self.model.play(*[answers(RAW) for _ in range(5)])
        code, said = seat.run_once("diagnose")
        self.assertEqual(code, 1)
        self.assertIn("(dialect hermes)", said)
        self.assertIn("0 of 5 passed", said)

    def a_model_that_talks_hangs_or_is_away_is_told_apart(self):
        seat = self.modelled_desk(limits={"turnsPerDay": 9, "turnTimeoutSeconds": 1})
        self.model.play(answers("I have created the file."), Script([text("well"), Hold]),
                        fails(401), fails(401), fails(401))
        code, found, _ = self.diagnosed(seat)
        self.assertEqual(code, 1)
        self.assertEqual(self.verdicts(found), ["no-call"] + ["no-answer"] * 4)
        self.assertEqual([f.get("why") for f in found["findings"]], [None, None] + ["provider-key"] * 3)

    def a_person_who_has_seen_enough_ends_it_and_nothing_stays(self):
        seat = self.modelled_desk()
        self.model.play(Script([text("well"), Hold]))
        before = self.left_behind()
        process = subprocess.Popen(
            seat.command("diagnose"), cwd=seat.work, env=seat.environment(),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        until(lambda: self.model.seen, "a request")
        mine = [f for f in self.left_behind() if f.name.split("-")[2] == str(process.pid)]
        self.assertEqual(len(mine), 1, before)
        self.assertEqual(os.stat(mine[0]).st_mode & 0o777, 0o700)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 1, said)
        self.assertIn("stopped", said)
        self.assertFalse(mine[0].exists())

    def an_engine_that_cannot_start_and_a_binding_that_is_not_there_are_told(self):
        seat = self.modelled_desk()
        code, said = seat.once([seat.program, "diagnose", "nobody", "--data-root", seat.root])
        self.assertEqual(code, 2, said)
        broken = {**seat.binding["engine"], "kind": "pi", "command": [str(self.folder / "no-pi")]}
        seat.write_binding(json.dumps({**seat.binding, "engine": broken}))
        code, said = seat.run_once("diagnose")
        self.assertEqual(code, 1, said)
        self.assertIn("engine cannot start", said)

    def a_brake_holds_a_diagnosis_back_and_practice_has_no_model_to_try(self):
        seat = self.modelled_desk()
        seat.write_binding(json.dumps(seat.binding))
        seat.journal.mkdir(mode=0o700, parents=True, exist_ok=True)
        for brake in (seat.journal / "STOP", seat.root / "ESTOP"):
            brake.write_text("a test\n")
            code, said = seat.run_once("diagnose")
            self.assertEqual(code, 3, said)
            self.assertIn("a test", said)
            brake.unlink()
        self.assertEqual(self.model.seen, [])
        seat.write_binding(json.dumps({**seat.binding, "engine": {"kind": "practice"}}))
        code, said = seat.run_once("diagnose")
        self.assertEqual(code, 2, said)
        self.assertIn("no model", said)
