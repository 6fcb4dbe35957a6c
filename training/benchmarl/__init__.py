"""Teams for BenchMARL: a batched TorchRL environment, and a task of it."""
