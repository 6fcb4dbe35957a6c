"""Incidents: the hidden truth, what the agent may know of the world, and the telemetry."""

from collections.abc import Iterable
from functools import cached_property

import attrs

from logtriage.actions import FaultCategory, Severity
from logtriage.topology import Topology
from logtriage.world.default import default_world
from logtriage.world.model import World
from logtriage.world.setting import Setting
from logtriage.world.simulation import Simulation, speakers
from logtriage.world.telemetry import Telemetry


def listed(names: Iterable[str]) -> str:
    """Accepted names in words, any of which will do."""
    return " or ".join(sorted(names)) or "nobody"


@attrs.frozen
class Fault:
    """What was injected: a kind of the fault table, and the service it struck."""

    kind: str
    service: str


@attrs.frozen
class Part:
    """What a fault asks for: any of its root causes, teams and remedies.

    ``secondary`` marks a fault that another fault of the incident brought about.
    """

    fault: Fault | None
    root_causes: frozenset[str]
    teams: frozenset[str]
    remedies: frozenset[tuple[str, str]]
    secondary: bool = False


@attrs.frozen
class Truth:
    """The answer. Sets, because more than one root cause, team or remedy may be right.

    ``severity`` is None if it is not known (recorded incidents), ``fault_category``, that of a
    recording, if it does not count either. ``several`` lists what each of several faults asks for;
    the sets then hold all of them together, and ``fault`` is the first.
    """

    fault: Fault | None
    severity: Severity | None
    root_causes: frozenset[str]
    teams: frozenset[str]
    remedies: frozenset[tuple[str, str]]
    several: tuple[Part, ...] = ()
    fault_category: FaultCategory | None = None

    @property
    def benign(self) -> bool:
        """Whether there is nothing to act on."""
        return not self.root_causes

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """What each fault asks for; none if the incident is benign."""
        if self.several or self.benign:
            return self.several
        return (Part(self.fault, self.root_causes, self.teams, self.remedies),)

    @cached_property
    def teams_in_words(self) -> str:
        """The accepted teams in words, any of which will do."""
        return listed(self.teams)

    @cached_property
    def fault_kind(self) -> str | None:
        """The kinds of the faults, in words; None if nothing was injected."""
        kinds = [part.fault.kind for part in self.parts if part.fault is not None]
        return " + ".join(kinds) or None


@attrs.frozen(cache_hash=True)
class Incident:
    """Everything about one incident, immutable and hashable.

    Attributes:
        id: ``<task>/<split>/<index>``, or ``<source>/<name>`` of a recorded one.
        task: the task's id.
        horizon: in ticks; an incident still open then is out of time.
        topology: the services, who calls whom, and the teams.
        directory: the team that owns each service (in index order) in *this* incident.
        truth: the answer.
        telemetry: what can be seen.
        wrong_page_closes: whether a page to a team that is not accepted closes it.
        rubric: the id of the rubric that its task is graded by.
        par: in ticks; how many a perfect response needs here. Beyond it, closing costs.
        seal: the fingerprint of the key that a sealed incident was drawn with.
        worth_of_hand_over: in points of the grade; what it is worth to hand the incident over
            at once. None if nobody takes it over.
    """

    id: str
    task: str
    horizon: int
    topology: Topology
    directory: tuple[str, ...]
    truth: Truth
    telemetry: Telemetry | Simulation
    wrong_page_closes: bool = True
    rubric: str = "logtriage/3"
    par: int = 5
    seal: str | None = None
    worth_of_hand_over: float | None = None

    @property
    def takes_hand_over(self) -> bool:
        """Whether it can be handed over: then that is offered and has a canonical integer."""
        return self.worth_of_hand_over is not None

    @property
    def task_par(self) -> int:
        """Par in ticks of the task's incidents with faults. Hand-overs use it, benign or not."""
        return self.par if self.setting is None else self.setting.par

    @property
    def simulation(self) -> Simulation | None:
        """The simulated system; None for a recording."""
        return self.telemetry if isinstance(self.telemetry, Simulation) else None

    @property
    def setting(self) -> Setting | None:
        """The public constants of its world; None for a recording."""
        return None if self.simulation is None else self.simulation.setting

    @property
    def world(self) -> World | None:
        """The world that it is of; None for a recording."""
        return None if self.setting is None else self.setting.world

    @property
    def world_mark(self) -> str | None:
        """The fingerprint of its world, as records say it; None for the default world."""
        world = self.world
        return None if world is None or world == default_world() else world.fingerprint

    def speakers(self, now: int) -> tuple[int, ...]:
        """The services of the window's lines at a tick: public, and saying nothing."""
        world = self.simulation
        return () if world is None else speakers(world.seed, len(self.topology), now)

    @property
    def held(self) -> bool | None:
        """Whether the prior leaves out held-out pairs (False) or raises them (True), if any."""
        return None if self.simulation is None else self.simulation.held
