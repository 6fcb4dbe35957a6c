"""Incidents and episodes as arrays: what is drawn, what is shown and what it earns, row by row."""
