"""A scripted fake Discord: REST and gateway on one loopback port, orders under /_control.

    python fake_discord.py [--port 0] [--record FILE] [--config JSON]

In: a few options. Out: one JSON line {"origin": ..., "token": ..., "guild": ..., "bot": ...} on
stdout, then a server until standard input ends or a signal comes. Never: a listener outside
loopback, code of the product or of its own stand-in: two fakes that agree by accident would hide a
mistake that both share.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys

from aiohttp import web

from control import Control
from gateway import Gateway
from interactions import Interactions
from record import Record
from rest import Rest
from world import Refused, World


@web.middleware
async def refusals(request, handler):
    try:
        return await handler(request)
    except Refused as refused:
        return web.json_response(refused.body, status=refused.status)


def application(world: World, gateway: Gateway, record: Record) -> web.Application:
    interactions = Interactions(world, gateway)
    rest = Rest(world, gateway, record, interactions)

    async def front(request: web.Request):
        if request.headers.get("Upgrade", "").lower() == "websocket":
            return await gateway.serve(request)
        return await rest.serve(request)

    made = web.Application(client_max_size=30 * 1024 * 1024, middlewares=[refusals])
    made.add_routes(Control(world, gateway, record, interactions).routes())
    made.router.add_route("*", "/{tail:.*}", front)
    return made


async def stdin_end() -> None:
    """Ends when whoever started us has gone."""
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while await reader.read(4096):
        pass


async def serve(options) -> None:
    world = World(json.loads(options.config))
    record = Record(options.record)
    gateway = Gateway(world, record)
    runner = web.AppRunner(application(world, gateway, record), access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", options.port, shutdown_timeout=0.1)
    await site.start()
    port = site._server.sockets[0].getsockname()[1]
    gateway.origin = world.origin = f"http://127.0.0.1:{port}"
    about = {"origin": gateway.origin, "token": world.token}
    print(json.dumps({**about, "guild": world.guild_id, "bot": world.bot_id}), flush=True)
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    waits = [asyncio.ensure_future(ended.wait())]
    if options.until_stdin_ends:
        waits.append(asyncio.ensure_future(stdin_end()))
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    await runner.cleanup()
    record.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--record", help="file for every request and frame, one JSON line each")
    parser.add_argument("--config", default="{}", help="ids, channels and users, as JSON")
    parser.add_argument(
        "--until-stdin-ends", action="store_true", help="stop when standard input is closed"
    )
    asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
