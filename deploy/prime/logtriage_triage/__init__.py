"""What verifiers finds by the id ``logtriage-triage``: everything is in logtriage's wheel."""

from logtriage.adapters.verifiers import TriageEnv, TriageHarness, TriageTaskset

__all__ = ["TriageEnv", "TriageHarness", "TriageTaskset"]
