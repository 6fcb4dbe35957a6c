"""What strangers do to a server: ``python -m benchmarks.serving.attacks NAME PORT ADDRESS``.

Each attack is played by :data:`CLIENTS` clients in a process of their own, as fast as the
server lets them, from one address; a client that is cut off comes again at once. It ends with
its input, or after a minute.
"""

import asyncio
import itertools
import json
import socket
import struct
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final

from websockets.exceptions import InvalidStatus, WebSocketException

from benchmarks.serving.servers import Place
from benchmarks.serving.wire import ask, session

CLIENTS: Final = 12
#: An address that no honest client comes from.
ELSEWHERE: Final = "127.0.0.2"
#: Sockets that the attack with half a request holds.
SOCKETS: Final = 800
#: Seconds.
_LONGEST: Final = 60.0
_INCIDENT: Final = "cascading_failure-v3/train/7"
_EVIL: Final = "http://evil.example"
#: Containers within one list, as many as a message holds.
EMPTY_LISTS: Final = '{"type": "step", "data": {"a": [' + "[]," * 21_000 + "[]]}}"
#: Fields that no message has, as many as a message holds.
UNKNOWN_FIELDS: Final = json.dumps({"type": "step", "data": {f"{n:04}": n for n in range(4_000)}})

Counter = Callable[[], None]
Attack = Callable[[Place, Counter], Awaitable[None]]


def broken(size: int) -> str:
    """Objects within objects, none of which ends, with a key that looks like an action."""
    return ('{"a":1,"b":' * 200 + '{"action_type":"resolve",' * size)[:size]


def _talk(text: str) -> Attack:
    async def attack(place: Place, count: Counter) -> None:
        connection = await session(place)
        while True:
            await ask(connection, "reset", {"incident": _INCIDENT})
            for _ in range(12):
                answer = await ask(connection, "step", {"text": text})
                count()
                if answer["type"] != "observation" or answer["data"]["done"]:
                    break

    return attack


class Broken(Exception):
    """An attack got what it must not get."""


def _resets(made: Callable[[int], dict[str, Any]]) -> Attack:
    numbers = itertools.count()

    async def attack(place: Place, count: Counter) -> None:
        connection = await session(place)
        while True:
            await ask(connection, "reset", made(next(numbers)))
            count()

    return attack


async def second_attempts(place: Place, count: Counter) -> None:
    """Begin sealed episodes twice, and read how they end."""
    connection = await session(place)
    for number in _SEALED:
        named = {"task": "single_crash-v3", "split": "sealed", "index": number}
        await ask(connection, "reset", named)
        ended = await ask(connection, "step", {"action_type": "resolve"})
        again = await ask(connection, "reset", named)
        if again["type"] != "error" or "criteria" in ended["data"]["observation"]["grade"]:
            raise Broken(f"{ended} {again}")
        count()


async def guessed_forks(place: Place, count: Counter) -> None:
    """Name episodes, and guess the names of those of others."""
    connection = await session(place)
    for number in itertools.count():
        await ask(connection, "reset", {"incident": _INCIDENT, "episode_id": f"run-{number}"})
        told = await ask(connection, "reset", {"fork": f"run-{number}"})
        if told["type"] != "error":
            raise Broken(str(told))
        count()


async def held_places(place: Place, count: Counter) -> None:
    """Open sessions and keep them; over HTTP, begin them without cookies.

    Always from elsewhere: an address that holds its places keeps itself out.
    """
    place = Place(place.port, source=ELSEWHERE)
    begin = _http(lambda n: ("POST", "/reset", {"seed": n}, {}))
    asking = asyncio.ensure_future(begin(place, count))
    held = []
    try:
        while True:
            held.append(await session(place))
            await ask(held[-1], "reset")
    finally:
        asking.cancel()
        for one in held:
            one.transport.abort()


def _shout(text: str) -> Attack:
    async def attack(place: Place, count: Counter) -> None:
        connection = await session(place)
        while True:
            await connection.send(text)
            if len(await connection.recv()) > 1_000:
                raise Broken("a long answer to a message that is refused")
            count()

    return attack


async def half_requests(place: Place, count: Counter) -> None:
    """Open sockets, send half a header to each, and drip."""
    loop = asyncio.get_running_loop()
    held: list[socket.socket] = []
    try:
        while True:
            one = socket.socket()
            one.setblocking(False)
            one.bind((place.source, 0))
            await loop.sock_connect(one, ("127.0.0.1", place.port))
            await loop.sock_sendall(one, b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: ")
            count()
            held.append(one)
            if len(held) >= SOCKETS // CLIENTS:
                held.pop(0).close()
            with suppress(OSError):
                await loop.sock_sendall(held[0], b"x")
    finally:
        for one in held:
            one.close()


async def _connected(place: Place) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    source = place.source, 0
    return await asyncio.open_connection("127.0.0.1", place.port, limit=1 << 16, local_addr=source)


async def come_and_go(place: Place, count: Counter) -> None:
    """Open a connection and close it."""
    while True:
        _, writer = await _connected(place)
        count()
        writer.close()


def _http(*made: Callable[[int], tuple[str, str, Any, dict[str, str]]]) -> Attack:
    numbers = itertools.count()

    async def attack(place: Place, count: Counter) -> None:
        reader, writer = await _connected(place)
        said: dict[str, Any] = {}
        for one in itertools.cycle(made):
            method, path, body, headers = one(next(numbers))
            if isinstance(body, dict) and body.get("session_id", "") is None:
                body = {**body, "session_id": said.get("session_id")}
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            head = {"Host": f"127.0.0.1:{place.port}", "Content-Length": str(len(data)), **headers}
            lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
            writer.write(f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode() + data)
            answer = await reader.readuntil(b"\r\n\r\n")
            length = answer.lower().partition(b"content-length:")[2].split(b"\r\n")[0]
            text = await reader.readexactly(int(length))
            count()
            if path.startswith("/reset"):
                said = json.loads(text)

    return attack


async def _hopeless(place: Place, count: Counter) -> None:
    """Ask for sessions that are refused."""
    while True:
        with suppress(InvalidStatus):
            await session(place)
        count()


def _frame(opcode: int, data: bytes = b"", *, last: bool = True) -> bytes:
    # Masked by zeros, which is as good a mask as any.
    size = len(data)
    length = bytes([0x80 | size]) if size < 126 else b"\xfe" + struct.pack("!H", size)
    return bytes([opcode | (0x80 if last else 0)]) + length + b"\0\0\0\0" + data


async def _opened(place: Place) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await _connected(place)
    writer.write(
        f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{place.port}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode()
    )
    answer = await reader.readuntil(b"\r\n\r\n")
    if b" 101 " not in answer:
        raise ConnectionError(answer[:40].decode("latin-1"))
    return reader, writer


def _frames(first: bytes, frame: bytes) -> Attack:
    many = frame * 1_000

    async def attack(place: Place, count: Counter) -> None:
        reader, writer = await _opened(place)

        async def drain() -> None:
            while await reader.read(1 << 16):
                pass
            writer.transport.abort()

        drainer = asyncio.create_task(drain())
        try:
            writer.write(first)
            while not writer.transport.is_closing():
                writer.write(many)
                await writer.drain()
                count()
        finally:
            drainer.cancel()
            writer.transport.abort()

    return attack


async def deaf(place: Place, count: Counter) -> None:
    """Ask for long answers and take none of them."""
    reader, writer = await _opened(place)
    message = {"type": "reset", "data": {"incident": _INCIDENT, "view": True}}
    frame = _frame(1, json.dumps(message).encode())
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    try:
        while not writer.transport.is_closing():
            writer.write(frame)
            async with asyncio.timeout(30):
                await writer.drain()
            count()
            await asyncio.sleep(0)
    finally:
        writer.transport.abort()
        del reader


_BAD: Final = (
    b'{"split": "\\ud800", "index": 1}',
    b'{"split": 1e400, "index": []}',
    b'{"task": {}, "session_id": ["x"]}',
)
_SEALED: Final = itertools.count()
_RESOLVE: Final = {"action_type": "resolve", "session_id": None}
ATTACKS: Final[dict[str, Attack]] = {
    "replies of 6 kB of broken JSON": _talk(broken(6_000)),
    "replies of 50 kB of broken JSON": _talk(broken(50_000)),
    "messages of 50 kB of broken JSON": _shout(broken(50_000)),
    "64 kB of empty lists": _shout(EMPTY_LISTS),
    "64 kB of empty lists at `/step`": _http(lambda _: ("POST", "/step", EMPTY_LISTS.encode(), {})),
    "64 kB of empty lists at `/health`": _http(
        lambda _: ("POST", "/health", EMPTY_LISTS.encode(), {})
    ),
    "44 kB of unknown fields": _shout(UNKNOWN_FIELDS),
    "resets of `compound_fleet-v3`": _resets(
        lambda n: {"task": "compound_fleet-v3", "split": "train", "index": n}
    ),
    "guessed forks": guessed_forks,
    "second attempts at sealed incidents": second_attempts,
    "places that are held": held_places,
    "half a request on each of 800 sockets": half_requests,
    "connections that come and go": come_and_go,
    "`POST /mcp` for sessions": _http(
        lambda n: (
            "POST",
            "/mcp",
            {"jsonrpc": "2.0", "id": n, "method": "openenv/session/create"},
            {},
        )
    ),
    "a page of another origin": _http(
        lambda _: ("POST", "/reset", {"seed": 1}, {"Origin": _EVIL}),
        lambda _: ("GET", "/tasks", b"", {"Host": "evil.example"}),
    ),
    "clients that stop reading": deaf,
    "pings": _frames(b"", _frame(9, b"x")),
    "empty fragments": _frames(_frame(1, b"", last=False), _frame(0, b"", last=False)),
    "finished episodes without cookies": _http(
        lambda n: ("POST", "/reset", {"seed": n}, {}),
        lambda _: ("POST", "/step", _RESOLVE, {}),
    ),
    "a new `X-Forwarded-For` with each request": _http(
        lambda n: ("GET", "/tasks", b"", {"X-Forwarded-For": f"10.0.{n >> 8 & 255}.{n & 255}"})
    ),
    "half surrogate pairs and ids that are lists": _http(
        lambda n: ("POST", "/logtriage/task", _BAD[n % 3], {}),
        lambda n: ("POST", "/reset", _BAD[n % 3], {}),
        lambda n: ("POST", "/step", _BAD[n % 3], {}),
    ),
}


#: What is tried without the token of a server that has one.
STRANGERS: Final[dict[str, Attack]] = {
    "without the token: `/health`": _http(lambda _: ("GET", "/health", b"", {})),
    "without the token: 64 kB of empty lists at `/health`": _http(
        lambda _: ("POST", "/health", EMPTY_LISTS.encode(), {})
    ),
    "without the token: 64 kB of empty lists at `/reset`": _http(
        lambda _: ("POST", "/reset", EMPTY_LISTS.encode(), {})
    ),
    "without the token: sessions": _hopeless,
}


async def run(name: str, port: int, source: str) -> float:
    """Attack until told to stop; how often a second the clients did what they do."""
    done = 0
    begin = time.monotonic()

    def count() -> None:
        nonlocal done
        done += 1

    async def client() -> None:
        while True:
            try:
                await (ATTACKS | STRANGERS)[name](Place(port, source=source), count)
            except (OSError, EOFError, TimeoutError, WebSocketException):
                await asyncio.sleep(0.01)  # cut off: it comes again

    print("begun", flush=True)
    clients = [asyncio.create_task(client()) for _ in range(CLIENTS)]
    with suppress(TimeoutError):
        await asyncio.wait_for(asyncio.to_thread(sys.stdin.read), _LONGEST)
    rate = done / (time.monotonic() - begin)
    for one in clients:
        one.cancel()
    ended = await asyncio.gather(*clients, return_exceptions=True)
    for result in ended:
        if isinstance(result, Broken):
            raise result
    return rate


if __name__ == "__main__":
    print(asyncio.run(run(sys.argv[1], int(sys.argv[2]), sys.argv[3])))
