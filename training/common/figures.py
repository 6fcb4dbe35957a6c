"""Episodes in figures: a row for each episode, and what many of them are worth."""

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
from rich.console import Console
from scipy.stats import t as student

from logtriage.codec import encode_transcript
from logtriage.evaluation.episodes import mis_paged, paged_right
from logtriage.evaluation.net_values import net_difference
from logtriage.evaluation.net_values import net_value as net_of
from logtriage.evaluation.statistics import Interval
from logtriage.grading import score
from logtriage.grading.grade import is_handed_over
from logtriage.state import State
from logtriage.transcript import transcript_of
from training.common.files import save_text

#: The held-out episodes, in the directory of a run.
EPISODES: Final = "episodes.csv"
#: The same as transcripts.
TRANSCRIPTS: Final = "transcripts.jsonl"
#: The evaluations of a run, in its directory.
CURVE: Final = "curve.csv"


@attrs.frozen
class Row:
    """A closed episode, told as ``logtriage report`` does; ``worth`` is what a hand-over earns."""

    incident: str
    worth: float
    fault: bool
    grade: float
    handed_over: bool
    paged_right: bool
    mis_paged: bool
    ticks: int


#: A row's place among those of a file, such as its split.
Key = tuple[str, ...]
#: The rows of several seeds on the same incidents, in order.
Seeds = Sequence[Sequence[Row]]


def row_of(state: State) -> Row:
    """The figures of an episode; an open one is graded as it stands."""
    incident = state.incident
    assert incident.worth_of_hand_over is not None  # every drawn incident has a worth
    return Row(
        incident=incident.id,
        worth=incident.worth_of_hand_over,
        fault=not incident.truth.benign,
        grade=score(state),
        handed_over=is_handed_over(state),
        paged_right=bool(paged_right(state)),
        mis_paged=bool(mis_paged(state)),
        ticks=state.tick,
    )


def net_value(rows: Sequence[Row]) -> Interval:
    """Net value with its bootstrap interval over incidents; NaN of no rows."""
    net = net_of([(row.grade, row.worth) for row in rows])
    return Interval(math.nan, None, None) if net is None else net


def gain(before: Sequence[Row], after: Sequence[Row]) -> Interval:
    """The net value of ``after`` less that of ``before``, paired by incident; NaN of no rows."""
    pairs = [[(row.grade, row.worth) for row in rows] for rows in (before, after)]
    net = net_difference(*pairs)
    return Interval(math.nan, None, None) if net is None else net


def over_seeds(values: Sequence[float]) -> Interval:
    """A mean with Student's interval (95 %); without an interval for one value."""
    count, mean = len(values), math.fsum(values) / len(values)
    if count < 2:
        return Interval(mean, None, None)
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    reach = float(student.ppf(0.975, count - 1)) * math.sqrt(variance / count)
    return Interval(mean, mean - reach, mean + reach)


def mean_of(runs: Seeds) -> list[Row]:
    """Each incident with its mean grade over seeds; other columns are those of the first seed."""
    return [
        attrs.evolve(rows[0], grade=math.fsum(row.grade for row in rows) / len(rows))
        for rows in zip(*runs, strict=True)
    ]


def handed_over_by_worth(rows: Sequence[Row]) -> dict[float, float]:
    """The share that is handed over, by what a hand-over is worth."""
    return {
        worth: _mean([row.handed_over for row in rows if row.worth == worth])
        for worth in sorted({row.worth for row in rows})
    }


def figures(rows: Sequence[Row]) -> dict[str, Any]:
    """Means and shares over rows, by name; of all rows, as in ``logtriage report``.

    ``grade_faults`` is the mean grade where there is a fault. ``heeding`` is the share handed over
    where that is worth most, less the share where it is worth least.
    """
    net, shares = net_value(rows), handed_over_by_worth(rows)
    ends = list(shares.values()) or [math.nan]
    return {
        "net_value": net.mean,
        "low": net.low,
        "high": net.high,
        "grade": _mean([row.grade for row in rows]),
        "grade_faults": _mean([row.grade for row in rows if row.fault]),
        "handed_over": _mean([row.handed_over for row in rows]),
        "heeding": ends[-1] - ends[0],
        "paged_right": _mean([row.paged_right for row in rows]),
        "mis_paged": _mean([row.mis_paged for row in rows]),
        "ticks": _mean([row.ticks for row in rows]),
        **{f"handed_over_{worth:g}": share for worth, share in shares.items()},
    }


def handed_over_in_words(rows: Sequence[Row]) -> str:
    """The share that is handed over, by what a hand-over is worth."""
    shares = handed_over_by_worth(rows).items()
    return ", ".join(f"{share:.0%} at {worth:g}" for worth, share in shares)


def line_of(rows: Sequence[Row]) -> str:
    """Net value, grade, pages, ticks and hand-overs by worth, in one line."""
    told = figures(rows)
    return (
        f"net value {net_value(rows):+.3f}, grade {told['grade']:.3f}, "
        f"paged right {told['paged_right']:.0%}, mis-paged {told['mis_paged']:.0%}, "
        f"{told['ticks']:.1f} ticks an episode; handed over by worth: {handed_over_in_words(rows)}"
    )


def tell_end(
    console: Console, out: Path, played: Mapping[str, Sequence[Row]], following: str
) -> None:
    """Print held-out play ``before``, ``after`` and so on, the gain, the run, and what is next."""
    lines = [f"{when + ':':7} {line_of(rows)}" for when, rows in played.items() if rows]
    if played["before"] and played["after"]:
        lines.append(f"gain in net value: {gain(played['before'], played['after']):+.3f}")
    for line in (*lines, f"run:    {out}", f"next:   {following}"):
        console.print(line, soft_wrap=True, markup=False, highlight=False)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan


# -- files ----------------------------------------------------------------------------------


def write_rows(path: Path, names: Sequence[str], keyed: Mapping[Key, Sequence[Row]]) -> None:
    """Write rows with the ``names`` of their keys as the first columns."""
    heads = [*names, *(field.name for field in attrs.fields(Row))]
    lines = [(*key, *attrs.astuple(row)) for key, rows in keyed.items() for row in rows]
    save_table(path, [dict(zip(heads, line, strict=True)) for line in lines], heads)


def write_transcripts(path: Path, states: Iterable[State], **whose: Any) -> None:
    """Write episodes for ``logtriage grade``; ``whose`` as :func:`transcript_of` takes it."""
    lines = (encode_transcript(transcript_of(state, **whose)) for state in states)
    save_text(path, "".join(f"{line}\n" for line in lines))


def read_rows(path: Path) -> dict[Key, list[Row]]:
    """The rows of :func:`write_rows` by key."""
    readers: dict[str, Any] = {
        field.name: {"True": True, "False": False}.__getitem__ if field.type is bool else field.type
        for field in attrs.fields(Row)
    }
    keyed: dict[Key, list[Row]] = {}
    for line in load_table(path):
        row = Row(**{name: reads(line.pop(name)) for name, reads in readers.items()})
        keyed.setdefault(tuple(line.values()), []).append(row)
    return keyed


def save_table(
    path: Path, rows: Sequence[Mapping[str, object]], heads: Sequence[str] | None = None
) -> None:
    """Save rows as CSV, by default with the keys of the first as heads; None is empty."""
    out = io.StringIO()
    writer = csv.DictWriter(out, heads or list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    save_text(path, out.getvalue())


def load_table(path: Path) -> list[dict[str, str]]:
    """The rows of :func:`save_table`."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
