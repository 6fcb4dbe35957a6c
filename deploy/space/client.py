"""The client, where OpenEnv's tools look for it."""

from logtriage.server import LogTriageClient

__all__ = ["LogTriageClient"]
