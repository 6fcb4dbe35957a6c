"""A small language model from scratch, for machines without a model hub or a GPU.

``python -m training.tiny`` builds a tokenizer and a Qwen2-architecture model, and starts
it warm on what a noisy expert did. The result is a model directory like any other.
"""
