"""The application: the OpenEnv library's own, with our limits and a grader."""

import json
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from openenv.core.env_server import (
    Action,
    ConcurrencyConfig,
    Environment,
    Observation,
    State,
    create_fastapi_app,
)
from pydantic import ValidationError

from logtriage.errors import InvalidInput, LogTriageError
from logtriage.server.catalogue import Catalogue
from logtriage.server.environment import DESCRIPTION, ENV_NAME, KINDS, TriageEnvironment
from logtriage.server.episode import Gate, ShuttingDown, grade_listed
from logtriage.server.guard import Guard
from logtriage.server.ledger import Ledger
from logtriage.server.messages import Kinds, TooLarge, check_fields
from logtriage.server.models import TriageAction, TriageObservation, TriageState
from logtriage.server.settings import Settings

_MCP: Final = "/mcp"
#: The library would serve each request to these paths in an environment of its own.
_SESSION_ONLY: Final = {"/reset": "POST", "/step": "POST", "/state": "GET"}
#: Most fields that an error names, and most characters of each.
TOLD_ERRORS: Final = 3
LONGEST_ERROR: Final = 200


def build_app(settings: Settings, gate: Gate | None = None) -> FastAPI:
    """The ASGI application; ``gate`` is shared with whoever drains it.

    Raises:
        InvalidInput: for a ledger that cannot be used.
    """
    gate = Gate() if gate is None else gate
    gate.ledger = None if settings.ledger is None else Ledger(settings.ledger, settings.run)
    catalogue = Catalogue(settings.tasks, settings.seal, settings.world)
    environment = partial(TriageEnvironment, catalogue, gate)
    models = TriageAction, TriageObservation, TriageState
    app = guarded_app(environment, models, KINDS, settings, gate)
    app.title, app.description = ENV_NAME, DESCRIPTION
    if settings.grader:
        app.add_api_route("/grader", _grader(catalogue), methods=["POST"], tags=["Grading"])
    return app


def guarded_app(
    environment: Callable[[], Environment[Any, Any, Any]],
    models: tuple[type[Action], type[Observation], type[State]],
    kinds: Kinds,
    settings: Settings,
    gate: Gate,
) -> FastAPI:
    """The library's application for an environment, played in sessions behind the guard."""
    action, observation, state = models
    app = create_fastapi_app(
        environment,
        action,
        observation,
        env_name=ENV_NAME,
        concurrency_config=ConcurrencyConfig(
            max_concurrent_envs=settings.max_sessions, session_timeout=2 * settings.idle_seconds
        ),
        state_cls=state,
    )
    app.router.routes[:] = [
        route
        for route in app.router.routes
        if getattr(route, "path", None) not in (_MCP, *_SESSION_ONLY)
    ]
    app.add_api_route(_MCP, _no_mcp, methods=["POST"], tags=["MCP"])
    for path, method in _SESSION_ONLY.items():
        app.add_api_route(path, _no_session, methods=[method], tags=["Environment Control"])
    app.add_exception_handler(LogTriageError, _bad_request)
    app.add_exception_handler(ValidationError, _bad_fields)
    app.add_exception_handler(RequestValidationError, _bad_fields)
    app.add_middleware(Guard, settings=settings, gate=gate, kinds=kinds)
    return app


async def _no_mcp() -> dict[str, Any]:
    """The answer of JSON-RPC for a method that does not exist."""
    error = {"code": -32601, "message": "MCP is off on this server"}
    return {"jsonrpc": "2.0", "id": None, "error": error}


async def _no_session() -> None:
    """An episode is played in a WebSocket session, at ``/ws``."""
    raise InvalidInput("an episode is played in a WebSocket session: connect to /ws")


def _grader(catalogue: Catalogue) -> Callable[[Request], Awaitable[dict[str, Any]]]:
    async def grader(request: Request) -> dict[str, Any]:
        """The public grade of a list of ``actions`` on an ``incident``."""
        body = json.loads(await request.body() or b"{}")  # the guard has read it once
        check_fields(body, ("incident", "actions"))
        incident_id = catalogue.incident_id({"incident": body.get("incident", "")})
        return grade_listed(incident_id, body.get("actions"), catalogue.world)

    return grader


_STATUS: Final[dict[type[Exception], int]] = {ShuttingDown: 503, TooLarge: 413}


async def _bad_request(_: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"error": str(error)}, _STATUS.get(type(error), 400))


async def _bad_fields(_: Request, error: Exception) -> JSONResponse:
    # The values are not sent back: they may be NaN, which JSON cannot hold.
    assert isinstance(error, ValidationError | RequestValidationError)
    rows = error.errors()
    lines = [
        f"{'.'.join(map(str, row['loc'])) or 'action'}: {row['msg']}"[:LONGEST_ERROR]
        for row in rows[:TOLD_ERRORS]
    ]
    if len(rows) > TOLD_ERRORS:
        lines.append(f"and {len(rows) - TOLD_ERRORS} more")
    return JSONResponse({"error": "; ".join(lines)}, 422)
