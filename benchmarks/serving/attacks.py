"""Attacks on a server on loopback: ``python -m benchmarks.serving.attacks NAME PORT SECONDS``.

Each runs in a process of its own, beside honest sessions whose rate is measured.
"""

import itertools
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

_SHAKE = (
    b"GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
_LIST = json.dumps({"type": "step", "data": {"value": [1] * 20_000}}).encode()
#: Bytes that an attack keeps ready for one connection.
_SENT = 1 << 18


def frame(payload: bytes, opcode: int = 1, *, last: bool = True) -> bytes:
    """A masked WebSocket frame; the mask is 0."""
    size = len(payload)
    length = bytes([0x80 | size]) if size < 126 else b"\xfe" + size.to_bytes(2, "big")
    return bytes([opcode | (0x80 if last else 0)]) + length + bytes(4) + payload


def _connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=5)


def _session(port: int) -> socket.socket:
    connection = _connected(port)
    connection.sendall(_SHAKE)
    connection.recv(4096)
    return connection


#: Incidents that no earlier attack asked for.
_NEW: Final = itertools.count(os.getpid() * 1_000 % 1_000_000)


def _resets(task: str) -> Iterator[bytes]:
    for index in _NEW:
        data = {"task": task, "split": "train", "index": index}
        yield frame(json.dumps({"type": "reset", "data": data}).encode())


def _flood(
    port: int, end: float, count: int, open_one: Callable[[int], socket.socket], sent: bytes
) -> None:
    """``count`` connections that send the same bytes again and again, and read all answers."""
    held: list[tuple[socket.socket, memoryview]] = []
    while time.monotonic() < end:
        while len(held) < count:
            with suppress(OSError):
                connection = open_one(port)
                connection.setblocking(False)
                held.append((connection, memoryview(sent)))
        kept = []
        for connection, left in held:
            try:
                with suppress(BlockingIOError):
                    left = left[connection.send(left) :] or memoryview(sent)
                with suppress(BlockingIOError):
                    if not connection.recv(1 << 20):
                        raise ConnectionError
                kept.append((connection, left))
            except OSError:
                connection.close()
        held = kept
        time.sleep(0.001)


def _asking(port: int, end: float, count: int, make: Callable[[], Iterator[bytes]]) -> None:
    """``count`` sessions that send their next message once the last was answered."""

    def begun() -> tuple[socket.socket, Iterator[bytes]]:
        connection, messages = _session(port), make()
        connection.sendall(next(messages))
        connection.setblocking(False)
        return connection, messages

    held = [begun() for _ in range(count)]
    while time.monotonic() < end:
        for at, (connection, messages) in enumerate(held):
            try:
                if not connection.recv(1 << 20):
                    raise ConnectionError
                connection.sendall(next(messages))
            except BlockingIOError:
                pass
            except OSError:
                held[at] = begun()
        time.sleep(0.0005)


def leaving(port: int, end: float) -> None:
    """40 clients send 300 resets of fleets at once, and leave."""
    sent = b"".join(itertools.islice(_resets("fleet_outage-v4"), 300))
    while time.monotonic() < end:
        for _ in range(40):
            with suppress(OSError):
                connection = _session(port)
                connection.sendall(sent)
                connection.close()
        time.sleep(0.5)


def silent(port: int, end: float) -> None:
    """1,100 connections send nothing."""
    held = []
    while time.monotonic() < end:
        if len(held) < 1_100:
            with suppress(OSError):
                held.append(_connected(port))
        else:
            time.sleep(0.1)
    for connection in held:
        connection.close()


def pings(port: int, end: float) -> None:
    """4 sessions send nothing but pings."""
    one = frame(b"", 9)
    _flood(port, end, 4, _session, one * (_SENT // len(one)))


def fragments(port: int, end: float) -> None:
    """4 sessions send messages in fragments of a byte."""
    rest = frame(b"x", 0, last=False)
    _flood(port, end, 4, _session, frame(b"x", 1, last=False) + rest * (_SENT // len(rest)))


def values(port: int, end: float) -> None:
    """1 session sends lists of 20,000 values."""
    _asking(port, end, 1, lambda: itertools.repeat(frame(_LIST)))


def schema(port: int, end: float) -> None:
    """8 connections ask for ``/schema``, many requests at once."""
    _flood(port, end, 8, _connected, b"GET /schema HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 16)


def drawn(port: int, end: float) -> None:
    """8 sessions reset drawn worlds."""
    _asking(port, end, 8, lambda: _resets("unseen_world-v4"))


def resets(port: int, end: float) -> None:
    """40 sessions reset fleets, many messages at once."""
    sent = b"".join(itertools.islice(_resets("fleet_outage-v4"), 1_000))
    _flood(port, end, 40, _session, sent)


def alternating(port: int, end: float) -> None:
    """8 sessions reset a fleet before each step."""
    step = frame(b'{"type": "step", "data": {"action_type": "wait"}}')

    def messages() -> Iterator[bytes]:
        for reset in _resets("fleet_outage-v4"):
            yield from (reset, step)

    _asking(port, end, 8, messages)


def reborn(port: int, end: float) -> None:
    """Clients play a step, reset a drawn world and leave, 16 at a time."""
    reset = frame(b'{"type": "reset", "data": {"incident": "single_crash-v4/train/0"}}')
    step = frame(b'{"type": "step", "data": {"action_type": "wait"}}')
    drawn = _resets("unseen_world-v4")
    held: list[tuple[socket.socket, float]] = []
    while time.monotonic() < end:
        with suppress(OSError):
            connection = _session(port)
            connection.sendall(reset + step + next(drawn))
            held.append((connection, time.monotonic()))
        if len(held) >= 16:
            with suppress(OSError):
                held[0][0].settimeout(0.5)
                for _ in range(3):
                    held[0][0].recv(1 << 20)
            held.pop(0)[0].close()


def chunks(port: int, end: float) -> None:
    """32 connections send a request whose body comes in chunks of a byte."""
    head = b"POST /reset HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    _flood(port, end, 32, _connected, head + b"1\r\nx\r\n" * 10_000)


def connects(port: int, end: float) -> None:
    """Connections are made and cut as fast as a process can."""
    while time.monotonic() < end:
        with suppress(OSError):
            _connected(port).close()


def handshakes(port: int, end: float) -> None:
    """Sessions are begun and cut as fast as a process can."""
    while time.monotonic() < end:
        with suppress(OSError):
            _session(port).close()


ATTACKS: dict[str, Callable[[int, float], None]] = {
    attack.__name__: attack
    for attack in (
        leaving, silent, pings, fragments, values, schema, drawn, resets, alternating,
        reborn, chunks, connects, handshakes,
    )
}  # fmt: skip


@contextmanager
def attacked(name: str, port: int, seconds: float) -> Iterator[None]:
    """An attack in a process of its own, for at most so many seconds."""
    process = subprocess.Popen([sys.executable, "-m", __name__, name, str(port), str(seconds)])
    try:
        yield
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    ATTACKS[sys.argv[1]](int(sys.argv[2]), time.monotonic() + float(sys.argv[3]))
