"""The simulated system: truth, condition, token, text."""
