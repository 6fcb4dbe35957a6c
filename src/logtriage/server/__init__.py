"""Serving: episodes over the network by the OpenEnv protocol.

>>> from logtriage.server import Settings, serve  # doctest: +SKIP

``serve`` needs the extra ``openenv`` (the library of that name), whose ``GenericEnvClient`` plays
on a server. What is here is loaded when it is first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from logtriage.errors import MissingExtra

if TYPE_CHECKING:
    from logtriage.server.app import build_app
    from logtriage.server.launch import serve
    from logtriage.server.models import TriageAction, TriageObservation, TriageState
    from logtriage.server.settings import Settings

__all__ = [
    "Settings",
    "TriageAction",
    "TriageObservation",
    "TriageState",
    "build_app",
    "serve",
]

#: Where each name is, and the extra that its module needs.
_PLACES = {
    "Settings": ("settings", None),
    "TriageAction": ("models", "openenv"),
    "TriageObservation": ("models", "openenv"),
    "TriageState": ("models", "openenv"),
    "build_app": ("app", "openenv"),
    "serve": ("launch", "openenv"),
}
_FRAMEWORKS = ("fastapi", "openenv", "pydantic", "starlette", "uvicorn", "websockets")


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, extra = _PLACES[name]
    try:
        return getattr(import_module(f"{__name__}.{module}"), name)
    except ModuleNotFoundError as error:
        if extra is None or (error.name or "").partition(".")[0] not in _FRAMEWORKS:
            raise
        raise MissingExtra(f"logtriage.server.{name}", extra) from None
