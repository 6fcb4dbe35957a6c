"""Roles played by trained networks: ``net:DIR`` in the specification of a team.

DIR is the directory of a run of ``training.mappo``. Its files are read as numbers and JSON
(:mod:`logtriage.trained.networks`), never unpickled; the networks need NumPy alone.
"""
