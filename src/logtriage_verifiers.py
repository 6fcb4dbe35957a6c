"""What verifiers finds by the id ``logtriage-verifiers``: a taskset, its environment, its harness.

verifiers looks for top-level modules only; everything is in :mod:`logtriage.adapters.verifiers`.
"""

from logtriage.adapters.verifiers import SoloEnv, TriageHarness, TriageTaskset

__all__ = ["SoloEnv", "TriageHarness", "TriageTaskset"]
