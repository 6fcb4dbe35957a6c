"""What verifiers finds by the id ``logtriage-verifiers-shift``: whole shifts for one agent.

verifiers looks for top-level modules only; everything is in :mod:`logtriage.adapters.verifiers`.
"""

from logtriage.adapters.verifiers import ShiftEnv, ShiftTaskset, TriageHarness

__all__ = ["ShiftEnv", "ShiftTaskset", "TriageHarness"]
