"""What the fake Discord knows: one guild, its channels and people, messages, sessions, faults.

In: requests and frames, already parsed. Out: JSON values in Discord's shape. Never: a rule that a test
did not ask for and Discord does not have.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from datetime import datetime, timezone

DISCORD_EPOCH_MS = 1420070400000
# Discord's own limits. Sources: API reference, Create Message (content, nonce).
CONTENT_MAX_CHARS = 2000
NONCE_MAX_CHARS = 25
# The window is not published; tests may set another one.
NONCE_WINDOW_SECONDS = 300.0

MESSAGE_CONTENT_INTENT = 1 << 15


class Refused(Exception):
    """A REST answer that is not a success."""

    def __init__(self, status: int, code: int, message: str, errors=None):
        super().__init__(message)
        self.status = status
        self.body = {"message": message, "code": code}
        if errors is not None:
            self.body["errors"] = errors


@dataclass
class Fault:
    """Something that happens to the next matching requests."""

    method: str
    path: re.Pattern
    times: int
    status: int | None
    headers: dict
    body: object
    delay: float
    lose: bool


@dataclass
class Session:
    """One gateway session, with everything that was dispatched in it."""

    id: str
    intents: int
    seq: int = 0
    backlog: list = field(default_factory=list)
    socket: object = None
    ready: bool = False


class World:
    """The whole state. One event loop, no locks."""

    def __init__(self, config: dict):
        self.token = config.get("token", "fake-token-of-no-bot")
        self.bot_id = config.get("bot", "800000000000000001")
        self.application_id = config.get("application", "800000000000000002")
        self.guild_id = config.get("guild", "700000000000000001")
        self.channels = {
            c["id"]: {"type": 0, "position": i, "permission_overwrites": [], **c}
            for i, c in enumerate(
                config.get(
                    "channels",
                    [
                        {"id": "710000000000000001", "name": "general"},
                        {"id": "710000000000000002", "name": "help"},
                        {"id": "710000000000000003", "name": "elsewhere"},
                    ],
                )
            )
        }
        self.users = {u["id"]: u for u in config.get("users", [])}
        self.messages: dict[str, list] = {}
        self.deleted: set[str] = set()
        self.nonces: dict[tuple, tuple] = {}
        self.nonce_window = NONCE_WINDOW_SECONDS
        self.posts: list = []
        # Files by the path that they are served at.
        self.files: dict[str, dict] = {}
        self.origin = ""
        self.sessions: dict[str, Session] = {}
        self.faults: list[Fault] = []
        self.gateway_script: dict[str, list] = {}
        self.switches = {
            "wrong_token": False,
            "no_guild": False,
            "content_intent_off": False,
            "heartbeat_ms": 41250,
            "ack": True,
            "delay": 0.0,
            "session_starts_left": 1000,
            "resume_url": None,
        }
        self.counts = {"connects": 0, "identifies": 0, "resumes": 0, "requests": 0}
        self._last_id = 0

    # --- ids and shapes -----------------------------------------------------------------------

    def new_id(self) -> str:
        """A snowflake of now, later than every other one that was made."""
        now = (int(time.time() * 1000) - DISCORD_EPOCH_MS) << 22
        self._last_id = max(self._last_id + 1, now)
        return str(self._last_id)

    @staticmethod
    def timestamp(snowflake: str | None = None) -> str:
        ms = (int(snowflake) >> 22) + DISCORD_EPOCH_MS if snowflake else time.time() * 1000
        at = datetime.fromtimestamp(ms / 1000, timezone.utc)
        return at.strftime("%Y-%m-%dT%H:%M:%S.%f+00:00")

    def user(self, user_id: str, **more) -> dict:
        known = self.users.get(user_id, {})
        name = known.get("name", "seat" if user_id == self.bot_id else f"user{user_id[-3:]}")
        shape = {
            "id": user_id,
            "username": name.lower(),
            "global_name": name,
            "discriminator": "0",
            "avatar": None,
            "public_flags": 0,
            "flags": 0,
            "primary_guild": None,
        }
        if user_id == self.bot_id:
            shape["bot"] = True
        return {**shape, **more}

    def member(self, user_id: str) -> dict:
        return {
            "user": self.user(user_id),
            "nick": None,
            "avatar": None,
            "roles": [],
            "joined_at": "2026-01-01T00:00:00.000000+00:00",
            "premium_since": None,
            "deaf": False,
            "mute": False,
            "flags": 0,
            "pending": False,
            "communication_disabled_until": None,
        }

    def role(self) -> dict:
        everyone = (1 << 10) | (1 << 11) | (1 << 6) | (1 << 16) | (1 << 38) | (1 << 35)
        return {
            "id": self.guild_id,
            "name": "@everyone",
            "color": 0,
            "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
            "hoist": False,
            "position": 0,
            "permissions": str(everyone),
            "managed": False,
            "mentionable": False,
            "flags": 0,
        }

    def channel(self, channel_id: str) -> dict:
        found = self.channels.get(channel_id)
        if found is None or self.switches["no_guild"]:
            raise Refused(404, 10003, "Unknown Channel")
        return {"guild_id": self.guild_id, "nsfw": False, "last_message_id": None, **found}

    def threads(self) -> list:
        return [self.channel(i) for i, c in self.channels.items() if c["type"] in (10, 11, 12)]

    def guild(self) -> dict:
        if self.switches["no_guild"]:
            raise Refused(404, 10004, "Unknown Guild")
        return {
            "id": self.guild_id,
            "name": "Stand",
            "owner_id": "900000000000000009",
            "icon": None,
            "features": [],
            "roles": [self.role()],
            "emojis": [],
            "stickers": [],
            "preferred_locale": "en-US",
            "nsfw_level": 0,
            "premium_tier": 0,
            "verification_level": 0,
            "afk_timeout": 300,
        }

    def guild_create(self) -> dict:
        plain = [self.channel(i) for i, c in self.channels.items() if c["type"] not in (10, 11, 12)]
        return {
            **self.guild(),
            "joined_at": "2026-01-01T00:00:00.000000+00:00",
            "large": False,
            "unavailable": False,
            "member_count": 2,
            "members": [self.member(self.bot_id)],
            "channels": plain,
            "threads": self.threads(),
            "presences": [],
            "voice_states": [],
            "stage_instances": [],
            "guild_scheduled_events": [],
            "soundboard_sounds": [],
        }

    def application(self) -> dict:
        content = 0 if self.switches["content_intent_off"] else 1 << 19
        return {
            "id": self.application_id,
            "name": "Seat",
            "description": "",
            "icon": None,
            "bot_public": True,
            "bot_require_code_grant": False,
            "verify_key": "0" * 64,
            "flags": content,
            "interactions_endpoint_url": None,
            "owner": self.user("900000000000000009"),
            "bot": self.user(self.bot_id),
            "team": None,
        }

    def message(self, channel_id: str, author: dict, content: str, **raw) -> dict:
        """A message, kept in its channel; `raw` overrides or adds any field."""
        self.channel(channel_id)
        made = raw.pop("id", None) or self.new_id()
        shape = {
            "id": made,
            "type": 0,
            "channel_id": channel_id,
            "author": author,
            "content": content,
            "timestamp": self.timestamp(made),
            "edited_timestamp": None,
            "tts": False,
            "mention_everyone": False,
            "mentions": [],
            "mention_roles": [],
            "attachments": [],
            "embeds": [],
            "components": [],
            "pinned": False,
            "flags": 0,
            **raw,
        }
        self.messages.setdefault(channel_id, []).append(shape)
        return shape

    def find_message(self, channel_id: str, message_id: str) -> dict:
        for message in self.messages.get(channel_id, []):
            if message["id"] == message_id and message_id not in self.deleted:
                return message
        raise Refused(404, 10008, "Unknown Message")

    # --- what the bot sends --------------------------------------------------------------------

    def post(self, channel_id: str, body: dict, files=()) -> tuple[dict, bool]:
        """Create Message, with the nonce rule. Gives the message and whether it is new."""
        self._check_buttons(body.get("components") or [])
        channel = self.channel(channel_id)
        if channel["type"] in (15, 16):
            raise Refused(400, 40058, "Cannot send messages in a forum channel")
        content = body.get("content") or ""
        if len(content) > CONTENT_MAX_CHARS:
            raise form_error("content", "BASE_TYPE_MAX_LENGTH", "Must be 2000 or fewer in length.")
        if not content.strip() and not files:
            raise Refused(400, 50006, "Cannot send an empty message")
        nonce = body.get("nonce")
        if isinstance(nonce, str) and len(nonce) > NONCE_MAX_CHARS:
            raise form_error("nonce", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.")
        allowed = body.get("allowed_mentions")
        if allowed and "users" in allowed.get("parse", []) and allowed.get("users"):
            raise form_error("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", "no")
        if body.get("enforce_nonce") and nonce is not None:
            known = self.nonces.get((self.bot_id, str(nonce)))
            if known and time.monotonic() - known[0] < self.nonce_window:
                if known[1]["id"] in self.deleted:
                    raise Refused(404, 10008, "Unknown Message")
                return known[1], False
        raw = {}
        reference = body.get("message_reference")
        if reference:
            raw = self._reference(channel_id, reference)
        raw["components"] = body.get("components") or []
        raw["attachments"] = [self.keep(channel_id, file) for file in files]
        named = (allowed or {}).get("users") or []
        raw["mentions"] = [self.user(u) for u in named if f"<@{u}>" in content]
        message = self.message(channel_id, self.user(self.bot_id), content, **raw)
        if nonce is not None:
            message["nonce"] = nonce
            self.nonces[(self.bot_id, str(nonce))] = (time.monotonic(), message)
        return message, True

    def keep(self, channel_id: str, file: dict) -> dict:
        """Stores a file; gives it as a message names it."""
        made = self.new_id()
        path = f"/attachments/{channel_id}/{made}/{file['filename']}"
        self.files[path] = file
        url = self.origin + path
        return {
            "id": made,
            "filename": file["filename"],
            "size": len(file["bytes"]),
            "content_type": file["content_type"],
            "url": url,
            "proxy_url": url,
        }

    @staticmethod
    def _check_buttons(rows: list) -> None:
        buttons = [b for row in rows for b in row.get("components", [])]
        ids = [b.get("custom_id", "") for b in buttons]
        fits = all(row.get("type") == 1 and 1 <= len(row["components"]) <= 5 for row in rows)
        fits = fits and all(1 <= len(i) <= 100 for i in ids) and len(set(ids)) == len(ids)
        fits = fits and all(1 <= len(b.get("label", "")) <= 80 for b in buttons)
        if len(rows) > 5 or not fits:
            raise form_error("components", "BASE_TYPE_BAD_LENGTH", "not rows of buttons")

    def _reference(self, channel_id: str, reference: dict) -> dict:
        target = str(reference.get("message_id"))
        try:
            found = self.find_message(channel_id, target)
        except Refused:
            if reference.get("fail_if_not_exists", True):
                raise form_error(
                    "message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message"
                ) from None
            return {}
        kept = {"type": 0, "message_id": target, "channel_id": channel_id, "guild_id": self.guild_id}
        return {"type": 19, "message_reference": kept, "referenced_message": {**found}}

    def history(self, channel_id: str, query: dict) -> list:
        """Get Channel Messages: newest first; `after` takes the oldest that follow."""
        self.channel(channel_id)
        limit = int(query.get("limit", 50))
        if not 1 <= limit <= 100:
            raise form_error("limit", "NUMBER_TYPE_MAX", "Must be between 1 and 100.")
        known = [m for m in self.messages.get(channel_id, []) if m["id"] not in self.deleted]
        known.sort(key=lambda m: int(m["id"]))
        if "after" in query:
            page = [m for m in known if int(m["id"]) > int(query["after"])][:limit]
        elif "before" in query:
            page = [m for m in known if int(m["id"]) < int(query["before"])][-limit:]
        elif "around" in query:
            centre, half = int(query["around"]), max(limit // 2, 1)
            older = [m for m in known if int(m["id"]) < centre][-half:]
            page = older + [m for m in known if int(m["id"]) >= centre][: limit - len(older)]
        else:
            page = known[-limit:]
        return list(reversed(page))

    # --- faults --------------------------------------------------------------------------------

    def fault_for(self, method: str, path: str) -> Fault | None:
        for fault in self.faults:
            if fault.times > 0 and fault.method in ("*", method) and fault.path.search(path):
                fault.times -= 1
                return fault
        return None


def form_error(field_name: str, code: str, message: str) -> Refused:
    errors = {field_name: {"_errors": [{"code": code, "message": message}]}}
    return Refused(400, 50035, "Invalid Form Body", errors)
