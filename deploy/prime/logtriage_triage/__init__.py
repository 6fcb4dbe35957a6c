"""What verifiers finds by the id ``logtriage-triage``: everything is in logtriage's wheel."""

from logtriage.adapters.verifiers import SoloEnv, TriageHarness, TriageTaskset

__all__ = ["SoloEnv", "TriageHarness", "TriageTaskset"]
