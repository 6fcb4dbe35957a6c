"""Faults: clients that vanish, too many of them, nonsense."""

import asyncio
import json
import time
from contextlib import suppress
from typing import Any

from websockets.exceptions import ConnectionClosed

from benchmarks.serving.plans import Plan
from benchmarks.serving.servers import Server, ours
from benchmarks.serving.wire import Mismatch, ask, play, session

Row = tuple[str, str]
_DEEP = "[" * 30_000 + "]" * 30_000
_STEP = '{"type": "step", "data": {"action_type": '
#: What a hostile or broken client might send, and the code that it must be answered with.
NONSENSE: dict[str, tuple[str | bytes, str]] = {
    "200 kB of text": (_STEP + json.dumps("x" * 200_000) + "}}", "MESSAGE_TOO_LARGE"),
    "nested 30,000 deep": (_STEP + _DEEP + "}}", "VALIDATION_ERROR"),
    "60 kB of empty lists": (_STEP + "[" + "[]," * 20_000 + "[]]}}", "VALIDATION_ERROR"),
    "NaN": (_STEP + '"resolve", "confidence": NaN}}', "INVALID_JSON"),
    "a number of 5,000 digits": (_STEP + "1" * 5_000 + "}}", "INVALID_JSON"),
    "half a surrogate pair": (_STEP + '"\\ud800"}}', "INVALID_JSON"),
    "no JSON": ("hello", "INVALID_JSON"),
    "a list": ("[1, 2]", "INVALID_JSON"),
    "binary": (b"\x00\xff", "INVALID_JSON"),
    "unknown type": ('{"type": "explode"}', "UNKNOWN_TYPE"),
    "type of a wrong type": ('{"type": {}}', "UNKNOWN_TYPE"),
    "wrong type of a field": (_STEP + "3}}", "VALIDATION_ERROR"),
    "unknown field": (_STEP + '"resolve", "foo": 1}}', "VALIDATION_ERROR"),
    "data of a wrong type": ('{"type": "step", "data": 3}', "VALIDATION_ERROR"),
    "1,500 unknown fields": (
        json.dumps({"type": "step", "data": {f"{n:05}": n for n in range(1_500)}}),
        "VALIDATION_ERROR",
    ),
    "unknown reset field": ('{"type": "reset", "data": {"tsk": "x"}}', "VALIDATION_ERROR"),
    "unknown incident": ('{"type": "reset", "data": {"incident": "a/b/0"}}', "EXECUTION_ERROR"),
}


async def nonsense(server: Server, listed: tuple[Plan, ...]) -> list[Row]:
    """Every kind of nonsense, in sessions with open episodes, while others play on."""
    rows = []
    stop = asyncio.Event()

    async def bystander(at: int) -> int:
        connection, count = await session(server), 0
        while not stop.is_set():
            await play(connection, listed[(at + 8 * count) % len(listed)])
            count += 1
        await connection.close()
        return count

    others = [asyncio.create_task(bystander(at)) for at in range(8)]
    for name, (message, code) in NONSENSE.items():
        connection = await session(server)
        plan = listed[0]
        await ask(connection, "reset", {"incident": plan.incident})
        await connection.send(message)
        answer = json.loads(await connection.recv())
        if answer["type"] != "error" or answer["data"]["code"] != code:
            raise Mismatch(f"{name}: {answer}")
        # It cost nothing, and the session goes on.
        state = (await ask_state(connection))["data"]
        if state["step_count"] != 0:
            raise Mismatch(f"{name}: cost a tick")
        await play(connection, plan)
        await connection.close()
        text = answer["data"].get("errors") or answer["data"]["message"]
        rows.append((name, f"`{code}`: {_short(text)}"))
    stop.set()
    counts = await asyncio.gather(*others)
    rows.append(("meanwhile", f"8 other sessions played {sum(counts)} episodes, all grades right"))
    return rows


def _short(text: Any) -> str:
    if isinstance(text, list):
        text = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in text)
    return str(text) if len(str(text)) < 110 else f"{str(text)[:107]}…"


async def ask_state(connection: Any) -> dict[str, Any]:
    """The state message, which has no data."""
    await connection.send('{"type": "state"}')
    answer: dict[str, Any] = json.loads(await connection.recv())
    return answer


async def frame_too_large(server: Server) -> list[Row]:
    """A frame beyond the hard limit ends its own connection and no other."""
    good, bad = await session(server), await session(server)
    try:
        await bad.send("x" * 5_000_000)
        await bad.recv()
        raise Mismatch("a frame of 5 MB was taken")
    except ConnectionClosed as closed:
        code = closed.rcvd.code if closed.rcvd else None
    await ask(good, "reset", {"incident": "single_crash-v4/test/0"})
    await good.close()
    return [("a frame of 5 MB", f"connection closed with code {code}; other sessions play on")]


async def _refusal(server: Server) -> str:
    """The answer to a reset in a session too many."""
    connection = await session(server)
    answer = json.loads(await connection.recv())
    if answer["type"] != "error":
        raise Mismatch("a session beyond the capacity of the server began")
    return f"`{answer['data']['code']}`: {answer['data'].get('message')}"


async def vanishing(sessions: int, plan: Plan) -> list[Row]:
    """Clients that break off, or fall silent, give their places back."""
    rows = []
    with ours(max_sessions=sessions, ping_seconds=2.0) as server:
        for name, silent in (("connections cut mid-episode", False), ("clients frozen", True)):
            held = [await session(server) for _ in range(sessions)]
            for one in held:
                await ask(one, "reset", {"incident": plan.incident})
                await ask(one, "step", plan.actions[0])
            refused = await _refusal(server)
            begin = time.perf_counter()
            for one in held:
                # Cut: no closing handshake. Frozen: pings are not answered any more.
                one.transport.pause_reading() if silent else one.transport.abort()
            while True:
                fresh = await session(server)
                with suppress(ConnectionClosed):
                    if (await ask(fresh, "reset"))["type"] == "observation":
                        break
                await asyncio.sleep(0.05)
            took = time.perf_counter() - begin
            for one in (fresh, *held):
                one.transport.abort()
            await asyncio.sleep(1)
            rows.append((f"{sessions} {name}", f"a place is free after {took:.1f} s"))
        rows.insert(0, ("one session too many", refused))
        rows.append(("ping of that server", "every 2 s; `logtriage serve` has 20 s"))
    return rows
