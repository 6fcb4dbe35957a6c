"""Worlds fitted to recordings: tokens of figures, counts of tokens, tables of counts."""
