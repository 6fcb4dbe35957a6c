"""What is not known is refused: it neither looks healthy nor goes to the owner."""

from typing import Any

import pytest

from logtriage.actions import action_name, action_value
from logtriage.beliefs.model import any_model_of
from logtriage.beliefs.posterior import Seen, posterior
from logtriage.errors import InvalidInput, UnknownName
from logtriage.tasks import setting_of
from logtriage.world.channels import Channel, Evidence
from logtriage.world.conditions import Condition, Hypothesis
from logtriage.world.default import default_world
from logtriage.world.figures import Figures
from logtriage.world.histories import sign_weights
from logtriage.world.model import HEALTHY, LOADED, WAITING
from logtriage.world.outcomes import elsewhere
from logtriage.world.schedule import Doings
from logtriage.world.tables import alphabet, places
from tests.builders import FIVE_TEAMS, OWNERS

WORLD = default_world()
SETTING = setting_of(WORLD, WORLD.tasks["cascading_failure"], 2)
(PLACE, *_) = places(FIVE_TEAMS)


def test_every_condition_that_may_occur_has_a_signature() -> None:
    benign = [row.name for row in WORLD.benign]
    distracted = [row.name for row in WORLD.rules.distractions]
    for name in (*WORLD.kind_names, *benign, *distracted, WAITING, LOADED, HEALTHY):
        assert WORLD.signature(name) is not None


def test_a_condition_without_a_signature_does_not_look_healthy() -> None:
    with pytest.raises(UnknownName, match="unknown condition 'dns_misconfig'"):
        sign_weights(SETTING, "cpu", PLACE, Condition("dns_misconfig"))


def test_every_sign_of_a_signature_can_be_seen_somewhere() -> None:
    known: dict[str, set[str]] = {sort: set() for sort in WORLD.ordinary}
    for sort in known:
        for place in places(FIVE_TEAMS):
            known[sort] |= {one.partition(":")[0] for one in alphabet(SETTING, sort, place)}
    for name, signature in WORLD.signatures.items():
        for sort, shares in signature.items():
            assert set(shares) <= known[sort], (name, sort)


def test_a_sort_of_cell_that_is_not_known_is_refused() -> None:
    with pytest.raises(UnknownName, match="unknown sort of history 'disk'"):
        alphabet(SETTING, "disk", PLACE)


@pytest.mark.parametrize(
    ("gauge", "token", "what"),
    [
        ("disk", "usual", "unknown gauge 'disk'"),
        ("traffic", "less", "unknown token of gauge 'traffic' at tier 'edge' 'less'"),
        ("tier", "backlog", "unknown token of gauge 'tier' at tier 'edge' 'backlog'"),
    ],
)
def test_a_gauge_shows_no_figure_of_what_it_cannot_say(gauge: str, token: str, what: str) -> None:
    figures = Figures(WORLD, FIVE_TEAMS, 1)
    with pytest.raises(UnknownName, match=what):
        figures.series(0, gauge, [0], [token])


def test_only_the_edge_notes_and_effects_have_no_service() -> None:
    truth, nothing = Hypothesis((("bad_deploy", 0),)), Doings()
    cell = (Channel.ALERT, -1, 0, 0)
    with pytest.raises(InvalidInput, match="shows a sign that stays"):
        elsewhere(SETTING, FIVE_TEAMS, OWNERS, truth, cell, nothing)
    listed = any_model_of(SETTING, FIVE_TEAMS, None).listed
    seen = Seen(OWNERS, (Evidence(*cell, "errors"),), nothing)
    with pytest.raises(InvalidInput, match="needs a service"):
        posterior(listed, seen)


def test_what_is_no_action_has_no_name_and_no_value() -> None:
    nothing: Any = object()
    with pytest.raises(InvalidInput, match="expected an action"):
        action_name(nothing)
    with pytest.raises(InvalidInput, match="expected an action"):
        action_value(nothing)
