"""The full-screen console of ``play``, on Textual (extra ``play``).

Everything but :mod:`logtriage.cli.desk.app` and :mod:`logtriage.cli.desk.prompt` is plain
functions of observations and states, and needs no Textual.
"""
