"""tinker-cookbook: incidents as groups of environments, and data sets of them.

>>> from logtriage.adapters.tinker import TriageDatasetBuilder  # doctest: +SKIP
>>> config = train.Config(dataset_builder=TriageDatasetBuilder(...), ...)  # doctest: +SKIP
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from logtriage.adapters.episode import Episode, row_of
from logtriage.adapters.rewards import metrics_of
from logtriage.drawing.ids import incident_ids
from logtriage.errors import MissingExtra
from logtriage.evaluation import Incidents

try:
    import tinker_cookbook  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "tinker_cookbook":
        raise
    raise MissingExtra("logtriage.adapters.tinker", "tinker") from None

import chz
from tinker_cookbook.renderers import Message, Renderer, get_renderer
from tinker_cookbook.rl.message_env import EnvFromMessageEnv, MessageEnv, MessageStepResult
from tinker_cookbook.rl.types import Env, EnvGroupBuilder, RLDataset, RLDatasetBuilder
from tinker_cookbook.tokenizer_utils import get_tokenizer

INCIDENTS: Final = Incidents()


class TriageMessageEnv(MessageEnv):
    """One incident, message by message; each call is an action.

    The rewards of the steps are differences of grades: they add up to the grade. The last
    step's metrics have the grade, each criterion, and each criterion's share.
    """

    def __init__(self, episode: Episode, renderer: Renderer) -> None:
        self.episode = episode
        rules, screen = episode.prompt
        tools = [one["function"] for one in episode.tools]
        prefix = renderer.create_conversation_prefix_with_tools(tools, rules["content"])
        self._messages: list[Message] = [*prefix, Message(role="user", content=screen["content"])]

    async def initial_observation(self) -> list[Message]:
        """The rules with the tools, and the first screen."""
        return list(self._messages)

    async def step(self, message: Message) -> MessageStepResult:
        """Play what the model wrote."""
        calls = _calls(message)
        turn = self.episode.step({"role": "assistant", "content": _text(message), **calls})
        named = {call["id"]: call["name"] for call in calls.get("tool_calls", ())}
        told: list[Any] = [
            {**one, "name": named[one["tool_call_id"]]} if "tool_call_id" in one else one
            for one in turn.messages
        ]
        self._messages = [*self._messages, message, *told]
        return MessageStepResult(
            turn.reward, turn.done, list(self._messages), self._metrics() if turn.done else {}
        )

    def _metrics(self) -> dict[str, float]:
        grade = self.episode.grade
        shares = {f"reward/{key}": one for key, one in self.episode.by_criterion.items()}
        return {"grade": grade.score or 0.0, **metrics_of(grade), **shares}


def _calls(message: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The calls that a renderer found, those that it could not read included."""
    found = [
        {"name": one.function.name, "arguments": one.function.arguments}
        for one in message.get("tool_calls") or ()
    ]
    found += [
        {"name": "tool_call", "arguments": one.raw_text, "parse_error": one.error}
        for one in message.get("unparsed_tool_calls") or ()
    ]
    calls = [{"id": f"call_{number}", **one} for number, one in enumerate(found)]
    return {"tool_calls": calls} if calls else {}


def _text(message: Mapping[str, Any]) -> str:
    """What a message says, without its thoughts."""
    content = message["content"]
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in content if part["type"] == "text")


@dataclass(frozen=True)
class TriageGroupBuilder(EnvGroupBuilder):
    """A group of attempts at one incident; it holds names alone, and so can be pickled.

    A reply that is cut off, or whose end is missing, ends the episode as it stands: nothing is
    added to what was earned.
    """

    row: Mapping[str, str]
    model_name: str
    renderer_name: str
    group_size: int
    max_trajectory_tokens: int | None = None

    async def make_envs(self) -> Sequence[Env]:
        """As many environments as the group has attempts.

        Raises:
            UnknownName, InvalidInput: if the row names no incident that exists.
            SealError: for a sealed incident without its key, or with another one.
        """
        renderer = get_renderer(self.renderer_name, get_tokenizer(self.model_name))
        return [
            EnvFromMessageEnv(
                renderer,
                TriageMessageEnv(Episode.of_row(self.row, resolve=INCIDENTS), renderer),
                failed_parse_reward=0.0,
                context_overflow_reward=0.0,
                max_trajectory_tokens=self.max_trajectory_tokens,
            )
            for _ in range(self.group_size)
        ]

    def logging_tags(self) -> list[str]:
        """The project, and the task."""
        return ["logtriage", self.row["incident"].partition("/")[0]]


@dataclass(frozen=True)
class TriageDataset(RLDataset):
    """Batches of groups, the last one smaller if need be."""

    builders: Sequence[TriageGroupBuilder]
    batch_size: int

    def get_batch(self, index: int) -> Sequence[EnvGroupBuilder]:
        """The groups of a batch."""
        return self.builders[index * self.batch_size : (index + 1) * self.batch_size]

    def __len__(self) -> int:
        return -(-len(self.builders) // self.batch_size)


@chz.chz
class TriageDatasetBuilder(RLDatasetBuilder):
    """Incidents of tasks to train on, and of the same tasks to test with.

    Attributes:
        model_name_for_tokenizer: whose tokenizer renders.
        renderer_name: one that calls tools, such as ``qwen3_instruct``.
        batch_size: groups in a batch.
        group_size: attempts at an incident.
        tasks: ids of tasks.
        train: incidents of each task, from split ``train``.
        test: incidents of each task, from split ``val``; 0 for no test set.
        max_trajectory_tokens: where an episode is broken off, prompt included.
    """

    model_name_for_tokenizer: str
    renderer_name: str
    batch_size: int = 32
    group_size: int = 8
    tasks: tuple[str, ...] = ("single_crash-v3",)
    train: int = 1_000
    test: int = 100
    max_trajectory_tokens: int | None = None

    async def __call__(self) -> tuple[RLDataset, RLDataset | None]:
        """The two data sets."""
        test = self._of("val", self.test, 1) if self.test else None
        return self._of("train", self.train, self.group_size), test

    def _of(self, split: str, count: int, size: int) -> TriageDataset:
        ids = [one for task in self.tasks for one in incident_ids(task, split, count)]
        return TriageDataset(
            [
                TriageGroupBuilder(
                    row_of(INCIDENTS(one)),
                    self.model_name_for_tokenizer,
                    self.renderer_name,
                    size,
                    self.max_trajectory_tokens,
                )
                for one in ids
            ],
            self.batch_size,
        )
