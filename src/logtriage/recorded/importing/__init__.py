"""Foreign files become raw rows: captures of one's own, and two published data sets.

:mod:`~logtriage.recorded.importing.shapes` is the table of all formats that a capture may have.
"""
