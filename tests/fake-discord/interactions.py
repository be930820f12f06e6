"""Presses of buttons, and what their tokens still allow.

In: a test's press, a seat's answer. Out: INTERACTION_CREATE, and what the presser was told. Never: a
token in the record, an answer after three seconds, two answers to one press.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from gateway import Gateway
from world import Refused, World

# Discord's own numbers. Source: API reference, Receiving and Responding to Interactions.
ANSWER_SECONDS = 3.0
TOKEN_SECONDS = 900.0
MESSAGE, DEFERRED_MESSAGE, DEFERRED_UPDATE, UPDATE = 4, 5, 6, 7
EPHEMERAL = 1 << 6


@dataclass
class Press:
    """One press, and every answer to it."""

    id: str
    token: str
    at: float
    custom_id: str
    user: str
    channel: str
    message: str
    answer: int | None = None
    said: list = field(default_factory=list)

    def about(self) -> dict:
        """All of it but the token."""
        return {k: v for k, v in vars(self).items() if k not in ("token", "at")}


def buttons(message: dict) -> list:
    return [b for row in message.get("components") or [] for b in row.get("components", [])]


class Interactions:
    def __init__(self, world: World, gateway: Gateway):
        self.world, self.gateway = world, gateway
        self.presses: list[Press] = []

    # --- what a test does ------------------------------------------------------------------------

    async def press(self, said: dict) -> Press:
        """Somebody presses. `stale` presses a button that is not there any more, `custom_id` any."""
        message = self.world.find_message(said["channel"], said["message"])
        live = [b["custom_id"] for b in buttons(message) if not b.get("disabled")]
        if said["custom_id"] not in live and not said.get("stale"):
            raise Refused(400, 50035, f"no live button {said['custom_id']}: {live}")
        made = self.world.new_id()
        press = Press(
            id=made,
            token=f"fake-interaction-token-{made}",
            at=time.monotonic() - said.get("age", 0.0),
            custom_id=said["custom_id"],
            user=said["user"],
            channel=said["channel"],
            message=said["message"],
        )
        self.presses.append(press)
        event = self.event(press, message)
        # A place elsewhere: another server, or none, which is a direct message.
        if "guild" in said and said["guild"] is None:
            event["user"] = event.pop("member")["user"]
            del event["guild_id"]
        elif "guild" in said:
            event["guild_id"] = said["guild"]
        event.update(said.get("raw", {}))
        await self.gateway.dispatch("INTERACTION_CREATE", event)
        return press

    def event(self, press: Press, message: dict) -> dict:
        world = self.world
        member = {**world.member(press.user), "permissions": world.role()["permissions"]}
        return {
            "id": press.id,
            "application_id": world.application_id,
            "type": 3,
            "token": press.token,
            "version": 1,
            "guild_id": world.guild_id,
            "channel_id": press.channel,
            "channel": world.channel(press.channel),
            "member": member,
            "message": {**message},
            "data": {"component_type": 2, "custom_id": press.custom_id, "id": 2},
            "app_permissions": world.role()["permissions"],
            "locale": "en-US",
            "guild_locale": "en-US",
            "entitlements": [],
            "authorizing_integration_owners": {"0": world.guild_id},
            "context": 0,
            "attachment_size_limit": 10 * 1024 * 1024,
        }

    # --- what a seat does ------------------------------------------------------------------------

    async def callback(self, call, interaction_id: str, token: str):
        press = self.known(token)
        if press is None or press.id != interaction_id:
            raise Refused(404, 10062, "Unknown interaction")
        if press.answer is not None:
            raise Refused(400, 40060, "Interaction has already been acknowledged.")
        if time.monotonic() - press.at >= ANSWER_SECONDS:
            raise Refused(404, 10062, "Unknown interaction")
        body = call["body"] or {}
        kind = body.get("type")
        if kind not in (MESSAGE, DEFERRED_MESSAGE, DEFERRED_UPDATE, UPDATE):
            raise Refused(400, 50035, "Invalid Form Body")
        press.answer = kind
        made = None
        if kind == MESSAGE:
            made = await self.say(press, body.get("data") or {})
        if kind == UPDATE:
            message = self.world.find_message(press.channel, press.message)
            message.update({k: v for k, v in (body.get("data") or {}).items() if k in message})
            event = {**message, "guild_id": self.world.guild_id}
            await self.gateway.dispatch("MESSAGE_UPDATE", event)
        if call["query"].get("with_response") not in ("1", "true", "True"):
            return None
        found = {"interaction": {"id": press.id, "type": 3, "response_message_ephemeral": True}}
        if made:
            found["interaction"]["response_message_id"] = made["id"]
            found["resource"] = {"type": kind, "message": made}
        return found

    async def follow_up(self, call, application_id: str, token: str):
        press = self.known(token)
        late = press is not None and time.monotonic() - press.at >= TOKEN_SECONDS
        if press is None or late or application_id != self.world.application_id:
            raise Refused(404, 10015, "Unknown Webhook")
        if press.answer is None:
            raise Refused(404, 10008, "Unknown Message")
        return await self.say(press, call["body"] or {})

    async def say(self, press: Press, data: dict) -> dict:
        content = data.get("content") or ""
        if not content.strip():
            raise Refused(400, 50006, "Cannot send an empty message")
        private = bool(data.get("flags", 0) & EPHEMERAL)
        mentions = data.get("allowed_mentions")
        press.said.append({"content": content, "private": private, "allowed_mentions": mentions})
        author = self.world.user(self.world.bot_id)
        if private:
            # It stands in no history and in no event: only the presser sees it.
            return {"id": self.world.new_id(), "channel_id": press.channel, "type": 19,
                    "author": author, "content": content, "flags": EPHEMERAL}
        message = self.world.message(press.channel, author, content, type=19)
        await self.gateway.dispatch("MESSAGE_CREATE", {**message, "guild_id": self.world.guild_id})
        return message

    def known(self, token: str) -> Press | None:
        return next((p for p in self.presses if p.token == token), None)
