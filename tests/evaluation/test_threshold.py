"""Threshold regret and pages by price, against Chow's rule worked out by hand."""

import attrs
import pytest

from logtriage.actions import Action, Escalate, Ignore, RequestMoreLogs, Resolve
from logtriage.belief import Belief, belief
from logtriage.drawing.generator import make_incident
from logtriage.errors import InvalidInput
from logtriage.evaluation import Paging, page_regret, paging_by_price, threshold_regret
from logtriage.incident import Incident
from logtriage.state import State, initial_state
from logtriage.transition import play

#: Utilities are whole numbers of about 1e-6.
ROUNDING = 1e-4
INCIDENT = make_incident("single_crash-v2/test/0")
SERVICE = "api-gateway"
OWNER = INCIDENT.directory[INCIDENT.topology.index(SERVICE)]
SECURITY = "security-team"


def between(owner: float, incident: Incident = INCIDENT) -> Belief:
    """A belief in which one rollback and a P1 are certain, and only the team is not.

    A bad release is its owner's, with this probability, and else a compromised one.
    """
    held = belief(initial_state(incident))
    service = held.topology.index(SERVICE)
    shares: dict[tuple[tuple[str, int], ...], float] = {
        (("bad_deploy", service),): owner,
        (("compromised_release", service),): 1 - owner,
    }
    weights = [round(shares.get(one.faults, 0.0) * 2**30) for one in held.hypotheses]
    found = attrs.evolve(
        held.posterior,
        weights=tuple(weights),
        severities=((1, 0, 0),) * len(weights),
    )
    return attrs.evolve(held, posterior=found)


def played(*actions: Action, incident: Incident = INCIDENT) -> State:
    return play(incident, actions)[0]


def test_the_teams_differ() -> None:
    assert OWNER != SECURITY
    assert INCIDENT.price_of_silence == 0.4


@pytest.mark.parametrize("owner", [0.0, 0.2, 0.35, 0.45, 0.7, 1.0])
def test_where_only_the_team_is_in_doubt_the_bar_is_the_price_of_silence(owner: float) -> None:
    """Silence is worth c, a page the probability that it is right: nothing else is lost."""
    held, price = between(owner), 0.4
    values = held.page_values()
    assert values.silent == pytest.approx(price, abs=ROUNDING)
    assert values.paging[OWNER] == pytest.approx(owner, abs=ROUNDING)
    assert values.paging[SECURITY] == pytest.approx(1 - owner, abs=ROUNDING)
    if owner:
        assert held.bar(OWNER) == pytest.approx(price, abs=ROUNDING)
    assert page_regret(held, OWNER) == pytest.approx(max(0, price - owner), abs=ROUNDING)
    silence = max(owner, 1 - owner) - price
    assert page_regret(held, None) == pytest.approx(max(0, silence), abs=ROUNDING)


def test_the_price_of_this_incident_is_what_counts() -> None:
    cheap = make_incident("single_crash-v2/test/2")
    assert cheap.price_of_silence == 0.2
    assert between(0.5, cheap).page_values().silent == pytest.approx(0.2, abs=ROUNDING)


def test_a_team_that_cannot_be_right_costs_all_that_silence_is_worth() -> None:
    assert page_regret(between(0.5), "capacity-team") == pytest.approx(0.4, abs=ROUNDING)


def test_the_first_page_is_the_decision() -> None:
    (team,) = INCIDENT.truth.teams
    asked = played(RequestMoreLogs("user-db"))
    expected = page_regret(belief(asked), team)
    state = played(RequestMoreLogs("user-db"), Escalate(team), Resolve())
    assert threshold_regret(state) == expected
    state = played(RequestMoreLogs("user-db"), Escalate(team), Escalate(SECURITY))
    assert threshold_regret(state) == expected
    wrong = played(RequestMoreLogs("user-db"), Escalate(SECURITY))
    assert threshold_regret(wrong) == page_regret(belief(asked), SECURITY)


@pytest.mark.parametrize("last", [Resolve(), Ignore()])
def test_without_a_page_the_silence_at_the_close_is_the_decision(last: Action) -> None:
    asked = played(RequestMoreLogs("user-db"))
    state = played(RequestMoreLogs("user-db"), last)
    assert threshold_regret(state) == page_regret(belief(asked), None)


def test_out_of_time_is_a_silence_of_the_last_tick() -> None:
    waits = (RequestMoreLogs(None),) * INCIDENT.horizon
    before = played(*waits[1:])
    assert threshold_regret(played(*waits)) == page_regret(belief(before), None)


def test_nothing_is_left_to_decide_after_the_right_page() -> None:
    (team,) = INCIDENT.truth.teams
    held = belief(played(Escalate(team)))
    assert held.page_values().paging == {}
    assert page_regret(held, None) == page_regret(held, team) == 0.0


def test_what_cannot_be_looked_back_on_is_refused() -> None:
    with pytest.raises(InvalidInput, match="still open"):
        threshold_regret(initial_state(INCIDENT))
    first = make_incident("single_crash-v0/test/0")
    with pytest.raises(InvalidInput, match="its probabilities are not known"):
        threshold_regret(played(Resolve(), incident=first))


def test_pages_by_price() -> None:
    (right,) = INCIDENT.truth.teams
    cheap = make_incident("single_crash-v2/test/2")
    states = [
        played(Escalate(right), Resolve()),
        played(Escalate(SECURITY)),
        played(Resolve()),
        played(Resolve(), incident=cheap),
        played(Resolve(), incident=make_incident("single_crash-v0/test/0")),  # has no price
    ]
    assert paging_by_price(states) == (Paging(0.2, 1, 0.0, 0.0), Paging(0.4, 3, 2 / 3, 1 / 3))
    assert paging_by_price(states[-1:]) == ()
