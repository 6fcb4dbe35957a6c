"""The rules of worlds whose signs stay: every sentence follows the tables."""

from collections.abc import Callable
from typing import get_args

import pytest

import logtriage as lt
from logtriage import render_observation as rendered
from logtriage.drawing.incidents import WORTHS_OF_HAND_OVER
from logtriage.grading import TRIAGE_3, paging
from logtriage.rendering import Reply
from logtriage.rendering.chances import COMMON, LEAST
from logtriage.tasks import BENCHMARK_FOG, DEFAULT_TASKS, TaskSpec, get_task
from logtriage.world.loading import load_world
from logtriage.world.model import LOADED, WAITING, World
from logtriage.world.schema.parts import Signature
from tests.builders import prompt_of
from tests.rendering.reader_rules import Rules, sort_of

WORLDS = ("oncall", "tiny")
TASKS = tuple(map(get_task, DEFAULT_TASKS))
#: At fog 0 lines name their cause; the other levels differ from the benchmark in figures alone.
every_task = pytest.mark.parametrize(
    "task", [task for task in TASKS if task.fog in (0, BENCHMARK_FOG)], ids=lambda task: task.id
)
#: Characters of the rules: the prompt without its opening, services and how to answer.
LIMIT, SEVERAL_MORE = 6_100, 150
NOT_RULES = ("You are", "SERVICES", "ANSWER", "You see", "ACTIONS", "Also, graded")


def rules_of(prompt: str) -> str:
    return "\n".join(one for one in prompt.splitlines() if not one.startswith(NOT_RULES))


@every_task
def test_the_rules_are_short(task: TaskSpec) -> None:
    for reply in get_args(Reply):
        rules = rules_of(prompt_of(task, reply))
        assert len(rules) <= LIMIT + (SEVERAL_MORE if task.several else 0)


def test_the_grade_is_that_of_the_rubric() -> None:
    grade, hand_over = (
        next(one for one in prompt_of(TASKS[0]).splitlines() if one.startswith(word))
        for word in ("GRADE", "hand_over")
    )
    weights = {row.name: f"{row.weight:.2f}" for row in (*TRIAGE_3.criteria, *TRIAGE_3.benign)}
    for name, word in (
        ("root_cause", "root cause"), ("escalation", "right page"), ("remediation", "remedy"),
        ("dismissal", "ignore"),
    ):  # fmt: skip
        assert f"{word} {weights[name]}" in grade
    assert f"Before a right page: all x {paging.UNAPPROVED_FIX:g} a fix" in grade
    assert f"x {paging.UNAPPROVED_REMEDY:g} a wrong remedy (benign too)" in grade
    assert f"Nobody paged for a fault: x {paging.UNESCALATED:g}" in grade
    assert "Mis-page or ignored fault: 0, the end" in grade
    assert ", ".join(f"{one:g}" for one in WORTHS_OF_HAND_OVER) in hand_over
    prompt = paging.HAND_OVER_PROMPT
    assert f"c x ({1 - prompt:g} + {prompt:g} x speed)" in hand_over
    assert "before any page or remedy" in hand_over


def signatures(world: World) -> dict[str, Signature]:
    """The conditions that have a row, by what the row is called."""
    rules = world.rules
    return {
        **{kind.name: kind.signature for kind in world.kinds}, WAITING: rules.affected.waiting,
        LOADED: rules.affected.loaded, **{one.words: one.signature for one in rules.distractions},
        **{one.name: one.signature for one in world.benign}, "ANY": rules.background,
    }  # fmt: skip


def task_of(world: World) -> TaskSpec:
    return TASKS[0] if world.name == "oncall" else get_task(f"{world.name}:outage")


@pytest.mark.parametrize("name", WORLDS)
def test_a_row_says_the_share_of_every_sign(name: str) -> None:
    world = load_world(name)
    rules = Rules(prompt_of(task_of(world)))
    for condition, signature in signatures(world).items():
        least = COMMON if condition == "ANY" else LEAST
        for sort, shares in signature.items():
            for token, share in shares.items():
                word = world.words[sort].get(token, "")
                if share < least or not word:
                    continue
                assert rules.rows[condition][sort_of(word)][word] == share / 100, (condition, word)


@pytest.mark.parametrize("name", WORLDS)
def test_a_row_says_nothing_that_is_not_in_the_table(name: str) -> None:
    world = load_world(name)
    rules = Rules(prompt_of(task_of(world)))
    words = {
        word: (sort, token) for sort, row in world.words.items() for token, word in row.items()
    }
    for condition, signature in signatures(world).items():
        if condition == "ANY":
            continue
        every = {
            **signature,
            "change": {**world.rules.common["change"], **signature.get("change", {})},
        }
        for row in rules.rows[condition].values():
            for word, share in row.items():
                sort, token = words[word]
                assert every[sort][token] == round(100 * share)


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        (lt.RequestMetrics, "METRICS {}: not collected in this incident"),
        (lt.RequestTraces, "TRACES {}: not collected in this incident"),
        (lt.RequestMoreLogs, "not collected in this incident: {}"),
    ],
)
def test_what_is_down_is_said_once_asked(kind: Callable[[str], lt.Action], line: str) -> None:
    down, asked = 0, 0
    for index in range(20):
        state = lt.initial_state(lt.make_incident(f"single_crash-v4-fog3/val/{index}"))
        assert "not collected" not in rendered(lt.observe(state))
        for name in state.incident.topology.names:
            screen = rendered(lt.observe(lt.transition(state, kind(name))))
            asked += 1
            down += line.format(name) in screen.splitlines()
    assert 0.1 < down / asked < 0.3  # 20 of 100
