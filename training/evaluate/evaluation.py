"""The transcripts of an agent on held-out incidents, and their grades."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any

import attrs

from logtriage.codec import encode_transcript
from logtriage.evaluation import record_episode
from logtriage.evaluation.listening import Listening, News, news_in
from logtriage.grading import Grade, Rubric, grade_transcript, rubric_named
from logtriage.policies import PolicyFactory
from logtriage.registry import make_policy
from logtriage.roles import RoleSplit
from logtriage.roles.splits import splits_with
from logtriage.transcript import Transcript
from training.common.files import save_text
from training.common.splits import role_split_of
from training.language.attempts import planned
from training.language.episodes import CUT_OFF, REPLIES, Decoding, OnProgress, play_incidents
from training.language.sources import Source

#: The key of a transcript that says how many replies an endpoint gave.
ASKED = "requests"


@attrs.frozen(eq=False)
class Judge:
    """The source of incidents, and the rubric that grades them; None for their own rubric.

    ``role_split`` is your own split, if teams played with it.
    """

    source: Source = attrs.field(factory=Source)
    rubric: Rubric | None = None
    role_split: RoleSplit | None = None

    @classmethod
    def of(cls, rubric: str = "", bundle: str = "", split_roles: str = "") -> "Judge":
        """From the names of a rubric (id, or ``module:name``), a bundle and a split; "" for none.

        Raises:
            UnknownName, InvalidInput: for a rubric that does not exist.
            OSError: if the bundle cannot be read.
        """
        roles = role_split_of(split_roles) if split_roles else None
        return cls(Source(bundle), rubric_named(rubric) if rubric else None, roles)

    def __call__(self, transcript: Transcript) -> Grade:
        """The grade of a transcript."""
        splits = splits_with(self.role_split)
        return grade_transcript(transcript, self.rubric, resolve=self.source, splits=splits)


def _transcripts(transcripts: Iterable[Transcript]) -> tuple[Transcript, ...]:
    return tuple(transcripts)


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
        judge: finds the incidents again, and grades them.
    """

    agent: str
    split: str
    samples: int
    transcripts: tuple[Transcript, ...] = attrs.field(converter=_transcripts)
    seconds: float | None = None
    how: Mapping[str, Any] = attrs.Factory(dict)
    judge: Judge = attrs.Factory(Judge)

    @cached_property
    def grades(self) -> tuple[Grade, ...]:
        """The grade of each transcript; unscored where it failed."""
        return tuple(map(self.judge, self.transcripts))

    def replies(self, task: str | None = None) -> tuple[int, int]:
        """How many replies a model gave in a task (None: in all), and how many were cut off."""
        replies = cut = 0
        for transcript, grade in zip(self.transcripts, self.grades, strict=True):
            if task is None or grade.task == task:
                replies += transcript.extra.get(ASKED, len(transcript.extra.get(REPLIES, ())))
                cut += transcript.extra.get(CUT_OFF, 0)
        return replies, cut

    def listening(self, task: str) -> dict[str, Listening]:
        """Figures of reports by the role that received them; empty where nobody was asked."""
        by_role: dict[str, list[News]] = {}
        for transcript, grade in zip(self.transcripts, self.grades, strict=True):
            if grade.task == task:
                for news in news_in(transcript.extra) or ():
                    by_role.setdefault(news.role, []).append(news)
        return {role: Listening.of(news) for role, news in by_role.items()}

    @cached_property
    def attempts(self) -> dict[str, dict[str, tuple[Grade, ...]]]:
        """The grades by task and incident, in the order of the attempts."""
        by_task: dict[str, dict[str, tuple[Grade, ...]]] = {}
        for grade in self.grades:
            of_task = by_task.setdefault(grade.task, {})
            of_task[grade.incident] = (*of_task.get(grade.incident, ()), grade)
        return by_task

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks, in order."""
        return tuple(self.attempts)

    @property
    def all_attempts(self) -> dict[str, tuple[Grade, ...]]:
        """The grades by incident, of all tasks together."""
        return {name: tries for task in self.attempts.values() for name, tries in task.items()}

    def save(self, path: Path) -> None:
        """Save the transcripts, a line each, for ``logtriage grade`` and ``logtriage show``."""
        save_text(
            path, "".join(f"{encode_transcript(transcript)}\n" for transcript in self.transcripts)
        )


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
    template: Mapping[str, Any] | None = None,
    judge: Judge | None = None,
    on_progress: OnProgress | None = None,
) -> Evaluation:
    """Let a loaded model play the first ``episodes`` incidents of each task, in batches.

    The incidents are the same for every model. ``samples`` attempts are made at each, with
    draws of their own; at ``temperature`` 0 these would all be the same. ``template`` is what
    the chat template is told beside the messages, such as ``enable_thinking``.

    Raises:
        UnknownName: for a task or split that does not exist.
        InvalidInput: if a number makes no sense, or the tokenizer cannot be used.
    """
    judge = judge or Judge()
    attempts = planned(
        judge.source, tasks, episodes, split=split, samples=samples, temperature=temperature
    )
    decoding = Decoding(temperature, seed, batch, max_new_tokens)
    start = perf_counter()
    attempts_played = play_incidents(
        model,
        tokenizer,
        attempts,
        decoding,
        agent=agent,
        resolve=judge.source,
        template=template,
        on_progress=on_progress,
    )
    return Evaluation(
        agent,
        split,
        samples,
        attempts_played,
        perf_counter() - start,
        {"model": True, **attrs.asdict(decoding), **(template or {})},
        judge,
    )


def scripted(
    policy: str | PolicyFactory,
    tasks: str | Sequence[str],
    episodes: int,
    *,
    split: str = "test",
    agent: str | None = None,
    judge: Judge | None = None,
    on_progress: OnProgress | None = None,
) -> Evaluation:
    """Let a policy of the registry (or a factory, with a name) play the same incidents.

    Raises:
        UnknownName: for a policy, task or split that does not exist.
        InvalidInput: if a number makes no sense.
    """
    factory = make_policy(policy) if isinstance(policy, str) else policy
    name = agent or (policy if isinstance(policy, str) else "policy")
    judge = judge or Judge()
    start = perf_counter()
    attempts = planned(judge.source, tasks, episodes, split=split)
    transcripts = []
    for attempt, _ in attempts:
        transcripts.append(record_episode(judge.source(attempt), factory, name))
        if on_progress is not None:
            on_progress(len(transcripts), len(attempts))
    return Evaluation(name, split, 1, transcripts, perf_counter() - start, judge=judge)
