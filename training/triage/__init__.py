"""Let a trained model triage your log lines: ``python -m training.triage``."""
