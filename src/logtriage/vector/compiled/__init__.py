"""Kernels that Numba compiles, beside those of the engine. Needs the extra ``fast`` (numba)."""
