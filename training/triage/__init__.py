"""A trained model on log lines of one's own: ``python -m training.triage``."""
