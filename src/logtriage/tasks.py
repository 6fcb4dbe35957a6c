"""Tasks: versioned distributions of incidents, and the ids that name one of them.

A version changes exactly when behaviour changes; golden transcripts enforce it.
"""

import re
from functools import cached_property, lru_cache
from typing import Final

import attrs

from logtriage.errors import InvalidInput, RetiredName, SealError, UnknownName, kind_of
from logtriage.rng import hash_name
from logtriage.seal import SEAL_VARIABLE, Seal
from logtriage.topology import FIVE_TEAMS, SEVEN_SERVICES, Topology
from logtriage.world.setting import FOG, SETTINGS, Setting, check_weights, check_whole

#: The splits whose incidents anybody can draw.
SPLITS: Final = ("train", "val", "test", "ood")
#: The split whose incidents are drawn with a secret key; none of the originals are.
SEALED: Final = "sealed"
#: What an incident of a task may be named by.
ALL_SPLITS: Final = (*SPLITS, SEALED)
#: Incidents of one split of one task are numbered below this.
MAX_INDEX: Final = 1 << 48
SEED_BITS: Final = 62
SEED_MASK: Final = (1 << SEED_BITS) - 1
#: Rounds (shift, odd factor) of the bijection from indices to seeds.
SCRAMBLE: Final = ((29, 0x3F58476D1CE4E5B9), (31, 0x14D049BB133111EB), (30, 1))


_NAME: Final = re.compile(r"[A-Za-z0-9._-]+")
#: The tasks whose incidents each have a topology of 20 to 60 services of their own.
FLEETS: Final = ("fleet_outage", "compound_fleet")


@attrs.frozen
class TaskSpec:
    """The spec sheet of a task.

    ``horizon`` in ticks; ``noise`` is the share of window lines without signal and
    ``benign`` that of incidents with no fault behind them, both per mille;
    ``severity_weights`` for P1, P2, P3 among real faults; ``history`` one reasoned
    entry a version. ``original`` marks the fixed incident of a ``*-v0`` task; the others have a
    ``setting``, the constants of their world.

    Raises:
        InvalidInput: naming the field and what was expected.
    """

    name: str
    version: int
    title: str
    hard: str
    horizon: int
    noise: int
    rubric: str
    history: tuple[str, ...]
    benign: int = 0
    severity_weights: tuple[int, int, int] = (1, 1, 1)
    original: bool = False
    setting: Setting | None = None

    def __attrs_post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise InvalidInput(
                f"task {self.name!r:.80}: name: expected letters, digits, '-', '_' and '.'"
            )
        where = f"task {self.name!r}"
        check_whole(f"{where}: version", self.version)
        check_whole(f"{where}: horizon", self.horizon, least=1)
        check_whole(f"{where}: noise", self.noise, most=1000)
        check_whole(f"{where}: benign", self.benign, most=1000)
        check_weights(f"{where}: severity_weights", self.severity_weights, 3)

    @property
    def fog(self) -> int | None:
        """The level of fog, 0 to 3; None of a ``*-v0`` task."""
        return None if self.setting is None else self.setting.fog

    @property
    def several(self) -> bool:
        """Whether an incident may have more than one fault."""
        return self.setting is not None and self.setting.several

    @property
    def topology(self) -> Topology | None:
        """The services of its incidents, split ``ood`` aside; None if each has its own."""
        if self.setting is None:
            return SEVEN_SERVICES
        return None if self.name in FLEETS else FIVE_TEAMS

    @cached_property
    def id(self) -> str:
        """Name, version and fog, such as ``cascading_failure-v2-fog1``.

        The benchmark's level of fog is not named: one name for one thing.
        """
        name = f"{self.name}-v{self.version}"
        return name if self.fog in (None, BENCHMARK_FOG) else f"{name}-fog{self.fog}"


_V0_HISTORY: Final = (
    "v0: the one fixed incident of the original LogTriageEnv, new telemetry",
    "v0: the telemetry of the drawn tasks of version 2, without fog",
)


def _original(name: str, title: str, hard: str, horizon: int) -> TaskSpec:
    """A task of the original, with telemetry as of the task of that name without fog."""
    return TaskSpec(
        name=name,
        version=0,
        title=title,
        hard=hard,
        horizon=horizon,
        noise=SETTINGS[name](0).noise,
        rubric=f"logtriage-env/0/{name}",
        history=_V0_HISTORY,
        original=True,
    )


_ORIGINALS: Final = (
    _original(
        "single_crash", "The original's single crash", "always payment-service, P1, restart", 8
    ),
    _original(
        "cascading_failure",
        "The original's cascade",
        "always user-db, P1, kill-query or restart",
        12,
    ),
    _original(
        "silent_degradation",
        "The original's silent degradation",
        "always payment-db, P2, flush-cache or kill-query",
        15,
    ),
)

#: Fog of the benchmark: the tasks whose ids name none.
BENCHMARK_FOG: Final = 2
_V2_HISTORY: Final = (
    "v2: the second world: truth, condition, token, text; the exact posterior is known",
    "v2: a drawn topology is named by a hash of its content: its old name told the seed",
    "v2: sealed incidents are drawn with keys as wide as their seed",
)


def _drawn(name: str, title: str, hard: str, horizon: int) -> tuple[TaskSpec, ...]:
    """A task with drawn incidents at every level of fog."""
    return tuple(
        TaskSpec(
            name=name,
            version=2,
            title=title,
            hard=hard,
            horizon=horizon,
            noise=setting.noise,
            rubric="logtriage/2",
            history=_V2_HISTORY,
            benign=setting.benign,
            severity_weights=setting.severities,
            setting=setting,
        )
        for setting in (SETTINGS[name](fog) for fog in range(len(FOG)))
    )


_DRAWN: Final = (
    *_drawn(
        "single_crash",
        "One service fails, loudly",
        "few questions: look-alike faults differ in the team to page or in the remedy",
        10,
    ),
    *_drawn(
        "cascading_failure",
        "The callers scream, the root is silent",
        "the root neither alerts nor speaks at first; minor faults elsewhere show the same "
        "signs, and only the callers' waiting tells them apart",
        14,
    ),
    *_drawn(
        "silent_degradation",
        "Slow drift under much noise",
        "signs grow with time, so that waiting informs, and costs",
        16,
    ),
    *_drawn(
        "fleet_outage",
        "Twenty to sixty services, few questions",
        "what to ask is the problem: nobody can look at every service",
        14,
    ),
)
_COMPOUND: Final = (
    *_drawn(
        "compound_failure",
        "One fault, two or three at once",
        "how many faults there are is not told: one may hide behind another's callers, and a "
        "pool may stay exhausted after its database is well again",
        20,
    ),
    *_drawn(
        "compound_fleet",
        "The same among twenty to sixty services",
        "what to ask is the problem, and how many faults there are is not told",
        20,
    ),
)
#: Every task: the benchmark's, then those at other levels of fog, then several faults at
#: once, then the original's.
TASKS: Final = (
    *(task for task in _DRAWN if task.fog == BENCHMARK_FOG),
    *(task for task in _DRAWN if task.fog != BENCHMARK_FOG),
    *sorted(_COMPOUND, key=lambda task: task.fog != BENCHMARK_FOG),
    *_ORIGINALS,
)

#: The ids of the benchmark: what ``all`` stands for everywhere. Incidents with several
#: faults at once are named where they are wanted: they are another measure.
DRAWN_TASKS: Final = tuple(task.id for task in _DRAWN if task.fog == BENCHMARK_FOG)

_BY_ID: Final = {task.id: task for task in TASKS}
#: Tasks that are no more, with those that took their places.
RETIRED: Final = {
    f"{name}-v1": f"{name}-v2"
    for name in ("single_crash", "cascading_failure", "silent_degradation")
}


def get_task(task_id: str) -> TaskSpec:
    """The task of that id.

    Raises:
        UnknownName: if there is none; the message lists the known ids, or names the task
            that took the place of a retired one.
    """
    try:
        return _BY_ID[task_id]
    except KeyError:
        if task_id in RETIRED:
            raise RetiredName("task", task_id, RETIRED[task_id], _BY_ID) from None
        raise UnknownName("task", task_id, _BY_ID) from None


def check_split(task: TaskSpec, split: str) -> None:
    """Refuse what is no split of a task.

    Raises:
        UnknownName: for an unknown split.
        InvalidInput: for split ``sealed`` of a ``*-v0`` task.
    """
    if split not in ALL_SPLITS:
        raise UnknownName("split", split, SPLITS if task.setting is None else ALL_SPLITS)
    if split == SEALED and task.setting is None:
        raise InvalidInput(
            f"task {task.id!r} is one fixed incident and has no split {SEALED!r}; choose a task "
            f"such as {', '.join(DRAWN_TASKS)}"
        )


def is_sealed(incident_id: str) -> bool:
    """Whether an id is one of a sealed incident, if it exists."""
    return incident_id.split("/")[1:-1] == [SEALED]


@attrs.frozen
class IncidentId:
    """A parsed incident id: ``<task>/<split>/<index>``, with the seal of a sealed one."""

    task: TaskSpec
    split: str
    index: int
    seal: Seal | None = None

    def __str__(self) -> str:
        return f"{self.task.id}/{self.split}/{self.index}"

    @property
    def seed(self) -> int:
        """The incident's 62-bit seed with the split in the two bits above.

        Splits are disjoint by construction (the top bits differ), indices of one
        task and split too (a bijection on 62 bits); neighbours share nothing. A sealed
        incident's is a keyed hash of its id, and wider than any of these.

        Raises:
            SealError: for a sealed incident without its seal.
        """
        if self.split == SEALED:
            if self.seal is None:
                raise SealError(
                    f"{self}: sealed, and drawn only with its key; set {SEAL_VARIABLE}, give "
                    "--seal-file PATH on the command line, or in Python make_incident(id, "
                    "seal=Seal(key)), and graders a resolve that does so"
                )
            return self.seal.seed(str(self))
        return (SPLITS.index(self.split) << SEED_BITS) | _scramble62(
            (self.index + task_offset(self.task.id)) & SEED_MASK
        )


@lru_cache(maxsize=64)
def task_offset(task_id: str) -> int:
    """Where the seeds of a task begin."""
    return hash_name(task_id) & SEED_MASK


def _scramble62(value: int) -> int:
    """A bijection on ``range(2**62)``: xor-shifts and odd multipliers, as in SplitMix64."""
    for shift, factor in SCRAMBLE:
        value = ((value ^ (value >> shift)) * factor) & SEED_MASK
    return value


def parse_incident_id(text: str, seal: Seal | None = None) -> IncidentId:
    """Read ``<task>/<split>/<index>``; ``seal`` is kept if that is a sealed incident.

    Raises:
        UnknownName: for an unknown task or split.
        InvalidInput: for a split that the task lacks, and for anything else that is not an
            id in canonical form.
    """
    if not isinstance(text, str):
        raise InvalidInput(f"expected the id of an incident, a text; got {kind_of(text)}")
    parts = text.split("/")
    if len(parts) == 2 and parts[1] in ALL_SPLITS:
        get_task(parts[0])  # an unknown task is told before the number that is missing
    if len(parts) != 3:
        raise InvalidInput(f"incident id {text!r:.200}: {_missing(parts)}")
    task = get_task(parts[0])
    check_split(task, parts[1])
    return IncidentId(task, parts[1], index_of(text), seal if parts[1] == SEALED else None)


def index_of(text: str) -> int:
    """The number at the end of an incident's id.

    Raises:
        InvalidInput: if it is not written as a number in range is.
    """
    digits = text.rpartition("/")[2]
    canonical = digits.isascii() and digits.isdigit() and (digits == "0" or digits[0] != "0")
    if not canonical or len(digits) > 15 or int(digits) >= MAX_INDEX:
        raise InvalidInput(
            f"incident id {text!r}: index must be a whole number below {MAX_INDEX}, "
            "without sign or leading zeros"
        )
    return int(digits)


def indices(count: int, start: int = 0) -> range:
    """The numbers ``start`` to ``start + count - 1`` of incidents.

    Raises:
        InvalidInput: for a negative count or start, and for numbers that are too large.
    """
    if not (count >= 0 and 0 <= start <= start + count <= MAX_INDEX):
        raise InvalidInput(f"ids {start} to {start + count - 1}: indices lie in [0, {MAX_INDEX})")
    return range(start, start + count)


def incident_ids(task_id: str, split: str, count: int, start: int = 0) -> tuple[str, ...]:
    """The ids ``start`` to ``start + count - 1`` of a split.

    Raises:
        UnknownName: for an unknown task or split.
        InvalidInput: for a split that the task lacks, and for a negative count or start.
    """
    task = get_task(task_id)
    check_split(task, split)
    return tuple(f"{task.id}/{split}/{index}" for index in indices(count, start))


def _missing(parts: list[str]) -> str:
    """What an id of fewer or more than three parts lacks."""
    if parts[0] not in _BY_ID or len(parts) > 2:
        return "expected <task>/<split>/<index>"
    if len(parts) == 1:
        return f"the split and the number are missing; expected {parts[0]}/test/0, for example"
    split = parts[1] if parts[1] in ALL_SPLITS else SPLITS[2]
    return f"the number is missing; expected {parts[0]}/{split}/0, for example"


def is_of_task(incident_id: str) -> bool:
    """Whether an id begins with a task's, as that of a drawn incident does."""
    return incident_id.partition("/")[0] in _BY_ID
