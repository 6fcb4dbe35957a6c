"""Honest sessions beside each attack: how much of their rate is left."""

import asyncio
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.serving.attacks import ATTACKS, CLIENTS, STRANGERS
from benchmarks.serving.plans import Plan
from benchmarks.serving.servers import Server, ours
from benchmarks.serving.wire import load

#: Sessions that play on, all grades checked.
HONEST = 32
#: Seconds that an attack has before its effect is measured.
_WARM_UP = 2.0


def _health(server: Server) -> float:
    begin = time.perf_counter()
    with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/health", timeout=30) as answer:
        answer.read()
    return time.perf_counter() - begin


async def _measured(server: Server, listed: tuple[Plan, ...], seconds: float) -> dict[str, float]:
    """The honest rate over so many seconds, and the slowest health check meanwhile."""
    slowest = 0.0
    end = time.monotonic() + seconds

    async def probe() -> None:
        nonlocal slowest
        while time.monotonic() < end:
            slowest = max(slowest, await asyncio.to_thread(_health, server))
            await asyncio.sleep(0.2)

    found, _ = await asyncio.gather(load(server, listed, HONEST, seconds), probe())
    return {
        "rate": found["messages_per_second"],
        "cpu": found["server_cpu_microseconds"],
        "health": slowest,
    }


def besieged(
    listed: tuple[Plan, ...], seconds: float, source: str, wanted: str = ""
) -> dict[str, dict[str, Any]]:
    """One attack after the other on one server: the rate before each, and during it.

    The attackers come from the address ``source``, the honest ones from 127.0.0.1. Only the
    attacks are tried whose names hold ``wanted``.
    """
    rows = {}
    with TemporaryDirectory(prefix="siege-") as directory:
        open_to_all = {"forks": True, "seal": "0" * 32, "ledger": Path(directory) / "ledger"}
        for attacks, settings in ((ATTACKS, open_to_all), (STRANGERS, {"token": "0" * 32})):
            names = [name for name in attacks if wanted in name]
            if not names:
                continue
            with ours(max_sessions=8 * HONEST, **settings) as server:
                asyncio.run(load(server, listed, HONEST, seconds))
                for name in names:
                    rows[name] = _attacked(server, listed, name, seconds, source)
                    print(name, rows[name], file=sys.stderr)
    return rows


def _attacked(
    server: Server, listed: tuple[Plan, ...], name: str, seconds: float, source: str
) -> dict[str, Any]:
    written = server.log_bytes()
    before = asyncio.run(_measured(server, listed, seconds))
    command = [sys.executable, "-m", "benchmarks.serving.attacks"]
    attackers = subprocess.Popen(
        [*command, name, str(server.port), source],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert attackers.stdout is not None
    attackers.stdout.readline()  # it has begun
    time.sleep(_WARM_UP)
    during = asyncio.run(_measured(server, listed, seconds))
    lasted = attackers.poll() is None
    done = attackers.communicate(timeout=60)[0]
    if not lasted or attackers.returncode:
        raise RuntimeError(f"{name}: the attack did not last, or failed")
    return {
        "before": before["rate"],
        "during": during["rate"],
        "share": before["cpu"] / during["cpu"],
        "health": during["health"],
        "done": float(done),
        "log": server.log_bytes() - written,
    }


def siege_table(rows: dict[str, dict[str, Any]]) -> str:
    """What is left of the honest rate, attack by attack."""
    lines = [
        f"{HONEST} honest sessions, first alone and then beside {CLIENTS} clients of the attack, "
        "which are a\nprocess of their own on the same cores. All grades of the honest ones were "
        "right. The share is that of the server's CPU time which goes to them: with cores of "
        "its own for\neach process, it is what is left of their rate. The load average was "
        f"{os.getloadavg()[0]:.1f} at the end, on {os.cpu_count()} cores.\n",
        "| attack | its clients' tries/s | honest messages/s, alone | attacked | ratio | share "
        "| slowest `/health` | log |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {name} | {row['done']:,.0f} | {row['before']:,.0f} | {row['during']:,.0f} "
        f"| {row['during'] / row['before']:.2f} | {row['share']:.2f} "
        f"| {1000 * row['health']:,.0f} ms | {row['log']:,} bytes |"
        for name, row in rows.items()
    ]
    return "\n".join(lines)
