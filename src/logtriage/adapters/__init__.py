"""Adapters: logtriage inside evaluation and training frameworks.

Each module here is a thin shell over the core, imported by name, so that no framework is
loaded but what was asked for. They all grade the same way: what the agent did
becomes a list of wire actions (:mod:`~logtriage.conversations.tools`,
:mod:`~logtriage.conversations.wires`), and :func:`logtriage.grading.grade_actions`
grades that list. The state of a framework is never graded, since frameworks drop it when
they save.
"""
