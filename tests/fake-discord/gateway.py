"""The gateway side: sessions over WebSocket.

In: frames of a client, orders of a test. Out: HELLO, READY, dispatches in order, replay after a
RESUME. Never: a dispatch in a session that it was not numbered in.
"""

from __future__ import annotations

import asyncio
import json

from aiohttp import WSMsgType, web

from record import Record
from world import MESSAGE_CONTENT_INTENT, Session, World

BULK = 200


class Gateway:
    def __init__(self, world: World, record: Record):
        self.world, self.record = world, record
        self.origin = ""
        self.last_heartbeat = 0
        # Codes that this side closed with: the library then says 1000, whatever was sent.
        self.closed_with: dict = {}

    def url(self) -> str:
        return self.origin.replace("http://", "ws://")

    # --- one connection --------------------------------------------------------------------------

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(max_msg_size=4096, autoping=True, compress=False)
        await socket.prepare(request)
        self.world.counts["connects"] += 1
        self.record.add("connect", path=request.path, query=dict(request.query))
        if await self.scripted("hello", socket, None):
            return socket
        await self.send(socket, 10, {"heartbeat_interval": self.world.switches["heartbeat_ms"]})
        session = None
        async for frame in socket:
            if frame.type != WSMsgType.TEXT:
                continue
            session = await self.frame(socket, session, json.loads(frame.data)) or session
        code = self.closed_with.pop(socket, socket.close_code)
        self.record.add("disconnect", code=code, session=session and session.id)
        if session and session.socket is socket:
            session.socket = None
            if code in (1000, 1001):
                self.world.sessions.pop(session.id, None)
        return socket

    async def frame(self, socket, session, frame: dict) -> Session | None:
        self.record.add("frame-in", **self.hidden(frame))
        op = frame.get("op")
        if op == 1:
            self.last_heartbeat += 1
            if self.world.switches["ack"]:
                await self.send(socket, 11, None)
        elif op == 2:
            return await self.identify(socket, frame["d"])
        elif op == 6:
            return await self.resume(socket, frame["d"])
        return None

    def hidden(self, frame: dict) -> dict:
        data = frame.get("d")
        if isinstance(data, dict) and "token" in data:
            right = data["token"].removeprefix("Bot ") == self.world.token
            data = {**data, "token": "right" if right else "wrong"}
        return {"op": frame.get("op"), "d": data}

    def right(self, data: dict) -> bool:
        said = str(data.get("token", "")).removeprefix("Bot ")
        return said == self.world.token and not self.world.switches["wrong_token"]

    async def identify(self, socket, data: dict) -> Session | None:
        self.world.counts["identifies"] += 1
        self.world.switches["session_starts_left"] -= 1
        if not self.right(data):
            await socket.close(code=4004, message=b"Authentication failed.")
            return None
        asks_content = data.get("intents", 0) & MESSAGE_CONTENT_INTENT
        if asks_content and self.world.switches["content_intent_off"]:
            await socket.close(code=4014, message=b"Disallowed intent(s).")
            return None
        if await self.scripted("identify", socket, None):
            return None
        made = Session(f"session{self.world.counts['identifies']}", data.get("intents", 0))
        made.socket = socket
        self.world.sessions[made.id] = made
        await self.dispatch_to(made, "READY", self.ready(made))
        made.ready = True
        if not self.world.switches["no_guild"]:
            await self.dispatch_to(made, "GUILD_CREATE", self.world.guild_create())
        return made

    def ready(self, session: Session) -> dict:
        guilds = [] if self.world.switches["no_guild"] else [self.world.guild_id]
        return {
            "v": 10,
            "user": {**self.world.user(self.world.bot_id), "verified": True, "mfa_enabled": True},
            "guilds": [{"id": g, "unavailable": True} for g in guilds],
            "session_id": session.id,
            "session_type": "normal",
            "resume_gateway_url": self.world.switches["resume_url"] or self.url(),
            "shard": [0, 1],
            "application": {"id": self.world.application_id, "flags": self.world.application()["flags"]},
            "private_channels": [],
        }

    async def resume(self, socket, data: dict) -> Session | None:
        self.world.counts["resumes"] += 1
        if not self.right(data):
            await socket.close(code=4004, message=b"Authentication failed.")
            return None
        if await self.scripted("resume", socket, None):
            return None
        session = self.world.sessions.get(data.get("session_id"))
        if session is None:
            await self.send(socket, 9, False)
            return None
        session.socket = None  # what is dispatched meanwhile waits its turn behind the replay
        at = 0
        while at < len(session.backlog):
            number, name, body = session.backlog[at]
            at += 1
            if number > (data.get("seq") or 0) and not socket.closed:
                await self.send(socket, 0, body, number, name)
        session.socket = socket
        await self.dispatch_to(session, "RESUMED", {})
        return session

    async def scripted(self, stage: str, socket, session) -> bool:
        """Carries out what a test ordered for this stage; true when the connection ends here."""
        orders = self.world.gateway_script.get(stage)
        if not orders:
            return False
        return await self.carry_out(orders.pop(0), socket)

    async def carry_out(self, order: dict, socket) -> bool:
        self.record.add("order", **order)
        do = order["do"]
        if do == "reconnect":
            await self.send(socket, 7, None)
        elif do == "invalid":
            await self.send(socket, 9, bool(order.get("resumable")))
        elif do == "close":
            self.closed_with[socket] = order.get("code", 4000)
            await socket.close(code=self.closed_with[socket])
        elif do == "drop":
            socket._req.transport.abort()  # no close frame: as when a cable is pulled
            return True
        elif do == "heartbeat":
            await self.send(socket, 1, None)
            return False
        elif do == "silence":
            await asyncio.sleep(order.get("seconds", 3600))
        return do != "silence"

    # --- orders and dispatches -------------------------------------------------------------------

    async def order(self, order: dict) -> int:
        """Does something to every live connection now."""
        live = [s for s in self.world.sessions.values() if s.socket is not None]
        for session in live:
            await self.carry_out(order, session.socket)
        return len(live)

    async def dispatch(self, name: str, body: dict) -> None:
        for session in list(self.world.sessions.values()):
            await self.dispatch_to(session, name, self.filtered(session, name, body))

    def filtered(self, session: Session, name: str, body: dict) -> dict:
        """Without the content intent the fields come empty, not absent."""
        if not name.startswith("MESSAGE_") or "author" not in body:
            return body
        own = body["author"]["id"] == self.world.bot_id
        mentioned = any(u["id"] == self.world.bot_id for u in body.get("mentions", []))
        if session.intents & MESSAGE_CONTENT_INTENT or own or mentioned:
            return body
        return {**body, "content": "", "embeds": [], "attachments": [], "components": []}

    async def dispatch_to(self, session: Session, name: str, body: dict) -> None:
        session.seq += 1
        session.backlog.append((session.seq, name, body))
        if session.socket is not None:
            await self.send(session.socket, 0, body, session.seq, name)

    async def flood(self, bodies: list) -> None:
        """Many dispatches as fast as the client reads them; the record has one line for all."""
        self.record.add("flood", count=len(bodies))
        for session in list(self.world.sessions.values()):
            for body in bodies:
                session.seq += 1
                session.backlog.append((session.seq, "MESSAGE_CREATE", body))
                if session.socket is not None:
                    text = frame_text(0, body, session.seq, "MESSAGE_CREATE")
                    await self.send_text(session.socket, text)
                if session.seq % BULK == 0:
                    await asyncio.sleep(0)

    async def delete(self, channel_id: str, message_id: str) -> None:
        self.world.deleted.add(message_id)
        body = {"id": message_id, "channel_id": channel_id, "guild_id": self.world.guild_id}
        await self.dispatch("MESSAGE_DELETE", body)

    async def send(self, socket, op: int, body, seq=None, name=None) -> None:
        self.record.add("frame-out", op=op, s=seq, t=name)
        await self.send_text(socket, frame_text(op, body, seq, name))

    async def send_text(self, socket, text: str) -> None:
        try:
            await socket.send_str(text)
        except (ConnectionError, RuntimeError) as error:
            self.record.add("frame-lost", why=type(error).__name__)


def frame_text(op: int, body, seq, name) -> str:
    return json.dumps({"op": op, "d": body, "s": seq, "t": name})
