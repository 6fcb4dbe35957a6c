"""Try a trained agent on held-out incidents.

    python -m training.ppo.held_out runs/cascade

``RUN`` is the directory of a run of ``training.ppo``. It gets ``trials.json``, the figures on
split ``test`` at every level of fog and on ``ood``, and ``transcripts.jsonl``, the episodes at
the fog of the agent's own task: ``logtriage grade`` grades them anew.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import attrs
from rich.console import Console

from logtriage.actions import all_actions
from logtriage.codec import encode_transcript
from logtriage.errors import InvalidInput, LogTriageError
from logtriage.tasks import TaskSpec
from logtriage.transcript import Transcript, transcript_of
from logtriage.transition import play
from training.common.files import save_json, save_text
from training.common.settings import EVAL_INCIDENTS
from training.common.tasks import sheet_of
from training.ppo import store
from training.ppo.evaluate import Played, play_held_out
from training.ppo.networks import Agent

TRIALS: Final = "trials.json"
TRANSCRIPTS: Final = "transcripts.jsonl"
#: Incidents of split ``ood`` are looked for one by one: that many.
OOD_INCIDENTS: Final = 300


def load(run: Path) -> tuple[Agent, str]:
    """The agent of a run, and its task.

    Raises:
        InvalidInput: for a directory that holds no run, or none that has reached an evaluation.
    """
    for name in (store.RUN, store.CHECKPOINT):
        if not (run / name).exists():
            raise InvalidInput(f"{run}: expected the directory of a run, with {name} in it")
    settings = store.load_settings(run / store.RUN)
    return store.load_agent(run / store.CHECKPOINT, settings), settings.task


def with_fog(task: str | TaskSpec, fog: int) -> TaskSpec:
    """The same task at a level of fog."""
    sheet = sheet_of(task)
    return attrs.evolve(sheet, setting=attrs.evolve(sheet.setting, fog=fog))


def transcripts(played: Played, name: str) -> Iterator[Transcript]:
    """The episodes, played once more by the scalar core."""
    for row, (incident, ticks) in enumerate(zip(played.incidents(), played.ticks, strict=True)):
        choices = all_actions(incident.topology, hand_over=True)
        state, _ = play(incident, [choices[one] for one in played.actions[:ticks, row]])
        yield transcript_of(state, agent=name)


def trials(agent: Agent, task: str | TaskSpec, incidents: int, ood: int) -> dict[str, Played]:
    """The episodes of ``fog0`` and each further level of fog on split ``test``, and of ``ood``."""
    levels = range(len(sheet_of(task).world.rules.fog))
    found = {f"fog{fog}": play_held_out(agent, with_fog(task, fog), incidents) for fog in levels}
    return {**found, "ood": play_held_out(agent, task, ood, split="ood")}


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, play, and leave the files in the run's directory."""
    parser = argparse.ArgumentParser(prog="python -m training.ppo.held_out", description=__doc__,
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
    results = {
        name: one.result() for name, one in trials(agent, task, given.incidents, given.ood).items()
    }
    save_json(given.run / TRIALS, {name: attrs.asdict(one) for name, one in results.items()})
    for name, one in results.items():
        console.print(
            f"  {name:5} net {one.net_value:+.3f}  grade {one.grade:.3f} ± {one.error:.3f}  "
            f"solved {one.solved:.1%}  paged {one.paged:.1%}  mis-paged {one.mis_paged:.1%}",
            soft_wrap=True,
        )


if __name__ == "__main__":
    main()
