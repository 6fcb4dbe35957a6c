"""Adapters: logtriage inside evaluation and training frameworks.

Each module is a thin shell over the core, imported by name, and loads its own framework alone. All
grade the list of wire actions that the agent took, never the state of a framework.
"""
