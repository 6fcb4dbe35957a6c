"""One episode of a run, as the pages show it."""

from typing import TYPE_CHECKING

import attrs

from logtriage.grading import Graded
from logtriage.incident import Incident
from logtriage.roles import RoleSplit
from logtriage.transcript import Transcript

if TYPE_CHECKING:  # it would load NumPy, and a page in a browser has none
    from logtriage.beliefs.explain import Explanation
    from logtriage.report.page_cache import PageCache


@attrs.frozen
class Episode:
    """One transcript of the run, with its incident and its grade.

    ``roles`` is the role split that it was played with; None for a single agent. ``explained``
    says why its grade is what it is, or is None. ``cache`` holds beliefs and explanations that were
    computed for an earlier page; None if the run's directory keeps none.
    """

    policy: str
    incident: Incident
    transcript: Transcript
    grade: Graded
    roles: RoleSplit | None = None
    explained: "Explanation | None" = None
    cache: "PageCache | None" = None
