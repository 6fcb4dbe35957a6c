"""The record of a run at its beginning, and its files at the end."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from logtriage.codec import role_split_to_json
from training.common.files import machine, save_json
from training.common.rows import EPISODES, row_of, write_rows
from training.common.settings import EVAL_SPLIT, TRAIN_SPLIT
from training.marl import store
from training.marl.evaluate import Actors, play_held_out, states_of
from training.marl.learn import Point
from training.marl.settings import Settings

#: Whose words a team heard in the last evaluation: its own, or those of another incident.
OWN, SCRAMBLED = "own", "scrambled"


def begun(settings: Settings, command: str) -> dict[str, Any]:
    """The contents of ``run.json`` before anything is learnt."""
    return {
        "command": command,
        "settings": attrs.asdict(settings),
        "role_split": role_split_to_json(settings.roles),
        "train_split": TRAIN_SPLIT,
        "test_split": EVAL_SPLIT,
        "machine": machine(),
        "load_before": os.getloadavg()[0],
        "finished": False,
    }


def end(
    out: Path,
    about: Mapping[str, Any],
    settings: Settings,
    team: Actors,
    points: Sequence[Point],
    spent: Callable[[], tuple[float, float]],
) -> None:
    """Let a team play ``test``; save what it did, and its figures beside ``about``.

    ``spent`` tells the wall and processor time of the run so far, in seconds; it is asked
    when all is played, so that this counts, too.

    Raises:
        SystemExit: if the scalar core grades an incident otherwise than the batched engine.
            Everything is saved then, too.
    """
    played = play_held_out(team, settings)
    states = list(states_of(played, settings))
    rows = {(OWN,): [row_of(state) for state in states]}
    store.save_transcripts(out / store.TRANSCRIPTS, states, settings.split, settings.roles)
    if any("report" in role.may for role in settings.roles.roles):
        others = play_held_out(team, settings, scrambled=True)
        rows[SCRAMBLED,] = [row_of(state) for state in states_of(others, settings)]
    write_rows(out / EPISODES, ["words"], rows)
    seconds, cpu_seconds = spent()
    agrees = [row.grade for row in rows[OWN,]] == played.scores.tolist()
    facts = {
        "finished": True,
        "load_after": os.getloadavg()[0],
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "ticks": points[-1].ticks,
        "episodes": points[-1].incidents,
        "before": attrs.asdict(points[0].val),
        "after": attrs.asdict(played.result()),
        "scalar_core_agrees": agrees,
    }
    save_json(out / store.RUN, {**about, **facts})
    if not agrees:
        raise SystemExit(f"{out}: the scalar core grades the last evaluation otherwise")
