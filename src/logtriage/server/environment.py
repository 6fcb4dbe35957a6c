"""The OpenEnv environment: a thin shell over one :class:`Episode`."""

from typing import Any, Final

from openenv.core.env_server import Environment
from openenv.core.env_server.types import EnvironmentMetadata
from openenv.core.rubrics import Rubric

import logtriage
from logtriage.errors import InvalidInput
from logtriage.parsing import action_to_wire
from logtriage.server.catalogue import EPISODE_FIELDS, Catalogue, flag, text_field
from logtriage.server.episode import Episode, Gate
from logtriage.server.messages import Kinds, check_fields
from logtriage.server.models import TriageAction, TriageObservation, TriageState

ENV_NAME: Final = "logtriage"
RESET_FIELDS: Final = (*EPISODE_FIELDS, "episode_id", "show_id", "view")
#: The messages of a session.
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


class TriageRubric(Rubric):
    """The reward of a step: the difference of two grades."""

    def forward(self, action: Any, observation: Any) -> float:  # noqa: ARG002 (the base class's)
        """The reward that the grader gave."""
        return observation.reward or 0.0


class TriageEnvironment(Environment[TriageAction, TriageObservation, TriageState]):
    """One session: an episode at a time, nothing shared with any other session."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, catalogue: Catalogue, gate: Gate) -> None:
        super().__init__(rubric=TriageRubric())
        self._catalogue, self._gate = catalogue, gate
        self._episode: Episode | None = None
        self._with_view = False

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any
    ) -> TriageObservation:
        """Begin an episode: ``incident``, or ``task``, ``split`` and ``index`` (or ``seed``).

        With ``view`` true, every observation carries its structured form, too; with ``show_id``
        true, the incident's id.

        Raises:
            UnknownName, InvalidInput: naming the field and what was expected.
            ShuttingDown: if the server begins no new episode.
        """
        check_fields(kwargs, RESET_FIELDS)
        with_view = flag("view", kwargs.pop("view", False))
        show_id = flag("show_id", kwargs.pop("show_id", False))
        if episode_id is not None:
            text_field("episode_id", episode_id)
        episode = Episode(
            self._catalogue.incident_id({**kwargs, "seed": seed}),
            self._gate,
            episode_id,
            show_id=show_id,
            seal=self._catalogue.seal,
            world=self._catalogue.world,
        )
        self.close()
        self._episode, self._with_view = episode, with_view
        return self._seen(episode, opens=True)

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
        episode = self._playing()
        episode.step(action.move(episode.state.incident.topology))
        seen = self._seen(episode)
        self._apply_rubric(action, seen)
        return seen

    # The library runs overridden coroutines on its event loop, and other methods on a thread of
    # the session. A step takes less time than the switch to a thread.

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

    def _playing(self) -> Episode:
        if self._episode is None:
            raise InvalidInput("no episode yet: send a reset first")
        return self._episode

    def _seen(self, episode: Episode, *, opens: bool = False) -> TriageObservation:
        seen = episode.seen(with_view=self._with_view, opens=opens)
        return TriageObservation(done=episode.state.is_closed, reward=episode.reward, **seen)

    @property
    def state(self) -> TriageState:
        """Where the episode stands; empty before the first reset."""
        if self._episode is None:
            return TriageState()
        state = self._episode.state
        return TriageState(
            episode_id=self._episode.id,
            step_count=len(state.history),
            incident=self._episode.name,
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

    def close(self) -> None:
        """Leave the episode."""
        if self._episode is not None:
            self._episode.leave()

    # -- TaskProvider ------------------------------------------------------------

    def list_splits(self) -> list[dict[str, str]]:
        """The splits with their kinds."""
        return self._catalogue.splits()

    def num_tasks(self, split: str) -> int:
        """How many incidents a split has."""
        self._catalogue.specs(split, 0, 0)
        return self._catalogue.size()

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """The first task specs of a split: there are far too many to list."""
        return self._catalogue.specs(split, 0, 100)

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """One task spec."""
        return self._catalogue.spec(split, index)

    def get_task_range(
        self, split: str, start: int | None = None, stop: int | None = None
    ) -> list[dict[str, Any]]:
        """The task specs of a slice."""
        return self._catalogue.specs(split, start, stop)
