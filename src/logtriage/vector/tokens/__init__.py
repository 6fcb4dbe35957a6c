"""The second world in arrays: what is drawn, what is shown and what it earns, row by row."""
