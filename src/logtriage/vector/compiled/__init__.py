"""Kernels that Numba compiles, beside those of the engine. Needs the extra ``fast`` (numba).

Facts come from the modules that the scalar core reads; formulas are written once more, for
one row, and laws hold them to the scalar core.
"""
