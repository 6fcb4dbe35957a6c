"""What a model of notation is worth on held-out incidents."""

import csv
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import attrs
import torch

from logtriage.drawing.generator import make_incident
from logtriage.drawing.ids import incident_ids
from logtriage.grading import score
from logtriage.incident import Incident
from logtriage.state import Closing, State, initial_state
from logtriage.transition import transition
from training.common.settings import CHOICE_SPLIT, EVAL_SPLIT
from training.tiny.play import Played, own
from training.tiny.scores import chunks, scores
from training.tiny.words import Grammar

#: What a hand-over may be worth; heeding is the difference between the last and the first.
PRICES: Final = (0.3, 0.5, 0.7, 0.8, 0.9)
LOW, HIGH = PRICES[0], PRICES[-1]
#: The seed of the draws of every evaluation, so that two models meet the same luck.
SEED: Final = 1
#: What was played on held-out incidents, in the directory of a run.
EPISODES: Final = "episodes.csv"
#: What the screens of a judged episode say of the price.
TRUE, FALSE = "true", "false"
#: Incidents of ``val`` that tell the entropy of a policy, and of ``test`` that tell its worth.
VAL, TEST = 300, 600


@attrs.frozen
class Row:
    """An episode in figures: a row of :data:`EPISODES`.

    ``entropy`` is the sum over its actions, in nats, under the grammar.
    """

    incident: str
    price: float
    fault: bool
    grade: float
    handed_over: bool
    paged_right: bool
    mis_paged: bool
    ticks: int
    entropy: float = math.nan


def held_out(task: str, split: str, count: int) -> list[Incident]:
    """The first incidents of a split."""
    return [make_incident(one) for one in incident_ids(task, split, count)]


def row_of(state: State) -> Row:
    """The figures of a closed episode."""
    facts, incident = state.facts, state.incident
    assert incident.price_of_hand_over is not None  # v3 tasks have a price
    return Row(
        incident=incident.id,
        price=incident.price_of_hand_over,
        fault=not incident.truth.benign,
        grade=score(state),
        handed_over=state.closing == Closing.HANDED_OVER,
        paged_right=any(team in incident.truth.teams for _, team in facts.pages),
        mis_paged=facts.wrong_pages > 0,
        ticks=state.tick,
    )


def judged(
    model: Any, tokenizer: Any, incidents: Sequence[Incident], temperature: float
) -> list[Row]:
    """A row for each incident, played once."""
    episodes = played(model, tokenizer, incidents, temperature)
    entropies = [math.nan] * len(episodes)
    if temperature > 0:
        grammar = Grammar(tokenizer)
        with torch.no_grad():
            for part, ids, _ in chunks(model, episodes):
                free = torch.zeros(len(part), dtype=torch.bool)
                rows, _, entropy = scores(model, ids, grammar, free, temperature)
                sums = torch.zeros(len(part)).index_add(0, rows, entropy).tolist()
                for row, value in zip(part, sums, strict=True):
                    entropies[row] = value
    return [
        attrs.evolve(row_of(one.state), entropy=value)
        for one, value in zip(episodes, entropies, strict=True)
    ]


def played(
    model: Any, tokenizer: Any, incidents: Sequence[Incident], temperature: float
) -> list[Played]:
    """The episodes; ``temperature`` 0 takes the likeliest actions."""
    return own(
        model, incidents, None, tokenizer, lambda _: None,
        temperature=temperature, seed=SEED, batch=250,
    )  # fmt: skip


def lied_to(
    model: Any,
    tokenizer: Any,
    incidents: Sequence[Incident],
    temperature: float,
    prices: Sequence[float],
) -> list[Row]:
    """Rows of episodes whose screens show a false price; graded at the true one."""
    false = [
        attrs.evolve(one, price_of_hand_over=price)
        for one, price in zip(incidents, prices, strict=True)
    ]
    episodes = played(model, tokenizer, false, temperature)
    found = []
    for one, episode in zip(incidents, episodes, strict=True):
        state = initial_state(one)
        for _, action in episode.state.history:
            state = transition(state, action)
        found.append(row_of(state))
    return found


def mirrored(incidents: Sequence[Incident]) -> list[float]:
    """For each incident a false price: the lowest for the highest, and so on."""
    prices = [one.price_of_hand_over for one in incidents]
    assert None not in prices  # v3 tasks have a price
    ladder = sorted({float(one) for one in prices if one is not None})
    return [ladder[-1 - ladder.index(float(one))] for one in prices if one is not None]


def save_judged(
    model: Any,
    tokenizer: Any,
    task: str,
    temperatures: Sequence[float],
    sampling: float,
    out: Path,
) -> None:
    """Play ``val`` and ``test`` at these temperatures.

    The likeliest actions and those at the temperature of ``sampling`` play ``test`` with false
    prices, too. A row an episode goes to :data:`EPISODES` in ``out``.
    """
    val, test = held_out(task, CHOICE_SPLIT, VAL), held_out(task, EVAL_SPLIT, TEST)
    with saved(out) as save:
        for temperature in temperatures:
            for split, incidents in ((CHOICE_SPLIT, val), (EVAL_SPLIT, test)):
                rows = judged(model, tokenizer, incidents, temperature)
                save(split, temperature, TRUE, rows)
            if temperature in (0.0, sampling):
                rows = lied_to(model, tokenizer, test, temperature, mirrored(test))
                save(EVAL_SPLIT, temperature, FALSE, rows)


@contextmanager
def saved(out: Path) -> Iterator[Callable[[str, float, str, Sequence[Row]], None]]:
    """What appends rows of a split, a temperature and a shown price to :data:`EPISODES`."""
    with (out / EPISODES).open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(
            ["split", "temperature", "shown", *(field.name for field in attrs.fields(Row))]
        )

        def save(split: str, temperature: float, shown: str, rows: Sequence[Row]) -> None:
            table.writerows([split, temperature, shown, *attrs.astuple(row)] for row in rows)
            file.flush()

        yield save


def net_value(rows: Sequence[Row]) -> float:
    """Earned beyond handing all over, as a share of what could be; NaN of no rows."""
    room = sum(1 - one.price for one in rows)
    return sum(one.grade - one.price for one in rows) / room if room else math.nan


def handed_over(rows: Sequence[Row], price: float) -> float:
    """The share that is handed over where a hand-over is worth ``price``; NaN of no rows."""
    return _mean([one.handed_over for one in rows if one.price == price])


def figures(rows: Sequence[Row]) -> dict[str, float]:
    """Means and shares over rows, by name."""
    faults = [one for one in rows if one.fault]
    benign = [one for one in rows if not one.fault]
    found = {
        "net_value": net_value(rows),
        "grade": _mean([one.grade for one in rows]),
        "grade_faults": _mean([one.grade for one in faults]),
        "grade_benign": _mean([one.grade for one in benign]),
        "net_faults": net_value(faults),
        "net_benign": net_value(benign),
        "handed_over": _mean([one.handed_over for one in rows]),
        "heeding": handed_over(rows, HIGH) - handed_over(rows, LOW),
        "paged_right": _mean([one.paged_right for one in faults]),
        "mis_paged": _mean([one.mis_paged for one in rows]),
        "ticks": _mean([one.ticks for one in rows]),
    }
    for price in PRICES:
        found[f"handed_over_{price}"] = handed_over(rows, price)
    return found


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan
