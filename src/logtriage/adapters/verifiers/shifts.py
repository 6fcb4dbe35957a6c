"""Shifts in verifiers: each row a whole shift, played on the host."""

import itertools
from collections.abc import Iterator

import verifiers.v1 as vf

from logtriage.adapters.shift_episode import ShiftEpisode
from logtriage.adapters.verifiers.solo import SoloEnvConfig, play
from logtriage.shift import make_shift, shift_ids


class ShiftData(vf.TaskData):
    """A row: the id of a shift, the rules and the first screen."""

    shift: str


class ShiftTask(vf.Task[ShiftData, vf.State, vf.TaskConfig]):
    """One shift; its reward is the grade by ``shift/1``."""

    @property
    def key(self) -> str:
        """The shift's id."""
        return self.data.shift

    def _played(self, trace: vf.Trace) -> ShiftEpisode:
        """The episode that the model's own messages on a trace play."""
        said = [node.message.model_dump() for node in trace.nodes if node.sampled]
        return ShiftEpisode(make_shift(self.data.shift)).play(said)

    @vf.reward
    async def grade(self, trace: vf.Trace) -> float:
        """The grade, from 0 to 1."""
        return self._played(trace).grade.score

    @vf.metric
    async def counts(self, trace: vf.Trace) -> dict[str, float]:
        """How many incidents were missed, and how many handed over."""
        graded = self._played(trace).grade
        return {"missed": graded.missed, "handed_over": graded.handed_over}


class ShiftConfig(vf.TasksetConfig):
    """Which shifts: ``episodes`` of a task of shifts, from ``start`` on."""

    shifts: str = "quiet_shift-v1"
    split: str = "train"
    episodes: int = 100
    start: int = 0
    task: vf.TaskConfig = vf.TaskConfig()


class ShiftTaskset(vf.Taskset[ShiftTask, ShiftConfig]):
    """Shifts, one row each."""

    def load(self) -> Iterator[ShiftTask]:
        """The rows.

        Raises:
            UnknownName: for a task or a split that does not exist.
        """
        config, numbers = self.config, itertools.count()  # 0.3.1 does not number rows itself
        for shift_id in shift_ids(config.shifts, config.split, config.episodes, config.start):
            rules, screen = ShiftEpisode(make_shift(shift_id)).prompt
            data = ShiftData(
                idx=next(numbers),
                id=shift_id,
                name=shift_id,
                shift=shift_id,
                system_prompt=rules["content"],
                prompt=screen["content"],
            )
            yield ShiftTask(data, config.task)


class ShiftEnv(vf.Env[SoloEnvConfig]):
    """Plays each call as a tick and answers it with the next screen."""

    async def run(self, task: ShiftTask, agents: vf.Agents) -> None:
        """One shift to its end. A reply without a call costs its tick."""
        await play(ShiftEpisode(make_shift(task.data.shift)), task, agents)
