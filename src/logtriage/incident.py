"""Incidents: the hidden truth, what the agent may know beforehand, and the telemetry."""

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
    """The names, sorted, with "or" between them; "nobody" without any."""
    return " or ".join(sorted(names)) or "nobody"


@attrs.frozen
class Fault:
    """An injected fault: its kind, and the service that it struck."""

    kind: str
    service: str


@attrs.frozen
class Part:
    """The answers to one fault: any of its root causes, teams and (remedy, service) will do.

    ``secondary`` marks a fault that another fault of the incident brought about.
    """

    fault: Fault | None
    root_causes: frozenset[str]
    teams: frozenset[str]
    remedies: frozenset[tuple[str, str]]
    secondary: bool = False


@attrs.frozen
class Truth:
    """The right answer. Sets, because more than one root cause, team or remedy may be right.

    ``severity`` is None if it is not known (in recordings). ``fault_category`` is None unless it
    counts (in recordings). Of several faults, ``several`` lists the answers to each; the sets then
    hold all answers together, and ``fault`` is the first fault.
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
        """The answers to each fault; none if the incident is benign."""
        if self.several or self.benign:
            return self.several
        return (Part(self.fault, self.root_causes, self.teams, self.remedies),)

    @cached_property
    def teams_in_words(self) -> str:
        """The accepted teams, with "or" between them."""
        return listed(self.teams)

    @cached_property
    def fault_kind(self) -> str | None:
        """The kinds of the faults, with "+" between them; None if nothing was injected."""
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
        wrong_page_closes: whether a page to a team that is not accepted closes the incident.
        rubric: the id of the rubric that its task is graded by.
        par: the ticks that a perfect response needs here. To close later costs points.
        seal: the fingerprint of the key that a sealed incident was drawn with; else None.
        worth_of_hand_over: the points of the grade for handing the incident over at once. None if
            nobody takes it over.
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
        """Whether the incident can be handed over."""
        return self.worth_of_hand_over is not None

    @property
    def task_par(self) -> int:
        """The ``par`` of the task's incidents with faults; hand-overs use it, benign or not."""
        return self.par if self.setting is None else self.setting.par

    @property
    def simulation(self) -> Simulation | None:
        """The simulated system; None for a recording."""
        return self.telemetry if isinstance(self.telemetry, Simulation) else None

    @property
    def setting(self) -> Setting | None:
        """The public constants of the incident's world; None for a recording."""
        return None if self.simulation is None else self.simulation.setting

    @property
    def world(self) -> World | None:
        """The world of the incident; None for a recording."""
        return None if self.setting is None else self.setting.world

    @property
    def world_mark(self) -> str | None:
        """The world's fingerprint for records; None for the default world, and for recordings."""
        world = self.world
        return None if world is None or world == default_world() else world.fingerprint

    def speakers(self, now: int) -> tuple[int, ...]:
        """The services of the window's lines at a tick: public, and no evidence."""
        drawn = self.simulation
        return () if drawn is None else speakers(drawn.seed, len(self.topology), now)

    @property
    def held(self) -> bool | None:
        """``held`` of the public :func:`~logtriage.world.prior.prior`; None for a recording."""
        return None if self.simulation is None else self.simulation.held
