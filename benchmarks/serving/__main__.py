"""Run it: ``python -m benchmarks.serving [--seconds S] [--soak MINUTES] [--write FILE]``."""

import argparse
import asyncio
import json
import os
import platform
import statistics
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.serving import faults
from benchmarks.serving.attacks import ATTACKS, attacked
from benchmarks.serving.plans import Plan, plans
from benchmarks.serving.servers import Server, echo, ours
from benchmarks.serving.wire import load, play, session

SESSIONS = 64
HEAD = """\
# The server under load and faults

Written by `python -m benchmarks.serving --write FILE`. Compare figures
within a table: they were taken side by side. Another machine gives other seconds and much
the same ratios.

Machine: {cpu}, {cores} cores, {system}, Python {python}. The load average was {load} at the
end; the clients share the cores with the servers.
"""
#: Said below the rates if there was more to run than cores for the servers and the clients.
CROWDED = """

Other work kept the cores busy, so these rates say more of it than of the servers: rounds differ
widely. Server CPU a message is what the kernel charged to the server's process, which other work
can only raise.
"""


def rates(listed: dict[str, tuple[Plan, ...]], rounds: int, seconds: float) -> dict[str, Any]:
    """Ours and the library's echo environment by turns, each in a process of its own."""
    rows: dict[str, list[dict[str, float]]] = {}
    with echo(2 * SESSIONS) as other, ours(max_sessions=2 * SESSIONS) as own:
        for _ in range(rounds):
            some = next(iter(listed.values()))
            found = asyncio.run(load(other, some, SESSIONS, seconds, echo=True))
            rows.setdefault("echo environment", []).append(found)
            for name, some in listed.items():
                rows.setdefault(name, []).append(asyncio.run(load(own, some, SESSIONS, seconds)))
    return rows


def rate_table(rows: dict[str, list[dict[str, float]]]) -> str:
    """Medians, and the median of the ratios of each round."""
    base = rows["echo environment"]
    lines = [
        "| server | messages/s | ratio to echo's | server CPU a message | echo's CPU / its |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for name, found in rows.items():
        rate = statistics.median(one["messages_per_second"] for one in found)
        cpu = statistics.median(one["server_cpu_microseconds"] for one in found)
        pairs = list(zip(found, base, strict=True))
        ratios = [a["messages_per_second"] / b["messages_per_second"] for a, b in pairs]
        cpus = [b["server_cpu_microseconds"] / a["server_cpu_microseconds"] for a, b in pairs]
        spread = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        lines.append(
            f"| {name} | {rate:,.0f} | {spread} | {cpu:.0f} µs | {statistics.median(cpus):.2f} |"
        )
    return "\n".join(lines)


#: Sessions that play on while others attack.
HONEST = 32


async def under_attack(name: str, rounds: int, seconds: float) -> list[tuple[float, float]]:
    """What honest sessions keep in each round: parts of their rate, and of the server's processor.

    Where others keep the cores busy, attackers take the clients' processor, too: then the second
    says more of the server.
    """
    kept = []
    with ours(max_sessions=256) as server:
        for _ in range(rounds):
            alone = await load(server, plans(75), HONEST, seconds)
            with attacked(name, server.port, 10 * seconds):
                await asyncio.sleep(1)
                beside = await load(server, plans(75), HONEST, seconds)
            rate = beside["messages_per_second"] / alone["messages_per_second"]
            work = alone["server_cpu_microseconds"] / beside["server_cpu_microseconds"]
            kept.append((rate, work))
            await asyncio.sleep(1)
    return kept


def attack_table(rounds: int, seconds: float) -> str:
    """What honest sessions keep under each attack."""
    lines = ["| attack | rate kept | of the server's processor |", "| --- | ---: | ---: |"]
    for name, attack in ATTACKS.items():
        kept = asyncio.run(under_attack(name, rounds, seconds))
        spreads = (
            f"{statistics.median(parts):.2f} ({min(parts):.2f} to {max(parts):.2f})"
            for parts in zip(*kept, strict=True)
        )
        lines.append(f"| {(attack.__doc__ or name).rstrip('.')} | {' | '.join(spreads)} |")
    return (
        f"{HONEST} sessions play beside the attacker. The processor's time for a message of theirs "
        "is compared with that before the attack.\n\n" + "\n".join(lines)
    )


#: Seconds that a client of the soak run thinks between two episodes.
PAUSE = 0.5


async def soak(server: Server, listed: tuple[Plan, ...], minutes: float) -> dict[str, Any]:
    """Clients come, play, some vanish, for so long; memory is looked at all the while."""
    end = time.monotonic() + 60 * minutes
    episodes = vanished = 0

    async def client(number: int) -> None:
        nonlocal episodes, vanished
        at = number
        while time.monotonic() < end:
            connection = await session(server)
            for _ in range(1 + at % 5):
                await play(connection, listed[at % len(listed)])
                episodes, at = episodes + 1, at + 7
                await asyncio.sleep(PAUSE)
            if at % 4 == 0:
                with suppress(Exception):
                    await connection.send('{"type": "reset"}')
                connection.transport.abort()
                vanished += 1
            else:
                await connection.close()

    samples: list[tuple[float, int, int, int]] = []

    async def watch() -> None:
        begin = time.monotonic()
        while time.monotonic() < end:
            await asyncio.sleep(min(10.0, 6 * minutes))
            now = (time.monotonic() - begin) / 60
            samples.append((now, server.memory(), server.threads(), server.files()))

    await asyncio.gather(watch(), *(client(number) for number in range(SESSIONS // 2)))
    return {"episodes": episodes, "vanished": vanished, "samples": samples, "minutes": minutes}


def soak_table(found: dict[str, Any]) -> str:
    """Memory, threads and open files at a few moments."""
    samples = found["samples"]
    picked = [samples[len(samples) * part // 6] for part in range(6)] + [samples[-1]]
    lines = ["| minute | resident memory | threads | open files |", "| ---: | ---: | ---: | ---: |"]
    lines += [f"| {m:.1f} | {b / 2**20:.1f} MiB | {t} | {f} |" for m, b, t, f in picked]
    half = [bytes_ / 2**20 for _, bytes_, _, _ in samples[len(samples) // 2 :]]
    quarter = max(1, len(half) // 2)
    change = statistics.mean(half[-quarter:]) - statistics.mean(half[:quarter])
    return (
        f"{found['minutes']:g} minutes, {SESSIONS // 2} clients, {found['episodes']:,} episodes, "
        f"{found['vanished']:,} clients that broke off mid-episode.\n\n" + "\n".join(lines) + "\n\n"
        f"Mean of the last quarter of the time against the one before: {change:+.2f} MiB."
    )


def machine() -> dict[str, Any]:
    """What the figures were taken on."""
    cpu = platform.machine()
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                cpu = line.partition(":")[2].strip()
                break
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "load": f"{os.getloadavg()[0]:.1f}",
    }


def table(rows: list[faults.Row]) -> str:
    """Two columns."""
    return "\n".join(["| what happens | what comes of it |", "| --- | --- |"]) + "".join(
        f"\n| {name} | {text} |" for name, text in rows
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.serving")
    parser.add_argument("--seconds", type=float, default=4.0, help="of each round of load")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--soak", type=float, default=10.0, help="minutes; 0 for none")
    parser.add_argument("--write", type=Path, help="results as Markdown")
    parser.add_argument("--json", type=Path, help="soak results, kept for a later --write")
    given = parser.parse_args()
    groups, different = plans(75), plans(600, 1)
    soaked: dict[str, Any] | None = None
    if given.soak:
        with ours(max_sessions=SESSIONS) as server:
            soaked = asyncio.run(soak(server, plans(6_000, 1), given.soak))
        if given.json:
            given.json.write_text(json.dumps(soaked))
    elif given.json and given.json.exists():
        soaked = json.loads(given.json.read_text())
    parts = []
    if given.rounds:
        listed = {"logtriage, groups of 8": groups, "logtriage, all different": different}
        measured = "## Rate\n\n" + rate_table(rates(listed, given.rounds, given.seconds))
        crowded = os.getloadavg()[0] > (os.cpu_count() or 1) + 1
        parts.append(measured + (CROWDED.rstrip() if crowded else ""))
        parts.append("## Attacks\n\n" + attack_table(given.rounds, given.seconds))
    with ours(max_sessions=SESSIONS) as server:
        rows = asyncio.run(faults.nonsense(server, different))
        rows += asyncio.run(faults.frame_too_large(server))
    parts.append("## Nonsense\n\n" + table(rows))
    gone = asyncio.run(faults.vanishing(16, different[0]))
    parts.append("## Clients that vanish\n\n" + table(gone))
    if soaked:
        parts.append("## Soak\n\n" + soak_table(soaked))
    text = "\n\n".join([HEAD.format(**machine()).rstrip(), *parts]) + "\n"
    print(text)
    if given.write:
        given.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
