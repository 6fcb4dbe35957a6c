"""The batched engine: N incidents of one task on one topology, step by step, no Python loop.

Row by row it agrees with the scalar core on every truth, observation, mask, reward and
closing reason; ``property_tests/test_vector_laws.py`` holds it to that.
"""

from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray

from logtriage.actions import (
    REMEDIES,
    SEVERITIES,
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Ignore,
    Remediate,
    RequestMoreLogs,
    Resolve,
    all_actions,
)
from logtriage.errors import InvalidInput, UnknownName
from logtriage.grading import get_rubric
from logtriage.grading.batch import BatchGrades, grade_batch
from logtriage.grading.rubric import Rubric
from logtriage.grading.truths import PADDING, Truths, narrowest
from logtriage.propagation import Mode
from logtriage.tasks import MAX_INDEX, SPLITS, TaskSpec, get_task
from logtriage.topology import SEVEN_SERVICES, Topology
from logtriage.vector.arrays import Ints
from logtriage.vector.episodes import ActionTable, Episodes, take
from logtriage.vector.incidents import IncidentArrays, draw_incidents
from logtriage.vector.layout import Floats, Layout, layout_of, scale_error, scale_p99, scale_trend
from logtriage.vector.signals import Readings, fault_alerts, read_requested, read_window
from logtriage.vector.tables import Choices, Graph, choices_of, graph_of
from logtriage.vector.team_layout import SOURCES

OPEN: Final = -1
#: A single agent reads every line.
BOTH_SOURCES: Final = sum(SOURCES.values())


@attrs.frozen(eq=False)
class Step:
    """What a reset or a step returns; the arrays are the caller's own.

    ``observation`` (N, D) float32 by :func:`logtriage.vector.layout.layout_of`, ``mask``
    (N, A) int8, ``reward`` (N,) float64, ``closing`` (N,) int8 index into
    :data:`logtriage.grading.batch.CLOSINGS`, -1 while open; ``score`` (N,) float64 the
    grade so far, ``tick`` (N,) ticks used.
    """

    observation: Floats
    mask: NDArray[np.int8]
    reward: NDArray[np.float64]
    closing: NDArray[np.int8]
    score: NDArray[np.float64]
    tick: Ints


class BatchedTriage:
    """N incidents side by side.

    Args:
        task: a drawn task, such as ``cascading_failure-v1``.
        topology: the default one, or one of your own, on which every (service, fault)
            pair may occur.
        rubric: another one than the task's.
        lanes: how many act in each tick; more than one is for
            :class:`logtriage.vector.BatchedTeam`.

    Raises:
        UnknownName: for a task that does not exist.
        InvalidInput: for a ``*-v0`` task, or a topology with no place for its faults.
    """

    def __init__(
        self,
        task: str,
        *,
        topology: Topology | None = None,
        rubric: Rubric | None = None,
        lanes: int = 1,
    ) -> None:
        self.lanes = lanes
        self.task: TaskSpec = get_task(task)
        if self.task.original:
            raise InvalidInput(f"task {task!r} is one fixed incident; nothing to draw a batch from")
        self.own_topology = topology is not None
        self.topology = SEVEN_SERVICES if topology is None else topology
        self.rubric = get_rubric(self.task.rubric) if rubric is None else rubric
        self.graph: Graph = graph_of(self.topology)
        self.layout = layout_of(self.topology)
        self.actions = _table_of(self.topology)
        self.action_count = len(all_actions(self.topology))
        self._incidents: IncidentArrays
        self._episodes: Episodes
        self._closing = np.empty(0, np.int8)

    def __len__(self) -> int:
        return len(self._closing)

    @property
    def index(self) -> Ints:
        """The index (N,) of the incident in each row."""
        return self._incidents.index.copy()

    def reset(self, split: str, index: ArrayLike) -> Step:
        """Begin the incidents ``index`` (N,) of a split, in this order.

        Raises:
            UnknownName: for an unknown split.
            InvalidInput: for indices that are none, or no whole numbers in range, and for split
                ``ood`` without a topology of one's own (half of it lies on others).
        """
        rows = self._checked(split, index)
        if not len(rows):
            raise InvalidInput("a batch needs at least one incident")
        count, n, m = len(rows), self.graph.n, self.graph.m
        self._split = split
        self._incidents = self._draw(rows)
        self._episodes = Episodes.begin(count, n, m, self.task.horizon, self.lanes)
        dtype = narrowest(self.action_count - 1)
        self._history = np.full((self.task.horizon * self.lanes, count), PADDING, dtype)
        self._closing = np.full(count, OPEN, np.int8)
        self._score = np.zeros(count)
        self._static = np.zeros((count, self.layout.size), np.int8)
        self._mask = np.ones((count, self.action_count), np.int8)
        self._write_static(np.arange(count))
        self._truths = self._truths_of(self._incidents)
        return self._step(np.zeros(count))

    def restart(self, rows: ArrayLike, index: ArrayLike) -> None:
        """Begin new incidents ``index`` (R,) of the split in ``rows`` (R,); see :meth:`look`.

        Raises:
            InvalidInput: before a reset, for indices as :meth:`reset`, and for rows that
                are not R different ones of the batch.
        """
        self._check_begun()
        places, chosen = np.asarray(rows), self._checked(self._split, index)
        if places.shape != chosen.shape or len(np.unique(places)) != len(places):
            raise InvalidInput(f"rows must be {len(chosen)} different ones, got {places.tolist()}")
        if len(places) and not (places.min() >= 0 and places.max() < len(self)):
            raise InvalidInput(f"every row must lie in [0, {len(self)})")
        if not len(places):
            return
        drawn = self._draw(chosen)
        self._incidents.put(places, drawn)
        self._truths = self._truths.replaced(places, self._truths_of(drawn))
        fresh = Episodes.begin(
            len(places), self.graph.n, self.graph.m, self.task.horizon, self.lanes
        )
        self._episodes.put(places, fresh)
        self._history[:, places] = PADDING
        self._closing[places] = OPEN
        self._score[places] = 0.0
        self._mask[places] = 1
        self._write_static(places)

    def step(self, actions: ArrayLike, active: NDArray[np.bool_] | None = None) -> Step:
        """Take one action (N,) in every open row, as canonical integers.

        Rows that are closed, or not ``active``, stay as they are and earn 0.

        Raises:
            InvalidInput: before a reset, and for actions of another shape or out of range.
        """
        self._check_begun()
        given = np.asarray(actions)
        self.check_actions(given)
        rows = self.open_rows(active)
        chosen = given.astype(np.int64)
        self.record(chosen, rows)
        self.take(chosen, rows)
        self.pass_time(rows)
        return self._step(self.settle())

    def look(self) -> Step:
        """The present screens, with no reward.

        Raises:
            InvalidInput: before a reset.
        """
        self._check_begun()
        return self._step(np.zeros(len(self)))

    # -- a tick in its parts, for those who act jointly ---------------------------------

    def open_rows(self, active: NDArray[np.bool_] | None = None) -> Ints:
        """The rows that are open, and active."""
        playing = self._closing == OPEN
        if active is not None:
            playing &= active
        return np.flatnonzero(playing)

    def record(self, actions: Ints, rows: Ints, lane: int = 0) -> None:
        """Write actions (N,) of some rows into the history that is graded."""
        self._history[self.slots(rows) + lane, rows] = actions[rows]

    def take(self, actions: Ints, rows: Ints, lane: int = 0) -> None:
        """Let canonical actions (N,) of some rows take effect; no time passes."""
        take(self._episodes, self._incidents, actions, self.actions, rows, lane)

    def ask_nothing(self, rows: Ints, lane: int) -> None:
        """Forget what was asked for in the last tick."""
        self._episodes.requested[rows, lane] = -1

    def closes(self, actions: Ints, rows: Ints) -> NDArray[np.bool_]:
        """Whether the canonical actions of some rows close their incidents (R,)."""
        chosen = actions[rows]
        team = self.actions.team[chosen]
        wrong_page = (team >= 0) & (team != self._incidents.team[rows])
        closes: NDArray[np.bool_] = self.actions.closes[chosen] | wrong_page
        return closes

    def slots(self, rows: Ints) -> Ints:
        """Where in the history the present tick of some rows begins (R,)."""
        slots: Ints = self._episodes.tick[rows] * self.lanes
        return slots

    def pass_time(self, rows: Ints) -> None:
        """Let a tick pass in some rows."""
        self._episodes.tick[rows] += 1

    def settle(self) -> NDArray[np.float64]:
        """Grade the history; what each row earned (N,) since it was last graded."""
        self._mask[:, self._declaring_severity] = (self._episodes.severity < 0)[:, None]
        self._mask[:, self._declaring_root] = (self._episodes.root_cause < 0)[:, None]
        grades = self._grade(self._history)
        reward: NDArray[np.float64] = grades.scores - self._score
        self._score = grades.scores.copy()
        self._closing = grades.closing.copy()
        return reward

    def gain_over(self, slots: Ints, rows: Ints, other: int) -> NDArray[np.float64]:
        """The score less what it would be with action ``other`` in these places (N,)."""
        history = self._history.copy()
        history[slots, rows] = other
        gain: NDArray[np.float64] = self._score - self._grade(history).scores
        return gain

    def declared_owners(self) -> tuple[Ints, Ints]:
        """Rows in which a root cause was declared, and the team that owns it there."""
        rows = np.flatnonzero(self._episodes.root_cause >= 0)
        owners = self._incidents.owners[rows, self._episodes.root_cause[rows]]
        return rows, owners.astype(np.int64)

    def write_read(self, out: Floats, layout: Layout, sources: int) -> None:
        """Write what was read in log lines of some sources; ``out`` must be 0 there."""
        write_read(out, layout, self._incidents, self._episodes, sources)

    # -- inside -----------------------------------------------------------------------

    def _grade(self, history: NDArray[Any]) -> BatchGrades:
        return grade_batch(
            self._truths, history, self.rubric, layout="time_major", per_tick=self.lanes
        )

    def _check_begun(self) -> None:
        if not len(self):
            raise InvalidInput("no incidents are open: call reset() first")

    def _checked(self, split: str, index: ArrayLike) -> Ints:
        if split not in SPLITS:
            raise UnknownName("split", split, SPLITS)
        if split == "ood" and not self.own_topology:
            raise InvalidInput(
                "half of split 'ood' lies on random topologies; a batch has one: give a topology"
            )
        rows = np.asarray(index)
        if rows.ndim != 1 or rows.dtype.kind not in "iu":
            raise InvalidInput(
                f"index must be a list of whole numbers, got {rows.dtype} {rows.shape}"
            )
        if len(rows) and not (rows.min() >= 0 and rows.max() < MAX_INDEX):
            raise InvalidInput(f"every index must lie in [0, {MAX_INDEX})")
        return rows.astype(np.int64)

    def check_actions(self, given: NDArray[Any]) -> None:
        """Refuse actions of another shape or out of range.

        Raises:
            InvalidInput: saying what was given and what is possible.
        """
        if given.shape != (len(self),) or given.dtype.kind not in "iu":
            raise InvalidInput(
                f"actions must be {len(self)} integers, got {given.dtype} of shape {given.shape}"
            )
        if len(given) and not (given.min() >= 0 and given.max() < self.action_count):
            raise InvalidInput(f"every action must lie in [0, {self.action_count})")

    def _draw(self, index: Ints) -> IncidentArrays:
        ood = None if self.own_topology else self._split == "ood"
        choices: Choices = choices_of(self.task.mode, self.topology, ood)
        return draw_incidents(self.task, self._split, index, self.graph, choices)

    def _truths_of(self, one: IncidentArrays) -> Truths:
        n = self.graph.n
        rows = np.arange(len(one.root))
        faulty = rows[~one.benign]
        roots = np.zeros((len(rows), n), bool)
        roots[faulty, one.root[faulty]] = True
        teams = np.zeros((len(rows), self.graph.m), bool)
        teams[faulty, one.team[faulty]] = True
        remedies = (one.remedies[:, :, None] & roots[:, None, :]).reshape(len(rows), -1)
        return Truths(
            self.topology,
            one.severity.astype(np.int8),
            roots,
            teams,
            remedies,
            np.full(len(rows), self.task.horizon, np.int32),
        )

    @property
    def _declaring_severity(self) -> slice:
        return slice(0, len(SEVERITIES))

    @property
    def _declaring_root(self) -> slice:
        return slice(len(SEVERITIES), len(SEVERITIES) + self.graph.n)

    def _write_static(self, rows: Ints) -> None:
        """The columns that an incident fixes."""
        one, layout, static = self._incidents, self.layout, self._static
        static[rows] = 0
        for number, team in enumerate(self.topology.teams):
            static[rows, layout[f"owner:{team}"]] = one.owners[rows] == number
        changes = one.changes[rows]
        for number, name in enumerate(_change_blocks(self.layout.blocks)):
            static[rows, layout[name]] = changes[:, :, number]
        static[rows, layout["other_alert"]] = one.distractor_alerts[rows]

    def _step(self, reward: NDArray[np.float64]) -> Step:
        return Step(
            self._observe(),
            self._mask.copy(),
            reward,
            self._closing.copy(),
            self._score.copy(),
            self._episodes.tick.copy(),
        )

    def _observe(self) -> Floats:
        """Read the screens of all rows, and write down what they said so far."""
        one, now, layout = self._incidents, self._episodes, self.layout
        rows = np.arange(len(one.root))
        seen = Readings(one, now)
        level = seen.level[:, 1:]
        read_window(one, now, level, self.task.noise, self.task.mode is Mode.LOUD)
        read_requested(one, now, level)
        np.minimum(now.worst, seen.worst(), out=now.worst)

        out = self._static.astype(np.float32)
        alerts = fault_alerts(one, level, now.tick)
        known = alerts | one.distractor_alerts | now.asked
        out[:, layout["fault_alert"]] = alerts
        out[:, layout["known"]] = known
        error, p99, trend = scale_error(seen.error), scale_p99(seen.p99), scale_trend(seen.rise)
        out[:, layout["error"]] = error[:, 1:] * known
        out[:, layout["p99"]] = p99[:, 1:] * known
        out[:, layout["trend"]] = trend[:, 1:] * known
        for name in ("asked", "remedied", "paged", "applied"):
            out[:, layout[name]] = getattr(now, name)
        write_read(out, layout, one, now, BOTH_SOURCES)
        out[:, layout["time"].start] = now.tick.astype(np.float32) / np.float32(self.task.horizon)
        out[:, layout["slo"]] = np.stack([error[:, 0], p99[:, 0], trend[:, 0]], axis=1)
        out[rows, layout["worst"].start + now.worst] = 1
        _one_hot(out, layout["severity"], now.severity)
        _one_hot(out, layout["declared"], now.root_cause)
        out[:, layout["closed"].start] = self._closing != OPEN
        return out


def write_read(
    out: Floats, layout: Layout, one: IncidentArrays, now: Episodes, sources: int
) -> None:
    """Write what was read in log lines of the given sources; ``out`` must be 0 there."""
    bits = np.uint8(sources)
    for name in ("blamed", "complaining", "named"):
        out[:, layout[name]] = (getattr(now, name) & bits) > 0
    named = np.flatnonzero((now.named & bits).any(axis=1))
    out[named, layout["kind"].start + one.kind[named]] = 1
    owner = one.owners[named, one.root[named]].astype(np.int64)
    out[named, layout["named_owner"].start + owner] = 1


def _one_hot(out: Floats, at: slice, values: Ints) -> None:
    rows = np.flatnonzero(values >= 0)
    out[rows, at.start + values[rows]] = 1


def _change_blocks(blocks: dict[str, slice]) -> list[str]:
    return [name for name in blocks if name.startswith("change:")]


def _table_of(topology: Topology) -> ActionTable:
    """The canonical actions, decoded."""
    columns: dict[str, list[int]] = {field.name: [] for field in attrs.fields(ActionTable)}
    for action in all_actions(topology):
        row = dict.fromkeys(columns, -1) | {"closes": False}
        match action:
            case ClassifySeverity(severity):
                row["severity"] = SEVERITIES.index(severity)
            case IdentifyRootCause(service, _):
                row["root_cause"] = topology.index(service)
            case Escalate(team):
                row["team"] = topology.teams.index(team)
            case Remediate(remedy, service):
                row["remedy"] = REMEDIES.index(remedy)
                row["target"] = topology.index(service)
            case RequestMoreLogs(str() as service):
                row["request"] = topology.index(service)
            case Resolve() | Ignore():
                row["closes"] = True
            case _:
                pass
        for name, value in row.items():
            columns[name].append(value)
    return ActionTable(**{name: np.array(values) for name, values in columns.items()})
