"""The way from an id to an incident; sealed incidents are drawn with a key of your own."""

from logtriage._lib.seal import Seal

__all__ = ["Seal"]
