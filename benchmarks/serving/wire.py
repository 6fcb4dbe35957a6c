"""The clients: the bare protocol, so that the server is what is measured."""

import asyncio
import json
import time
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from benchmarks.serving.plans import Plan
from benchmarks.serving.servers import Place, Server


async def session(server: Place) -> ClientConnection:
    """A new session, with the websockets library's defaults."""
    return await connect(
        server.url,
        open_timeout=60,
        ping_interval=None,
        proxy=None,
        additional_headers=server.headers,
    )


async def ask(connection: ClientConnection, kind: str, data: Any = None) -> dict[str, Any]:
    """One message and its answer."""
    await connection.send(json.dumps({"type": kind, "data": {} if data is None else data}))
    answer: dict[str, Any] = json.loads(await connection.recv())
    return answer


class Mismatch(Exception):
    """A grade that is not that of the client's own actions, or an episode that is another's."""


async def play(connection: ClientConnection, plan: Plan) -> int:
    """Play an episode of ours and check what comes back; the messages it took."""
    answer = await ask(connection, "reset", {"incident": plan.incident})
    total = 0.0
    for tick, action in enumerate(plan.actions, start=1):
        answer = await ask(connection, "step", action)
        data = answer["data"]
        if answer["type"] != "observation":
            raise Mismatch(f"{plan.incident}: {data}")
        if data["observation"]["tick"] != tick:
            raise Mismatch(f"{plan.incident}: another episode's observation")
        total += data["reward"]
    if not data["done"] or data["observation"]["grade"] != plan.grade:
        raise Mismatch(f"{plan.incident}: {data['observation']['grade']} is not {plan.grade}")
    if total != plan.grade["score"]:
        raise Mismatch(f"{plan.incident}: rewards sum to {total!r}")
    return 1 + len(plan.actions)


async def _echo(connection: ClientConnection, plan: Plan) -> int:
    """As many messages of the same content to the echo environment."""
    await ask(connection, "reset")
    for action in plan.actions:
        data = (await ask(connection, "step", {"message": json.dumps(action)}))["data"]
        if json.loads(data["observation"]["echoed_message"]) != action:
            raise Mismatch("the echo is not that of the own message")
    return 1 + len(plan.actions)


async def load(
    server: Server, listed: tuple[Plan, ...], sessions: int, seconds: float, *, echo: bool = False
) -> dict[str, float]:
    """``sessions`` clients play full episodes side by side for so long."""
    connections = await asyncio.gather(*(session(server) for _ in range(sessions)))
    messages = episodes = 0
    cpu, own, begin = server.cpu_seconds(), time.process_time(), time.perf_counter()
    deadline = begin + seconds

    async def client(number: int, connection: ClientConnection) -> None:
        nonlocal messages, episodes
        at = number
        while time.perf_counter() < deadline:
            plan = listed[at % len(listed)]
            played = await (_echo if echo else play)(connection, plan)
            messages, episodes = messages + played, episodes + 1
            at += sessions
        await connection.close()

    await asyncio.gather(*(client(*one) for one in enumerate(connections)))
    elapsed = time.perf_counter() - begin
    return {
        "messages_per_second": messages / elapsed,
        "server_cpu_microseconds": (server.cpu_seconds() - cpu) / messages * 1e6,
        "client_cpu_microseconds": (time.process_time() - own) / messages * 1e6,
        "episodes": episodes,
        "messages": messages,
    }
