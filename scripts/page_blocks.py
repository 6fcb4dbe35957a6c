"""Regenerate every table and figure in README.md and docs/ that comes out of the code.

    python -m scripts.page_blocks            # print all blocks
    python -m scripts.page_blocks --write    # and put them into the files
    python -m scripts.page_blocks --check    # exit 1 if a file is out of date

A block stands between `<!-- NAME -->` and `<!-- /NAME -->`, and is compared word for word by
`--check`. Needs nothing but the core.
"""

import argparse
import csv
import re
import sys
from collections.abc import Callable
from pathlib import Path

import logtriage as lt
from logtriage.actions import (
    SEVERITIES,
    Action,
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Remediate,
    RequestMetrics,
    RequestMoreLogs,
    Resolve,
    action_name,
    action_value,
    all_actions,
)
from logtriage.beliefs.explain import explain
from logtriage.grading import TRIAGE_3, Criterion
from logtriage.parsing.tools import TOOLS
from logtriage.tasks import BENCHMARK_FOG, TASKS
from logtriage.world import prior
from logtriage.world.default import default_world
from logtriage.world.setting import Setting
from scripts.page_tables import table

FIVE_TEAMS = default_world().topologies["seven-services-five-teams"]

ROOT = Path(__file__).resolve().parent.parent
BENCHMARK = tuple(task for task in TASKS if task.fog == BENCHMARK_FOG)
EXAMPLE = "cascading_failure-v4/test/246"
#: The incident of the explained episode.
EXPLAINED = "cascading_failure-v4/test/10"


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
    return table(("criterion", "weight", "score"), _points(TRIAGE_3.criteria))


def benign_criteria() -> str:
    return table(("criterion", "weight", "score"), _points(TRIAGE_3.benign))


def discounts() -> str:
    rows = []
    for one in TRIAGE_3.discounts:
        text, _, _ = (one.factor.__doc__ or "").strip().partition("\n")
        rows.append([f"`{one.name}`", f"{text[0].lower()}{text[1:]}".removesuffix(".")])
    return table(("discount", "the total is multiplied by"), rows)


def gates() -> str:
    rows = []
    for gate in TRIAGE_3.gates:
        text = (
            (gate.holds.__doc__ or "").removeprefix("Gate: ").replace("``", "`").removesuffix(".")
        )
        rows.append([f"`{gate.name}`", text])
    return table(("gate", "the total is 0 if"), rows)


def task_sheet() -> str:
    rows = [
        [
            f"`{task.id}`",
            task.horizon,
            f"{task.setting.par} / {task.setting.par_benign}",
            f"{task.setting.benign / 10:g} %",
            task.hard,
        ]
        for task in BENCHMARK
    ]
    return table(("task", "horizon", "par / benign", "benign", "what makes it hard"), rows)


def settings() -> str:
    """The public constants of each task's world."""

    def row(name: str, tell: Callable[[Setting], object]) -> list[object]:
        return [name, *(tell(task.setting) for task in BENCHMARK)]

    rows = [
        row("trouble began (minutes before tick 0)", lambda one: one.onset),
        row("the edge shows the severity from tick", lambda one: one.severity_from),
        row("root silent in alerts and logs before tick", lambda one: one.root_silent or "–"),
        row("signs begin one by one until tick", lambda one: one.grows_for or "–"),
        row("root is a service that others call", lambda one: _yes(one.called_only)),
        row("root has a kind that can creep in", lambda one: _yes(one.creeping)),
        row("weights of P1, P2, P3", lambda one: ", ".join(map(str, one.severities))),
        row("weights of one fault, two, three", lambda one: ", ".join(map(str, one.counts))),
    ]
    return table(("", *(f"`{task.id}`" for task in BENCHMARK)), rows)


def _yes(holds: bool) -> str:
    return "yes" if holds else "–"


def fog() -> str:
    rows = [
        [
            level,
            "the benchmark: `…-v4`" if level == BENCHMARK_FOG else f"`…-v4-fog{level}`",
            *(percent(share / 100) for share in (row.background, row.blind, row.named)),
        ]
        for level, row in enumerate(default_world().rules.fog)
    ]
    head = (
        "fog",
        "tasks",
        "histories that are coincidences",
        "services whose metrics are down, traces and requested logs alike",
        "log topics of a root that name it",
    )
    return table(head, rows)


def unaffected_shares() -> str:
    rules = default_world().rules
    rows = [[f"`{one.name}`", f"{one.share / 10:g} %"] for one in rules.distractions]
    rows.append(["a minor fault (never at the edge)", f"{rules.minor_faults / 10:g} %"])
    return table(("an unaffected service is", "share"), rows)


def faults() -> str:
    rows = [
        [
            f"`{kind.name}`",
            kind.fault_class,
            ", ".join(kind.tiers),
            " or ".join(f"`{remedy}`" for remedy in kind.remedies),
            "errors" if kind.errors_first else "latency",
            "yes" if kind.drifts else "no",
            kind.summary,
        ]
        for kind in default_world().kinds
    ]
    head = ("fault", "class", "tiers", "remedies", "shows in", "creeps in", "what it is")
    weights = ", ".join(
        f"{fault_class.name} {fault_class.weight}"
        for fault_class in default_world().classes.values()
    )
    note = (
        "Every service that can be the root is as likely as another. The classes that are possible "
        f"at a service have weights ({weights}), and the kinds of a class are equally likely."
    )
    return f"{table(head, rows)}\n\n{note}"


def severity_rule() -> str:
    rows = [
        [row.severity, f"{row.errors / 100:g} %", f"{row.p99} ms"]
        for row in default_world().rules.severity_rule
    ]
    return table(
        ("severity", "errors from", "or p99 from"), [*rows, [SEVERITIES[-1], "less", "less"]]
    )


def held_out_pairs() -> str:
    topology, rows = FIVE_TEAMS, []
    for index, service in enumerate(topology.services):
        fitting = default_world().kinds_at(service.tier)
        kept = [kind for kind in fitting if prior.held_out(topology, index, kind)]
        rows.append([f"`{service.name}`", len(fitting), code(*(k.name for k in kept)) or "none"])
    return table(("service", "fault kinds that fit", "held out"), rows)


def default_topology() -> str:
    rows = [[f"`{one.name}`", one.tier, code(*one.calls) or "–"] for one in FIVE_TEAMS.services]
    return table(("service", "tier", "calls"), rows)


def action_integers() -> str:
    groups: dict[str, list[tuple[int, Action]]] = {}
    for number, action in enumerate(all_actions(FIVE_TEAMS, hand_over=True)):
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


# -- played ----------------------------------------------------------------------


def debrief() -> str:
    incident = lt.make_incident(EXAMPLE)
    graded = lt.grade(lt.play(incident, "first_error"))
    rows = [
        [f"`{one.name}`", f"{one.score:g}", f"{one.weight:.2f}", one.reason]
        for one in graded.criteria
    ]
    head = f"`first_error` on `{EXAMPLE}`: score {graded.score:g}"
    gate = f", gate `{graded.gate}` ({graded.gate_reason})" if graded.gate else ""
    return f"{head}{gate}.\n\n{table(('criterion', 'score', 'weight', 'reason'), rows)}"


def explained() -> str:
    """A perfect response with its explanation."""
    incident = lt.make_incident(EXPLAINED)
    truth = incident.truth
    assert truth.severity is not None
    (root,) = truth.root_causes
    actions = (
        RequestMoreLogs(root),
        RequestMetrics(root),
        ClassifySeverity(truth.severity),
        IdentifyRootCause(root),
        Escalate(min(truth.teams)),
        Remediate(*min(truth.remedies)),
        Resolve(),
    )
    explained = explain(lt.play(incident, actions))
    rows = [
        [
            f"`{action_name(step.action)}` {action_value(step.action) or ''}".strip(),
            ", ".join(
                f"{name} {share:.0%}".replace("%", " %")
                for name, share in filter(None, (step.leading.root_cause, step.leading.team))
            ),
            *(f"{value:.3f}" for value in (step.before, step.after_acting, step.after_seeing)),
            "" if step.justified is None else "justified" if step.justified else "not justified",
        ]
        for step in explained.steps
    ]
    parts = [
        ("at first", f"{explained.at_first:.3f}"),
        ("asking gained", f"{explained.asking_gained:+.3f}"),
        ("decisions", f"{explained.decisions:+.3f}"),
        ("luck", f"{explained.luck:+.3f}"),
        ("grade", f"{explained.grade:.3f}"),
        ("hardness", f"{explained.hardness:.3f}"),
    ]
    head = f"A perfect response to `{EXPLAINED}` (c = {incident.worth_of_hand_over:g}):"
    steps = table(
        ("action", "likeliest before it", "before", "after acting", "after seeing", ""), rows
    )
    figures = table((name for name, _ in parts), [[value.replace("-", "−") for _, value in parts]])
    return f"{head}\n\n{steps}\n\n{figures}"


def screen() -> str:
    """The first screen of an incident."""
    text = lt.render_observation(lt.observe(lt.initial_state(lt.make_incident(EXAMPLE))))
    return f"```text\n{text}\n```"


#: Who stands in the README's table, and the tasks of its columns.
SHOWN = {
    "oracle": "`oracle`",
    "observer": "`observer`",
    "expert": "`expert`",
    "constant:hand_over": "always hand over (`constant:hand_over`)",
    "first_error": "`first_error`",
}
SHOWN_TASKS = ("single_crash-v4", "cascading_failure-v4", "silent_degradation-v4")


def net_values() -> str:
    """Net values with their intervals, of a few policies: from what one command measured."""
    with (ROOT / "docs" / "results" / "oncall.csv").open(encoding="utf-8", newline="") as file:
        rows = {
            (row["policy"], row["task"]): row
            for row in csv.DictReader(file)
            if (row["fog"], row["split"], row["worth"]) == ("2", "test", "all")
        }
    lines = [f"| net value | {' | '.join(f'`{task}`' for task in SHOWN_TASKS)} |"]
    lines.append("| --- " * (len(SHOWN_TASKS) + 1) + "|")
    for policy, name in SHOWN.items():
        cells = []
        for task in SHOWN_TASKS:
            row = rows[policy, task]
            low, high = (f"{float(row[name]):.2f}" for name in ("net_low", "net_high"))
            cells.append(f"{float(row['net_value']):.2f} [{low}, {high}]")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


FACTS: dict[str, Callable[[], str]] = {
    "net-values": net_values,
    "criteria": criteria,
    "benign-criteria": benign_criteria,
    "discounts": discounts,
    "gates": gates,
    "tasks": task_sheet,
    "settings": settings,
    "fog": fog,
    "unaffected": unaffected_shares,
    "debrief": debrief,
    "explained": explained,
    "screen": screen,
    "faults": faults,
    "severity-rule": severity_rule,
    "held-out": held_out_pairs,
    "topology": default_topology,
    "action-integers": action_integers,
    "tools": tools,
}
BLOCK = re.compile(r"<!-- (?P<name>[\w-]+) -->\n(?P<body>.*?)<!-- /(?P=name) -->", re.DOTALL)


def documents() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def is_current(name: str, body: str) -> bool:
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
        make = FACTS.get(name)
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
            print(f"{one} is out of date; run python -m scripts.page_blocks --write")
        return 1 if outdated() else 0
    if asked.write:
        write()
        return 0
    for name, make in FACTS.items():
        print(f"<!-- {name} -->\n{make()}\n<!-- /{name} -->\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
