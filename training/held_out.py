"""Try a trained agent on held-out incidents, whoever trained it.

    python -m training.held_out runs/cascade
    python -m training.held_out runs/rllib --incidents 300

``RUN`` is the directory of a run of ``training.ppo`` or ``training.rllib``. It gets
``trials.json``, the figures on split ``test`` at every level of fog and on ``ood``, and
``transcripts.jsonl``, the episodes at the fog of the agent's own task: ``logtriage grade``
grades them anew.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console

from logtriage.actions import all_actions
from logtriage.codec import encode_transcript
from logtriage.errors import InvalidInput, LogTriageError
from logtriage.transcript import Transcript, transcript_of
from logtriage.transition import play
from training.common.files import save_json, save_text
from training.common.settings import EVAL_INCIDENTS
from training.ppo.acting import Acts
from training.ppo.evaluate import Played, play_held_out
from training.ppo.trials import OOD_INCIDENTS, trials
from training.rllib.directory import AGENT, RUN, TRAINER

TRIALS = "trials.json"
TRANSCRIPTS = "transcripts.jsonl"


def load(run: Path) -> tuple[Acts, str]:
    """The agent of a run, and its task.

    Raises:
        InvalidInput: for a directory that holds no run, or none that can be tried.
    """
    where = run / RUN
    if not where.exists():
        raise InvalidInput(f"{run}: expected the directory of a run, with {RUN} in it")
    about: dict[str, Any] = json.loads(where.read_text("utf-8"))
    agent: Acts
    # Each trainer is loaded only where it is wanted: they live in environments of their own.
    if about.get("trainer") == TRAINER:
        from training.rllib import store as rllib
        from training.rllib.settings import Settings as RLlibSettings

        weights = _there(run / AGENT)
        agent = rllib.load_agent(weights, RLlibSettings(**about["settings"]))
    elif "inputs" in about["settings"]:
        from training.ppo import store as ppo
        from training.ppo.settings import Settings

        agent = ppo.load_agent(_there(run / ppo.CHECKPOINT), Settings(**about["settings"]))
    else:
        raise InvalidInput(f"{where}: expected a run of training.ppo or training.rllib")
    return agent, about["settings"]["task"]


def _there(path: Path) -> Path:
    if not path.exists():
        raise InvalidInput(f"{path}: no weights yet; the run has not reached an evaluation")
    return path


def transcripts(played: Played, name: str) -> Iterator[Transcript]:
    """The episodes, played once more by the scalar core."""
    for row, (incident, ticks) in enumerate(zip(played.incidents(), played.ticks, strict=True)):
        choices = all_actions(incident.topology, hand_over=True)
        state, _ = play(incident, [choices[one] for one in played.actions[:ticks, row]])
        yield transcript_of(state, agent=name)


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, play, and leave the files in the run's directory."""
    parser = argparse.ArgumentParser(prog="python -m training.held_out", description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    parser.add_argument("run", type=Path, help="directory of the run")
    parser.add_argument("--incidents", type=int, default=EVAL_INCIDENTS, help="of each fog")
    parser.add_argument("--ood", type=int, default=OOD_INCIDENTS, help="incidents of split ood")
    given = parser.parse_args(sys.argv[1:] if arguments is None else arguments)
    if given.incidents < 1 or given.ood < 1:
        parser.error("expected at least one incident")
    try:
        agent, task = load(given.run)
    except LogTriageError as wrong:
        parser.error(str(wrong))
    console = Console(stderr=True)
    console.print(f"{given.run}: {task}, split test", soft_wrap=True)
    played = play_held_out(agent, task, given.incidents)
    lines = [encode_transcript(one) for one in transcripts(played, given.run.name)]
    save_text(given.run / TRANSCRIPTS, "".join(f"{one}\n" for one in lines))
    found = trials(agent, task, given.incidents, given.ood)
    save_json(given.run / TRIALS, found)
    for name, one in found.items():
        console.print(
            f"  {name:5} grade {one['grade']:.3f} ± {one['error']:.3f}  solved "
            f"{one['solved']:.1%}  paged {one['paged']:.1%}  mis-paged {one['mis_paged']:.1%}",
            soft_wrap=True,
        )


if __name__ == "__main__":
    main()
