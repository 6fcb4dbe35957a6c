"""A transformers model as an agent: loading, the protocol of training, and batched play."""
