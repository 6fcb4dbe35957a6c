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
from training.grpo.turns import Turns

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
        self._turns: Turns | None = None
        super().__init__(
            environment_factory=self._environment,  # has the reward: the grade
            **arguments,
        )
        # Several processes must call the model equally often, which theirs would not; and
        # bitsandbytes repacks weights for a CPU in a way that has no gradient.
        simple = self.accelerator.num_processes == 1 and not settings.load_in_4bit
        if simple and settings.vllm == "off" and settings.top_p == 1.0:
            limit = min(settings.turn_tokens, settings.completion_tokens)
            self._turns = Turns(frozenset(self.eos_token_ids), limit, settings.temperature)

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

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> Tensor:
        """TRL's loss, on as many columns as the episodes of this backward pass fill."""
        loss: Tensor = super()._compute_loss(model, trimmed(inputs))
        return loss

    def _generate_single_turn(
        self, prompt_ids: Sequence[Sequence[int]], *arguments: Any, **named: Any
    ) -> Any:
        for env in self.environments or ():
            env._begin_turn()
        with self.times.generation:
            if self._turns is None:
                return super()._generate_single_turn(prompt_ids, *arguments, **named)
            return self._turns.replies(self.model, prompt_ids), None

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        if self._turns is not None:
            self._turns.forget()
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


def trimmed(inputs: dict[str, Any]) -> dict[str, Any]:
    """A batch without the columns that are padding in all of its rows.

    Episodes of a step are padded to the longest of all; some are ten times as long as others.
    """
    prompt, completion = inputs["prompt_mask"], inputs["completion_mask"]
    before, after = int(prompt.sum(dim=1).max()), int(completion.sum(dim=1).max())
    result = dict(inputs)
    for name, value in inputs.items():
        if not isinstance(value, Tensor) or value.ndim != 2:
            continue
        if name.startswith("prompt_"):
            result[name] = value[:, value.shape[1] - before :]  # these are padded on the left
        elif value.shape == completion.shape:
            result[name] = value[:, :after]
    return result


def _returns(env: TrainingEnv) -> list[float]:
    """What the episode still earned from each of its turns on."""
    incident = env._current()
    scores = [
        grade_actions(incident, env.actions[:count]).score or 0.0
        for count in (*env._turns, len(env.actions))
    ]
    return returns_to_go(scores)
