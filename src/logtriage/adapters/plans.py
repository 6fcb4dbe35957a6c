"""One shot: an agent sees one screen and answers with all its actions at once."""

from collections.abc import Iterable
from typing import Any

from logtriage.adapters.episode import opening
from logtriage.generator import make_incident
from logtriage.grading import Grade, Resolver, Rubric, grade_actions
from logtriage.incident import Incident
from logtriage.parsing import parse_plan


def plan_rows(
    incident_ids: Iterable[str], *, resolve: Resolver = make_incident
) -> list[dict[str, Any]]:
    """Rows of a one-shot data set: ``prompt`` (messages) and ``incident`` (the id)."""
    return [{"prompt": opening(resolve(one), "plan"), "incident": one} for one in incident_ids]


def grade_plan(
    incident: Incident | str,
    text: str,
    rubric: Rubric | None = None,
    *,
    resolve: Resolver = make_incident,
) -> Grade:
    """Grade a reply that holds a plan (:func:`~logtriage.parsing.parse_plan`); total in text.

    Raises:
        UnknownName, InvalidInput: for an incident id that does not exist.
    """
    if isinstance(incident, str):
        incident = resolve(incident)
    return grade_actions(incident, parse_plan(text, incident.topology), rubric)
