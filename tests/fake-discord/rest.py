"""The REST side: Discord's API v10, as far as a seat uses it.

In: HTTP requests under /api. Out: JSON with exactly the content type that clients insist on. Never:
a token in the record.
"""

from __future__ import annotations

import asyncio
import json
import re
import urllib.parse

from aiohttp import web

from gateway import Gateway
from interactions import Interactions
from record import Record
from world import Refused, World

PREFIX = re.compile(r"^/api(?:/v(?:9|10))?(/.*)$")
# Where an interaction's token stands: it answers for its press, so the record does not have it.
WITH_TOKEN = re.compile(r"^(/(?:interactions|webhooks)/\d+/)[^/]+")


def answer(status: int, body, headers=None) -> web.Response:
    """JSON with the bare content type: a charset makes one well-known client read it as text."""
    if body is None:
        return web.Response(status=status, headers=headers)
    data = json.dumps(body).encode()
    response = web.Response(status=status, body=data, headers=headers)
    response.headers["Content-Type"] = "application/json"
    return response


async def read(request: web.Request) -> tuple:
    """The fields of a body, and the files of a form."""
    kind = request.headers.get("Content-Type", "")
    if kind.startswith("multipart/form-data"):
        form = await request.post()
        files = [
            {
                "field": name,
                "filename": value.filename,
                "content_type": value.headers.get("Content-Type", value.content_type),
                "bytes": value.file.read(),
            }
            for name, value in form.items()
            if isinstance(value, web.FileField)
        ]
        return json.loads(form["payload_json"]), files
    raw = await request.read()
    return (json.loads(raw) if raw and "json" in kind else None), []


class Rest:
    def __init__(
        self, world: World, gateway: Gateway, record: Record, interactions: Interactions
    ):
        self.world, self.gateway, self.record = world, gateway, record
        snow = r"(\d+)"
        self.routes = [
            ("GET", r"/gateway", self.get_gateway),
            ("GET", r"/gateway/bot", self.get_gateway_bot),
            ("GET", r"/users/@me", lambda r: world.user(world.bot_id)),
            ("GET", r"/(?:oauth2/)?applications/@me", lambda r: world.application()),
            ("GET", rf"/guilds/{snow}", lambda r, g: self.own_guild(g)),
            ("GET", rf"/guilds/{snow}/channels", self.guild_channels),
            ("GET", rf"/guilds/{snow}/roles", lambda r, g: self.own_guild(g)["roles"]),
            ("GET", rf"/guilds/{snow}/threads/active", self.active_threads),
            ("GET", rf"/guilds/{snow}/members/(\d+|@me)", self.guild_member),
            ("GET", rf"/channels/{snow}", lambda r, c: world.channel(c)),
            ("GET", rf"/channels/{snow}/messages", lambda r, c: world.history(c, r["query"])),
            ("POST", rf"/channels/{snow}/messages", self.post_message),
            ("GET", rf"/channels/{snow}/messages/{snow}", lambda r, c, m: world.find_message(c, m)),
            ("PATCH", rf"/channels/{snow}/messages/{snow}", self.edit_message),
            ("DELETE", rf"/channels/{snow}/messages/{snow}", self.delete_message),
            ("POST", rf"/channels/{snow}/typing", self.nothing),
            ("PUT", rf"/channels/{snow}/messages/{snow}/reactions/([^/]+)/@me", self.react),
            ("DELETE", rf"/channels/{snow}/messages/{snow}/reactions/([^/]+)/@me", self.nothing),
            ("POST", rf"/channels/{snow}(?:/messages/{snow})?/threads", self.create_thread),
            ("POST", rf"/interactions/{snow}/([^/]+)/callback", interactions.callback),
            ("POST", rf"/webhooks/{snow}/([^/]+)", interactions.follow_up),
        ]
        self.routes = [(m, re.compile(f"^{p}$"), h) for m, p, h in self.routes]

    async def serve(self, request: web.Request) -> web.StreamResponse:
        path = PREFIX.match(request.path)
        if not path and request.path.startswith("/attachments/"):
            return self.file(request.path)
        if not path:
            return answer(404, {"message": "404: Not Found", "code": 0})
        self.world.counts["requests"] += 1
        body, files = await read(request)
        line = self.record.add(
            "request",
            method=request.method,
            path=WITH_TOKEN.sub(r"\1…", path[1]),
            query=dict(request.query),
            agent=request.headers.get("User-Agent", ""),
            auth=self.judge(request),
            body=body,
        )
        call = {"query": dict(request.query), "body": body, "files": files, "line": line}
        fault = self.world.fault_for(request.method, path[1])
        delay = self.world.switches["delay"] + (fault.delay if fault else 0.0)
        if delay:
            await asyncio.sleep(delay)
        if fault and fault.lose:
            # Carried out, and then the connection ends without a word.
            await self.carry_out(request.method, path[1], call, request)
            line["status"] = "lost"
            request.transport.close()
            return web.Response(status=500)
        if fault and fault.status is not None:
            line["status"] = fault.status
            if isinstance(fault.body, str):
                return web.Response(
                    status=fault.status,
                    text=fault.body,
                    headers=fault.headers,
                    content_type="text/html",
                )
            return answer(fault.status, fault.body, fault.headers)
        status, found, headers = await self.carry_out(request.method, path[1], call, request)
        line["status"] = status
        return answer(status, found, headers)

    def file(self, path: str) -> web.Response:
        kept = self.world.files.get(path)
        if kept is None:
            return web.Response(status=404, text="This content is no longer available.")
        return web.Response(body=kept["bytes"], headers={"Content-Type": kept["content_type"]})

    def judge(self, request: web.Request) -> str:
        said = request.headers.get("Authorization")
        if said is None:
            return "absent"
        return "right" if said == f"Bot {self.world.token}" else "wrong"

    async def carry_out(self, method, path, call, request):
        """Status, body and headers of one call."""
        try:
            needs_token = path != "/gateway" and not path.startswith(("/interactions/", "/webhooks/"))
            if needs_token and (call["line"]["auth"] != "right" or self.world.switches["wrong_token"]):
                raise Refused(401, 0, "401: Unauthorized")
            for route_method, pattern, handler in self.routes:
                match = pattern.match(path)
                if match and route_method == method:
                    found = handler(call, *[g for g in match.groups() if g is not None])
                    if asyncio.iscoroutine(found):
                        found = await found
                    status = 204 if found is None else 200
                    if isinstance(found, tuple):
                        status, found = found
                    return status, found, self.limits(method, path)
            raise Refused(404, 0, "404: Not Found")
        except Refused as refused:
            return refused.status, refused.body, self.limits(method, path)

    @staticmethod
    def limits(method: str, path: str) -> dict:
        """The headers of a success. The scope header belongs to a 429 alone."""
        major = path.split("/")[1:3]
        return {
            "X-RateLimit-Limit": "1000",
            "X-RateLimit-Remaining": "999",
            "X-RateLimit-Reset-After": "1.000",
            "X-RateLimit-Bucket": f"{method.lower()}{major[0]}{path.count('/')}",
        }

    # --- calls -----------------------------------------------------------------------------------

    def get_gateway(self, call):
        return {"url": self.gateway.url()}

    def get_gateway_bot(self, call):
        left = self.world.switches["session_starts_left"]
        limit = {"total": 1000, "remaining": left, "reset_after": 86400000, "max_concurrency": 1}
        return {"url": self.gateway.url(), "shards": 1, "session_start_limit": limit}

    def own_guild(self, guild_id):
        if guild_id != self.world.guild_id:
            raise Refused(404, 10004, "Unknown Guild")
        return self.world.guild()

    def guild_channels(self, call, guild_id):
        self.own_guild(guild_id)
        listed = self.world.channels.items()
        return [self.world.channel(i) for i, c in listed if c["type"] not in (10, 11, 12)]

    def active_threads(self, call, guild_id):
        self.own_guild(guild_id)
        return {"threads": self.world.threads(), "members": [], "has_more": False}

    def guild_member(self, call, guild_id, user_id):
        self.own_guild(guild_id)
        if user_id == "@me":
            user_id = self.world.bot_id
        if user_id != self.world.bot_id and user_id not in self.world.users:
            raise Refused(404, 10007, "Unknown Member")
        return self.world.member(user_id)

    async def post_message(self, call, channel_id):
        message, new = self.world.post(channel_id, call["body"] or {}, call["files"])
        call["line"]["message"] = message["id"]
        call["line"]["new"] = new
        self.world.posts.append(
            {"channel": channel_id, "new": new, "message": message["id"], **(call["body"] or {})}
        )
        if new:
            guild = {"guild_id": self.world.guild_id}
            await self.gateway.dispatch("MESSAGE_CREATE", {**message, **guild})
        return message

    async def edit_message(self, call, channel_id, message_id):
        message = self.world.find_message(channel_id, message_id)
        if message["author"]["id"] != self.world.bot_id:
            raise Refused(403, 50005, "Cannot edit a message authored by another user")
        change = dict(call["body"] or {})
        if "attachments" in change:
            # Those that are named stay; without the field, all of them do.
            kept = {str(a["id"]) for a in change.pop("attachments") or []}
            message["attachments"] = [a for a in message["attachments"] if a["id"] in kept]
        message.update({k: v for k, v in change.items() if k in message})
        message["edited_timestamp"] = self.world.timestamp()
        await self.gateway.dispatch("MESSAGE_UPDATE", {**message, "guild_id": self.world.guild_id})
        return message

    async def delete_message(self, call, channel_id, message_id):
        self.world.find_message(channel_id, message_id)
        await self.gateway.delete(channel_id, message_id)

    def nothing(self, call, *ids):
        return None

    def react(self, call, channel_id, message_id, emoji):
        self.world.find_message(channel_id, message_id)
        call["line"]["emoji"] = urllib.parse.unquote(emoji)

    async def create_thread(self, call, channel_id, message_id=None):
        self.world.channel(channel_id)
        made = message_id or self.world.new_id()
        self.world.channels[made] = {
            "id": made,
            "type": (call["body"] or {}).get("type", 12),
            "name": call["body"]["name"],
            "parent_id": channel_id,
            "owner_id": self.world.bot_id,
            "thread_metadata": {"archived": False, "locked": False, "auto_archive_duration": 1440},
        }
        thread = self.world.channel(made)
        await self.gateway.dispatch("THREAD_CREATE", {**thread, "newly_created": True})
        return 201, thread
