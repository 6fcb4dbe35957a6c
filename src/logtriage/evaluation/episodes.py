"""Single episodes: a policy, or a team, plays an incident until it is closed."""

from collections.abc import Callable, Iterator, Mapping

from logtriage import policies
from logtriage.dynamics import play, play_jointly, transition_jointly
from logtriage.errors import InvalidInput, told_of
from logtriage.evaluation.localisation import RANKING, check_ranking, ranking_to_json
from logtriage.grading import Grade, Graded
from logtriage.grading.debrief import SOLVED
from logtriage.incident import Incident
from logtriage.joint import observe_roles
from logtriage.observation import observe
from logtriage.playing import PolicyFailure, failure_of, steps
from logtriage.roles.splits import SplitLike, get_role_split
from logtriage.state import Closing, State, initial_state
from logtriage.transcript import Transcript, transcript_of


def joint_steps(incident: Incident, team: policies.TeamPolicy, split: SplitLike) -> Iterator[State]:
    """Yield the states of an incident that a team plays, from the first to the closed state.

    In each tick every role acts once, in role order. An action that a role may not take becomes a
    malformed action; its reason names what the role may do (:func:`logtriage.policies.as_taken`).

    Raises:
        PolicyFailure: as :func:`steps`; the cause names the role that is to blame, if any.
        InvalidInput: for a team that was made for another split.
    """
    split, state, memory = get_role_split(split), initial_state(incident), None
    own = team.split if isinstance(team, policies.RolePolicies) else None
    if own is not None and own != split:  # followers would see by their own split
        raise InvalidInput(
            f"role split {split.name!r}: the team was made for {own.name!r}, or for another split "
            "of that name"
        )
    yield state
    while not state.is_closed:
        try:
            actions, memory = team.act(observe_roles(state, split), memory)
            after = transition_jointly(state, policies.as_taken(actions, split, state))
        except policies.RoleFailure as failure:
            cause = f"{split.names[failure.number]}: {failure.cause}"
            raise failure_of(state, cause) from failure
        except Exception as error:
            raise failure_of(state, error) from error
        state = after
        yield state


def play_joint_episode(incident: Incident, team: policies.TeamPolicy, split: SplitLike) -> State:
    """Play an incident with a team and return the last state; raises as :func:`joint_steps`."""
    *_, last = joint_steps(incident, team, split)
    return last


def record_episode(incident: Incident, factory: policies.PolicyFactory, agent: str) -> Transcript:
    """Play an incident and return the transcript; unscored, with the cause, if the policy fails.

    The transcript has the final ranking of a policy that ranks (:class:`logtriage.policies.Ranks`).
    """

    def play() -> tuple[State, Mapping[str, object]]:
        policy = factory(incident)
        states = steps(incident, policy)
        while True:
            try:
                state = next(states)
            except StopIteration as end:  # after the last state, with the policy's memory
                return state, _ranking(policy, state, memory=end.value)

    return _record(incident, play, agent)


def _ranking(
    policy: policies.Policy, state: State, memory: policies.Memory
) -> Mapping[str, object]:
    """A policy's ranking as extra fields of a transcript; empty if the policy does not rank."""
    if not isinstance(policy, policies.Ranks):
        return {}
    try:
        ranking = policy.ranking(observe(state), memory)
        known = state.incident.topology.names
        return {RANKING: ranking_to_json(check_ranking(ranking, known))}
    except Exception as error:
        raise PolicyFailure(f"policy failed to rank: {told_of(error)}", state) from error


def record_joint_episode(
    incident: Incident, factory: policies.TeamFactory, agent: str, split: SplitLike
) -> Transcript:
    """Play an incident with a team; the transcript names the split and each action's tick."""

    def play() -> tuple[State, Mapping[str, object]]:
        return play_joint_episode(incident, factory(incident), split), {}  # teams do not rank

    return _record(incident, play, agent, split)


def _record(
    incident: Incident,
    play: Callable[[], tuple[State, Mapping[str, object]]],
    agent: str,
    split: SplitLike | None = None,
) -> Transcript:
    """The transcript of what ``play`` returns: (last state, extra fields), or of its failure."""
    try:
        last, extra = play()
    except PolicyFailure as failure:
        return transcript_of(failure.state, agent=agent, status=failure.cause, role_split=split)
    except Exception as error:
        cause = f"policy could not be made: {told_of(error)}"
        state = initial_state(incident)
        return transcript_of(state, agent=agent, status=cause, role_split=split)
    return transcript_of(last, agent=agent, extra=extra, role_split=split)


def played_state(incident: Incident, graded: Graded) -> State:
    """The last state of a graded episode, played again from its actions."""
    if graded.schedule is None:
        return play(incident, graded.actions)[0]
    return play_jointly(incident, tuple(zip(graded.schedule, graded.actions, strict=True)))[0]


def mis_paged(state: State) -> bool | None:
    """Whether a wrong team was paged; None in a recording, where nobody is paged."""
    return None if state.incident.telemetry.open_loop else state.facts.wrong_pages > 0


def paged_right(state: State) -> bool | None:
    """Whether a team was paged, and no wrong team; None in a recording."""
    wrong = mis_paged(state)
    return None if wrong is None else bool(state.facts.pages) and not wrong


def alarmed(state: State) -> bool | None:
    """Whether an incident without a fault led to a page or a remedy; None for a real fault.

    A recording has neither pages nor remedies: a declared root cause counts there.
    """
    facts, incident = state.facts, state.incident
    if not incident.truth.benign:
        return None
    named = incident.telemetry.open_loop and facts.root_cause is not None
    return bool(facts.pages or facts.remedies or named)


def is_solved(grade: Grade) -> bool:
    """Whether an episode counts as solved: a hand-over solves nothing, whatever it is worth."""
    return grade.score >= SOLVED and grade.closing is not Closing.HANDED_OVER
