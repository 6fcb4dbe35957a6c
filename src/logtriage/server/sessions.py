"""Sessions over HTTP: an episode each, found again by an id that cannot be guessed."""

import secrets
from collections import OrderedDict
from collections.abc import Callable
from time import monotonic
from typing import Final

import attrs

from logtriage.errors import InvalidInput, LogTriageError
from logtriage.server.episode import OWNER, Episode

#: A session that nobody came back to for so long makes room for another.
UNTOUCHED_SECONDS: Final = 60.0


class NoCapacity(LogTriageError):
    """All sessions are in use."""


@attrs.define
class _Session:
    episode: Episode
    owner: str
    used_at: float
    #: Whether a request came after the reset.
    touched: bool = False


class Sessions:
    """At most ``limit`` sessions, ``per_owner`` of each owner; those idle for ``idle_seconds`` end.

    A client that keeps no cookie begins a new session with each reset. So if no place is left, the
    session that was idle for longest makes room: first among sessions with a closed episode, then
    among sessions that were not used for a minute after their reset. If the owner has as many as
    allowed, only the owner's own sessions make room.
    """

    def __init__(
        self,
        limit: int,
        per_owner: int,
        idle_seconds: float,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._limit, self._per_owner = limit, per_owner
        self._idle_seconds, self._clock = idle_seconds, clock
        # In the order of use: the one that is idle for longest comes first.
        self._sessions: OrderedDict[str, _Session] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sessions)

    def __contains__(self, session_id: object) -> bool:
        self._expire(self._clock())
        return session_id in self._sessions

    def begin(self, make: Callable[[], Episode], session_id: str | None = None) -> str:
        """Begin a new episode in the session with that id, or else in a new session.

        Raises:
            NoCapacity: if all places are in use, or all that the owner may have.
            InvalidInput: for an id that is no session's.
        """
        now = self._clock()
        self._expire(now)
        if session_id is not None:
            before = self._get(session_id)
            episode = make()
            before.episode.leave()
            before.episode, before.used_at, before.touched = episode, now, False
            return session_id
        owner, spare = OWNER.get(), None
        own = sum(session.owner == owner for session in self._sessions.values())
        if own >= self._per_owner or len(self._sessions) >= self._limit:
            spare = self._spare(now, owner if own >= self._per_owner else None)
            if spare is None and own >= self._per_owner:
                raise NoCapacity(
                    f"all {self._per_owner} sessions that one address may have are in use"
                )
            if spare is None:
                raise NoCapacity(f"all {self._limit} sessions are in use; try again later")
        episode = make()
        if spare is not None:
            self.end(spare)
        session_id = secrets.token_urlsafe(24)
        self._sessions[session_id] = _Session(episode, owner, now)
        return session_id

    def episode(self, session_id: str | None) -> Episode:
        """The episode of a session, which counts as used.

        Raises:
            InvalidInput: if there is none of that id.
        """
        self._expire(self._clock())
        if session_id is None:
            raise InvalidInput(
                "session_id: missing; a reset answers with one, to be sent back as the header "
                "X-Session-Id, a query parameter or a cookie"
            )
        session = self._get(session_id)
        session.touched = True
        return session.episode

    def end(self, session_id: str) -> None:
        """End a session; of one that is not there, nothing is left to end."""
        session = self._sessions.pop(session_id, None)
        if session is not None:
            session.episode.leave()

    def _spare(self, now: float, owner: str | None) -> str | None:
        rows = [row for row in self._sessions.items() if owner in (None, row[1].owner)]
        closed = (name for name, one in rows if one.episode.state.is_closed)
        left = (
            name for name, one in rows if not one.touched and now - one.used_at >= UNTOUCHED_SECONDS
        )
        return next(closed, None) or next(left, None)

    def _get(self, session_id: str) -> _Session:
        session = self._sessions.get(session_id)
        if session is None:
            raise InvalidInput(
                f"session_id: unknown; a session ends after {self._idle_seconds:g} s without a "
                "request: begin one with a reset"
            )
        session.used_at = self._clock()
        self._sessions.move_to_end(session_id)
        return session

    def _expire(self, now: float) -> None:
        while self._sessions:
            session_id, session = next(iter(self._sessions.items()))
            if now - session.used_at < self._idle_seconds:
                return
            self.end(session_id)
