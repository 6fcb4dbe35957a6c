"""The application: the OpenEnv library's own, with our limits and the original's paths."""

from functools import partial
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from openenv.core.env_server import ConcurrencyConfig, create_fastapi_app
from pydantic import ValidationError

from logtriage.errors import LogTriageError
from logtriage.server.catalogue import Catalogue
from logtriage.server.environment import DESCRIPTION, ENV_NAME, KINDS, TriageEnvironment
from logtriage.server.episode import Gate, ShuttingDown
from logtriage.server.guard import Guard
from logtriage.server.ledger import Ledger
from logtriage.server.messages import TooLarge
from logtriage.server.models import TriageAction, TriageObservation, TriageState
from logtriage.server.rest import rest_routes
from logtriage.server.sessions import NoCapacity
from logtriage.server.settings import Settings

_MCP: Final = "/mcp"
#: What the library serves without a session, each request on an environment of its own;
#: ours know sessions. Its MCP sessions hold places without a connection.
_REPLACED: Final = ("/reset", "/step", "/state", _MCP)
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
    app = create_fastapi_app(
        partial(TriageEnvironment, catalogue, gate),
        TriageAction,
        TriageObservation,
        env_name=ENV_NAME,
        concurrency_config=ConcurrencyConfig(
            max_concurrent_envs=settings.max_sessions, session_timeout=2 * settings.idle_seconds
        ),
        state_cls=TriageState,
    )
    app.title, app.description = ENV_NAME, DESCRIPTION
    app.router.routes[:] = [
        one for one in app.router.routes if getattr(one, "path", None) not in _REPLACED
    ]
    app.add_api_route(_MCP, _no_mcp, methods=["POST"], tags=["MCP"])
    app.include_router(rest_routes(settings, catalogue, gate))
    app.add_exception_handler(LogTriageError, _bad_request)
    app.add_exception_handler(ValidationError, _bad_fields)
    app.add_exception_handler(RequestValidationError, _bad_fields)
    app.add_middleware(Guard, settings=settings, gate=gate, kinds=KINDS)
    return app


async def _no_mcp() -> dict[str, Any]:
    """JSON-RPC's answer where nothing is on offer."""
    error = {"code": -32601, "message": "MCP is off on this server"}
    return {"jsonrpc": "2.0", "id": None, "error": error}


_STATUS: Final[dict[type[Exception], int]] = {
    ShuttingDown: 503,
    NoCapacity: 503,
    TooLarge: 413,
}


async def _bad_request(_: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"error": str(error)}, _STATUS.get(type(error), 400))


async def _bad_fields(_: Request, error: Exception) -> JSONResponse:
    # What was sent is not sent back: it may be what no JSON can hold.
    assert isinstance(error, ValidationError | RequestValidationError)
    rows = error.errors()
    told = [
        f"{'.'.join(map(str, row['loc'])) or 'action'}: {row['msg']}"[:LONGEST_ERROR]
        for row in rows[:TOLD_ERRORS]
    ]
    if len(rows) > TOLD_ERRORS:
        told.append(f"and {len(rows) - TOLD_ERRORS} more")
    return JSONResponse({"error": "; ".join(told)}, 422)
