"""The test's side: orders under /_control.

In: JSON. Out: JSON. Never: something that Discord itself would not do, lie or lose.

    POST /_control/messages   {channel, author, content, raw?}    somebody writes; `author` is an id or a user
    POST /_control/edits      {channel, message, content}         somebody edits
    POST /_control/deletes    {channel, message}
    POST /_control/flood      {channel, author, content, count, raw?}  many messages that are kept nowhere
    POST /_control/repeat     {channel, message}                  the same MESSAGE_CREATE once more
    POST /_control/threads    {id?, parent, name, announce?}      a thread; `announce: false` keeps it unsaid
    POST /_control/presses    {channel, message, user, custom_id, stale?, age?, guild?, raw?}  gives {id, token}
    GET  /_control/presses                                    every press with its answers, oldest first
    POST /_control/faults     {method?, path?, times?, status?, headers?, body?, delay?, lose?}
    POST /_control/gateway    {do: reconnect|invalid|close|drop|heartbeat|silence, code?, resumable?, when?}
    POST /_control/switches   any of the world's switches
    GET  /_control/posts      what the bot posted, in order, with each body
    GET  /_control/record     every request and frame so far (?what= filters)
    GET  /_control/state      counts, switches, live connections
    GET  /_control/messages?channel=    what stands in a channel, oldest first
"""

from __future__ import annotations

import re

from aiohttp import web

from gateway import Gateway
from interactions import Interactions
from record import Record
from world import Fault, World


class Control:
    def __init__(
        self, world: World, gateway: Gateway, record: Record, interactions: Interactions
    ):
        self.world, self.gateway, self.record = world, gateway, record
        self.interactions = interactions

    def routes(self):
        post, get = web.post, web.get
        return [
            post("/_control/messages", self.message),
            post("/_control/edits", self.edit),
            post("/_control/deletes", self.delete),
            post("/_control/flood", self.flood),
            post("/_control/repeat", self.repeat),
            post("/_control/threads", self.thread),
            post("/_control/presses", self.press),
            get("/_control/presses", self.presses),
            post("/_control/faults", self.fault),
            post("/_control/gateway", self.order),
            post("/_control/switches", self.switch),
            get("/_control/posts", self.posts),
            get("/_control/record", self.lines),
            get("/_control/state", self.state),
            get("/_control/messages", self.messages),
        ]

    def author(self, said) -> dict:
        return said if isinstance(said, dict) else self.world.user(str(said))

    def as_event(self, message: dict) -> dict:
        member = self.world.member(message["author"]["id"])
        member.pop("user")
        event = {"guild_id": self.world.guild_id, "member": member, **message}
        return event if "webhook_id" not in message else {**event, "member": None}

    async def message(self, request):
        said = await request.json()
        message = self.world.message(
            said["channel"], self.author(said["author"]), said["content"], **said.get("raw", {})
        )
        await self.gateway.dispatch("MESSAGE_CREATE", self.as_event(message))
        return web.json_response(message)

    async def flood(self, request):
        said = await request.json()
        bodies = []
        for number in range(said["count"]):
            message = self.world.message(
                said["channel"],
                self.author(said["author"]),
                said["content"].replace("{n}", str(number)),
                **said.get("raw", {}),
            )
            self.world.messages[said["channel"]].pop()
            bodies.append(self.as_event(message))
        await self.gateway.flood(bodies)
        return web.json_response({"sent": len(bodies)})

    async def repeat(self, request):
        said = await request.json()
        message = self.world.find_message(said["channel"], said["message"])
        await self.gateway.dispatch("MESSAGE_CREATE", self.as_event(message))
        return web.json_response({})

    async def edit(self, request):
        said = await request.json()
        message = self.world.find_message(said["channel"], said["message"])
        message["content"] = said["content"]
        message["edited_timestamp"] = self.world.timestamp()
        await self.gateway.dispatch("MESSAGE_UPDATE", self.as_event(message))
        return web.json_response(message)

    async def delete(self, request):
        said = await request.json()
        await self.gateway.delete(said["channel"], said["message"])
        return web.json_response({})

    async def press(self, request):
        press = await self.interactions.press(await request.json())
        return web.json_response({"id": press.id, "token": press.token})

    async def presses(self, request):
        return web.json_response([press.about() for press in self.interactions.presses])

    async def thread(self, request):
        said = await request.json()
        made = said.get("id") or self.world.new_id()
        self.world.channels[made] = {
            "id": made,
            "type": said.get("type", 11),
            "name": said.get("name", "thread"),
            "parent_id": said["parent"],
            "owner_id": said.get("owner", "900000000000000001"),
            "thread_metadata": {
                "archived": False,
                "locked": False,
                "auto_archive_duration": 1440,
                "archive_timestamp": self.world.timestamp(),
            },
            "message_count": 0,
            "member_count": 1,
        }
        if said.get("announce", True):
            await self.gateway.dispatch("THREAD_CREATE", self.world.channel(made))
        return web.json_response(self.world.channel(made))

    async def fault(self, request):
        said = await request.json()
        self.world.faults.append(
            Fault(
                method=said.get("method", "*"),
                path=re.compile(said.get("path", "")),
                times=said.get("times", 1),
                status=said.get("status"),
                headers=said.get("headers", {}),
                body=said.get("body"),
                delay=said.get("delay", 0.0),
                lose=said.get("lose", False),
            )
        )
        return web.json_response({})

    async def order(self, request):
        said = await request.json()
        when = said.pop("when", "now")
        if when == "now":
            return web.json_response({"connections": await self.gateway.order(said)})
        times = said.pop("times", 1)
        self.world.gateway_script.setdefault(when, []).extend([dict(said)] * times)
        return web.json_response({})

    async def switch(self, request):
        said = await request.json()
        unknown = set(said) - set(self.world.switches)
        if unknown:
            return web.json_response({"unknown": sorted(unknown)}, status=400)
        self.world.switches.update(said)
        return web.json_response(self.world.switches)

    async def posts(self, request):
        return web.json_response(self.world.posts)

    async def lines(self, request):
        wanted = request.query.get("what")
        found = [line for line in self.record.lines if wanted in (None, line["what"])]
        return web.json_response(found)

    async def state(self, request):
        live = sum(s.socket is not None and s.ready for s in self.world.sessions.values())
        return web.json_response(
            {
                **self.world.counts,
                "live": live,
                "heartbeats": self.gateway.last_heartbeat,
                "switches": self.world.switches,
            }
        )

    async def messages(self, request):
        channel = request.query["channel"]
        kept = [m for m in self.world.messages.get(channel, []) if m["id"] not in self.world.deleted]
        return web.json_response(kept)
