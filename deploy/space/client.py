"""The client of the environment, as OpenEnv's packages have it."""

from openenv.core import GenericEnvClient

__all__ = ["GenericEnvClient"]
