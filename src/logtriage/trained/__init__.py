"""Roles played by trained networks: ``net:DIR`` in the specification of a team.

DIR is the directory of a run of ``training.mappo``. It is read as numbers and JSON
(:mod:`logtriage.trained.files`) and played by NumPy alone; nothing is unpickled.
"""
