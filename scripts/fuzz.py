"""Feed hostile input to every parser and loader: only our own errors, in bounded time.

    python scripts/fuzz.py                          # 10 million inputs, the results as Markdown
    python scripts/fuzz.py --inputs 100000          # fewer
    python scripts/fuzz.py --engine atheris --inputs 100000 --target transcript
    python scripts/fuzz.py --hostile                # large and deep inputs; time and memory

The engine of our own breaks up and splices a corpus of valid inputs; it is blind, but
makes tens of thousands of inputs a second. Atheris (its own environment: `make fuzz`)
follows coverage. An input counts as survived if the parser returns or raises one of the
errors that its documentation names; anything else, or an input that takes longer than
`--limit` seconds, is printed and makes the exit status 1. Those are seconds of this process
(no parser waits for anything), so that a busy machine is no failure.
"""

import argparse
import gzip
import io
import json
import resource
import signal
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from tempfile import mkdtemp
from time import process_time
from typing import Any, Final

import attrs
import numpy as np

import logtriage as lt
from logtriage.codec import (
    decode_transcript,
    encode_transcript,
    topology_from_json,
    topology_to_json,
)
from logtriage.conversations.tools import call_from_action
from logtriage.drawing.ids import parse_incident_id
from logtriage.dynamics import play
from logtriage.errors import BundleError, InvalidInput, TopologyError, TranscriptError
from logtriage.grading import grade_jsonl, grade_transcript
from logtriage.parsing import (
    TEAM_KINDS,
    action_from_wire,
    parse_action,
    parse_plan,
    render_action,
)
from logtriage.parsing.replies import spoken
from logtriage.policies import perfect_actions
from logtriage.recorded import bundle
from logtriage.recorded.bundle import encode_record
from logtriage.registry import constant_actions, make_policy

Parse = Callable[[bytes], object]
INCIDENT: Final = lt.make_incident("cascading_failure-v3/test/42")
TOPOLOGY: Final = INCIDENT.topology
#: Pieces that break parsers: of JSON, of Unicode, of numbers.
PIECES: Final = (
    b"{", b"}", b"[", b"]", b'"', b"\\", b"\\u", b"\\ud800", b":", b",", b"null", b"true",
    b"NaN", b"Infinity", b"-", b"0", b"1e999", b"9" * 40, b"-0", b"\x00", b"\xff",
    b"\xed\xa0\x80", b"\n", b"\r", b"\x1f\x8b\x08\x00", b"\xef\xbb\xbf", "²".encode(),
    "é".encode(), b"/", b"//", b"@", b" ", b"action_type", b"value", b"confidence", b"ticks",
    b"schema", b"actions", b"{}", b"[]", b'""', b"<think>", b"</think>", b"[THINK]", b"[/THINK]",
    b"<tool_call>", b"</tool_call>", b"<function=", b"<parameter=",
)  # fmt: skip


# -- targets ------------------------------------------------------------------------------


def _action(data: bytes) -> object:
    action = parse_action(data.decode("utf-8", "surrogateescape"), TOPOLOGY)
    assert isinstance(action, lt.Action)
    return action


def _reply(data: bytes) -> object:
    """A reply with thoughts and calls, as one action and as a plan."""
    text = data.decode("utf-8", "surrogateescape")
    action, plan = parse_action(text, TOPOLOGY), parse_plan(text, TOPOLOGY)
    assert plan
    thought = f"<think>{text.replace('</think>', '')}</think>"
    behind = parse_action(thought + text, TOPOLOGY)
    if spoken(text)[1] is None:
        assert behind == action, "a thought made a difference"
    return plan


def _wire(data: bytes) -> object:
    try:
        wire = json.loads(data)
    except (ValueError, RecursionError):
        wire = {"action_type": data.decode("latin-1"), "value": data[:20].decode("latin-1")}
    if not isinstance(wire, dict):
        wire = {"action_type": "remediate", "value": wire}
    action = action_from_wire(wire, TOPOLOGY, TEAM_KINDS)
    assert isinstance(action, lt.Action)
    return action


def _incident(incident_id: str) -> lt.Incident:
    """An incident of whatever id."""
    return attrs.evolve(INCIDENT, id=incident_id)


def _transcript(data: bytes) -> object:
    try:
        transcript = decode_transcript(data)
    except TranscriptError:
        return None
    with suppress(InvalidInput):  # as documented: the incident is of another world
        return grade_transcript(transcript, resolve=_incident)
    return None


def _jsonl(data: bytes) -> object:
    said: list[TranscriptError] = []
    return list(grade_jsonl(io.BytesIO(data), resolve=_incident, on_error=said.append))


def _topology(data: bytes) -> object:
    try:
        return topology_from_json(data)
    except TopologyError:
        return None


def _bundle(data: bytes) -> object:
    try:
        records = bundle.read_records(io.BytesIO(data), name="fuzz")
        return [bundle.as_incident(record) for record in records]
    except BundleError:
        return None


def _names(data: bytes) -> object:
    text = data.decode("utf-8", "surrogateescape")
    for parse in (parse_incident_id, make_policy, lambda one: constant_actions(one, TOPOLOGY)):
        with suppress(InvalidInput):
            parse(text)
    return None


def _corpus() -> dict[str, tuple[Parse, list[bytes], int]]:
    """Each target with valid inputs to start from and its share of all inputs, per cent."""
    ids = [f"{task.id}/test/{number}" for task in lt.TASKS for number in (0, 7)]
    incidents = [lt.make_incident(one) for one in ids]
    actions = [render_action(one).encode() for one in lt.all_actions(TOPOLOGY)]
    prose = [b"I think so. ```json\n" + one + b"\n``` done" for one in actions[::9]]
    named = (call_from_action(one) for one in lt.all_actions(TOPOLOGY)[::3])
    calls = [
        f"<tool_call>{json.dumps({'name': name, 'arguments': given})}</tool_call>".encode()
        for name, given in named
    ]
    coder = (
        b"<tool_call>\n<function=identify_root_cause>\n<parameter=service>\nuser-db\n</parameter>\n"
        b"<parameter=confidence>\n0.5\n</parameter>\n</function>\n</tool_call>"
    )
    thoughts = [
        b"<think>Maybe " + one + b"? No.</think>" + other
        for one, other in zip(actions[::5], [*calls, *actions[1::5]], strict=False)
    ]
    lines = [
        encode_transcript(lt.transcript_of(play(one, perfect_actions(one))[0])).encode()
        for one in incidents
    ]
    joint = (
        b'{"schema": "logtriage.transcript/1", "incident": "x", "actions": [{"action_type": '
        b'"report", "value": "db?", "by": "t"}, {"action_type": "wait"}], "ticks": [0, 1]}'
    )
    graphs = [
        json.dumps(topology_to_json(one)).encode()
        for one in (TOPOLOGY, *(lt.random_topology(seed, 6) for seed in range(4)))
    ]
    names = [one.encode() for one in (*ids, "random:7", "constant:classify_severity=P1,resolve")]
    return {
        "action": (_action, [*actions, *prose], 25),
        "reply": (_reply, [*calls, coder, *thoughts, b"[" + b", ".join(actions[:3]) + b"]"], 15),
        "wire": (_wire, actions, 20),
        "transcript": (_transcript, [*lines, joint], 14),
        "jsonl": (_jsonl, [b"\n".join(lines[:3]), joint], 5),
        "topology": (_topology, graphs, 9),
        "bundle": (_bundle, _bundles(), 2),
        "names": (_names, names, 10),
    }


def _bundles() -> list[bytes]:
    """The smallest shipped record, without most of its rows, plain and compressed."""
    records = bundle.load_records(next(iter(_shipped())))
    data = json.loads(encode_record(records[0]))
    cut = json.dumps(_shortened(data)).encode()
    return [cut, gzip.compress(cut, mtime=0)]


def _shipped() -> Iterator[Any]:
    for one in sorted(files("logtriage").joinpath("data", "recorded").iterdir(), key=str):
        if ".jsonl" in one.name:
            yield Path(str(one))


def _shortened(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shortened(one) for key, one in value.items()}
    return [_shortened(one) for one in value[:3]] if isinstance(value, list) else value


# -- inputs -------------------------------------------------------------------------------


def inputs(corpus: list[bytes], count: int, seed: int) -> Iterator[bytes]:
    """Mutated inputs: one to four changes to one of the corpus, in place."""
    draws = np.random.default_rng(seed)
    made = 0
    while made < count:
        size = min(20_000, count - made)
        numbers = draws.integers(0, 1 << 31, size=(size, 16)).tolist()
        for row in numbers:
            yield _mutated(corpus, row)
        made += size


def _mutated(corpus: list[bytes], row: list[int]) -> bytes:
    data = corpus[row[0] % len(corpus)]
    for step in range(1 + row[1] % 4):
        kind, a, b = row[2 + 3 * step : 5 + 3 * step]
        at = a % (len(data) + 1)
        match kind % 7:
            case 0:  # one byte
                data = data[:at] + bytes((b & 255,)) + data[at + 1 :]
            case 1:  # a telling piece
                data = data[:at] + PIECES[b % len(PIECES)] + data[at:]
            case 2:  # something cut out
                data = data[:at] + data[at + 1 + b % 24 :]
            case 3:  # cut short
                data = data[:at]
            case 4:  # a part twice
                data = data[:at] + data[max(0, at - b % 40) :]
            case 5:  # the end of another one
                other = corpus[b % len(corpus)]
                data = data[:at] + other[b % (len(other) + 1) :]
            case _:  # a piece in place of as many bytes
                piece = PIECES[b % len(PIECES)]
                data = data[:at] + piece + data[at + len(piece) :]
    return data


def hostile() -> dict[str, bytes]:
    """Inputs whose size or depth is the attack."""
    action = b'{"action_type": "resolve"}'
    return {
        "deep lists": b"[" * 200_000,
        "deep objects": b'{"a":' * 100_000,
        "deep and closed": b"[" * 50_000 + b"]" * 50_000,
        "a million braces": b"{" * 1_000_000,
        "a number of a million digits": b'{"action_type": ' + b"9" * 1_000_000 + b"}",
        "a string of ten million": b'{"action_type": "' + b"x" * 10_000_000 + b'"}',
        "a hundred thousand actions": b'{"incident": "x", "actions": ['
        + b", ".join([action] * 100_000)
        + b"]}",
        "a hundred thousand keys": b"{"
        + b",".join(b'"k%d": 1' % number for number in range(100_000))
        + b"}",
        "a million escapes": b'{"action_type": "' + b"\\u0041" * 1_000_000 + b'"}',
        "many services": json.dumps(
            {
                "name": "x",
                "teams": ["a"],
                "services": [
                    {"name": f"s{n}", "tier": "edge", "owner": "a"} for n in range(20_000)
                ],
                "paged": {"capacity": "a", "security": "a"},
                "tiers": [{"name": "edge", "entry": True}],
                "remedies": ["restart"],
            }
        ).encode(),
        "half a million thoughts": b"<think></think>" * 500_000,
        "half a million open thoughts": b"<think>" * 500_000,
        "half a million calls": b"<tool_call>{}</tool_call>" * 500_000,
        "half a million open calls": b"<tool_call>" * 500_000,
        "not text": bytes(range(256)) * 4_000,
    }


# -- runs ---------------------------------------------------------------------------------


class Hang(Exception):
    """An input took longer than the limit."""


def _alarm(*_: object) -> None:
    raise Hang


def one(parse: Parse, data: bytes) -> str | None:
    """What went wrong with an input; None if nothing did."""
    try:
        parse(data)
    except Hang:
        return "took too long"
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:300]
    return None


def run(name: str, parse: Parse, corpus: list[bytes], count: int, seed: int, limit: float) -> int:
    """Fuzz one target, print a row of the table, and return how many inputs failed."""
    failures, slowest, begun = 0, 0.0, process_time()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    signal.signal(signal.SIGPROF, _alarm)
    for data in inputs(corpus, count, seed):
        signal.setitimer(signal.ITIMER_PROF, limit)
        start = process_time()
        wrong = one(parse, data)
        slowest = max(slowest, process_time() - start)
        if wrong is not None:
            failures += 1
            if failures <= 5:
                print(f"{name}: {wrong}\n    {data[:2000]!r}", file=sys.stderr)
    signal.setitimer(signal.ITIMER_PROF, 0)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    took = process_time() - begun
    print(
        f"| {name} | {count:,} | {failures} | {1000 * slowest:.0f} ms | "
        f"{count / took:,.0f} | {grown / 1024:.0f} MiB |",
        flush=True,
    )
    return failures


def run_hostile(targets: dict[str, tuple[Parse, list[bytes], int]], limit: float) -> int:
    """Every hostile input into every target: seconds, and peak memory beyond the input's."""
    failures = 0
    print("| input | size | slowest | most memory | failures |\n| --- | --- | --- | --- | --- |")
    signal.signal(signal.SIGPROF, _alarm)
    for name, data in hostile().items():
        slowest, most, bad = (0.0, ""), (0, ""), 0
        for target, (parse, _, _) in targets.items():
            tracemalloc.start()
            signal.setitimer(signal.ITIMER_PROF, 10 * limit)
            start = process_time()
            wrong = one(parse, data)
            slowest = max(slowest, (process_time() - start, target))
            signal.setitimer(signal.ITIMER_PROF, 0)
            most = max(most, (tracemalloc.get_traced_memory()[1], target))
            tracemalloc.stop()
            if wrong is not None:
                bad += 1
                print(f"{target}, {name}: {wrong}", file=sys.stderr)
        failures += bad
        print(
            f"| {name} | {len(data) / 1e6:.1f} MB | {slowest[0]:.2f} s ({slowest[1]}) | "
            f"{most[0] / 1e6:.0f} MB ({most[1]}) | {bad} |",
            flush=True,
        )
    return failures


def run_atheris(parse: Parse, corpus: list[bytes], count: int) -> None:
    """Hand over to Atheris, which exits by itself; a crash is its own report."""
    import atheris  # in an environment of its own: make fuzz

    folder = Path(mkdtemp(prefix="logtriage-fuzz-"))
    for number, data in enumerate(corpus):
        (folder / str(number)).write_bytes(data)
    atheris.instrument_all()
    atheris.Setup(
        [sys.argv[0], f"-runs={count}", "-timeout=5", "-rss_limit_mb=2048", str(folder)], parse
    )
    atheris.Fuzz()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--inputs", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=2.0, help="seconds of CPU for one input")
    parser.add_argument("--engine", choices=("own", "atheris"), default="own")
    parser.add_argument("--target", action="append")
    parser.add_argument("--hostile", action="store_true")
    given = parser.parse_args()
    targets = _corpus()
    if given.target:
        targets = {name: targets[name] for name in given.target}
    if given.hostile:
        return int(run_hostile(targets, given.limit) > 0)
    if given.engine == "atheris":
        for parse, corpus, _ in targets.values():
            run_atheris(parse, corpus, given.inputs)  # the first one exits
    whole = sum(share for _, _, share in targets.values())
    print("| target | inputs | failures | slowest input | inputs/s | memory grown |")
    print("| --- | --- | --- | --- | --- | --- |", flush=True)
    failures = 0
    for number, (name, (parse, corpus, share)) in enumerate(targets.items()):
        count = given.inputs * share // whole
        failures += run(name, parse, corpus, count, given.seed + number, given.limit)
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
