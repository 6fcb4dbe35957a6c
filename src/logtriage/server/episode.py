"""An episode on a server, independent of the protocol, and the grade that clients may see.

While an episode is open, clients may see only the fields of :data:`OPEN_GRADE`. The criteria and
their reasons, the gate, the fault kind and the digest tell the truth of the incident, or let
anybody look it up. A sealed incident's grade has no more fields after its end, either.
"""

from collections.abc import Mapping
from typing import Any, Final

from logtriage._lib.seal import Seal
from logtriage.actions import Action, Malformed
from logtriage.drawing.generator import make_incident
from logtriage.dynamics import transition
from logtriage.errors import SealError
from logtriage.grading import grade, grade_to_json, score
from logtriage.observation import observe
from logtriage.rendering import render_observation, system_prompt
from logtriage.server.ledger import Ledger
from logtriage.state import State, initial_state
from logtriage.transcript import transcript_of
from logtriage.world.model import World

#: The fields of a grade that may leave the server while its episode is open.
OPEN_GRADE: Final = ("task", "status", "score", "closing", "ticks")
#: The fields of a grade that may leave the server once its episode is closed.
CLOSED_GRADE: Final = (
    *OPEN_GRADE,
    "rubric",
    "rubric_digest",
    "criteria",
    "discounts",
    "gate",
    "gate_reason",
    "cause",
    "agent",
    "malformed",
    "fault_kind",
    "digest",
)
#: The fields of each criterion in a closed grade.
CRITERION: Final = ("name", "score", "weight", "reason")
#: The fields of each discount in a closed grade.
DISCOUNT: Final = ("name", "factor", "reason")
#: The fields of the score of an impact report, which a closed grade has if there was a report.
IMPACT: Final = ("node_f1", "edge_f1", "exact_roots")


class Episode:
    """The state of one episode, its score so far, and the reward of its last step.

    Clients never get the incident's id: whoever has this package can compute the truth from it.
    SealError for a sealed incident without a ``ledger`` of attempts, or attempted before.
    """

    def __init__(
        self,
        incident_id: str,
        ledger: Ledger | None = None,
        *,
        seal: Seal | None = None,
        world: World | None = None,
    ) -> None:
        self._ledger = ledger
        self.state: State = initial_state(make_incident(incident_id, seal=seal, world=world))
        self.score: float = score(self.state)
        self.reward: float | None = None
        incident = self.state.incident
        if incident.seal is not None:
            self._needed_ledger.begin(incident_id, incident.seal, incident.world_mark)

    @property
    def _needed_ledger(self) -> Ledger:
        if self._ledger is None:
            raise SealError("sealed incidents are not played without a ledger of the attempts")
        return self._ledger

    def step(self, action: Action) -> None:
        """Play an action, and set ``reward`` to the change of the score.

        Raises:
            EpisodeOver: if the episode is closed.
            SealError: if the end of a sealed episode cannot be written down; it then stays open.
        """
        state = transition(self.state, action)
        if state.is_closed and state.incident.seal is not None:
            self._needed_ledger.end(transcript_of(state))
        self.state = state
        after = score(state)
        self.reward, self.score = after - self.score, after

    def grade(self) -> dict[str, Any]:
        """The part of the grade that may leave the server now, as JSON data."""
        return public_grade(self.state)

    def seen(self, *, opens: bool = False) -> dict[str, Any]:
        """The fields that a client may see now, with the rules if this ``opens`` the episode.

        ``reward`` and ``done`` are not among them: the protocol sends them apart.
        """
        state, incident = self.state, self.state.incident
        last = state.history[-1][1] if state.history else None
        return {
            "tick": state.tick,
            "horizon": incident.horizon,
            "screen": render_observation(observe(state)),
            "closing": None if state.closing is None else str(state.closing),
            "prompt": system_prompt(incident) if opens else None,
            "error": last.reason if isinstance(last, Malformed) else None,
            "grade": self.grade() if state.is_closed else None,
        }


def public_grade(state: State) -> dict[str, Any]:
    """The part of a state's grade that clients may see, as JSON data; no reasons if sealed."""
    seal = state.incident.seal
    has_reasons = seal is None and state.is_closed
    listed = listed_grade(grade_to_json(grade(state)), with_reasons=has_reasons)
    return listed if seal is None else {**listed, "seal": seal}


def listed_grade(data: Mapping[str, Any], *, with_reasons: bool) -> dict[str, Any]:
    """Cut a grade's JSON data to :data:`CLOSED_GRADE`, or to :data:`OPEN_GRADE` without reasons."""
    listed = {name: data[name] for name in (CLOSED_GRADE if with_reasons else OPEN_GRADE)}
    if with_reasons:
        if "impact" in data:
            listed["impact"] = {name: data["impact"][name] for name in IMPACT}
        listed["criteria"] = [{name: row[name] for name in CRITERION} for row in data["criteria"]]
        listed["discounts"] = [{name: row[name] for name in DISCOUNT} for row in data["discounts"]]
    return listed
