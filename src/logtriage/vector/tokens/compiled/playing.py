"""Actions and the passing of time, row by row."""

from typing import Any, Final

import numpy as np

from logtriage._lib.jit import kernel
from logtriage.actions import SEVERITIES
from logtriage.grading.kernels import closing_after, counts, facts_step, move_of, response_step
from logtriage.grading.steps import Facts, Response
from logtriage.grading.tables import MISROUTED
from logtriage.grading.tables import OPEN as UNCLOSED
from logtriage.vector.compiled.draws import Int
from logtriage.vector.tokens.compiled.fields import ColumnPlaces, Scene, scene_in
from logtriage.vector.tokens.episodes import NEVER, OPEN
from logtriage.vector.tokens.layout import REQUEST
from logtriage.world.channels import Channel

_SEVERITIES: Final = len(SEVERITIES)
_OVERVIEW: Final = REQUEST[Channel.OVERVIEW]
#: The requests about one service, in the order of their canonical integers.
_ABOUT_ONE: Final = (REQUEST[Channel.LOGS], REQUEST[Channel.METRICS], REQUEST[Channel.TRACES])


@kernel
def _note_request(row: Int, at: Int, lane: Int, columns: Any, to: ColumnPlaces) -> None:
    """Write the kind and the service of a lane's request into its two columns.

    ``at`` is the request's place: 0 for all services, then lines, gauges, traces by service.
    """
    first = np.uint64(to.asked + 2 * lane)
    kind, service = _OVERVIEW, 0
    if at > 0:
        kind, service = _ABOUT_ONE[(at - 1) // to.n], 1 + (at - 1) % to.n
    columns[row, first] = kind
    columns[row, first + np.uint64(1)] = service


@kernel
def _closing(row: Int, now: Any) -> Int:
    """The closing of a row, or ``OPEN``, as :mod:`logtriage.grading.tables` numbers it."""
    closing = np.int64(now.closing[row])
    return closing if closing >= 0 else np.int64(UNCLOSED)


@kernel
def facts_of(row: Int, scene: Scene) -> Facts:
    """The :class:`~logtriage.grading.steps.Facts` of a row."""
    tables, incidents, now = scene.tables, scene.incidents, scene.now
    true = np.uint64(incidents.hypothesis[row])
    severity, declared = np.int64(now.severity[row]), np.int64(now.root_cause[row])
    closing = _closing(row, now)
    rightly = tables.has_fault[true] and declared == tables.root[true]
    return Facts(
        severity=severity if severity >= 0 else np.int64(_SEVERITIES),
        seen=np.int64(declared >= 0),
        rightly=np.int64(rightly),
        paged=np.int64(now.paged_at[row]),
        mispaged=np.int64(closing == MISROUTED),
        remedies=np.int64(now.remedies[row]),
        wrong=np.int64(now.wrong_remedies[row]),
        early=np.int64(now.unapproved[row]),
        closing=closing,
    )


@kernel
def response_of(row: Int, facts: Facts, scene: Scene) -> Response:
    """The :class:`~logtriage.grading.steps.Response` to the fault of a row."""
    now = scene.now
    said = np.int64(now.declared_at[row]) if facts.rightly != 0 else np.int64(NEVER)
    return Response(said, facts.paged, np.int64(now.fixed_at[row]))


@kernel
def _is_accepted(row: Int, action: Int, scene: Scene) -> Any:
    """Whether the incident of a row accepts the service, team or remedy of an action."""
    tables, incidents, places = scene.tables, scene.incidents, scene.to
    true, letters = np.uint64(incidents.hypothesis[row]), places.letters
    if not tables.has_fault[true]:
        return False
    if letters.root <= action < letters.root_end:
        return action - letters.root == tables.root[true]
    if letters.page <= action < letters.page_end:
        return action - letters.page == incidents.team[row]
    if letters.remedy <= action < letters.remedy_end:
        at = action - letters.remedy
        remedy, service = at // places.n, at % places.n
        return service == tables.root[true] and tables.remedies[true, np.uint64(remedy)]
    return False


@kernel
def _show(row: Int, action: Int, eased: Any, columns: Any, places: ColumnPlaces) -> None:
    """Write a page or a remedy into the columns that show it; ``eased``: the remedy helped."""
    letters = places.letters
    if letters.page <= action < letters.page_end:
        columns[row, np.uint64(places.paged + action - letters.page)] = 1
    elif letters.remedy <= action < letters.remedy_end:
        at = action - letters.remedy
        columns[row, np.uint64(places.remedied + at % places.n)] = 1
        columns[row, np.uint64(places.applied + at // places.n)] = 1
        if eased:
            columns[row, np.uint64(places.eased)] = 1


@kernel
def apply_action(row: Int, action: Int, lane: Int, scene: Scene) -> None:
    """Record the action of a lane in an open row, by :mod:`logtriage.grading.steps`."""
    now, places = scene.now, scene.to
    columns, letters = now.columns, places.letters
    if places.requests <= action < letters.resolve:
        _note_request(row, action - places.requests, lane, columns, places)
        return
    when = np.int64(columns[row, np.uint64(places.time)])
    facts = facts_of(row, scene)
    right = _is_accepted(row, action, scene)
    move = move_of(action, np.int64(right), places.rules, letters)
    counted = counts(facts, move, live=True, anew=True, faults=np.int64(1))
    before = response_of(row, facts, scene)
    after = facts_step(facts, move, live=True, counted=counted, tick=when)
    accepted = np.int64(right)
    fixed = response_step(before, move, accepted, live=True, counted=counted, tick=when).fixed
    if after.severity != facts.severity:
        now.severity[row] = after.severity
        columns[row, np.uint64(places.severity + after.severity)] = 1
    if counted:
        now.root_cause[row] = action - letters.root
        now.declared_at[row] = when
        columns[row, np.uint64(places.declared + action - letters.root)] = 1
    _show(row, action, right, columns, places)
    now.remedied[row, np.uint64(when)] |= move.remedies
    now.paged_at[row] = after.paged
    now.remedies[row] = after.remedies
    now.wrong_remedies[row] = after.wrong
    now.unapproved[row] = after.early
    if fixed != before.fixed:
        now.fixed_at[row] = fixed
    if move.closes:
        now.closing[row] = after.closing


@kernel
def apply_rows(rows: Any, actions: Any, lane: Int, scene: Scene) -> None:
    """Apply the actions (R,) of ``lane`` in open ``rows`` (R,); no time passes."""
    for place in range(len(rows)):
        row = np.uint64(rows[place])
        apply_action(row, actions[place], lane, scene_in(row, scene))


@kernel
def pass_tick(row: Int, scene: Scene) -> None:
    """Let a tick pass in a row; at the horizon an open row closes."""
    now, to = scene.now, scene.to
    tick = now.columns[row, np.uint64(to.time)] + 1
    now.columns[row, np.uint64(to.time)] = tick
    closing = closing_after(_closing(row, now), np.int64(tick), np.int64(to.horizon))
    now.closing[row] = OPEN if closing == UNCLOSED else closing
    now.columns[row, np.uint64(to.closed)] = now.closing[row] != OPEN


@kernel
def pass_time_rows(rows: Any, scene: Scene) -> None:
    """Let a tick pass in ``rows`` (R,)."""
    for place in range(len(rows)):
        pass_tick(np.uint64(rows[place]), scene)


@kernel
def forget_asked(row: Int, scene: Scene) -> None:
    """Clear the columns of the last tick's requests in a row."""
    now, to = scene.now, scene.to
    for column in range(np.uint64(2 * to.lanes)):
        now.columns[row, np.uint64(to.asked) + column] = 0


@kernel
def forget_rows(rows: Any, scene: Scene) -> None:
    """Clear the columns of the last tick's requests in ``rows`` (R,)."""
    for place in range(len(rows)):
        forget_asked(np.uint64(rows[place]), scene)


@kernel
def begin_rows(rows: Any, public: Int, now: Any) -> None:
    """Begin new episodes in ``rows`` (R,), with nothing shown yet.

    ``public`` is the first column that belongs to the incident: it and those behind it stay.
    """
    for place in range(len(rows)):
        row = np.uint64(rows[place])
        for column in range(np.uint64(public)):
            now.columns[row, column] = 0
        now.closing[row] = OPEN
        now.severity[row] = -1
        now.root_cause[row] = -1
        now.declared_at[row] = NEVER
        now.paged_at[row] = NEVER
        now.fixed_at[row] = NEVER
        now.remedies[row] = 0
        now.wrong_remedies[row] = 0
        now.unapproved[row] = 0
        now.remedied[row, :] = False
