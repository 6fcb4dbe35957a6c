"""Shared parts of the language-model programs: loading models, and playing incidents."""
