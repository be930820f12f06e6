"""`guildhall demo` with a model: native, and the real pi, over a scripted one."""

import json
import os
import signal
import subprocess
import urllib.request
from pathlib import Path

from .desk import calls
from .model import Model, Script, answers
from .pi import installed
from .seat import program
from .waiting import until

import unittest

SAYS = "The side door sticks."


class DemoWithAModel(unittest.TestCase):
    def setUp(self):
        self.model = Model()
        self.addCleanup(self.model.stop)

    def demo(self, *options: str, path: str | None = None) -> dict:
        """A demo on a free port, and what it told of itself."""
        env = {**os.environ, "PATH": path or os.environ["PATH"]}
        process = subprocess.Popen(
            [program(), "demo", "--no-open", "--json", *options, "--base-url", self.model.base_url,
             "--model", "tiny"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env,
        )
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(self.ended, process)
        return json.loads(process.stdout.readline())

    def ended(self, process) -> None:
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(30), 0)

    def call(self, facts: dict, path: str, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(facts["control"] + path, data, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def reply(self, facts: dict, message: str, channel: str) -> str:
        found = self.call(facts, f"/messages?channel={channel}&limit=50")
        found = found if isinstance(found, list) else found["messages"]
        replies = [m for m in found if (m.get("message_reference") or {}).get("message_id") == message]
        return replies[0]["content"] if replies else ""

    def talked(self, facts: dict) -> None:
        channel = next(c["id"] for c in facts["channels"] if c["name"] == "general")
        ana = next(u["id"] for u in facts["users"] if u["name"] == "Ana")
        said = {"channel": channel, "author": ana, "content": "what about the side door?"}
        self.model.play(
            Script(calls(("read_file", {"root": "handbook", "path": "welcome.md"}))), answers(SAYS)
        )
        message = self.call(facts, "/messages", said)["id"]
        until(lambda: self.reply(facts, message, channel) == SAYS, "the model's answer")
        self.assertIn("side door sticks", json.dumps(self.model.seen[-1]["body"]["messages"][-1]))

    def a_model_behind_native_reads_the_handbook(self):
        self.talked(self.demo("--engine", "native"))

    def a_model_behind_the_real_pi_reads_the_handbook(self):
        # pi as a person has it: a command on the path.
        node, entry = installed("GUILDHALL_TEST_PI_NODE"), installed("GUILDHALL_TEST_PI_160")
        package = Path(entry).parents[2]
        found = [f for f in (package.parents[1] / ".bin" / "pi", ) if f.exists()]
        self.assertTrue(found, f"no command pi beside {package}")
        path = f"{Path(node).parent}:{found[0].parent}:{os.environ['PATH']}"
        self.talked(self.demo("--engine", "pi", "--provider", "scripted", path=path))
