"""The black-box part of the audit: playing shows faults of anybody's environment.

>>> from logtriage.audit.blackbox import BlackBox, audit_blackbox

An environment is asked for nothing but ``reset(seed)``, ``step(action)`` and ``close()``.
"""

from logtriage.audit.blackbox.box import BlackBox, Environment, Shown
from logtriage.audit.blackbox.checks import audit_blackbox

__all__ = ["BlackBox", "Environment", "Shown", "audit_blackbox"]
