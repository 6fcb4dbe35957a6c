"""The server, where OpenEnv's providers look for it."""
