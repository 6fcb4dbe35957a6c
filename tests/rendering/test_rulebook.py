"""The rules of worlds whose signs stay: every sentence follows the tables."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

from logtriage import (
    Action,
    Escalate,
    IdentifyRootCause,
    RequestMetrics,
    RequestMoreLogs,
    RequestTraces,
    initial_state,
    make_incident,
    observe,
    system_prompt,
    transition,
)
from logtriage import render_observation as rendered
from logtriage.drawing.incidents import PRICES_OF_HAND_OVER
from logtriage.grading import TRIAGE_3, priced
from logtriage.rendering import Reply
from logtriage.rendering.chances import COMMON, LEAST
from logtriage.tasks import DEFAULT_TASKS, TaskSpec, get_task
from logtriage.world.loading import load_world
from logtriage.world.model import LOADED, WAITING, World
from logtriage.world.schema.forms import Range
from logtriage.world.schema.parts import Signature
from logtriage.world.setting import FULL
from tests.rendering.reader_rules import Rules, sort_of
from tests.worlds.folders import copy_of, edit

WORLDS = ("oncall", "tiny")
TASKS = tuple(map(get_task, DEFAULT_TASKS))
every_task = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
#: Characters of the rules: the prompt without its opening, services and how to answer.
LIMIT, SEVERAL_MORE = 6_000, 200
NOT_RULES = ("You are", "SERVICES", "ANSWER", "You see", "ACTIONS", "Also, graded")


def prompt_of(task: TaskSpec, reply: Reply = "json") -> str:
    return system_prompt(make_incident(f"{task.id}/val/0"), reply)


def rules_of(prompt: str) -> str:
    return "\n".join(one for one in prompt.splitlines() if not one.startswith(NOT_RULES))


@every_task
def test_the_rules_are_short(task: TaskSpec) -> None:
    for reply in get_args(Reply):
        rules = rules_of(prompt_of(task, reply))
        assert len(rules) <= LIMIT + (SEVERAL_MORE if task.several else 0)


# --- what a player would have to guess -----------------------------------------------------


@every_task
def test_everything_that_a_player_had_to_guess_is_said(task: TaskSpec) -> None:
    setting, prompt = task.setting, prompt_of(task)
    assert setting is not None
    world, fog = setting.world, setting.world.rules.fog[setting.fog]
    signs = world.rules.signs
    assert signs is not None
    clear = 100 - fog.background
    for said in (
        f"{setting.benign / 10:g}% are benign",
        "class " + ", ".join(f"{one.name} {one.weight}" for one in world.rules.classes),
        f"{world.rules.minor_faults / 10:g}% a minor fault",
        "until a fix changes what it is or for whom it waits",
        f"{clear}% of readings, {clear * signs.about / 100:.3g}% of log lines show it",
        f"{setting.fog_weight * signs.gaps / FULL:.3g}% of metrics, traces have no data",
        "last 3 readings of ticks 0, 3, 6, …",
        f"judged at ticks {', '.join(map(str, setting.alert_ticks))}; both also after a remedy",
        "3 new lines; all: 1 a service",
        f"{setting.noise / 10:g}% noise",
        f"2 ticks after the first page, if to an owner, in {clear}% a log topic of the fault",
        "Usual: errors 0.04-0.18%, p99 as beside; slight: 0.35-0.8%, 250-620 ms",
        "SEVERITY, at any tick: ",
        "resolve once fixed 0.10 x speed",
        "(0 if you blamed a service) + 0.10 x speed",
        f"1 by action {setting.par} (to ignore: {setting.par_benign}), 0 at {task.horizon}",
        "idle 2-9%, hot 88-99%",
        "busy 19-27 of 32, full 31-32 of 32",
    ):
        assert said in prompt
    for said, holds in (
        (f"{fog.blind}% each, a service has no metrics, traces, requested logs", fog.blind > 0),
        (f"{fog.named}% of a root's topics name its cause", fog.named > 0),
        (
            f"Before tick {setting.root_silent} the faulty service itself looks healthy",
            setting.root_silent > 0,
        ),
        (f"Before tick {setting.grows_for} less", setting.grows_for > 0),
        (f"Before tick {setting.severity_from}: benign's in 20%", setting.severity_from > 0),
        ("any service that others call", setting.called_only),
        ("*: only minor here", setting.creeping),
        ("A service shows its fault, else loaded, else waiting", task.several),
    ):
        assert (said in prompt) is holds, said


@every_task
def test_it_is_said_how_often_other_services_show_what(task: TaskSpec) -> None:
    assert task.setting is not None
    shares = {one.words: one.share / 1000 for one in task.setting.world.rules.distractions}
    single = TASKS[0] if task.several else task
    assert Rules(prompt_of(single)).others == pytest.approx(shares)
    said = re.search(r"Others, each: .*", prompt_of(task))
    assert said is not None
    assert said[0] in prompt_of(single)


def test_the_grade_is_that_of_the_rubric() -> None:
    grade, hand_over = (
        next(one for one in prompt_of(TASKS[0]).splitlines() if one.startswith(word))
        for word in ("GRADE", "hand_over")
    )
    weights = {row.name: f"{row.weight:.2f}" for row in (*TRIAGE_3.criteria, *TRIAGE_3.benign)}
    for name, word in (
        ("root_cause", "root cause"),
        ("escalation", "right page"),
        ("remediation", "remedy"),
        ("dismissal", "ignore"),
    ):
        assert f"{word} {weights[name]}" in grade
    assert f"Before a right page: all x {priced.UNAPPROVED_FIX:g} a fix" in grade
    assert f"x {priced.UNAPPROVED_REMEDY:g} a wrong remedy (benign too)" in grade
    assert f"Nobody paged for a fault: x {priced.UNESCALATED:g}" in grade
    assert "Mis-page or ignored fault: 0, the end" in grade
    assert ", ".join(f"{one:g}" for one in PRICES_OF_HAND_OVER) in hand_over
    prompt = priced.HAND_OVER_PROMPT
    assert f"c x ({1 - prompt:g} + {prompt:g} x speed)" in hand_over
    assert "before any page or remedy" in hand_over


# --- the runbook, from the tables ----------------------------------------------------------


def signatures(world: World) -> dict[str, Signature]:
    """The conditions that have a row, by what the row is called."""
    rules = world.rules
    return {
        **{kind.name: kind.signature for kind in world.kinds},
        WAITING: rules.affected.waiting,
        LOADED: rules.affected.loaded,
        **{one.words: one.signature for one in rules.distractions},
        **{one.name: one.signature for one in world.benign},
        "ANY": rules.background,
    }


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


def bad_deploy(world: World) -> Signature:
    return world.kind("bad_deploy").signature


#: A file, the number in it that falls by one, and what the rules then say, from the tables.
CHANGES: tuple[tuple[str, str, Callable[[World], str]], ...] = (
    (
        "kinds/bad_deploy.toml",
        r"exceptions = (\d+)",
        lambda world: f"{bad_deploy(world)['log']['exceptions']} exception",
    ),
    (
        "kinds/bad_deploy.toml",
        r"release_before = (\d+)",
        lambda world: f"{bad_deploy(world)['change']['release_before']} release",
    ),
    (
        "world.toml",
        r"alert = { latency = (\d+), errors = \d+ }",
        lambda world: (
            f"L {world.rules.affected.waiting['alert']['latency']}/"
            f"{world.rules.affected.waiting['time']['itself']}"
        ),
    ),
    (
        "world.toml",
        r"minor_faults = (\d+)",
        lambda world: f"{world.rules.minor_faults / 10:.3g}% a minor fault",
    ),
    (
        "world.toml",
        r"words = \"memory\"\nshare = (\d+)",
        lambda world: f"{share_of(world)}% memory",
    ),
    ("world.toml", r"about = (\d+)", lambda world: f"{loud_of(world):.3g}% of log lines"),
    (
        "world.toml",
        r"background = (\d+), named = 0",
        lambda world: f"{100 - world.rules.fog[2].background}% of readings",
    ),
    ("world.toml", r"leads = \[(\d+)", lambda world: f"errors alone {lead_of(world):.3g}%"),
    (
        "world.toml",
        r"unmoved = (\d+)",
        lambda world: f"P3: usual {100 * world.rules.edge.unmoved / 16:.3g}%",
    ),
    (
        "world.toml",
        r"others = (\d+)",
        lambda world: f"{100 - world.rules.tiers[0].others}% platform-team of edge",
    ),
    ("world.toml", r"early_calm = (\d+)", lambda world: f"in {world.rules.edge.early_calm}%"),
    ("tokens.toml", r"range = \[88, (\d+)", lambda world: f"hot 88-{hottest(world)}%"),
)


def share_of(world: World) -> str:
    row = next(one for one in world.rules.distractions if one.words == "memory")
    return f"{row.share / 10:.3g}"


def loud_of(world: World) -> float:
    signs = world.rules.signs
    assert signs is not None
    return (100 - world.rules.fog[2].background) * signs.about / 100


def lead_of(world: World) -> float:
    return 100 * world.rules.edge.leads[0] / sum(world.rules.edge.leads)


def hottest(world: World) -> int:
    form = world.gauges["cpu"].figures["high"].form
    assert isinstance(form, Range)
    return form.high


@pytest.mark.parametrize(
    ("file", "pattern", "said"),
    CHANGES,
    ids=lambda one: one[:40] if isinstance(one, str) else "said",
)
def test_the_rules_follow_the_tables(
    tmp_path: Path, file: str, pattern: str, said: Callable[[World], str]
) -> None:
    """One number of a copy changes, and with it the sentence."""
    folder, world = copy_of("oncall", tmp_path), load_world("oncall")
    match = re.search(pattern, (folder / file).read_text())
    assert match is not None
    start, end = match.start(1) - match.start(), match.end(1) - match.start()
    edit(folder / file, match[0], f"{match[0][:start]}{int(match[1]) - 1}{match[0][end:]}")
    other = load_world(folder)
    before, after = (
        system_prompt(make_incident(f"{name}/val/0", world=one))
        for name, one in (("cascading_failure-v4", world), ("cascading_failure", other))
    )
    assert said(world) in before
    assert said(other) in after
    assert said(world) != said(other)


# --- screens -------------------------------------------------------------------------------


def test_a_screen_ends_with_what_can_be_asked_and_what_it_costs() -> None:
    state = initial_state(make_incident("single_crash-v4/val/0"))
    for _ in range(3):
        last = rendered(observe(state)).splitlines()[-1]
        left = state.incident.horizon - state.tick
        assert last == (
            f"ASK (a tick each, {left} ticks left): request_more_logs <service>|all, "
            "request_metrics <service>, request_traces <service>"
        )
        state = transition(state, IdentifyRootCause("user-db"))


def test_a_mis_page_says_that_it_was_and_whose_incident_it_was_not() -> None:
    incident = make_incident("single_crash-v4/val/0")
    wrong = next(one for one in incident.topology.teams if one not in incident.truth.teams)
    screen = rendered(observe(transition(initial_state(incident), Escalate(wrong))))
    verdict = f"a mis-page, this is not {wrong}'s incident"
    assert f"LAST: escalate {wrong}: {verdict}" in screen
    assert f"CLOSED: misrouted: {verdict}" in screen
    assert "ASK" not in screen
    others = {*incident.topology.teams} - {wrong}
    assert not any(f"{one}'s incident" in screen for one in others)


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        (RequestMetrics, "METRICS {}: not collected in this incident"),
        (RequestTraces, "TRACES {}: not collected in this incident"),
        (RequestMoreLogs, "not collected in this incident: {}"),
    ],
)
def test_what_is_down_is_said_once_asked(kind: Callable[[str], Action], line: str) -> None:
    down, asked = 0, 0
    for index in range(20):
        state = initial_state(make_incident(f"single_crash-v4-fog3/val/{index}"))
        assert "not collected" not in rendered(observe(state))
        for name in state.incident.topology.names:
            screen = rendered(observe(transition(state, kind(name))))
            asked += 1
            down += line.format(name) in screen.splitlines()
    assert 0.1 < down / asked < 0.3  # 20 of 100
