"""Measure every scripted policy on the tasks of version 4, and write docs/results/oncall.*.

    python -m scripts.oncall_results                  # play what is missing, write the page
    python -m scripts.oncall_results --shard 1/2      # play the first half; write nothing
    python -m scripts.oncall_results --write          # write the page from what was played
    python -m scripts.oncall_results --count 20 --fog-count 10 --questions-count 10

Rows are written as they come, to build/oncall/KEY/, where KEY is a hash of the code and the world
that decide them: a run that was broken off goes on where it was, and figures of another
version are never mixed in. Shards may run side by side. The page needs the extra ``report``
(matplotlib).
"""

import argparse
import csv
import sys
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import attrs

import logtriage as lt
from logtriage.actions import RequestMetrics, RequestMoreLogs, RequestTraces
from logtriage.audit.handing_over import decision_of
from logtriage.beliefs import belief
from logtriage.grading import score
from logtriage.grading.grade import is_handed_over
from logtriage.incident import Incident
from logtriage.policies import Policy
from logtriage.registry import make_policy
from logtriage.state import Closing
from scripts.oncall_cells import BELIEVING, DECISIONS, Cell, DecisionRow, Row, cells

ROOT: Final = Path(__file__).resolve().parent.parent
SOURCE: Final = ROOT / "src" / "logtriage"
#: What decides a row: everything but what only shows, stores or serves.
DECIDING: Final = (
    "actions.py", "evidence.py", "incident.py", "observation.py", "rng.py", "state.py", "tasks.py",
    "topology.py", "dynamics.py", "beliefs/**/*.py", "drawing/**/*.py", "grading/**/*.py",
    "policies/**/*.py", "registry/policies.py", "world/**/*.py", "worlds/oncall/**/*.toml",
)  # fmt: skip
_LOOKS: Final = (RequestMetrics, RequestMoreLogs, RequestTraces)


def key() -> str:
    """A hash of the code and the world that decide what an episode is worth."""
    digest = blake2b(digest_size=6)
    for pattern in DECIDING:
        for path in sorted(SOURCE.glob(pattern)):
            digest.update(f"{path.relative_to(SOURCE)}\n".encode() + path.read_bytes())
    return digest.hexdigest()


# --- playing -------------------------------------------------------------------------


def episode(incident: Incident, index: int, policy: Policy, *, believing: bool) -> Row:
    """Play one incident; what the belief expected when no more was asked, if that is wanted."""
    state, memory = lt.initial_state(incident), None
    expected = None
    while not state.is_closed:
        action, memory = policy.act(lt.observe(state), memory)
        if believing and expected is None and not isinstance(action, _LOOKS):
            expected = belief(state).value()
        state = lt.transition(state, action)
    return row_of(state, index, expected)


def row_of(state: lt.State, index: int, expected: float | None = None) -> Row:
    incident, facts, truth = state.incident, state.facts, state.incident.truth
    asked, worth = facts.doings, incident.worth_of_hand_over
    if worth is None:
        raise SystemExit(f"{incident.id}: expected an incident with a worth of hand-over")
    dismissed = truth.benign and state.closing is Closing.IGNORED and facts.root_cause is None
    return Row(
        index,
        score(state),
        worth,
        truth.benign,
        str(state.closing),
        is_handed_over(state),
        bool(facts.pages),
        facts.wrong_pages > 0,
        dismissed or facts.root_cause in truth.root_causes,
        facts.severity is truth.severity,
        state.tick,
        len(asked.logs) + len(asked.metrics) + len(asked.traces),
        expected,
    )


def rows_of(cell: Cell, folder: Path) -> dict[int, Any]:
    """What was played of a cell so far, by index."""
    found = {}
    for path in sorted(folder.glob(f"{cell.name}.*.csv")):
        for record in csv.DictReader(_whole_lines(path).splitlines()):
            row = _read(cell.row, record, path)
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


def _read(kind: type[Any], record: dict[str, str], path: Path) -> Any:
    try:
        return kind(*(_READ[one.type](record[one.name]) for one in attrs.fields(kind)))
    except (KeyError, TypeError, ValueError) as error:
        raise SystemExit(f"{path}: a row that cannot be read: {record}: {error!r}") from error


def play_cell(cell: Cell, folder: Path, shard: tuple[int, int]) -> None:
    """Play what is missing of this shard's share, and write each row as it comes."""
    part, parts = shard
    done = rows_of(cell, folder)
    left = [i for i in range(cell.count) if i % parts == part - 1 and i not in done]
    if not left:
        return
    path = folder / f"{cell.name}.{part}of{parts}.csv"
    if path.exists():
        path.write_text(_whole_lines(path), encoding="utf-8")
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if file.tell() == 0:
            writer.writerow([one.name for one in attrs.fields(cell.row)])
        for index in left:
            incident = lt.make_incident(f"{cell.task}/{cell.split}/{index}")
            row = _played(cell, incident, index)
            writer.writerow(["" if one is None else one for one in attrs.astuple(row)])
            file.flush()


def _played(cell: Cell, incident: Incident, index: int) -> Row | DecisionRow:
    if cell.policy == DECISIONS:
        found = decision_of(incident)
        return DecisionRow(index, found.value, *found.worths)
    policy = make_policy(cell.policy)(incident)
    return episode(incident, index, policy, believing=cell.policy in BELIEVING)


# --- the command ---------------------------------------------------------------------


def shard_of(text: str) -> tuple[int, int]:
    part, slash, parts = text.partition("/")
    if not (slash and part.isdigit() and parts.isdigit() and 1 <= int(part) <= int(parts)):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a share such as 1/2")
    return int(part), int(parts)


#: Options that say how much is played: their defaults and what they count.
COUNTS: Final = {
    "count": (1000, "incidents a task at fog 2"),
    "fog_count": (300, "at each other fog"),
    "questions_count": (300, "for each number of questions"),
    "ood_count": (300, "of the split ood"),
    "several_count": (200, "of the tasks with several faults"),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, (default, what) in COUNTS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=default, help=what)
    parser.add_argument("--shard", type=shard_of, metavar="K/N", help="play this share alone")
    parser.add_argument("--write", action="store_true", help="play nothing, write the page")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "results")
    asked = parser.parse_args()
    folder = ROOT / "build" / "oncall" / key()
    folder.mkdir(parents=True, exist_ok=True)
    wanted = list(cells(**{name: getattr(asked, name) for name in COUNTS}))
    if not asked.write:
        for number, cell in enumerate(wanted, 1):
            print(f"{number}/{len(wanted)} {cell.name}", file=sys.stderr, flush=True)
            play_cell(cell, folder, asked.shard or (1, 1))
    if asked.shard is None:
        from scripts.oncall_page import write_page  # needs matplotlib, which playing does not

        played = {cell: rows_of(cell, folder) for cell in wanted}
        missing = [cell.name for cell, rows in played.items() if len(rows) < cell.count]
        if missing:
            raise SystemExit(f"not all was played yet, such as {missing[0]}: run without --write")
        options = (
            f"--{name.replace('_', '-')} {getattr(asked, name)}"
            for name in COUNTS
            if getattr(asked, name) != parser.get_default(name)
        )
        command = " ".join(("python -m scripts.oncall_results", *options))
        rows = {cell: [found[place] for place in sorted(found)] for cell, found in played.items()}
        write_page(asked.out, rows, command)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
