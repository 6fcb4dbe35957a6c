"""The original LogTriageEnv's paths, for its scripts, with sessions.

``/tasks``, ``/reset?task=&seed=``, ``/step``, ``/state`` and ``/grader`` answer with the
original's fields. Beside them stand ``observation``, ``reward`` and ``done``, as OpenEnv's
HTTP clients expect. Original task ids (``single_crash``) stand for the ``*-v0`` tasks.
"""

from typing import Any, Final

from fastapi import APIRouter, Request, Response

from logtriage.actions import ACTION_TYPES, PRICED_ACTION_TYPES, action_name
from logtriage.errors import InvalidInput
from logtriage.parsing import action_from_wire
from logtriage.server.catalogue import Catalogue, flag, text_field
from logtriage.server.episode import Episode, Gate, grade_listed
from logtriage.server.guard import BODY
from logtriage.server.models import TriageAction
from logtriage.server.original_form import original_observation
from logtriage.server.sessions import Sessions
from logtriage.server.settings import Settings
from logtriage.state import Closing
from logtriage.tasks import get_task, tasks_of
from logtriage.world.model import World
from logtriage.world.originals import ORIGINALS

HEADER: Final = "X-Session-Id"
COOKIE: Final = "logtriage_session"
_SESSION: Final = "session_id"


def _task_of(name: Any) -> Any:
    return f"{name}-v0" if isinstance(name, str) and name in ORIGINALS else name


def _session_id(request: Request, body: dict[str, Any]) -> str | None:
    """The session that a request names, taken out of its body."""
    named = body.pop(_SESSION, None)
    return (
        (None if named is None else text_field(_SESSION, named))
        or request.headers.get(HEADER)
        or request.query_params.get(_SESSION)
        or request.cookies.get(COOKIE)
    )


def _named(request: Request, body: dict[str, Any], catalogue: Catalogue) -> dict[str, Any]:
    """The episode that a request names: in its query as in the original, or in its body."""
    named: dict[str, Any] = {**request.query_params, **body}
    named.pop(_SESSION, None)
    if "task_id" in named:
        named.setdefault("task", named["task_id"])
        del named["task_id"]
    if "incident" not in named and not named.keys() & {"split", "index"}:
        named.setdefault("task", next(iter((*_originals_of(catalogue), *catalogue.tasks))))
    for field in ("seed", "index"):
        given = named.get(field)
        if isinstance(given, str) and given.isascii() and given.isdigit() and len(given) < 20:
            named[field] = int(given)
    named["task"] = _task_of(named.get("task"))
    return named


def body_of(request: Request) -> dict[str, Any]:
    """The JSON object that the guard read, for one request to take apart."""
    return dict(getattr(request.state, BODY, {}))


def rest_routes(settings: Settings, catalogue: Catalogue, gate: Gate) -> APIRouter:
    """The routes, with sessions of their own."""
    router = APIRouter(tags=["Environment Control"])
    sessions = Sessions(settings.max_sessions, settings.per_address, settings.idle_seconds)

    @router.post("/reset")
    async def reset(request: Request, response: Response) -> Any:
        """Begin an episode; the answer holds its session id."""
        body = body_of(request)
        # A cookie or header of an earlier session goes on with that one; a stale one does not.
        session_id = _session_id(request, body)
        if session_id is not None and session_id not in sessions:
            session_id = None
        episode_id = body.pop("episode_id", None)
        if episode_id is not None:
            text_field("episode_id", episode_id)
        show_id = flag("show_id", body.pop("show_id", False))
        incident_id = catalogue.incident_id(_named(request, body, catalogue))
        session_id = sessions.begin(
            lambda: Episode(
                incident_id,
                gate,
                episode_id,
                show_id=show_id,
                seal=catalogue.seal,
                world=catalogue.world,
            ),
            session_id,
        )
        response.headers[HEADER] = session_id
        response.set_cookie(COOKIE, session_id, httponly=True, samesite="strict")
        return _answer(sessions.episode(session_id), session_id)

    @router.post("/step")
    async def step(request: Request) -> Any:
        """Play an action: the original's form, or OpenEnv's ``{"action": {…}}``."""
        body = body_of(request)
        session_id = _session_id(request, body)
        episode = sessions.episode(session_id)
        topology = episode.state.incident.topology
        if "action" in body:
            episode.step(TriageAction.model_validate(body["action"]).move(topology))
        elif "action_type" in body:
            episode.step(action_from_wire(body, topology))
        else:
            raise InvalidInput("action_type: missing")
        return _answer(episode, session_id)

    @router.get("/state")
    async def state(request: Request) -> Any:
        """Where the session's episode stands; nothing of the truth."""
        episode = sessions.episode(_session_id(request, {}))
        now = episode.state
        return {
            "episode_id": episode.id,
            "incident": episode.name,
            "task_id": now.incident.task,
            "step_count": len(now.history),
            "max_steps": now.incident.horizon,
            "done": now.is_closed,
            "cumulative_score": episode.score,
            "actions_taken": [action_name(one) for one in now.actions],
        }

    @router.delete("/session")
    async def end(request: Request) -> Any:
        """End a session before it is idle for too long."""
        session_id = _session_id(request, {})
        sessions.episode(session_id)
        sessions.end(str(session_id))
        return {"ended": session_id}

    @router.get("/tasks")
    async def tasks() -> Any:
        """The tasks: the original's three by their ids, then the others."""
        names = (*_originals_of(catalogue), *catalogue.tasks)
        return {"tasks": [_task_entry(name, catalogue.world) for name in names]}

    async def grader(request: Request) -> Any:
        """The grade of the session's episode, or of a list of actions of any incident."""
        body = body_of(request)
        if "actions" in body:
            actions = body.pop("actions")
            grade = grade_listed(
                catalogue.incident_id(_named(request, body, catalogue)), actions, catalogue.world
            )
        else:
            grade = sessions.episode(_session_id(request, body)).grade()
        return {
            "task_id": grade["task"],
            "score": grade["score"],
            "breakdown": {
                row["name"]: round(row["score"] * row["weight"], 4)
                for row in grade.get("criteria", ())
            },
            "steps_taken": grade["ticks"],
            "max_steps": get_task(grade["task"], catalogue.world).horizon,
            "resolved": grade["closing"] == Closing.RESOLVED,
            "grade": grade,
        }

    if settings.grader:
        router.add_api_route("/grader", grader, methods=["POST"])
    return router


def _answer(episode: Episode, session_id: str | None) -> dict[str, Any]:
    reward = episode.reward or 0.0
    return {
        **original_observation(episode.state, episode.name),
        "cumulative_score": episode.score,
        "session_id": session_id,
        "observation": episode.seen(),
        "reward": reward,
        "done": episode.state.is_closed,
    }


def _originals_of(catalogue: Catalogue) -> tuple[str, ...]:
    """The original's tasks, where its incidents are played: in the default world."""
    return tuple(ORIGINALS) if f"{next(iter(ORIGINALS))}-v0" in tasks_of(catalogue.world) else ()


def _task_entry(name: str, world: World) -> dict[str, Any]:
    task = get_task(_task_of(name), world)
    return {
        "id": name,
        "name": task.title,
        "max_steps": task.horizon,
        "description": task.hard,
        "action_schema": {
            "action_type": " | ".join((*ACTION_TYPES, *PRICED_ACTION_TYPES)),
            "value": "string, by action_type; see the prompt of a reset",
            "confidence": "number from 0 to 1, optional",
            "reasoning": "string, optional",
        },
    }
