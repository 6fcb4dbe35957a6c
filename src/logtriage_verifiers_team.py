"""What verifiers finds by the id ``logtriage-verifiers-team``: incidents played by three agents.

verifiers looks for top-level modules only; everything is in :mod:`logtriage.adapters.verifiers`.
"""

from logtriage.adapters.verifiers import TeamEnv, TriageHarness, TriageTaskset

__all__ = ["TeamEnv", "TriageHarness", "TriageTaskset"]
