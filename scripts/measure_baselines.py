"""Regenerate every table and figure in README.md and docs/ that comes out of the code.

    python scripts/measure_baselines.py            # print all blocks
    python scripts/measure_baselines.py --write    # and put them into the files
    python scripts/measure_baselines.py --check    # exit 1 if a file is out of date

A block stands between `<!-- NAME -->` and `<!-- /NAME -->`. Facts (weights, horizons,
fault kinds) are compared word for word by `--check`. Measured figures take seconds, so
they carry a fingerprint of how a few dozen incidents play and grade; `--check` computes
that one anew. Needs nothing but the core.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache
from hashlib import blake2b
from math import sqrt
from pathlib import Path

import attrs

import logtriage as lt
from logtriage.actions import (
    REMEDIES,
    SEVERITIES,
    TEAM_ACTION_TYPES,
    Action,
    Ignore,
    RequestMoreLogs,
    Resolve,
    action_name,
    action_value,
    all_actions,
)
from logtriage.adapters.tools import TOOLS
from logtriage.audit.holes import HOLES
from logtriage.codec import truth_to_json
from logtriage.evaluation import play_joint_episode
from logtriage.faults import FAULT_KINDS
from logtriage.generator import _CLASS_WEIGHTS, _CLASSES, OVERRIDE_SHARE, held_out
from logtriage.grading import DEFAULT, TRIAGE_2, Criterion, Rubric, get_rubric, score
from logtriage.incident import Incident
from logtriage.originals import ORIGINALS
from logtriage.phrases import BENIGN, DISTRACTORS
from logtriage.policies import PolicyFactory
from logtriage.registry import make_policy, make_team
from logtriage.roles import ROLE_SPLITS, role_actions
from logtriage.runbook import SEVERITY_RULE
from logtriage.scenario_ranges import (
    ATTENUATION,
    EDGE_ERROR,
    EDGE_ERROR_ASIDE,
    EDGE_P99,
    EDGE_P99_ASIDE,
)
from logtriage.tasks import TASKS, TaskSpec
from logtriage.vector.layout import SERVICE_BLOCKS, layout_of
from logtriage.vector.team_layout import role_layout_of, team_layout_of

ROOT = Path(__file__).resolve().parent.parent
POLICIES = ("oracle", "expert", "first_error", "random")
DRAWN = tuple(task for task in TASKS if not task.original)
FIXED = tuple(task for task in TASKS if task.original)
EPISODES = 1_000
BALANCE = 10_000
SEARCHED = 2_000
EXAMPLE = "cascading_failure-v1/test/42"
COMMAND = "`python scripts/measure_baselines.py`"
TEAMS = ("oracle", "expert", "central:expert", "random")
PINNED_TEAMS = 5  #: incidents per task, split and team behind the fingerprint of teams
PINNED = 20  #: incidents per task, split and policy behind the fingerprint


def play(incident: Incident, factory: PolicyFactory) -> lt.State:
    policy, memory = factory(incident), None
    state = lt.initial_state(incident)
    while not state.is_closed:
        action, memory = policy.act(lt.observe(state), memory)
        state = lt.transition(state, action)
    return state


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines)


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def code(*names: object) -> str:
    return ", ".join(f"`{name}`" for name in names)


# -- facts ------------------------------------------------------------------------


def _points(rows: tuple[Criterion, ...]) -> list[list[str]]:
    found = []
    for row in rows:
        text = (row.measure.__doc__ or "").strip()
        text = re.sub(r"^(Benign only|Penalty): ", "", re.sub(r"\s+", " ", text))
        text = text.replace("``", "`").replace(" x max", " × max").replace(" - ", " − ")
        text = re.sub(r"(?<= )-(?=\.\d)", "−", text).removesuffix(".")
        if text[1:2].islower() or text[1:2] == " ":
            text = text[0].lower() + text[1:]
        found.append([f"`{row.name}`", f"{row.weight:.2f}", text])
    return found


def criteria() -> str:
    return table(("criterion", "weight", "score"), _points(DEFAULT.criteria))


def benign_criteria() -> str:
    return table(("criterion", "weight", "score"), _points(DEFAULT.benign))


def triage_criteria() -> str:
    return table(("criterion", "weight", "score"), _points(TRIAGE_2.criteria))


def triage_benign_criteria() -> str:
    return table(("criterion", "weight", "score"), _points(TRIAGE_2.benign))


def discounts() -> str:
    rows = []
    for one in TRIAGE_2.discounts:
        text, _, _ = (one.factor.__doc__ or "").strip().partition("\n")
        rows.append([f"`{one.name}`", f"{text[0].lower()}{text[1:]}".removesuffix(".")])
    return table(("discount", "the total is multiplied by"), rows)


def gates() -> str:
    rows = []
    for gate in DEFAULT.gates:
        text = (
            (gate.holds.__doc__ or "").removeprefix("Gate: ").replace("``", "`").removesuffix(".")
        )
        rows.append([f"`{gate.name}`", text])
    return table(("gate", "the total is 0 if"), rows)


def original_rubrics() -> str:
    parts = []
    for task in FIXED:
        rubric: Rubric = get_rubric(task.rubric)
        lost = [[name, f"−{weight}", text] for name, weight, text in _points(rubric.penalties)]
        rows = [*_points(rubric.criteria), *lost]
        parts.append(f"`{rubric.id}`\n\n{table(('criterion', 'weight', 'points'), rows)}")
    return "\n\n".join(parts)


def task_sheet() -> str:
    rows = [
        [
            f"`{task.id}`",
            task.horizon,
            f"{task.noise // 10} %",
            "–" if task.original else f"{task.benign / 10:g} %",
            f"`{task.rubric}`",
            task.hard,
        ]
        for task in TASKS
    ]
    return table(("task", "horizon", "noise", "benign", "rubric", "what makes it hard"), rows)


def history() -> str:
    return "\n".join(f"- `{task.id}`: {entry}" for task in TASKS for entry in task.history)


def faults() -> str:
    rows = [
        [
            f"`{kind.name}`",
            kind.fault_class,
            ", ".join(kind.tiers),
            " or ".join(f"`{remedy}`" for remedy in kind.remedies),
            "errors" if kind.errors else "latency",
            "yes" if kind.drifts else "no",
            kind.signature,
        ]
        for kind in FAULT_KINDS
    ]
    head = ("fault", "class", "tiers", "remedies", "shows in", "drifts", "sign")
    weights = ", ".join(f"{one} {n}" for one, n in zip(_CLASSES, _CLASS_WEIGHTS, strict=True))
    note = (
        "A root is drawn uniformly from the services that can be one, then a class by weight "
        f"({weights}, among the classes possible there), then a kind of that class."
    )
    return f"{table(head, rows)}\n\n{note}"


def severity_rule() -> str:
    rows = [[severity, f"{error / 100:g} %", f"{p99} ms"] for severity, error, p99 in SEVERITY_RULE]
    return table(
        ("severity", "errors from", "or p99 from"), [*rows, [SEVERITIES[-1], "less", "less"]]
    )


def severity_bands() -> str:
    def share(pair: tuple[int, int]) -> str:
        return f"{pair[0] / 100:g}–{pair[1] / 100:g} %"

    def time(pair: tuple[int, int]) -> str:
        return f"{pair[0]}–{pair[1]} ms"

    rows = [
        [
            one,
            share(EDGE_ERROR[one]),
            time(EDGE_P99_ASIDE[one]),
            share(EDGE_ERROR_ASIDE[one]),
            time(EDGE_P99[one]),
            f"{ATTENUATION[one] / 10:g} %",
        ]
        for one in SEVERITIES
    ]
    head = (
        "severity",
        "errors (error fault)",
        "p99 (error fault)",
        "errors (latency fault)",
        "p99 (latency fault)",
        "left per hop",
    )
    return table(head, rows)


def distractors() -> str:
    rows = [[f"`{alert}`" if alert else "none", grade, text] for alert, grade, text in DISTRACTORS]
    return table(("alert", "level", "line"), rows)


def benign_kinds() -> str:
    return table(("look-alike", "what the service says"), [[f"`{a}`", b] for a, b in BENIGN])


def held_out_pairs() -> str:
    topology, rows = lt.SEVEN_SERVICES, []
    for index, service in enumerate(topology.services):
        fitting = [kind for kind in FAULT_KINDS if service.tier in kind.tiers]
        kept = [kind for kind in fitting if held_out(topology, index, kind)]
        rows.append([f"`{service.name}`", len(fitting), code(*(k.name for k in kept)) or "none"])
    return table(("service", "fault kinds that fit", "held out"), rows)


def originals() -> str:
    rows = [
        [
            f"`{name}-v0`",
            f"`{one.service}`",
            one.severity,
            " or ".join(f"`{remedy}`" for remedy in one.remedies),
            " or ".join(f"`{team}`" for team in one.teams),
        ]
        for name, one in ORIGINALS.items()
    ]
    return table(("task", "root cause", "severity", "remedies", "teams"), rows)


def default_topology() -> str:
    rows = [
        [f"`{one.name}`", one.tier, code(*one.calls) or "–", f"`{one.owner}`"]
        for one in lt.SEVEN_SERVICES.services
    ]
    note = (
        "Every incident has a directory of its own: each service belongs, with a chance of "
        f"{OVERRIDE_SHARE / 10:g} %, to another team than by default."
    )
    return f"{table(('service', 'tier', 'calls', 'default owner'), rows)}\n\n{note}"


def action_integers() -> str:
    groups: dict[str, list[tuple[int, Action]]] = {}
    for number, action in enumerate(all_actions(lt.SEVEN_SERVICES)):
        groups.setdefault(action_name(action), []).append((number, action))
    rows = []
    for name, members in groups.items():
        first, last = members[0], members[-1]
        ends = [action_value(one) for _, one in (first, last)]
        shown = "–" if ends[0] is None else f"`{ends[0]}` … `{ends[1]}`"
        numbers = str(first[0]) if first is last else f"{first[0]}–{last[0]}"
        rows.append([f"`{name}`", numbers, shown])
    return table(("action type", "integers", "values"), rows)


def tools() -> str:
    rows = []
    for tool in TOOLS.values():
        arguments = ", ".join(
            f"`{one.name}`"
            + (f" ({', '.join(one.choices)})" if one.choices else "")
            + ("" if one.required else ", optional")
            for one in tool.parameters
        )
        rows.append([f"`{tool.name}`", arguments or "–", tool.description])
    return table(("tool", "arguments", ""), rows)


#: Blocks of the numeric observation beside those over services: name and meaning.
WHOLE_BLOCKS = {
    "owner": "it is owned by this team in this incident",
    "change": "a recent change of this kind",
    "time": "tick / horizon",
    "slo": "error rate, p99 and trend at the edge, scaled as above",
    "worst": "severity (P1, P2, P3) of the worst edge panel so far",
    "severity": "severity declared",
    "kind": "fault kind that a service named, in the order of the fault table",
    "named_owner": "team that owns the service that named it",
    "paged": "teams paged",
    "applied": "remedies applied, to whatever service",
    "closed": "the incident is closed",
}


def numeric_observation() -> str:
    meanings = dict(SERVICE_BLOCKS) | WHOLE_BLOCKS
    rows = []
    for name, first, width in layout_of(lt.SEVEN_SERVICES).describe():
        columns = str(first) if width == 1 else f"{first}–{first + width - 1}"
        meaning = meanings[name.partition(":")[0]].replace("|", "\\|")
        rows.append([f"`{name}`", columns, meaning])
    return table(("block", "columns", "holds"), rows)


def team_spaces() -> str:
    rows = []
    for split in ROLE_SPLITS.values():
        for role in split.roles:
            size = role_layout_of(lt.SEVEN_SERVICES, role).size
            actions = len(role_actions(role, lt.SEVEN_SERVICES))
            may = ", ".join(name for name in TEAM_ACTION_TYPES if name in role.may)
            rows.append([code(split.name), code(f"{role.name}_0"), size, actions, may])
    head = ("role split", "agent", "observation", "actions", "may")
    whole = team_layout_of(lt.SEVEN_SERVICES).size
    return f"{table(head, rows)}\n\n`state()` has {whole} columns."


# -- measured ---------------------------------------------------------------------


@lru_cache(maxsize=1)
def fingerprint() -> str:
    digest = blake2b(digest_size=6)
    for task in DRAWN:
        for split in ("train", "test", "ood"):
            for incident_id in lt.incident_ids(task.id, split, PINNED):
                incident = lt.make_incident(incident_id)
                digest.update(repr(truth_to_json(incident)).encode())
                for spec in POLICIES:
                    state = play(incident, make_policy(spec))
                    digest.update(f"{state.actions} {score(state)!r}".encode())
    return digest.hexdigest()


@lru_cache(maxsize=1)
def team_fingerprint() -> str:
    """The same for teams: it moves with what single agents see, or with how teams play."""
    digest = blake2b(fingerprint().encode(), digest_size=6)
    for split in ROLE_SPLITS.values():
        for team in TEAMS:
            make = make_team(team, split)
            for task in DRAWN:
                for incident_id in lt.incident_ids(task.id, "test", PINNED_TEAMS):
                    incident = lt.make_incident(incident_id)
                    state = play_joint_episode(incident, make(incident), split)
                    digest.update(f"{state.history} {score(state)!r}".encode())
    return digest.hexdigest()


@attrs.frozen
class Measured:
    """How one policy did on one task."""

    n: int
    mean: float
    margin: float
    solved: float
    root_cause: float
    severity: float
    mispaged: float
    ignored: float
    ticks: float


def measure(task: TaskSpec, split: str, spec: str, episodes: int) -> Measured:
    factory = make_policy(spec)
    ids = lt.incident_ids(task.id, split, episodes)
    grades = [lt.grade(play(lt.make_incident(one), factory)) for one in ids]
    scores = [grade.score or 0.0 for grade in grades]
    mean = sum(scores) / episodes
    spread = sqrt(sum((one - mean) ** 2 for one in scores) / max(1, episodes - 1))
    named = [
        row for grade in grades for row in grade.criteria if row.name in ("root_cause", "dismissal")
    ]

    def share(hits: Iterable[bool]) -> float:
        return sum(hits) / episodes

    return Measured(
        episodes,
        mean,
        1.96 * spread / sqrt(episodes),
        share(one >= 0.9 for one in scores),
        share(row.score > 0 for row in named),
        share(grade.criterion("severity").score == 1.0 for grade in grades),
        share(grade.gate == "wrong_escalation" for grade in grades),
        share(grade.gate == "ignored_incident" for grade in grades),
        sum(grade.ticks for grade in grades) / episodes,
    )


def _spell(actions: tuple[Action, ...]) -> str:
    """A list of actions as the argument of ``constant:``."""
    return ",".join(
        action_name(one) if action_value(one) is None else f"{action_name(one)}={action_value(one)}"
        for one in actions
    )


@lru_cache(maxsize=8)
def best_constant(task: TaskSpec) -> str:
    """Greedy search over train incidents; what they show is never looked at.

    Incidents with the same answer grade the same, so that each answer is graded once
    and counted. A list grows at its front, since order matters only before a closing
    action; it starts from nothing and from ``ignore``.
    """
    counted: Counter[object] = Counter()
    example: dict[object, Incident] = {}
    for incident_id in lt.incident_ids(task.id, "train", SEARCHED):
        incident = lt.make_incident(incident_id)
        truth = incident.truth
        key = (truth.severity, truth.root_causes, truth.teams, truth.remedies)
        counted[key] += 1
        example.setdefault(key, incident)

    def worth(actions: tuple[Action, ...]) -> float:
        whole = (*actions, Resolve())
        return sum(n * score(lt.play(example[key], whole)[0]) for key, n in counted.items())

    choices = [
        action
        for action in all_actions(lt.SEVEN_SERVICES)
        if not isinstance(action, RequestMoreLogs | Resolve | Ignore)
    ]
    found: list[tuple[float, tuple[Action, ...]]] = []
    for start in ((), (Ignore(),)):
        best, actions = worth(start), tuple[Action, ...](start)
        while True:
            longer = [(one, *actions) for one in choices]
            values = [worth(one) for one in longer]
            if max(values) <= best + 1e-9:
                break
            best = max(values)
            actions = longer[values.index(best)]
        found.append((best, actions))
    return _spell(max(found, key=lambda one: one[0])[1])


def _labelled(task: TaskSpec) -> dict[str, str]:
    specs = {spec: spec for spec in POLICIES}
    specs["best constant list"] = f"constant:{best_constant(task)}"
    return specs


@lru_cache(maxsize=64)
def _measured(task: TaskSpec, split: str, spec: str, episodes: int) -> Measured:
    return measure(task, split, spec, episodes)


def _stamp(block: str = "") -> str:
    return f"<!-- measured: {FINGERPRINTS.get(block, fingerprint)()} -->\n"


def baselines() -> str:
    rows = []
    for label in (*POLICIES, "best constant list"):
        cells = [_measured(task, "test", _labelled(task)[label], EPISODES) for task in DRAWN]
        name = f"`{label}`" if label in POLICIES else label
        rows.append([name, *(f"{one.mean:.3f}" for one in cells)])
    head = ("policy", *(f"`{task.id}`" for task in DRAWN))
    note = (
        f"Mean grade over the first {EPISODES:,} incidents of split `test`, rubric "
        f"`{DEFAULT.id}`. Regenerate with {COMMAND}."
    )
    return f"{_stamp()}{table(head, rows)}\n\n{note}"


def _detail(split: str, labels: Iterable[str], episodes: int) -> str:
    rows = []
    for task in DRAWN:
        for label in labels:
            one = _measured(task, split, _labelled(task)[label], episodes)
            rows.append(
                [
                    f"`{task.id}`",
                    f"`{label}`" if label in POLICIES else label,
                    f"{one.mean:.3f} ± {one.margin:.3f}",
                    percent(one.solved),
                    percent(one.root_cause),
                    percent(one.severity),
                    percent(one.mispaged),
                    percent(one.ignored),
                    f"{one.ticks:.1f}",
                ]
            )
    head = (
        "task",
        "policy",
        "mean grade",
        "solved",
        "root cause",
        "severity",
        "mis-paged",
        "ignored",
        "ticks",
    )
    return table(head, rows)


def baselines_detail() -> str:
    note = (
        f"The first {EPISODES:,} incidents of split `test`; ± is 1.96 standard errors. Solved: "
        "grade of at least 0.9. Root cause: named, or for a benign incident rightly dismissed."
    )
    return f"{_stamp()}{_detail('test', (*POLICIES, 'best constant list'), EPISODES)}\n\n{note}"


def baselines_ood() -> str:
    labels = ("oracle", "expert", "first_error")
    note = f"The first {EPISODES:,} incidents of split `ood`."
    return f"{_stamp()}{_detail('ood', labels, EPISODES)}\n\n{note}"


def constant_lists() -> str:
    rows = [[f"`{task.id}`", f"`constant:{best_constant(task)}`"] for task in DRAWN]
    note = f"Found on the first {SEARCHED:,} incidents of split `train`."
    return f"{_stamp()}{table(('task', 'best constant list'), rows)}\n\n{note}"


def balance() -> str:
    columns: list[dict[str, float]] = []
    for task in DRAWN:
        found: Counter[str] = Counter()
        for incident_id in lt.incident_ids(task.id, "test", BALANCE):
            incident = lt.make_incident(incident_id)
            truth, topology = incident.truth, incident.topology
            found[f"severity {truth.severity}"] += 1
            found["benign"] += truth.benign
            found.update(f"root cause `{name}`" for name in truth.root_causes)
            found.update(f"team `{team}`" for team in truth.teams)
            found.update({f"remedy `{remedy}`" for remedy, _ in truth.remedies})
            for name in truth.root_causes:
                index = topology.index(name)
                default = topology.owners[index]
                found["owner of the root differs from its default"] += (
                    incident.directory[index] != default
                )
                found["right page differs from the root's default owner"] += (
                    default not in truth.teams
                )
        columns.append({key: count / BALANCE for key, count in found.items()})
    keys = [
        *(f"severity {one}" for one in SEVERITIES),
        "benign",
        *(f"root cause `{name}`" for name in lt.SEVEN_SERVICES.names),
        *(f"team `{team}`" for team in lt.SEVEN_SERVICES.teams),
        *(f"remedy `{remedy}`" for remedy in REMEDIES),
        "owner of the root differs from its default",
        "right page differs from the root's default owner",
    ]
    rows = [[key, *(percent(column.get(key, 0.0)) for column in columns)] for key in keys]
    note = (
        f"Shares of the first {BALANCE:,} incidents of split `test`, benign ones included. An "
        "incident with two accepted remedies counts for both."
    )
    head = ("share", *(f"`{task.id}`" for task in DRAWN))
    return f"{_stamp()}{table(head, rows)}\n\n{note}"


def debrief() -> str:
    incident = lt.make_incident(EXAMPLE)
    graded = lt.grade(play(incident, make_policy("first_error")))
    rows = [
        [f"`{one.name}`", f"{one.score:g}", f"{one.weight:.2f}", one.reason]
        for one in graded.criteria
    ]
    head = f"`first_error` on `{EXAMPLE}`: score {graded.score:g}"
    gate = f", gate `{graded.gate}` ({graded.gate_reason})" if graded.gate else ""
    return f"{_stamp()}{head}{gate}.\n\n{table(('criterion', 'score', 'weight', 'reason'), rows)}"


def screen() -> str:
    """The first screen of an incident."""
    text = lt.render_observation(lt.observe(lt.initial_state(lt.make_incident(EXAMPLE))))
    return f"{_stamp()}```text\n{text}\n```"


def teams() -> str:
    rows = []
    for team in TEAMS:
        for split in ROLE_SPLITS.values():
            make, cells = make_team(team, split), []
            for task in DRAWN:
                states = (
                    play_joint_episode(incident, make(incident), split)
                    for incident in map(
                        lt.make_incident, lt.incident_ids(task.id, "test", EPISODES)
                    )
                )
                cells.append(sum(map(score, states)) / EPISODES)
            rows.append([f"`{team}`", f"`{split.name}`", *(f"{one:.3f}" for one in cells)])
    head = ("team", "roles", *(f"`{task.id}`" for task in DRAWN))
    note = (
        f"Mean grade over the first {EPISODES:,} incidents of split `test`, rubric "
        f"`{DEFAULT.id}`. Regenerate with {COMMAND}."
    )
    return f"{_stamp('teams')}{table(head, rows)}\n\n{note}"


def holes() -> str:
    rows = [[f"`{one.name}`", one.wrong, f"`{one.check}`"] for one in HOLES]
    return table(("hole", "what is wrong", "found by"), rows)


FACTS: dict[str, Callable[[], str]] = {
    "criteria": criteria,
    "benign-criteria": benign_criteria,
    "triage-criteria": triage_criteria,
    "triage-benign-criteria": triage_benign_criteria,
    "discounts": discounts,
    "gates": gates,
    "original-rubrics": original_rubrics,
    "tasks": task_sheet,
    "history": history,
    "faults": faults,
    "severity-rule": severity_rule,
    "severity-bands": severity_bands,
    "distractors": distractors,
    "benign-kinds": benign_kinds,
    "held-out": held_out_pairs,
    "originals": originals,
    "topology": default_topology,
    "action-integers": action_integers,
    "tools": tools,
    "numeric-observation": numeric_observation,
    "team-spaces": team_spaces,
    "holes": holes,
}
MEASURED: dict[str, Callable[[], str]] = {
    "baselines": baselines,
    "baselines-detail": baselines_detail,
    "baselines-ood": baselines_ood,
    "constant-lists": constant_lists,
    "balance": balance,
    "debrief": debrief,
    "screen": screen,
    "teams": teams,
}
#: What says whether the figures of a block still hold, where it is not :func:`fingerprint`.
FINGERPRINTS: dict[str, Callable[[], str]] = {"teams": team_fingerprint}
BLOCK = re.compile(r"<!-- (?P<name>[\w-]+) -->\n(?P<body>.*?)<!-- /(?P=name) -->", re.DOTALL)


def documents() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def is_current(name: str, body: str) -> bool:
    if name in MEASURED:
        return body.startswith(_stamp(name))
    return name not in FACTS or body == f"{FACTS[name]()}\n"


def outdated() -> list[str]:
    """The blocks that no longer agree with the code."""
    return [
        f"{path.relative_to(ROOT)}: {found['name']}"
        for path in documents()
        for found in BLOCK.finditer(path.read_text(encoding="utf-8"))
        if not is_current(found["name"], found["body"])
    ]


def write() -> None:
    def renewed(found: re.Match[str]) -> str:
        name = found["name"]
        make = FACTS.get(name) or MEASURED.get(name)
        return found[0] if make is None else f"<!-- {name} -->\n{make()}\n<!-- /{name} -->"

    for path in documents():
        old = path.read_text(encoding="utf-8")
        new = BLOCK.sub(renewed, old)
        if new != old:
            path.write_text(new, encoding="utf-8")
            print(f"renewed {path.relative_to(ROOT)}", file=sys.stderr)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="rewrite the blocks in place")
    parser.add_argument("--check", action="store_true", help="exit 1 if a block is out of date")
    asked = parser.parse_args()
    if asked.check:
        for one in outdated():
            print(f"{one} is out of date; run python scripts/measure_baselines.py --write")
        return 1 if outdated() else 0
    if asked.write:
        write()
        return 0
    for name, make in (FACTS | MEASURED).items():
        print(f"<!-- {name} -->\n{make()}\n<!-- /{name} -->\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
