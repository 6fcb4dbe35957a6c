"""The simulated system of the second world: truth, condition, token, text."""
