"""The audit of a grader: can its scores be trusted?

>>> from logtriage.audit import QUICK, audit
>>> audit("single_crash-v4", families=["ceiling"], sizes=QUICK).passed
True

Any task and any rubric can be audited, yours too: see ``docs/audit.md``. From low to high:

- what checks share: ``limits``, ``failing``, ``findings``, ``vocabulary`` (every action, with every
  field varied) and ``subject`` (a task with its rubric and oracle)
- ways to play: ``action_lists`` (scores and searches of fixed lists), ``situations`` (exact search
  of all lists), ``players`` (scripts that see the screen)
- checks of a rubric, for its author: ``ceiling``, ``floor``, ``histories``, and ``episodes`` (each
  rule answers, and the same everywhere)
- checks of incidents, for who draws them: ``leaks``, ``public_fields`` (of seeds), ``screens``,
  ``fairness``, ``symptoms``, ``handing_over``
- for the author of a world: ``world_checks`` and ``world_doubts``; ``run`` has the list of checks
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
