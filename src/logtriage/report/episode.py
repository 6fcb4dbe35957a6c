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

    ``roles`` is the role split that it was played with; None for a single agent.
    ``explained`` says why it lost what it lost, if that was asked for. ``cache`` holds what pages
    worked out before, if a directory keeps it.
    """

    policy: str
    incident: Incident
    transcript: Transcript
    grade: Graded
    roles: RoleSplit | None = None
    explained: "Explanation | None" = None
    cache: "PageCache | None" = None
