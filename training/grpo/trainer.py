"""TRL's GRPOTrainer, with its time measured, its episodes recorded, and credit by turns."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import attrs
import torch
from accelerate.utils import gather_object
from peft import PeftModel
from torch import Tensor
from trl import GRPOTrainer

from logtriage.adapters.trl import triage_criteria
from logtriage.beliefs.shaping import value_of
from logtriage.grading import Resolver, Rubric, score
from logtriage.state import State
from training.grpo.credit import by_token, returns_to_go, turn_advantages
from training.grpo.environment import (
    EveryTool,
    NotationTrainingEnv,
    Stopwatch,
    TrainingEnv,
)
from training.grpo.notation import NotationTurns, is_barred, scores_of_actions
from training.grpo.nothing import HandOvers, Watch
from training.grpo.played import Episode, Shares, episode_of
from training.grpo.scored import said_alone
from training.grpo.settings import Settings
from training.grpo.stages import Curriculum
from training.grpo.turns import Turns
from training.tiny.words import Grammar

#: What of TRL's trainer is overridden and is not public: held by tests/training/
#: test_grpo_insides.py, and the reason for the upper bound of trl in pyproject.toml.
INSIDES: Final = (
    "_generate_single_turn",
    "_generate_and_score_completions",
    "_get_per_token_logps_and_entropies",
)
#: Receives the episodes of a step from all processes, on the main process.
OnStep = Callable[[Sequence[Episode]], None]
#: Smaller advantages are rounding.
NOTHING: Final = 1e-6


class Times:
    """Stopwatches of the parts of a step, and how many tokens all processes generated."""

    def __init__(self) -> None:
        self.step, self.rollout, self.generation, self.env = (Stopwatch() for _ in range(4))
        self.tokens = 0

    def tokens_taken(self) -> int:
        """The tokens so far; from zero again."""
        tokens, self.tokens = self.tokens, 0
        return tokens


class TriageTrainer(GRPOTrainer):
    """GRPO on incidents.

    Args:
        settings: of the run.
        resolve: finds the incidents of the rows.
        rubric: in place of the tasks' own.
        curriculum: receives the pages of each round.
        on_step: receives each step's episodes once they are rewarded.
        **arguments: of ``GRPOTrainer``, without environments and rewards.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        resolve: Resolver,
        rubric: Rubric | None,
        curriculum: Curriculum,
        on_step: OnStep,
        **arguments: Any,
    ) -> None:
        self.times = Times()
        self.settings = settings
        self._resolve, self._rubric = resolve, rubric
        self._curriculum = curriculum
        self._on_step = on_step
        self._watch = Watch(settings.equal_steps)
        self._hand_overs = HandOvers()
        self._grammar = Grammar.of(arguments["processing_class"])
        self._barred = torch.zeros(0, dtype=torch.bool)
        self._turns: Turns | None = None
        super().__init__(
            environment_factory=self._environment,  # has the reward: the grade
            reward_funcs=[self.note_episodes],  # adds none
            **arguments,
        )
        # Several processes must call the model equally often, which theirs would not; and
        # bitsandbytes repacks weights for a CPU in a way that has no gradient.
        simple = self.accelerator.num_processes == 1 and not settings.load_in_4bit
        if simple and settings.vllm == "off" and settings.top_p == 1.0:
            limit = min(settings.turn_tokens, settings.completion_tokens)
            self._turns = (
                NotationTurns(
                    self._grammar,
                    settings.temperature,
                    lambda: self.environments or (),
                    lambda: self._barred,
                )
                if self._grammar is not None
                else Turns(frozenset(self.eos_token_ids), limit, settings.temperature)
            )
        self._wrote = 0

    def _environment(self) -> TrainingEnv | NotationTrainingEnv:
        env = TrainingEnv if self._grammar is None else NotationTrainingEnv
        return env(self.times.env, self._rubric, self._resolve)

    def note_episodes(
        self, completions: Sequence[Any], environments: Sequence[TrainingEnv], **options: Any
    ) -> list[None]:
        """A reward function that adds no reward: it notes what was played."""
        step = self.state.global_step + 1
        with self.times.env:
            for environment in environments:
                environment.get_reward()
            triage_criteria(completions, environments, options["log_metric"])
            mine = [
                episode_of(step, 0, environment.grade, environment.actions, environment._after())
                for environment in environments
            ]
            played = [
                attrs.evolve(episode, number=number)
                for number, episode in enumerate(gather_object(mine))
            ]
            shares = Shares.of(played, self.settings.group)
            self._curriculum.note(shares)
            self._watch.played(played)
            free = [episode for episode in played if not self._is_barred(episode.incident)]
            self._hand_overs.played(free)
            for name in ("solved", "paged_right", "mis_paged", "page_precision", "paged"):
                options["log_metric"](f"triage/{name}", getattr(shares, name))
            if self.accelerator.is_main_process:
                self._on_step(played)
        return [None] * len(completions)

    def training_step(self, *arguments: Any, **named: Any) -> Tensor:
        """Timed."""
        with self.times.step:
            return super().training_step(*arguments, **named)

    def _is_barred(self, incident: str) -> bool:
        """Whether nobody may hand an incident over."""
        return self._grammar is not None and is_barred(incident, self.settings.barred)

    def compute_loss(self, model: Any, inputs: dict[str, Any], *more: Any, **named: Any) -> Any:
        """TRL's loss, on as many columns as the episodes of this backward pass fill."""
        if self._grammar is not None:
            self._barred = inputs["barred"]
            return super().compute_loss(model, trimmed(inputs), *more, **named)
        inner = self.accelerator.unwrap_model(model)
        inner = inner.get_base_model() if isinstance(inner, PeftModel) else inner
        with said_alone(inner, inputs := trimmed(inputs)):
            return super().compute_loss(model, inputs, *more, **named)

    def _get_per_token_logps_and_entropies(
        self,
        model: Any,
        input_ids: Tensor,
        attention_mask: Tensor,
        logits_to_keep: int,
        *arguments: Any,
        **named: Any,
    ) -> Any:
        if self._grammar is None:
            return super()._get_per_token_logps_and_entropies(
                model, input_ids, attention_mask, logits_to_keep, *arguments, **named
            )
        inner = self.accelerator.unwrap_model(model)
        inputs = input_ids, attention_mask, self._grammar, self._barred
        scores, entropies = scores_of_actions(inner, *inputs, self.settings.temperature)
        return scores[:, -logits_to_keep:], entropies[:, -logits_to_keep:], None

    def _generate_single_turn(
        self, prompt_ids: Sequence[Sequence[int]], *arguments: Any, **named: Any
    ) -> Any:
        for number, env in enumerate(self.environments or ()):
            env._begin_turn()
            tools = self._sync_tool_dicts[number]
            if not isinstance(tools, EveryTool):
                self._sync_tool_dicts[number] = EveryTool(tools, env)
        with self.times.generation:
            if self._turns is None:
                replies, *rest = super()._generate_single_turn(prompt_ids, *arguments, **named)
                self._wrote += sum(map(len, replies))
            else:
                replies, rest = self._turns.replies(self.model, prompt_ids), [None]
                self._wrote += self._turns.sampled
        self._watch.replied(replies, self.eos_token_ids)
        return (replies, *rest)

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        self._wrote = 0
        if self._turns is not None:
            self._turns.forget()
        self._barred = torch.tensor([self._is_barred(row["incident"]) for row in inputs])
        with self.times.rollout:
            output: dict[str, Any] = super()._generate_and_score_completions(inputs)
            if self.settings.reward != "grade":
                output["advantages"] = self._advantages_by_turn(output)
            else:  # less the mean of the others: that of the group less this many times itself
                output["advantages"] *= self.settings.group / (self.settings.group - 1)
        output["barred"] = self._barred
        largest, wrote = zip(
            *gather_object([(float(output["advantages"].abs().max()), self._wrote)]), strict=True
        )
        self._watch.learns(max(largest) > NOTHING)
        self.times.tokens += sum(wrote)
        return output

    def _advantages_by_turn(self, output: dict[str, Any]) -> Tensor:
        """Advantages (B, T) of this process's episodes, from the rewards of their actions."""
        settings = self.settings
        with self.times.env:
            mine = [self._returns(env) for env in self.environments]
        advantages = turn_advantages(gather_object(mine), settings.group, settings.scale_rewards)
        first = self.accelerator.process_index * len(mine)
        return by_token(advantages[first : first + len(mine)], said(output))

    def _returns(self, env: TrainingEnv) -> list[float]:
        """The returns of the episode from each of its turns on."""
        before = [self._worth(env._after(count)) for count in env._turns]
        # An episode that was left open is paid its grade, whatever could still be earned.
        return returns_to_go([*before, score(env._after(), self._rubric)], self.settings.lmbda)

    def _worth(self, state: State) -> float:
        """The value before a turn: the grade so far, or the final grade that the belief expects."""
        if self.settings.reward == "shaped":
            return value_of(state)
        return score(state, self._rubric)


def said(output: dict[str, Any]) -> Tensor:
    """Which tokens (B, T) of episodes the model wrote: 1, elsewhere 0."""
    mask: Tensor = output["completion_mask"]
    return mask * output["tool_mask"] if "tool_mask" in output else mask


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
