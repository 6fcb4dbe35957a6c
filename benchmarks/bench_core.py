"""The scalar core, one call at a time. Read the ratios within a group, not the seconds."""

from pathlib import Path
from typing import Any

import attrs
import pytest
from cattrs.preconf.json import make_converter

from benchmarks.workload import GROUP, expert_steps, transcript_lines
from logtriage import grade, observe, parse_action, render_observation, reward, transition
from logtriage.codec import decode_transcript
from logtriage.drawing.generator import draw_incident, open_incident
from logtriage.drawing.ids import parse_incident_id
from logtriage.grading import grade_jsonl
from logtriage.parsing import actions_from_wire, render_action
from logtriage.parsing.marks import MAX_TEXT
from logtriage.world.default import default_world

SEVEN_SERVICES = default_world().topologies["seven-services"]

Benchmark = Any


def per_step(benchmark: Benchmark, function: Any) -> None:
    """Time ``function(state, action)`` over all expert steps; a round is all of them."""
    steps = expert_steps()
    benchmark.extra_info["calls_per_round"] = len(steps)

    def run() -> None:
        for state, action in steps:
            function(state, action)

    benchmark(run)


@pytest.mark.benchmark(group="scalar step")
def bench_transition(benchmark: Benchmark) -> None:
    per_step(benchmark, transition)


@pytest.mark.benchmark(group="scalar step")
def bench_transition_and_observe(benchmark: Benchmark) -> None:
    per_step(benchmark, lambda state, action: observe(transition(state, action)))


@pytest.mark.benchmark(group="scalar step")
def bench_reward(benchmark: Benchmark) -> None:
    per_step(benchmark, lambda state, action: reward(state, transition(state, action)))


@pytest.mark.benchmark(group="scalar step")
def bench_grade(benchmark: Benchmark) -> None:
    per_step(benchmark, lambda state, action: grade(transition(state, action)))


@pytest.mark.benchmark(group="text")
def bench_render_observation(benchmark: Benchmark) -> None:
    seen = {id(state): observe(state) for state, _ in expert_steps()}
    per_step(benchmark, lambda state, _: render_observation(seen[id(state)]))


@pytest.mark.benchmark(group="text")
def bench_parse_action(benchmark: Benchmark) -> None:
    texts = {
        id(state): f"I would say so.\n```json\n{render_action(action)}\n```"
        for state, action in expert_steps()
    }
    per_step(benchmark, lambda s, _: parse_action(texts[id(s)], s.incident.topology))


@pytest.mark.benchmark(group="generate")
def bench_draw_incident(benchmark: Benchmark) -> None:
    parsed = [parse_incident_id(f"cascading_failure-v4/test/{i}") for i in range(200)]
    benchmark.extra_info["calls_per_round"] = len(parsed)
    benchmark(lambda: [draw_incident(one.task, one) for one in parsed])


@attrs.frozen
class WireAction:
    """The wire form of an action, as a user with a codec library would declare it."""

    action_type: str
    value: str | None = None
    confidence: float | None = None
    reasoning: str | None = None


@attrs.frozen
class WireTranscript:
    incident: str
    actions: tuple[WireAction, ...]
    schema: str
    status: str
    agent: str | None = None


def typed_decode(path: Path) -> int:
    """Read every record into typed objects with cattrs, and nothing more."""
    converter = make_converter()
    with path.open("rb") as lines:
        return sum(converter.loads(line, WireTranscript) is not None for line in lines)


def own_decode(path: Path) -> int:
    """Read every record into a transcript and its actions, as grading does first."""
    count = 0
    with path.open("rb") as lines:
        for line in lines:
            actions_from_wire(decode_transcript(line).actions, SEVEN_SERVICES)
            count += 1
    return count


@pytest.fixture(scope="module", params=[GROUP, 1], ids=["groups of 8", "one per incident"])
def transcripts(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("jsonl") / "transcripts.jsonl"
    per_task = 60 if request.param == GROUP else 480
    lines = transcript_lines(per_task, request.param)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.benchmark(group="jsonl")
def bench_typed_decode(benchmark: Benchmark, transcripts: Path) -> None:
    benchmark.extra_info["calls_per_round"] = benchmark(typed_decode, transcripts)


@pytest.mark.benchmark(group="jsonl")
def bench_own_decode(benchmark: Benchmark, transcripts: Path) -> None:
    benchmark.extra_info["calls_per_round"] = benchmark(own_decode, transcripts)


@pytest.mark.benchmark(group="jsonl")
def bench_grade_jsonl(benchmark: Benchmark, transcripts: Path) -> None:
    """Every round starts with no incident at hand: drawing them is part of the cost."""

    def run() -> int:
        open_incident.cache_clear()
        return sum(1 for _ in grade_jsonl(transcripts))

    benchmark.extra_info["calls_per_round"] = benchmark(run)


#: What a hostile reply repeats: text that looks as if an object began, again and again.
HOSTILE = ("{", '{"a":1,', '{"action_type":', '{"', "[", "\\", "<think>")


@pytest.mark.benchmark(group="hostile text")
@pytest.mark.parametrize("length", [MAX_TEXT // 4, MAX_TEXT])
def bench_parse_hostile_text(benchmark: Benchmark, length: int) -> None:
    """Four times the text should take about four times as long: see the ratio of the rows."""
    texts = [piece * (length // len(piece)) for piece in HOSTILE]
    benchmark.extra_info["calls_per_round"] = len(texts)
    benchmark(lambda: [parse_action(text, SEVEN_SERVICES) for text in texts])
