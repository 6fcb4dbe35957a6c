"""Measure every scripted policy on the second world, and write docs/results/second-world.*.

    python scripts/second_world.py                  # play what is missing, write the page
    python scripts/second_world.py --shard 1/2      # play the first half; write nothing
    python scripts/second_world.py --write          # write the page from what was played
    python scripts/second_world.py --count 20 --fog-count 10 --questions-count 10 --lists 40

Rows are written as they come, to build/second-world/KEY/, where KEY is a hash of the code
that decides them: a run that was broken off goes on where it was, and figures of another
version are never mixed in. Shards may run side by side. At full size the observer takes
about half a second an incident, and all of it some hours. The page needs the extra
``report`` (matplotlib).
"""

import argparse
import csv
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Final

import attrs
from second_world_rows import JUDGED, LISTS, POLICIES, QUESTIONS, Cell, Row

import logtriage as lt
from logtriage._lib.files import replacing
from logtriage.actions import Action, Escalate, action_name, action_value
from logtriage.audit.floor import constant_answers
from logtriage.audit.scoring import Scorer
from logtriage.audit.search import best_blind_policy, best_constant_list
from logtriage.belief import belief
from logtriage.grading import get_rubric, score
from logtriage.incident import Incident
from logtriage.policies import Policy
from logtriage.registry import make_policy
from logtriage.state import Closing
from logtriage.tasks import BENCHMARK_FOG, DRAWN_TASKS, TASKS

ROOT: Final = Path(__file__).resolve().parent.parent
SOURCE: Final = ROOT / "src" / "logtriage"
#: What decides a row: everything but what only shows, stores or serves.
DECIDING: Final = (
    "world/*.py", "belief/*.py", "policies/*.py", "grading/*.py", "drawing.py", "incident.py",
    "observation.py", "state.py", "tasks.py", "topologies.py", "topology.py", "transition.py",
    "registry/policies.py", "faults.py", "rng.py",
)  # fmt: skip
#: Per cent of the incidents that are played of a fleet, beyond the first table.
FLEET_SHARE: Final = 30


def cells(
    count: int, fog_count: int, questions_count: int, ood_count: int, lists: int
) -> Iterator[Cell]:
    """All that is measured; what the first table needs comes first.

    An incident of a fleet costs several times as much: beyond the first table, a part of
    those is played.
    """

    def part(task: str, whole: int) -> int:
        return whole * FLEET_SHARE // 100 if task.startswith("fleet") else whole

    for policy in POLICIES:
        for task in DRAWN_TASKS:
            yield Cell(task, "test", policy, count)
    for task in DRAWN_TASKS:
        yield Cell(task, "ood", "observer", part(task, ood_count))
        for name in lists_of(task):
            yield Cell(task, "test", name, count, lists)
    for task in DRAWN_TASKS:
        for questions in QUESTIONS:
            yield Cell(task, "test", f"observer:{questions}", part(task, questions_count))
    for other in TASKS:
        if other.fog is not None and other.fog != BENCHMARK_FOG:
            for policy in POLICIES:
                yield Cell(other.id, "test", policy, part(other.id, fog_count))


def lists_of(task: str) -> tuple[str, ...]:
    """The answers that are looked for: systems of a fleet share too few names for lists."""
    return LISTS[:1] if task.startswith("fleet") else LISTS


def key() -> str:
    """A hash of the code that decides what an episode is worth."""
    digest = blake2b(digest_size=6)
    for pattern in DECIDING:
        for path in sorted(SOURCE.glob(pattern)):
            digest.update(f"{path.relative_to(SOURCE)}\n".encode() + path.read_bytes())
    return digest.hexdigest()


# --- playing -------------------------------------------------------------------------


def episode(incident: Incident, index: int, policy: Policy, *, judged: bool) -> Row:
    """Play one incident; the first page is held against the belief, if that is wanted."""
    state, memory = lt.initial_state(incident), None
    sure = pays_from = None
    while not state.is_closed:
        action, memory = policy.act(lt.observe(state), memory)
        if judged and sure is None and isinstance(action, Escalate):
            held = belief(state)
            sure, pays_from = held.teams.get(action.team, 0.0), held.bar(action.team)
        state = lt.transition(state, action)
    return row_of(state, index, sure, pays_from)


def row_of(
    state: lt.State, index: int, sure: float | None = None, pays_from: float | None = None
) -> Row:
    incident, facts, truth = state.incident, state.facts, state.incident.truth
    asked = facts.doings
    dismissed = truth.benign and state.closing is Closing.IGNORED and facts.root_cause is None
    return Row(
        index,
        score(state),
        incident.price_of_silence or 0.0,
        truth.benign,
        str(state.closing),
        bool(facts.pages),
        facts.wrong_pages > 0,
        dismissed or facts.root_cause in truth.root_causes,
        facts.severity is truth.severity,
        state.tick,
        len(asked.logs) + len(asked.metrics) + len(asked.traces),
        sure,
        pays_from,
    )


def rows_of(cell: Cell, folder: Path) -> dict[int, Row]:
    """What was played of a cell so far, by index."""
    found = {}
    for path in sorted(folder.glob(f"{cell.name}.*.csv")):
        for record in csv.DictReader(_whole_lines(path).splitlines()):
            row = _read(record, path)
            if row.index < cell.count:
                found[row.index] = row
    return found


def _whole_lines(path: Path) -> str:
    """A file without a last line that a broken-off run has left half written."""
    text = path.read_text(encoding="utf-8")
    return text[: text.rfind("\n") + 1]


_READ: Final[dict[object, Callable[[str], object]]] = {
    bool: lambda text: {"True": True, "False": False}[text],
    int: int,
    float: float,
    str: str,
    float | None: lambda text: float(text) if text else None,
}


def _read(record: dict[str, str], path: Path) -> Row:
    try:
        return Row(*(_READ[one.type](record[one.name]) for one in attrs.fields(Row)))  # type: ignore[arg-type]
    except (KeyError, TypeError, ValueError) as error:
        raise SystemExit(f"{path}: a row that cannot be read: {record}: {error!r}") from error


def play_cell(cell: Cell, folder: Path, shard: tuple[int, int]) -> None:
    """Play what is missing of this shard's share, and write each row as it comes."""
    part, parts = shard
    done = rows_of(cell, folder)
    left = [i for i in range(cell.count) if i % parts == part - 1 and i not in done]
    if not left:
        return
    names = [one.name for one in attrs.fields(Row)]
    path = folder / f"{cell.name}.{part}of{parts}.csv"
    if path.exists():
        path.write_text(_whole_lines(path), encoding="utf-8")
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if file.tell() == 0:
            writer.writerow(names)
        spec = cell.policy
        if cell.searched:
            spec = f"constant:{best_lists(cell.task, folder, cell.searched)[cell.policy]}"
        factory = make_policy(spec)
        judged = cell.policy in JUDGED
        for index in left:
            incident = lt.make_incident(f"{cell.task}/{cell.split}/{index}")
            row = episode(incident, index, factory(incident), judged=judged)
            writer.writerow(["" if one is None else one for one in attrs.astuple(row)])
            file.flush()


# --- answers that look at nothing ----------------------------------------------------


def best_lists(task: str, folder: Path, count: int) -> dict[str, str]:
    """The best constant answer and the best blind list on train incidents, spelt."""
    path = folder / f"{task}.lists-{count}.json"
    if path.exists():
        found: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
        return found
    incidents = [lt.make_incident(one) for one in lt.incident_ids(task, "train", count)]
    scorer = Scorer(incidents, get_rubric(incidents[0].rubric))
    answers = constant_answers(scorer)
    answer = answers[int(scorer.means(answers).argmax())]
    found = {LISTS[0]: spell(answer)}
    if LISTS[1] in lists_of(task):
        blind = best_blind_policy(scorer, [best_constant_list(scorer).actions, answer])
        found[LISTS[1]] = spell(blind.actions)
    with replacing(path) as draft:
        draft.write(json.dumps(found, indent=1).encode())
    return found


def spell(actions: Iterable[Action]) -> str:
    """A list of actions as the argument of ``constant:``."""
    return ",".join(
        action_name(one) if action_value(one) is None else f"{action_name(one)}={action_value(one)}"
        for one in actions
    )


# --- the command ---------------------------------------------------------------------


def shard_of(text: str) -> tuple[int, int]:
    part, slash, parts = text.partition("/")
    if not (slash and part.isdigit() and parts.isdigit() and 1 <= int(part) <= int(parts)):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a share such as 1/2")
    return int(part), int(parts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000, help="incidents a task at fog 2")
    parser.add_argument("--fog-count", type=int, default=300, help="at each other fog")
    parser.add_argument(
        "--questions-count", type=int, default=300, help="for each number of questions"
    )
    parser.add_argument("--ood-count", type=int, default=300, help="of the split ood")
    parser.add_argument("--lists", type=int, default=300, help="train incidents of the search")
    parser.add_argument("--shard", type=shard_of, metavar="K/N", help="play this share alone")
    parser.add_argument("--write", action="store_true", help="play nothing, write the page")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "results")
    asked = parser.parse_args()
    folder = ROOT / "build" / "second-world" / key()
    folder.mkdir(parents=True, exist_ok=True)
    wanted = list(
        cells(asked.count, asked.fog_count, asked.questions_count, asked.ood_count, asked.lists)
    )
    if not asked.write:
        for number, cell in enumerate(wanted, 1):
            print(f"{number}/{len(wanted)} {cell.name}", file=sys.stderr, flush=True)
            play_cell(cell, folder, asked.shard or (1, 1))
    if asked.shard is None:
        from second_world_page import write_page  # needs matplotlib, which playing does not

        played = {cell: rows_of(cell, folder) for cell in wanted}
        missing = [cell.name for cell, rows in played.items() if len(rows) < cell.count]
        if missing:
            raise SystemExit(f"not all was played yet, such as {missing[0]}: run without --write")
        spelt = {task: best_lists(task, folder, asked.lists) for task in DRAWN_TASKS}
        options = (
            f"--{name.replace('_', '-')} {getattr(asked, name)}"
            for name in ("count", "fog_count", "questions_count", "ood_count", "lists")
            if getattr(asked, name) != parser.get_default(name)
        )
        command = " ".join(("python scripts/second_world.py", *options))
        rows = {cell: [found[place] for place in sorted(found)] for cell, found in played.items()}
        write_page(asked.out, rows, spelt, command)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
