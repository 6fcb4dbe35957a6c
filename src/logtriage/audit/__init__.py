"""The audit of a grader: can its scores be trusted?

>>> from logtriage.audit import QUICK, audit
>>> audit("single_crash-v4", families=["ceiling"], sizes=QUICK).passed
True

Any task and any rubric can be audited, yours too: see ``docs/audit.md``. ``run`` has the list of
checks; ``world_checks`` and ``world_doubts`` are for the author of a world.
"""

from logtriage.audit.findings import Finding, Report, Verdict
from logtriage.audit.limits import FULL, QUICK, STANDARD, Sizes, Thresholds
from logtriage.audit.run import FAMILIES, audit
from logtriage.audit.subject import Draw, Oracle, Subject, subject_of
from logtriage.audit.world_checks import check_world

__all__ = [
    "FAMILIES",
    "FULL",
    "QUICK",
    "STANDARD",
    "Draw",
    "Finding",
    "Oracle",
    "Report",
    "Sizes",
    "Subject",
    "Thresholds",
    "Verdict",
    "audit",
    "check_world",
    "subject_of",
]
