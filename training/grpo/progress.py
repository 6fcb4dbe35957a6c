"""Progress and records of a run."""

from collections.abc import Sequence
from math import isnan
from typing import Any

import attrs
from rich.console import Console
from transformers import TrainerCallback

from training.evaluate.phases import Phases
from training.grpo.played import Episode, Shares, Step
from training.grpo.record import Recorder
from training.grpo.stages import Curriculum
from training.grpo.trainer import Times


class Monitor(TrainerCallback):
    """Notes episodes and steps in files, and shows how far it is. Only the main process has one.

    Args:
        recorder: the files.
        group: episodes of an incident.
        console: where it is shown: a bar, or without a terminal a plain line a step.
        curriculum: says which stage a step is of.
        iterations: updates on the same episodes.
    """

    def __init__(
        self,
        recorder: Recorder,
        group: int,
        console: Console,
        curriculum: Curriculum,
        iterations: int = 1,
    ) -> None:
        self._recorder, self._group = recorder, group
        self._curriculum, self._iterations = curriculum, iterations
        self._played: Sequence[Episode] = ()
        self.times: Times | None = None
        self._phases = Phases(console)

    def played(self, episodes: Sequence[Episode]) -> None:
        """The episodes of a step are rewarded."""
        self._played = episodes
        self._recorder.episodes(episodes)

    def on_train_begin(self, _args: Any, state: Any, _control: Any, **_: Any) -> None:
        """Show that it begins."""
        self._phases.begin("GRPO steps", state.max_steps, done=state.global_step)

    def on_step_end(self, _args: Any, state: Any, _control: Any, **_: Any) -> None:
        """Note the step; an update on older episodes has their figures."""
        assert self.times is not None
        seconds, rollout = self.times.step.taken(), self.times.rollout.taken()
        step = Step(
            step=state.global_step,
            stage=self._curriculum.stage((state.global_step - 1) // self._iterations),
            seconds=seconds,
            generation=self.times.generation.taken(),
            env=self.times.env.taken(),
            update=seconds - rollout,
            tokens=self.times.tokens_taken(),
            **attrs.asdict(Shares.of(self._played, self._group)),
        )
        self._recorder.step(step)
        self._phases.advance(step.step, summary(step), every=True)

    def on_train_end(self, _args: Any, _state: Any, _control: Any, **_: Any) -> None:
        """Take the bar away."""
        self.close()

    def close(self) -> None:
        """Take the bar away, if it is there."""
        self._phases.end()


def summary(step: Step) -> str:
    """A step in a line: what it is for first."""
    names = {"solved": step.solved, "paged right": step.paged_right,
             "mis-paged": step.mis_paged, "pages right": step.page_precision}  # fmt: skip
    shares = (
        f"{name} {'   -' if isnan(share) else f'{share:4.0%}'}" for name, share in names.items()
    )
    return (
        f"{'  '.join(shares)}  reward {step.reward:.3f}  stage {step.stage + 1}"
        f"  {step.seconds:.1f} s"
    )
