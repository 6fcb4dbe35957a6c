"""Serve episodes over the network by the OpenEnv protocol.

>>> from logtriage.server import Settings, serve  # doctest: +SKIP

``serve`` needs the extra ``openenv`` (the library of that name), whose ``GenericEnvClient`` plays
on a server. Names of this package are imported when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from logtriage._lib.extras import imports_of

if TYPE_CHECKING:
    from logtriage.server.app import build_app
    from logtriage.server.launch import serve
    from logtriage.server.models import TriageAction, TriageObservation, TriageState
    from logtriage.server.settings import Settings

__all__ = ["Settings", "TriageAction", "TriageObservation", "TriageState", "build_app", "serve"]

#: The module in which each public name is defined.
_PLACES = {
    "Settings": "settings",
    **dict.fromkeys(("TriageAction", "TriageObservation", "TriageState"), "models"),
    "build_app": "app",
    "serve": "launch",
}
_FRAMEWORKS = ("fastapi", "openenv", "pydantic", "starlette", "uvicorn", "websockets")


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with imports_of("openenv", f"logtriage.server.{name}", *_FRAMEWORKS):
        return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
