"""What a row names: its incident, agent, model, attempt, session and trace."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from logtriage.conversations.blocks import at, text_at

Row = Mapping[str, Any]

#: Fields that name the conversation of a row or a line; those of a trace may name a request.
SESSIONS: Final = ("session_id", "sessionId", "thread_id", "conversation_id")
TRACES: Final = ("trace_id", "traceId")
THREADS: Final = (*SESSIONS, *TRACES)
#: Where a row says which attempt at the incident it is.
ATTEMPTS: Final = ("attempt", "epoch", "trial", "repeat", "rollout", *SESSIONS)
#: Where a row may name its incident, attempt, session and trace. Other objects are of a data set.
PLACES: Final = ("", "metadata.", "extra.", "extra.metadata.")
_DATA: Final = ("info.", "task.data.", "task.", "doc.")
#: Paths that may hold the id of the incident; the first that is present counts.
INCIDENT_AT: Final = (
    *(f"{place}{name}" for place in (*PLACES, *_DATA) for name in ("incident", "incident_id")),
    "custom_id",  # of a line of OpenAI's batches
)
_MODEL_AT: Final = ("model", "agent.config.model", "model_name")
#: Where a row of the Responses API names its response, and the one before it.
_ID_AT: Final = ("response.id", "response_id", "id")
_PREVIOUS_AT: Final = ("previous_response_id", "response.previous_response_id")


@attrs.frozen
class Names:
    """What a row names: its incident, agent, model, attempt, trace, and conversation (``thread``).

    ``attempt`` has the numbers and sessions. If one ``is_session``, it holds in all files. ``id``
    is of the row or its response, and ``previous`` of the response before.
    """

    incident: str | None = None
    agent: str | None = None
    model: str | None = None
    attempt: tuple[str, ...] = ()
    is_session: bool = False
    trace: str | None = None
    thread: str | None = None
    id: str | None = None
    previous: str | None = None

    def fit(self, others: "Names") -> bool:
        """Whether nothing that is named here contradicts ``others``; models may differ."""
        return (
            self.incident in (None, others.incident)
            and self.agent in (None, others.agent)
            and set(self.attempt) <= set(others.attempt)
        )


def names_of(row: Row, incident_at: str | None) -> Names:
    """What a row names of its attempt."""
    noted = {key: thread_in(row, [key]) for key in ATTEMPTS}
    attempt = {key: name for key, name in noted.items() if name is not None}
    return Names(
        incident=text_at(row, (*INCIDENT_AT, *([incident_at] if incident_at else ()))),
        agent=text_at(row, ("agent", "agent_name")),
        model=text_at(row, _MODEL_AT),
        attempt=tuple(f"{key} {name}" for key, name in attempt.items()),
        # A session in digits may be a number that counts in its file.
        is_session=any(key in SESSIONS and not attempt[key].isdigit() for key in attempt),
        trace=thread_in(row, TRACES),
        thread=thread_in(row),
        id=text_at(row, _ID_AT),
        previous=text_at(row, _PREVIOUS_AT),
    )


def thread_in(line: Row, keys: Sequence[str] = THREADS) -> str | None:
    """The name of the conversation that a line belongs to, by the first of some fields."""
    names = (at(line, f"{place}{key}") for place in PLACES for key in keys)
    return next((str(name) for name in names if isinstance(name, str | int)), None)


def agent_of(row: Row) -> str | None:
    """The name of the agent or its model, from the first of some fields that holds a text."""
    return text_at(row, ("agent", *_MODEL_AT, "agent_name"))
