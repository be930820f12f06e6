"""A model's server that plays a script: OpenAI's chat completions and Anthropic's messages.

In: one script for each request, in order. Out: each request as it came, and what the script says,
byte for byte. Never: an answer that no test wrote, a listener outside loopback.
"""

from __future__ import annotations

import asyncio
import json
import struct
import threading
from dataclasses import dataclass, field
from socket import SO_LINGER, SOL_SOCKET

from aiohttp import web

STREAM = "text/event-stream"


class Reset:
    """The connection is cut off, so that the other side sees an error and no end."""


class Hold:
    """Nothing more is said until the other side leaves, or the gate is opened."""


@dataclass
class Script:
    """What one request gets: texts are sent, numbers are seconds to wait."""

    steps: list = field(default_factory=list)
    status: int = 200
    headers: dict = field(default_factory=dict)
    kind: str = STREAM


def chunk(delta: dict, **more) -> str:
    return event({"choices": [{"index": 0, "delta": delta, **more}]})


def event(body: dict) -> str:
    return f"data: {json.dumps(body)}\n\n"


def text(said: str) -> str:
    return chunk({"content": said})


def end(tokens_in: int = 40, tokens_out: int = 7, reason: str = "stop") -> list[str]:
    usage = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out}
    told = event({"choices": [], "usage": usage})
    return [chunk({}, finish_reason=reason), told, "data: [DONE]\n\n"]


def answers(*pieces: str) -> Script:
    """A whole answer, in as many chunks."""
    return Script([*map(text, pieces), *end()])


def fails(status: int, body: str = "{}", **headers: str) -> Script:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Script([body], status, named, "application/json")


class Model:
    """A server on a free port, with a thread of its own."""

    def __init__(self):
        self.seen: list[dict] = []
        self.left = 0
        self._scripts: list[Script] = []
        self._loop = asyncio.new_event_loop()
        started = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(started,), daemon=True)
        self._thread.start()
        assert started.wait(30), "the model's server did not start"
        self.origin = f"http://127.0.0.1:{self.port}"
        self.base_url = f"{self.origin}/v1"

    def play(self, *scripts: Script) -> None:
        self._scripts.extend(scripts)

    def open_gate(self) -> None:
        """Lets every script go on that holds."""
        self._loop.call_soon_threadsafe(self._gate.set)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(30)

    def talk(self, number: int = -1) -> list[tuple[str, str]]:
        """Who said what in a request, without the system prompt: role and last line of the text."""
        messages = [m for m in self.seen[number]["body"]["messages"] if m["role"] != "system"]
        return [(m["role"], m["content"].rsplit("\n", 1)[-1]) for m in messages]

    def asked(self, number: int = -1) -> str:
        """The newest message of a request, whole."""
        return self.seen[number]["body"]["messages"][-1]["content"]

    # --- the thread's side ---------------------------------------------------------------------

    def _serve(self, started: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._until_over(started))
        self._loop.close()

    async def _until_over(self, started: threading.Event) -> None:
        self._gate, self._over = asyncio.Event(), asyncio.Event()
        made = web.Application(client_max_size=16 * 1024 * 1024)
        made.router.add_route("*", "/{tail:.*}", self._answer)
        runner = web.AppRunner(made, access_log=None, handler_cancellation=True)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, shutdown_timeout=0.1)
        await site.start()
        self.port = site._server.sockets[0].getsockname()[1]
        started.set()
        await self._over.wait()
        self._gate.set()
        await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.seen.append({"path": request.path, "headers": dict(request.headers), "body": body})
        if not self._scripts:
            return web.Response(status=400, text="no script is left for this request")
        script = self._scripts.pop(0)
        headers = {"Content-Type": script.kind, **script.headers}
        response = web.StreamResponse(status=script.status, headers=headers)
        await response.prepare(request)
        try:
            await self._play(script, request, response)
        except (asyncio.CancelledError, ConnectionError):
            self.left += 1
            raise
        return response

    async def _play(self, script: Script, request: web.Request, response) -> None:
        for step in script.steps:
            if step is Reset:
                socket = request.transport.get_extra_info("socket")
                socket.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
                request.transport.abort()
                await self._over.wait()  # this handler is cancelled with its connection
            if step is Hold:
                await self._gate.wait()
            elif isinstance(step, (int, float)):
                await asyncio.sleep(step)
            else:
                await response.write(step if isinstance(step, bytes) else step.encode())
                await asyncio.sleep(0)  # so that each piece is its own write
