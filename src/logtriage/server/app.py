"""Build the application: that of the OpenEnv library, behind our guard, played only in sessions."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from openenv.core.env_server import (
    Action,
    ConcurrencyConfig,
    Environment,
    Observation,
    State,
    create_fastapi_app,
)

from logtriage.errors import InvalidInput, LogTriageError
from logtriage.server.catalogue import Catalogue
from logtriage.server.environment import DESCRIPTION, ENV_NAME, KINDS, TriageEnvironment
from logtriage.server.guard import Guard, Pages
from logtriage.server.ledger import Ledger
from logtriage.server.messages import Kinds
from logtriage.server.models import TriageAction, TriageObservation, TriageState
from logtriage.server.settings import Settings

#: Paths that are refused: the library would serve each request in an environment of its own.
_SESSION_ONLY: Final = {"/reset": "POST", "/step": "POST", "/state": "GET"}
#: Paths of the library that this server does not have.
_OFF: Final = ("/mcp", "/list_environments")
#: The beginning of the library's paths of its task API, which this server does not have either.
_TASK_API: Final = "/{env_name}/"


def build_app(settings: Settings) -> FastAPI:
    """The ASGI application; ``state.ledger`` is its ledger or None. InvalidInput for a bad one."""
    ledger = None if settings.ledger is None else Ledger(settings.ledger, settings.run)
    catalogue = Catalogue(settings.tasks, settings.seal, settings.world)
    environment = partial(TriageEnvironment, catalogue, ledger)
    models = TriageAction, TriageObservation, TriageState
    app = guarded_app(environment, models, KINDS, settings)
    app.title, app.description = ENV_NAME, DESCRIPTION
    app.state.ledger = ledger
    return app


def guarded_app(
    environment: Callable[[], Environment[Any, Any, Any]],
    models: tuple[type[Action], type[Observation], type[State]],
    kinds: Kinds,
    settings: Settings,
) -> FastAPI:
    """The library's application for an environment, behind the guard; only sessions play."""
    action, observation, state = models
    app = create_fastapi_app(
        environment,
        action,
        observation,
        env_name=ENV_NAME,
        concurrency_config=ConcurrencyConfig(
            max_concurrent_envs=settings.max_sessions,
            # Later than that of the guard, which tells the client why its session ends.
            session_timeout=2 * settings.idle_seconds,
        ),
        state_cls=state,
    )
    app.router.routes[:] = [route for route in app.router.routes if not _is_removed(route)]
    app.add_api_route("/mcp", _no_mcp, methods=["POST"], tags=["MCP"])
    for path, method in _SESSION_ONLY.items():
        app.add_api_route(path, _no_session, methods=[method], tags=["Environment Control"])
    app.add_exception_handler(LogTriageError, _bad_request)
    pages = frozenset(
        (method, getattr(route, "path", ""))
        for route in app.router.routes
        for method in getattr(route, "methods", None) or ()
    )
    app.add_middleware(Pages, pages=pages)
    app.add_middleware(Guard, settings=settings, kinds=kinds)  # added last, so it runs first
    return app


def _is_removed(route: Any) -> bool:
    """Whether a route of the library is off, or replaced by a refusal."""
    path = getattr(route, "path", "")
    return path in (*_OFF, *_SESSION_ONLY) or path.startswith(_TASK_API)


async def _no_mcp() -> dict[str, Any]:
    """The answer of JSON-RPC for a method that does not exist."""
    error = {"code": -32601, "message": "MCP is off on this server"}
    return {"jsonrpc": "2.0", "id": None, "error": error}


async def _no_session() -> None:
    """An episode is played in a WebSocket session, at ``/ws``."""
    raise InvalidInput("an episode is played in a WebSocket session: connect to /ws")


async def _bad_request(_: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"error": str(error)}, 400)
