"""What a run shows and notes while it runs."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from transformers import TrainerCallback

from training.grpo.record import Episode, Recorder, Step, shares
from training.grpo.trainer import Times


class Monitor(TrainerCallback):
    """Notes episodes and steps in files, and shows a bar. Only the main process has one.

    Args:
        recorder: the files.
        group: episodes of an incident.
        console: where the bar is.
    """

    def __init__(self, recorder: Recorder, group: int, console: Console) -> None:
        self._recorder, self._group = recorder, group
        self._played: Sequence[Episode] = ()
        self.times: Times | None = None
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
        )
        self._row = self._bar.add_task("first step", total=None)

    def played(self, episodes: Sequence[Episode]) -> None:
        """The episodes of a step are rewarded."""
        self._played = episodes
        self._recorder.episodes(episodes)

    def on_train_begin(self, _args: Any, state: Any, _control: Any, **_: Any) -> None:
        """Show the bar."""
        self._bar.update(self._row, total=state.max_steps, completed=state.global_step)
        self._bar.start()

    def on_step_end(self, _args: Any, state: Any, _control: Any, **_: Any) -> None:
        """Note the step; an update on older episodes has their figures."""
        assert self.times is not None
        seconds, rollout = self.times.step.taken(), self.times.rollout.taken()
        step = Step(
            step=state.global_step,
            seconds=seconds,
            generation=self.times.generation.taken(),
            env=self.times.env.taken(),
            update=seconds - rollout,
            **shares(self._played, self._group),
        )
        self._recorder.step(step)
        self._bar.update(self._row, completed=step.step, description=_line(step))

    def on_train_end(self, _args: Any, _state: Any, _control: Any, **_: Any) -> None:
        """Take the bar away."""
        self.close()

    def close(self) -> None:
        """Take the bar away, if it is there."""
        self._bar.stop()


def _line(step: Step) -> str:
    return (
        f"reward {step.reward:.3f}  gated {step.gated:4.0%}  mis-paged {step.mis_paged:4.0%}"
        f"  zero-variance {step.zero_variance:4.0%}  {step.seconds:.1f} s, env {step.env_share:.1%}"
    )
