"""The OpenEnv environment: a thin shell over one :class:`Episode`."""

from typing import Any, Final
from uuid import uuid4

from openenv.core.env_server import Environment
from openenv.core.env_server.types import EnvironmentMetadata

import logtriage
from logtriage.errors import InvalidInput
from logtriage.parsing import action_to_wire
from logtriage.server.catalogue import EPISODE_FIELDS, Catalogue, text_field
from logtriage.server.episode import Episode
from logtriage.server.ledger import Ledger
from logtriage.server.messages import Kinds, check_fields
from logtriage.server.models import TriageAction, TriageObservation, TriageState

ENV_NAME: Final = "logtriage"
RESET_FIELDS: Final = (*EPISODE_FIELDS, "episode_id")
#: The messages of a session, each with the fields of its data; None: it has no data.
KINDS: Final[Kinds] = {
    "reset": RESET_FIELDS,
    "step": tuple(TriageAction.model_fields),
    "state": None,
    "close": None,
}
DESCRIPTION: Final = (
    "Incident triage from telemetry: find the root cause, page the right team, apply the "
    "remedy. Every episode is graded between 0 and 1 with a reason for each criterion; the "
    "reward of a step is the difference of two grades."
)


class TriageEnvironment(Environment[TriageAction, TriageObservation, TriageState]):
    """The environment of one session, one episode at a time. All sessions share ``ledger``."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, catalogue: Catalogue, ledger: Ledger | None = None) -> None:
        super().__init__()
        self._catalogue, self._ledger = catalogue, ledger
        self._episode: Episode | None = None
        self._id: str | None = None

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any
    ) -> TriageObservation:
        """Begin an episode by ``incident``, or by ``task``, ``split`` and ``index`` (or ``seed``).

        Raises:
            UnknownName, InvalidInput: naming the field and what was expected.
            SealError: for a sealed incident without a key, or one that was attempted before.
        """
        check_fields(kwargs, RESET_FIELDS)
        if episode_id is not None:
            text_field("episode_id", episode_id)
        self._episode = Episode(
            self._catalogue.incident_id({**kwargs, "seed": seed}),
            self._ledger,
            seal=self._catalogue.seal,
            world=self._catalogue.world,
        )
        self._id = uuid4().hex if episode_id is None else episode_id
        return self._seen(self._episode, opens=True)

    def step(
        self,
        action: TriageAction,
        timeout_s: float | None = None,  # noqa: ARG002 (a step takes no time)
        **kwargs: Any,
    ) -> TriageObservation:
        """Play an action.

        Raises:
            InvalidInput: if there is no episode yet, or for unknown fields.
            EpisodeOver: if it is closed.
        """
        if kwargs:
            raise InvalidInput(f"{next(iter(kwargs))}: unknown field of a step")
        if self._episode is None:
            raise InvalidInput("no episode yet: send a reset first")
        self._episode.step(action.move(self._episode.state.incident.topology))
        return self._seen(self._episode)

    # The library runs overridden coroutines on its event loop, where sessions take turns, and other
    # methods on a thread of the session. A step takes less time than the switch to a thread.

    async def reset_async(
        self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any
    ) -> TriageObservation:
        """As :meth:`reset`."""
        return self.reset(seed, episode_id, **kwargs)

    async def step_async(
        self, action: TriageAction, timeout_s: float | None = None, **kwargs: Any
    ) -> TriageObservation:
        """As :meth:`step`."""
        return self.step(action, timeout_s, **kwargs)

    def _seen(self, episode: Episode, *, opens: bool = False) -> TriageObservation:
        seen = episode.seen(opens=opens)
        return TriageObservation(done=episode.state.is_closed, reward=episode.reward, **seen)

    @property
    def state(self) -> TriageState:
        """Where the episode stands; empty before the first reset."""
        if self._episode is None:
            return TriageState()
        state = self._episode.state
        return TriageState(
            episode_id=self._id,
            step_count=len(state.history),
            horizon=state.incident.horizon,
            closing=None if state.closing is None else str(state.closing),
            actions=[action_to_wire(action) for action in state.actions],
            score=self._episode.score if state.is_closed else None,
        )

    def get_metadata(self) -> EnvironmentMetadata:
        """Name, description and version, for people."""
        return EnvironmentMetadata(
            name=ENV_NAME, description=DESCRIPTION, version=logtriage.__version__
        )
