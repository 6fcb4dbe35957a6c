"""The page on worlds fitted to recordings.

python scripts/fitted_results.py NEZHA_BUNDLE PETSHOP_BUNDLE docs/results/fitted.md

Rows of methods and recordings stand beside the page (fitted.csv), written as they come; those
that are there already are not made again. The page also reads wrong-models.csv beside it, of
scripts/wrong_models.py.
"""

import csv
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import pairwise
from math import log
from pathlib import Path
from statistics import fmean

import attrs
import numpy as np
from fitted_checks import checks, dependences
from fitted_rows import (
    COMMONEST,
    RANKINGS,
    ZERO_SHOT_FOG,
    Row,
    chosen,
    commonest,
    fitted,
    of_group,
    of_kind,
    ranked,
    transferred,
    with_bar,
)
from recorded_models import table

from logtriage._lib.files import replacing
from logtriage.beliefs.fitting import LEAST, Fit, Recorded
from logtriage.drawing.incidents import PRICES_OF_HAND_OVER
from logtriage.evaluation.net_values import on_grid
from logtriage.evaluation.statistics import RESAMPLES, SEED
from logtriage.recorded import load_records
from logtriage.world.loading import load_world
from logtriage.world.model import World

LEFT_OUT, KIND_OUT = "fitted, its group left out", "fitted, its kind left out"
ACROSS, ZERO_SHOT = "fitted to the other data set", "oncall's own tables (zero-shot)"
Makers = dict[tuple[str, str], Callable[[], Iterable[Row]]]
NEZHA, PETSHOP = "TrainTicket", "PetShop"
P_SHOWN = 0.05
BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def foggy(world: World) -> World:
    """The shipped world with the fog of the benchmark at level 0, which recordings are read by."""
    rules = world.rules
    return attrs.evolve(world, rules=attrs.evolve(rules, fog=rules.fog[ZERO_SHOT_FOG:]))


def makers(nezha: list[Recorded], petshop: list[Recorded]) -> Makers:
    """How the rows of each data set and method are made."""
    like = load_world("oncall")
    fit, unfitted = Fit(like), foggy(like)
    made: Makers = {}
    for name, rows, others in ((NEZHA, nezha, petshop), (PETSHOP, petshop, nezha)):
        for method in RANKINGS:
            made[name, method] = partial(ranked, method, rows)
        made[name, ZERO_SHOT] = partial(transferred, ZERO_SHOT, lambda: unfitted, rows)
        made[name, ACROSS] = partial(transferred, ACROSS, partial(chosen, fit, others), rows)
        made[name, COMMONEST] = partial(commonest, rows)
    made[NEZHA, LEFT_OUT] = partial(fitted, LEFT_OUT, nezha, fit, of_group)
    made[NEZHA, KIND_OUT] = partial(fitted, KIND_OUT, nezha, fit, of_kind)
    made[PETSHOP, KIND_OUT] = partial(fitted, KIND_OUT, petshop, fit, of_kind)
    return made


def kept_rows(path: Path, made: Makers) -> dict[tuple[str, str], list[Row]]:
    """All rows; those that are missing in the file are made and added."""
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    fields = [one.name for one in attrs.fields(Row)]
    if path.exists():
        with path.open() as file:
            for line in csv.DictReader(file):
                found[line["data"], line["method"]].append(read(line))
    else:
        with path.open("w") as file:
            csv.writer(file, lineterminator="\n").writerow(["data", *fields])
    for (data, method), make in made.items():
        if (data, method) in found:
            continue
        found[data, method] = list(make())
        with path.open("a") as file:
            for row in found[data, method]:
                cells = [getattr(row, name) for name in fields]
                cells[-1] = " ".join(f"{grade:.6g}" for grade in row.grades)
                csv.writer(file, lineterminator="\n").writerow(
                    [data, *(f"{one:.6g}" if isinstance(one, float) else one for one in cells)]
                )
    return found


def read(line: dict[str, str]) -> Row:
    """A row of the file."""
    return Row(
        method=line["method"],
        incident=line["incident"],
        kind=line["kind"],
        group=line["group"],
        ac1=float(line["ac1"]),
        ac3=float(line["ac3"]),
        probability=float(line["probability"]) if line["probability"] else None,
        top=float(line["top"]) if line["top"] else None,
        grades=tuple(map(float, line["grades"].split())),
    )


def net(rows: Sequence[Row]) -> float:
    """Net value over all recordings and prices: a ratio of sums."""
    gained = sum(
        on_grid(grade) - on_grid(price)
        for row in rows
        for grade, price in zip(row.grades, PRICES_OF_HAND_OVER, strict=True)
    )
    return gained / (
        len(rows) * sum(on_grid(1.0) - on_grid(price) for price in PRICES_OF_HAND_OVER)
    )


def interval(rows: Sequence[Row], figure: Callable[[Sequence[Row]], float]) -> str:
    """The 95 % interval of a figure; whole groups are drawn, since injections repeat."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.group].append(row)
    listed, dice = list(groups.values()), np.random.default_rng(SEED)
    drawn = [
        figure([row for one in dice.integers(len(listed), size=len(listed)) for row in listed[one]])
        for _ in range(RESAMPLES)
    ]
    low, high = np.quantile(drawn, (0.025, 0.975))
    return f"[{low:.2f}, {high:.2f}]"


def by_method(found: dict[tuple[str, str], list[Row]], data: str) -> str:
    """AC@k, log loss and net value of every method on one data set."""
    rows = []
    for (of, method), mine in found.items():
        if of != data:
            continue
        known = [row.probability for row in mine if row.probability is not None]
        loss = f"{-fmean(log(max(LEAST, one)) for one in known):.2f}" if known else ""
        cells = [
            f"{fmean(row.ac1 for row in mine):.3f}",
            interval(mine, lambda some: fmean(row.ac1 for row in some)),
        ]
        cells += [f"{fmean(row.ac3 for row in mine):.3f}", loss]
        if data == NEZHA:
            cells += [f"{net(mine):.2f}", interval(mine, net)]
        rows.append((method, *cells))
        if data == NEZHA and not known:
            barred = list(with_bar(mine))
            rows.append((barred[0].method, *cells[:4], f"{net(barred):.2f}", interval(barred, net)))
    services = {NEZHA: 46, PETSHOP: 42}[data]
    chance = [f"{1 / services:.3f}", "", f"{3 / services:.3f}", f"{log(services):.2f}"]
    rows.append(
        (
            "any constant answer",
            *chance,
            *((f"{_constant(services):.2f}", "") if data == NEZHA else ()),
        )
    )
    head = ["", "AC@1", "interval", "AC@3", "log loss"]
    if data == NEZHA:
        rows.append(("always hand over", "", "", "", "", "0.00", ""))
        head += ["net value", "interval"]
    return table(head, rows)


def _constant(services: int) -> float:
    """The net value of a service and a class drawn by lot."""
    grade = (0.7 + 0.3 / 3) / services
    prices = PRICES_OF_HAND_OVER
    return sum(grade - one for one in prices) / sum(1 - one for one in prices)


def reliability(rows: Sequence[Row]) -> str:
    """How often the likeliest service is right, by what its probability was."""
    lines = []
    for low, high in pairwise(BINS):
        mine = [row for row in rows if low <= (row.top or 0.0) < high or (high == 1.0 == row.top)]
        if mine:
            said, right = fmean(row.top or 0.0 for row in mine), fmean(row.ac1 for row in mine)
            lines.append((f"{low:.1f} to {high:.1f}", len(mine), f"{said:.2f}", f"{right:.2f}"))
    return table(("probability", "recordings", "mean", "right"), lines)


def by_kind(found: dict[tuple[str, str], list[Row]]) -> str:
    """AC@1 on TrainTicket by kind of fault."""
    kinds = sorted({row.kind for row in found[NEZHA, LEFT_OUT]})
    rows = []
    for method in (LEFT_OUT, KIND_OUT, ZERO_SHOT, *RANKINGS):
        mine = found[NEZHA, method]
        rows.append(
            (
                method,
                *(f"{fmean(one.ac1 for one in mine if one.kind == kind):.2f}" for kind in kinds),
            )
        )
    counts = [sum(one.kind == kind for one in found[NEZHA, LEFT_OUT]) for kind in kinds]
    return table(
        ("AC@1", *(f"`{kind}` ({n})" for kind, n in zip(kinds, counts, strict=True))), rows
    )


def predicted(nezha: Sequence[Recorded]) -> str:
    """What the shipped world says of cells, and what recordings show."""
    rows = [
        (
            f"`{one.condition}`", f"{one.sort}: {one.token}", f"{100 * one.says:.0f} %",
            f"{one.seen} of {one.of}", f"{100 * one.seen / one.of:.0f} %",
            f"{one.low} to {one.high}", "yes" if one.right else "**no**",
        )
        for one in checks(nezha, load_world("oncall"))
    ]  # fmt: skip
    return table(("condition", "cell", "oncall says", "seen", "share", "predicted", "right"), rows)


def dependent(nezha: Sequence[Recorded]) -> str:
    """Pairs of cells that tell of each other although the condition is known."""
    every = sorted(dependences(nezha), key=lambda one: (one.p, one.expected - one.bits))
    rows = [
        (
            one.condition, f"{one.one}, {one.other}", one.services, f"{one.bits:.3f}",
            f"{one.expected:.3f}", f"{one.p:.3f}",
        )
        for one in every if one.p <= P_SHOWN
    ]  # fmt: skip
    shown = table(("condition", "cells", "services", "bits", "by chance", "p"), rows)
    return f"{shown}\n\n{len(every)} pairs were tested; those with p up to {P_SHOWN} are shown."


def wrong(path: Path) -> str:
    """What scripts/wrong_models.py measured."""
    with path.open() as file:
        rows = [
            (row["axis"], f"{float(row['amount']):g}", f"{float(row['net_value']):.2f}",
             f"[{float(row['low']):.2f}, {float(row['high']):.2f}]",
             f"{float(row['handed_over']):.2f}")
            for row in csv.DictReader(file)
        ]  # fmt: skip
    return table(("wrong in", "amount", "net value", "interval", "handed over"), rows)


def main(nezha: Path, petshop: Path, target: Path) -> None:
    sets = [[Recorded.of(record) for record in load_records(path)] for path in (nezha, petshop)]
    found = kept_rows(target.with_suffix(".csv"), makers(*sets))
    text = Path(__file__).with_name("fitted_page.txt").read_text()
    page = text.format(
        nezha=len(sets[0]),
        groups=len({row.group for row in sets[0]}),
        petshop=len(sets[1]),
        train=by_method(found, NEZHA),
        shop=by_method(found, PETSHOP),
        kinds=by_kind(found),
        reliable=reliability(found[NEZHA, LEFT_OUT]),
        reliable_kind=reliability(found[NEZHA, KIND_OUT]),
        predicted=predicted(sets[0]),
        dependent=dependent(sets[0]),
        wrong=wrong(target.with_name("wrong-models.csv")),
    )
    with replacing(target) as file:
        file.write(page.encode())


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
