"""One shot: an agent sees one screen and answers with all its actions at once."""

from collections.abc import Iterable
from typing import Any

from logtriage.adapters.episode import incidents_of, opening, row_of
from logtriage.drawing.sealing import incident_of
from logtriage.grading import Grade, Resolver, Rubric, grade_actions
from logtriage.incident import Incident
from logtriage.parsing import parse_plan
from logtriage.transcript import check_drawn


def plan_rows(
    incident_ids: Iterable[str], *, resolve: Resolver = incident_of
) -> list[dict[str, Any]]:
    """Rows of a one-shot data set: ``prompt`` (messages) and the columns of the incident."""
    incidents = incidents_of(incident_ids, resolve)
    return [{"prompt": opening(drawn, "plan"), **row_of(drawn)} for drawn in incidents]


def grade_plan(
    incident: Incident | str,
    text: str,
    rubric: Rubric | None = None,
    *,
    seal: str | None = None,
    world: str | None = None,
    resolve: Resolver = incident_of,
) -> Grade:
    """Grade the plan in a reply (:func:`~logtriage.parsing.parse_plan`); any text has a grade.

    ``seal`` and ``world`` are columns of the row. They are checked if ``incident`` is an id.

    Raises:
        UnknownName, InvalidInput: for an incident id that does not exist.
        SealError: for a sealed incident without its key, or with another key.
    """
    if isinstance(incident, str):
        incident = resolve(incident)
        check_drawn(seal, world, incident)
    return grade_actions(incident, parse_plan(text, incident.topology), rubric)
