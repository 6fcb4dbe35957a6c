"""How the engine's kernels are compiled: as all others are."""

from logtriage.jit import kernel

__all__ = ["kernel"]
