"""Shared parts of the training programs: options, files, networks and the loss."""
