"""A small language model from scratch on notation, for machines without a model hub or a GPU.

``python -m training.tiny`` builds a vocabulary of words and a model of at most a million
weights, and lets it imitate the observer (DAgger). The result is a model directory like any
other.
"""
