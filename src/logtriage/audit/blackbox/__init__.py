"""The black-box part of the audit: what can be seen of anybody's environment by playing it.

>>> from logtriage.audit.blackbox import BlackBox, audit_blackbox

An environment is asked for nothing but ``reset(seed)``, ``step(action)`` and ``close()``.
"""

from logtriage.audit.blackbox.box import Actions, BlackBox, Environment, Shown
from logtriage.audit.blackbox.checks import audit_blackbox

__all__ = ["Actions", "BlackBox", "Environment", "Shown", "audit_blackbox"]
