"""Interim: the constants of ``logtriage/2`` under the names that its module will have.

To be dropped for ``logtriage.grading.triage`` as soon as that stands.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

WEIGHTS: Final[Mapping[str, float]] = MappingProxyType(
    {
        "severity": 0.15,
        "root_cause": 0.25,
        "escalation": 0.25,
        "remediation": 0.25,
        "closure": 0.10,
    }
)
WRONG_REMEDY_COST: Final = 0.4
BENIGN_REMEDY_COST: Final = 0.2
UNAPPROVED_FIX: Final = 0.5
UNAPPROVED_REMEDY: Final = 0.7
MOST_UNPAGED: Final = 0.625
