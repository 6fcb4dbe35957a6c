"""TRL's GRPOTrainer, with its time measured, its episodes recorded, and credit by turns."""

from collections.abc import Callable, Sequence
from typing import Any

from accelerate.utils import gather_object
from torch import Tensor
from trl import GRPOTrainer

from logtriage.adapters.trl import triage_criteria
from logtriage.grading import grade_actions
from training.grpo.credit import by_token, returns_to_go, turn_advantages
from training.grpo.environment import RemoteTrainingEnv, Stopwatch, TrainingEnv
from training.grpo.record import Episode, episode_of
from training.grpo.settings import Settings

#: Is told of the episodes of a step, those of all processes, on the main one.
Told = Callable[[Sequence[Episode]], None]


class Times:
    """Stopwatches of the parts of a step."""

    def __init__(self) -> None:
        self.step, self.rollout, self.generation, self.env = (Stopwatch() for _ in range(4))


class TriageTrainer(GRPOTrainer):
    """GRPO on incidents.

    Args:
        settings: of the run.
        told: is told of each step's episodes, when they are rewarded.
        **arguments: of ``GRPOTrainer``, without environments and rewards.
    """

    def __init__(self, settings: Settings, told: Told, **arguments: Any) -> None:
        self.times = Times()
        self.settings = settings
        self._told = told
        super().__init__(
            environment_factory=self._environment,  # has the reward: the grade
            **arguments,
        )

    def _environment(self) -> TrainingEnv:
        url = self.settings.env_url
        return (
            TrainingEnv(self.times.env) if url is None else RemoteTrainingEnv(self.times.env, url)
        )

    def _calculate_rewards(
        self, inputs: Any, prompts: Any, completions: Sequence[Any], completion_ids_list: Any
    ) -> Tensor:
        rewards: Tensor = super()._calculate_rewards(
            inputs, prompts, completions, completion_ids_list
        )
        with self.times.env:
            triage_criteria(completions, self.environments, self._log_metric)
            played = gather_object([(one.grade, one.actions) for one in self.environments])
            if self.accelerator.is_main_process:
                step = self.state.global_step + 1
                self._told([episode_of(step, number, *one) for number, one in enumerate(played)])
        return rewards

    def training_step(self, *arguments: Any, **named: Any) -> Tensor:
        """Timed."""
        with self.times.step:
            return super().training_step(*arguments, **named)

    def _generate_single_turn(self, *arguments: Any, **named: Any) -> Any:
        for env in self.environments or ():
            env._begin_turn()
        with self.times.generation:
            return super()._generate_single_turn(*arguments, **named)

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        with self.times.rollout:
            output: dict[str, Any] = super()._generate_and_score_completions(inputs)
            if self.settings.reward == "step":
                output["advantages"] = self._advantages_by_turn(output)
        return output

    def _advantages_by_turn(self, output: dict[str, Any]) -> Tensor:
        """Advantages (B, T) of this process's episodes, from the rewards of their actions."""
        with self.times.env:
            mine = [_returns(env) for env in self.environments]
        advantages = turn_advantages(gather_object(mine), self.settings.group)
        first = self.accelerator.process_index * len(mine)
        mask = output["completion_mask"]
        if "tool_mask" in output:
            mask = mask * output["tool_mask"]
        return by_token(advantages[first : first + len(mine)], mask)


def _returns(env: TrainingEnv) -> list[float]:
    """What the episode still earned from each of its turns on."""
    incident = env._current()
    scores = [
        grade_actions(incident, env.actions[:count]).score or 0.0
        for count in (*env._turns, len(env.actions))
    ]
    return returns_to_go(scores)
