"""Tasks: versioned distributions of incidents, each with a sheet.

A version changes exactly when behaviour changes; golden transcripts enforce it.
"""

import re
from functools import cached_property
from typing import Final

import attrs

from logtriage.errors import InvalidInput, RetiredName, UnknownName
from logtriage.topology import FIVE_TEAMS, SEVEN_SERVICES, Topology
from logtriage.world.setting import FOG, SETTINGS, Setting, check_weights, check_whole

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
