"""The worth of a model of notation on held-out incidents."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import torch

from logtriage.drawing.generator import make_incident
from logtriage.drawing.ids import incident_ids
from logtriage.dynamics import transition
from logtriage.incident import Incident
from logtriage.state import initial_state
from training.common.rows import EPISODES, Key, Row, row_of, write_rows
from training.common.settings import CHOICE_SPLIT, EVAL_SPLIT
from training.tiny.play import Played, own
from training.tiny.scores import chunks, scores
from training.tiny.words import Grammar

#: The seed of the draws of every evaluation, so that two models meet the same luck.
SEED: Final = 1
#: What the screens of a judged episode say of the price.
TRUE, FALSE = "true", "false"


def held_out(task: str, split: str, count: int) -> list[Incident]:
    """The first incidents of a split."""
    return [make_incident(name) for name in incident_ids(task, split, count)]


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
        attrs.evolve(row_of(episode.state), entropy=value)
        for episode, value in zip(episodes, entropies, strict=True)
    ]


def played(
    model: Any, tokenizer: Any, incidents: Sequence[Incident], temperature: float
) -> list[Played]:
    """The episodes; ``temperature`` 0 takes the likeliest actions."""
    return own(
        model, incidents, None, tokenizer, lambda _: None,
        temperature=temperature, seed=SEED, batch=100,
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
        attrs.evolve(incident, price_of_hand_over=price)
        for incident, price in zip(incidents, prices, strict=True)
    ]
    episodes = played(model, tokenizer, false, temperature)
    rows = []
    for incident, episode in zip(incidents, episodes, strict=True):
        state = initial_state(incident)
        for _, action in episode.state.history:
            state = transition(state, action)
        rows.append(row_of(state))
    return rows


def mirrored(incidents: Sequence[Incident]) -> list[float]:
    """A false price for each incident: the highest becomes the lowest, and so on."""
    prices = [incident.price_of_hand_over for incident in incidents]
    assert None not in prices  # v3 tasks have a price
    ladder = sorted({float(price) for price in prices if price is not None})
    return [ladder[-1 - ladder.index(float(price))] for price in prices if price is not None]


def save_judged(
    model: Any,
    tokenizer: Any,
    task: str,
    temperatures: Sequence[float],
    sampling: float,
    count: int,
    out: Path,
) -> None:
    """Play ``count`` incidents of ``test``, and half as many of ``val``, at these temperatures.

    The likeliest actions and those at the temperature of ``sampling`` play ``test`` with false
    prices, too. A row an episode goes to :data:`EPISODES` in ``out``.
    """
    val, test = held_out(task, CHOICE_SPLIT, count // 2), held_out(task, EVAL_SPLIT, count)
    keyed: dict[Key, list[Row]] = {}
    for temperature in temperatures:
        for split, incidents in ((CHOICE_SPLIT, val), (EVAL_SPLIT, test)):
            rows = judged(model, tokenizer, incidents, temperature)
            keyed[split, str(temperature), TRUE] = rows
        if temperature in (0.0, sampling):
            rows = lied_to(model, tokenizer, test, temperature, mirrored(test))
            keyed[EVAL_SPLIT, str(temperature), FALSE] = rows
    write_rows(out / EPISODES, ["split", "temperature", "shown"], keyed)
