"""The numeric observation of the scalar core: read off the very lines that agents read.

The batched engine computes the same numbers from its arrays; a law holds that they
agree. This is the slow, plain reading of them.
"""

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.actions import (
    REMEDIES,
    SEVERITIES,
    RequestMoreLogs,
    all_actions,
)
from logtriage.clues import complaint, named_cause
from logtriage.errors import InvalidInput
from logtriage.faults import FAULT_KINDS
from logtriage.observation import Observation
from logtriage.phrases import FAULT_ALERTS
from logtriage.policies import masked_actions
from logtriage.runbook import severity_of
from logtriage.scenario_ranges import CHANGE_KINDS
from logtriage.vector.layout import Floats, layout_of, scale_error, scale_p99, scale_trend

_KINDS = {kind.name: number for number, kind in enumerate(FAULT_KINDS)}


@attrs.frozen
class Evidence:
    """What was read so far: sets of services, the named fault kind, the worst severity rank."""

    asked: frozenset[str] = frozenset()
    blamed: frozenset[str] = frozenset()
    complaining: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()
    kind: str | None = None
    worst: int = len(SEVERITIES) - 1


def gather(observation: Observation, before: Evidence) -> Evidence:
    """Add what one observation says."""
    pairs, named, kind = [], set(before.named), before.kind
    for line in (*observation.inspection, *observation.window):
        cause = named_cause(line)
        if cause is not None:
            named.add(line.service)
            kind = kind or cause
        pair = complaint(line, observation.topology)
        if pair is not None:
            pairs.append(pair)
    asked = {
        action.service
        for action in observation.last_actions
        if isinstance(action, RequestMoreLogs) and action.service is not None
    }
    worst = before.worst
    if observation.slo is not None:
        worst = min(worst, SEVERITIES.index(severity_of(observation.slo)))
    return Evidence(
        before.asked | asked,
        before.blamed | {dependency for _, dependency in pairs},
        before.complaining | {caller for caller, _ in pairs},
        frozenset(named),
        kind,
        worst,
    )


def encode(observation: Observation, evidence: Evidence) -> Floats:
    """The numeric observation, shape (D,) of :func:`layout_of`.

    ``evidence`` must include that of this observation.

    Raises:
        InvalidInput: for an observation of the second world, whose channels have no columns.
    """
    if observation.price_of_silence is not None:
        raise InvalidInput(
            "this observation is of a task of version 2, whose numeric observation is made of "
            "tokens: logtriage.vector.encode_tokens(state)"
        )
    topology = observation.topology
    layout, index = layout_of(topology), topology.index
    row = np.zeros(layout.size, np.float32)

    def mark(block: str, places: set[int] | list[int]) -> None:
        row[layout[block]][list(places)] = 1

    for alert in observation.alerts:
        name = "fault_alert" if alert.name in FAULT_ALERTS else "other_alert"
        mark(name, [index(alert.service)])
    for service, reading in enumerate(observation.health):
        if reading is not None:
            row[layout["known"]][service] = 1
            row[layout["error"]][service] = scale_error(reading.error_bp)
            row[layout["p99"]][service] = scale_p99(reading.p99_ms)
            row[layout["trend"]][service] = scale_trend(reading.p99_ms - reading.earlier_p99_ms)
    for block in ("asked", "blamed", "complaining", "named"):
        mark(block, [index(service) for service in getattr(evidence, block)])
    mark("remedied", [index(service) for _, service in observation.remedies])
    if observation.root_cause is not None:
        mark("declared", [index(observation.root_cause)])
    for service, owner in enumerate(observation.directory):
        mark(f"owner:{owner}", [service])
    for change in observation.changes:
        if change.kind in CHANGE_KINDS:
            mark(f"change:{change.kind}", [index(change.service)])

    row[layout["time"]] = np.float32(observation.tick) / np.float32(observation.horizon)
    if observation.slo is not None:
        slo = observation.slo
        row[layout["slo"]] = (
            scale_error(slo.error_bp),
            scale_p99(slo.p99_ms),
            scale_trend(slo.p99_ms - slo.earlier_p99_ms),
        )
    mark("worst", [evidence.worst])
    if observation.severity is not None:
        mark("severity", [SEVERITIES.index(observation.severity)])
    if evidence.kind is not None:
        mark("kind", [_KINDS[evidence.kind]])
    teams = topology.teams
    if observation.directory:
        mark("named_owner", {teams.index(observation.directory[index(s)]) for s in evidence.named})
    mark("paged", [teams.index(team) for team in observation.pages])
    mark(
        "applied", [[str(r) for r in REMEDIES].index(remedy) for remedy, _ in observation.remedies]
    )
    row[layout["closed"]] = observation.closing is not None
    return row


def action_mask(observation: Observation) -> NDArray[np.int8]:
    """Which actions could have an effect, shape (A,): all but declarations already made."""
    sensible = set(masked_actions(observation))
    return np.array([one in sensible for one in all_actions(observation.topology)], np.int8)
