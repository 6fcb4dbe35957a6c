"""Adapters: logtriage inside evaluation and training frameworks.

Each module is a thin shell over the core and imports only its own framework. All of them grade the
list of wire actions that the agent took, never the state of a framework.
"""
