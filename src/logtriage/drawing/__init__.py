"""Draw incidents by their ids; sealed incidents are drawn with a key of your own."""

from logtriage._lib.seal import Seal

__all__ = ["Seal"]
