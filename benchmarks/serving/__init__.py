"""The server under load and faults: ``python -m benchmarks.serving`` (extra ``openenv``)."""
