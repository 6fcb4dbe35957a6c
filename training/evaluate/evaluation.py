"""What an agent did on held-out incidents: transcripts, and the grades that follow from them."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any

import attrs

from logtriage.codec import encode_transcript
from logtriage.errors import InvalidInput
from logtriage.evaluation import RunSpec, record_episode
from logtriage.generator import make_incident
from logtriage.grading import Grade, grade_transcript
from logtriage.policies import PolicyFactory
from logtriage.registry import make_policy
from logtriage.tasks import FIRST_WORLD, get_task, incident_ids
from logtriage.transcript import Transcript
from training.common.files import save_text
from training.language.episodes import Decoding, OnProgress, play_incidents

#: Stands for the drawn tasks of the first world.
ALL = "all"


def _transcripts(given: Iterable[Transcript]) -> tuple[Transcript, ...]:
    return tuple(given)


@attrs.frozen(eq=False)
class Evaluation:
    """The episodes of one agent on held-out incidents.

    Attributes:
        agent: its name.
        split: of the incidents.
        samples: how often each incident was played.
        transcripts: one an episode: task by task, incident by incident, attempt by attempt.
        seconds: how long it took.
        how: what else decides on the result, such as temperature and seed.
    """

    agent: str
    split: str
    samples: int
    transcripts: tuple[Transcript, ...] = attrs.field(converter=_transcripts)
    seconds: float | None = None
    how: Mapping[str, Any] = attrs.Factory(dict)

    @cached_property
    def grades(self) -> tuple[Grade, ...]:
        """The grade of each transcript, by its task's rubric; unscored where it failed."""
        return tuple(grade_transcript(one) for one in self.transcripts)

    @cached_property
    def attempts(self) -> dict[str, dict[str, tuple[Grade, ...]]]:
        """The grades by task and incident, in the order of the attempts."""
        found: dict[str, dict[str, tuple[Grade, ...]]] = {}
        for grade in self.grades:
            of_task = found.setdefault(grade.task, {})
            of_task[grade.incident] = (*of_task.get(grade.incident, ()), grade)
        return found

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks, in order."""
        return tuple(self.attempts)

    @property
    def all_attempts(self) -> dict[str, tuple[Grade, ...]]:
        """The grades by incident, of all tasks together."""
        return {one: tries for task in self.attempts.values() for one, tries in task.items()}

    def save(self, path: Path) -> None:
        """Save the transcripts, a line each, for ``logtriage grade`` and ``logtriage show``."""
        save_text(path, "".join(f"{encode_transcript(one)}\n" for one in self.transcripts))


def held_out(
    model: Any,
    tokenizer: Any,
    tasks: str | Sequence[str],
    episodes: int,
    *,
    seed: int = 0,
    temperature: float = 0.0,
    batch: int = 64,
    split: str = "test",
    samples: int = 1,
    max_new_tokens: int = 128,
    agent: str = "model",
    on_progress: OnProgress | None = None,
) -> Evaluation:
    """Let a loaded model play the first ``episodes`` incidents of each task, in batches.

    The incidents are the same for every model. ``samples`` attempts are made at each, with
    draws of their own; at ``temperature`` 0 these would all be the same.

    Raises:
        UnknownName: for a task or split that does not exist.
        InvalidInput: if a number makes no sense, or the tokenizer cannot be used.
    """
    attempts = planned(tasks, episodes, split=split, samples=samples, temperature=temperature)
    decoding = Decoding(temperature, seed, batch, max_new_tokens)
    start = perf_counter()
    found = play_incidents(
        model, tokenizer, attempts, decoding, agent=agent, on_progress=on_progress
    )
    return Evaluation(
        agent,
        split,
        samples,
        found,
        perf_counter() - start,
        {"model": True, **attrs.asdict(decoding)},
    )


def scripted(
    policy: str | PolicyFactory,
    tasks: str | Sequence[str],
    episodes: int,
    *,
    split: str = "test",
    agent: str | None = None,
) -> Evaluation:
    """Let a policy of the registry (or a factory, with a name) play the same incidents.

    Raises:
        UnknownName: for a policy, task or split that does not exist.
        InvalidInput: if a number makes no sense.
    """
    factory = make_policy(policy) if isinstance(policy, str) else policy
    name = agent or (policy if isinstance(policy, str) else "policy")
    start = perf_counter()
    found = [
        record_episode(make_incident(one), factory, name)
        for one, _ in planned(tasks, episodes, split=split)
    ]
    return Evaluation(name, split, 1, found, perf_counter() - start)


def every_task(tasks: str | Sequence[str]) -> list[str]:
    """Task ids; ``all`` stands for the drawn tasks of the first world.

    Raises:
        UnknownName: for a task that does not exist.
    """
    given = [tasks] if isinstance(tasks, str) else list(tasks)
    names = [name for one in given for name in (FIRST_WORLD if one == ALL else [get_task(one).id])]
    return list(dict.fromkeys(names))


def planned(
    tasks: str | Sequence[str],
    episodes: int,
    *,
    split: str,
    samples: int = 1,
    temperature: float = 1.0,
) -> list[tuple[str, int]]:
    """Every attempt, as incident id and number, in order.

    Raises:
        UnknownName: for a task or split that does not exist.
        InvalidInput: if a number makes no sense.
    """
    # A run's definition checks names and numbers.
    spec = RunSpec(("model",), every_task(tasks), split, episodes)
    if samples < 1:
        raise InvalidInput(f"samples must be at least 1, got {samples}")
    if samples > 1 and temperature == 0:
        raise InvalidInput(
            f"{samples} samples at temperature 0 would all be the same; set temperature above 0"
        )
    return [
        (one, sample)
        for task in spec.tasks
        for one in incident_ids(task, spec.split, spec.episodes)
        for sample in range(samples)
    ]
