"""Kernels that Numba compiles, beside those of the engine. Needs the extra ``fast`` (numba).

Facts come from the modules that the scalar core reads. Formulas are written a second time, for one
row; laws check that they agree with the scalar core.
"""
