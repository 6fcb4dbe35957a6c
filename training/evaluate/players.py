"""Players: a transformers model, a model behind an endpoint, or a scripted policy."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import attrs

from logtriage.adapters.served import ENDPOINT, Endpoint, ServedPlayer, json_object, record_team
from logtriage.errors import InvalidInput
from logtriage.evaluation import record_episode, record_joint_episode
from logtriage.evaluation.usage import Usage, usage_of
from logtriage.incident import Incident
from logtriage.policies import RandomPolicy
from logtriage.registry import make_policy, roles_of
from logtriage.roles import RoleSplit
from logtriage.trained import make_team
from logtriage.transcript import Transcript
from training.common.splits import role_split_of
from training.evaluate.evaluation import ASKED, Evaluation, Judge, held_out
from training.evaluate.settings import LOCAL, MODEL, Settings
from training.language.attempts import planned
from training.language.chat import Chat
from training.language.episodes import CUT_OFF, SAMPLE, Decoding, OnProgress
from training.language.loading import load_model, load_tokenizer
from training.language.places import check_there
from training.language.policy import TextModel

#: Plays one incident for the n-th time.
Record = Callable[[Incident, int], Transcript]


def evaluated(
    policy: str,
    settings: Settings,
    judge: Judge | None = None,
    *,
    on_progress: OnProgress | None = None,
) -> Evaluation:
    """Let a policy, given as in :class:`Settings`, play the held-out incidents.

    Raises:
        UnknownName: for a policy, task, split or role split that does not exist.
        InvalidInput: for a model, an endpoint or a number that cannot be used.
    """
    judge = judge or Judge.of(settings.rubric, settings.bundle, settings.split_roles)
    check(policy, settings, judge)
    split = _split(settings)
    if policy.startswith(LOCAL):
        return _local(policy, settings, judge, split, on_progress)
    if policy.startswith(ENDPOINT):
        return _endpoint(policy, settings, judge, split, on_progress)
    attempts = _scripted_attempts(settings, judge)
    return _recorded(
        policy, settings, judge, attempts, _scripted(policy, settings, split), 1, on_progress
    )


def check(policy: str, settings: Settings, judge: Judge) -> None:
    """Refuse what :func:`evaluated` would for a policy, without loading a model.

    Raises:
        UnknownName, InvalidInput: as there.
    """
    split = _split(settings)
    if split is not None and settings.team:
        _check_team(settings.team, split)
    if policy.startswith(LOCAL):
        check_there(policy.removeprefix(LOCAL))
        _decoding(policy, settings)
        _attempts(settings, judge)
    elif policy.startswith(ENDPOINT):
        _served(policy, settings, split, 0)
        _attempts(settings, judge)
    else:
        _scripted(policy, settings, split)
        _scripted_attempts(settings, judge)


def _split(settings: Settings) -> RoleSplit | None:
    return role_split_of(settings.split_roles) if settings.split_roles else None


def _decoding(policy: str, settings: Settings) -> Decoding:
    return Decoding(
        settings.temperature, settings.seed, settings.batch, settings.reply_tokens(policy)
    )


def _local(
    policy: str,
    settings: Settings,
    judge: Judge,
    split: RoleSplit | None,
    on_progress: OnProgress | None,
) -> Evaluation:
    path = policy.removeprefix(LOCAL)
    decoding = _decoding(policy, settings)
    tokenizer = load_tokenizer(path)
    model = load_model(path, dtype=settings.dtype or None, load_in_4bit=settings.load_in_4bit)
    if split is None:
        return held_out(
            model,
            tokenizer,
            settings.task,
            settings.episodes,
            seed=decoding.seed,
            temperature=decoding.temperature,
            batch=decoding.batch,
            split=settings.split,
            samples=settings.samples,
            max_new_tokens=decoding.max_new_tokens,
            agent=policy,
            template=settings.template,
            judge=judge,
            on_progress=on_progress,
        )
    decoding = attrs.evolve(decoding, batch=1)
    chat = Chat(tokenizer, settings.template)

    def record(incident: Incident, sample: int) -> Transcript:
        complete = TextModel(model, chat, decoding, sample)
        transcript = record_team(
            {MODEL: complete}, incident, settings.team or MODEL, split, policy,
            listening=settings.listening,
        )  # fmt: skip
        count = {ASKED: complete.count.replies, CUT_OFF: complete.count.cut_off}
        counted: Transcript = attrs.evolve(transcript, extra={**transcript.extra, **count})
        return counted

    attempts = _attempts(settings, judge)
    evaluation = _recorded(policy, settings, judge, attempts, record, 1, on_progress)
    return attrs.evolve(evaluation, how={**evaluation.how, **attrs.asdict(decoding)})


def _endpoint(
    policy: str,
    settings: Settings,
    judge: Judge,
    split: RoleSplit | None,
    on_progress: OnProgress | None,
) -> Evaluation:
    attempts = [_served(policy, settings, split, sample) for sample in range(settings.samples)]
    evaluation = _recorded(
        policy, settings, judge, _attempts(settings, judge),
        lambda incident, sample: attempts[sample].record(incident, policy),
        settings.concurrency, on_progress,
    )  # fmt: skip
    usage = usage_of(evaluation.transcripts) or Usage()
    used = {"requests": usage.requests, "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens}  # fmt: skip
    cost = usage.cost(settings.prompt_price, settings.completion_price)
    names = ("temperature", "seed", "reply", "extra_body")
    how = {name: getattr(settings, name) for name in names}
    how["max_new_tokens"] = settings.reply_tokens(policy)
    return attrs.evolve(evaluation, how={**evaluation.how, **how, **used, "cost": cost})


def _served(policy: str, settings: Settings, split: RoleSplit | None, sample: int) -> ServedPlayer:
    endpoint = Endpoint(
        base_url=settings.base_url or None,
        reply=settings.reply,
        max_tokens=settings.reply_tokens(policy),
        temperature=settings.temperature,
        seed=settings.seed + sample,
        extra=json_object("extra-body", settings.extra_body),
        timeout=settings.timeout,
        retries=settings.retries,
    )
    asked = {MODEL: endpoint.ask(policy)}
    return ServedPlayer(
        asked,
        description=endpoint.description,
        reply=endpoint.reply,
        split=split,
        team=settings.team or MODEL,
        listening=settings.listening,
    )


def _scripted(policy: str, settings: Settings, split: RoleSplit | None) -> Record:
    if split is None:
        factory = make_policy(policy)
        return lambda incident, _: record_episode(incident, factory, policy)
    team = make_team(policy, split)
    return lambda incident, _: record_joint_episode(
        incident, team, policy, split, listening=settings.listening
    )


def _check_team(team: str, split: RoleSplit) -> None:
    """Refuse a team in which somebody is unknown, or the policy that is measured has no role.

    Raises:
        UnknownName, InvalidInput: naming the team.
    """
    make_team(team, split, roles={MODEL: lambda *_: RandomPolicy(0)})
    if MODEL not in dict(roles_of(team)).values():
        raise InvalidInput(f"team {team!r}: expected ROLE={MODEL} for at least one role")


def _attempts(settings: Settings, judge: Judge) -> list[tuple[str, int]]:
    return planned(
        judge.source,
        settings.task,
        settings.episodes,
        split=settings.split,
        samples=settings.samples,
        temperature=settings.temperature,
    )


def _scripted_attempts(settings: Settings, judge: Judge) -> list[tuple[str, int]]:
    """The names of policies that do the same in every attempt."""
    return planned(judge.source, settings.task, settings.episodes, split=settings.split)


def _recorded(
    policy: str,
    settings: Settings,
    judge: Judge,
    attempts: list[tuple[str, int]],
    record: Record,
    workers: int,
    on_progress: OnProgress | None,
) -> Evaluation:
    def play(attempt: tuple[str, int]) -> Transcript:
        incident_id, sample = attempt
        transcript = record(judge.source(incident_id), sample)
        marked: Transcript = attrs.evolve(transcript, extra={**transcript.extra, SAMPLE: sample})
        return marked

    start = perf_counter()
    transcripts: list[Transcript] = []
    with ThreadPoolExecutor(workers) as pool:
        played: Iterable[Transcript] = (
            pool.map(play, attempts) if workers > 1 else map(play, attempts)
        )
        for episode in played:
            transcripts.append(episode)
            if on_progress is not None:
                on_progress(len(transcripts), len(attempts))
    samples = len({sample for _, sample in attempts})
    asked = policy.startswith((LOCAL, ENDPOINT))
    options = {"roles": settings.split_roles, "team": settings.team if asked else ""}
    how = {name: value for name, value in options.items() if value}
    return Evaluation(
        policy, settings.split, samples, transcripts, perf_counter() - start, how, judge
    )
