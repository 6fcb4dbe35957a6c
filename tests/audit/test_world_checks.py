"""The checks of a world of one's own: each finds what is planted, and says where."""

from pathlib import Path

import attrs
import pytest

from logtriage.audit import QUICK, Finding, Verdict, check_world
from logtriage.audit.limits import WORLD
from logtriage.audit.symptoms import chances
from logtriage.audit.world_checks import with_worth
from logtriage.audit.world_doubts import twins
from logtriage.drawing.generator import make_incident
from logtriage.errors import UnknownName
from logtriage.evaluation import net_values
from logtriage.grading import TRIAGE_3
from logtriage.incident import Incident
from logtriage.world.channels import Channel
from logtriage.world.copies import copy_world
from logtriage.world.loading import load_world
from logtriage.world.model import World
from logtriage.world.schedule import Doings
from tests.builders import known
from tests.worlds.folders import edit

FEW = attrs.evolve(QUICK, looks=24, net_values=6, bars=6)
LEAST = attrs.evolve(QUICK, looks=1, net_values=1, bars=1)
TINY = load_world("tiny")


@pytest.fixture(name="own")
def own_world(tmp_path: Path) -> Path:
    copy_world("tiny", tmp_path / "own")
    return tmp_path / "own"


def checked(world: World) -> dict[str, Finding]:
    return {finding.check: finding for finding in check_world(world, sizes=FEW)}


def is_seen(incident: Incident) -> bool:
    """Whether a screen before the horizon shows the fault, if nothing is done."""
    drawn = known(incident.simulation)
    usual = {
        Channel.EDGE: drawn.setting.world.edge_tokens[0],
        Channel.ALERT: drawn.setting.world.tokens.alert.ordinary,
    }
    return any(
        cell.token != usual.get(cell.channel, cell.token)
        and (cell.channel is Channel.EDGE or cell.service in drawn.reached)
        for now in range(incident.horizon)
        for cell in drawn.shown(now, Doings())
    )


def twin_of_overload(
    own: Path, *changes: tuple[str, str], name: str = "twin", order: int = 3
) -> None:
    """Another kind that shows what ``overload`` shows, under phrasings of its own."""
    text = (own / "kinds/overload.toml").read_text()
    for old, new in (("order = 2", f"order = {order}"), *changes):
        assert old in text
        text = text.replace(old, new)
    rest, _, past = text.partition("[past]")
    rest = rest.replace('"ERROR", "', f'"ERROR", "{name}: ')
    past = past.replace('= ["', f'= ["{name}: ')
    (own / f"kinds/{name}.toml").write_text(f"{rest}[past]{past}")


def test_every_check_says_something_and_progress_ends_at_the_whole() -> None:
    steps: list[tuple[int, int]] = []
    told: list[str] = []
    found = check_world(
        TINY,
        sizes=FEW,
        on_finding=lambda one: told.append(one.check),
        on_progress=lambda done, total: steps.append((done, total)),
    )
    assert told == [one.check for one in found]
    assert told == ["twins", "unseen", "prompt", "full-look", "net-value", "hand-over"]
    whole = FEW.looks + 2 * FEW.net_values + FEW.bars
    assert steps == [(done, whole) for done in range(whole + 1)]


def test_a_net_value_is_judged_if_its_interval_does_not_reach_0() -> None:
    found = {count: attrs.evolve(LEAST, net_values=count) for count in (1, 6)}
    few, enough = (
        next(one for one in check_world(TINY, sizes=sizes) if one.check == "net-value")
        for sizes in found.values()
    )
    assert few.verdict is Verdict.NOT_EXACT
    assert few.summary.endswith("too few incidents to tell")
    assert enough.verdict is Verdict.PASSED


def test_the_same_world_has_the_same_findings() -> None:
    assert check_world(TINY, sizes=FEW) == check_world(TINY, ["outage"], sizes=FEW)
    with pytest.raises(UnknownName, match="unknown task 'outages'"):
        check_world(TINY, ["outages"], sizes=FEW)


def test_kinds_that_nobody_can_tell_apart_are_named(own: Path) -> None:
    assert twins(load_world(own)) == ()
    twin_of_overload(own)
    harmless = twins(load_world(own))
    assert [(pair.kinds, pair.differ) for pair in harmless] == [(("overload", "twin"), ())] * 3
    assert checked(load_world(own))["twins"].verdict is Verdict.PASSED
    twin_of_overload(own, ('remedies = ["scale"]', 'remedies = ["rollback"]\npages = "web-team"'))
    found = checked(load_world(own))["twins"]
    assert found.verdict is Verdict.FAILED
    assert "overload and twin at tier edge show the same and ask for another team and" in (
        found.summary
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("errors_first = false", "errors_first = true"),
        ("pours_load = true", "pours_load = false"),
        ("high = 75", "high = 74"),
    ],
)
def test_one_difference_that_is_seen_tells_kinds_apart(own: Path, old: str, new: str) -> None:
    twin_of_overload(own, (old, new))
    assert twins(load_world(own)) == ()


def test_signs_that_make_no_sense_at_a_tier_tell_nothing_there(own: Path) -> None:
    edit(own / "tokens.toml", '{ name = "high", word = "hot" }',
         '{ name = "high", word = "hot", tiers = ["edge"] }')  # fmt: skip
    twin_of_overload(own, ("high = 75", "high = 10"))
    assert [pair.tier for pair in twins(load_world(own))] == ["service", "datastore"]


def test_faults_that_nobody_would_notice_are_named(own: Path) -> None:
    assert checked(load_world(own))["unseen"].verdict is Verdict.PASSED
    edit(own / "kinds/bad_release.toml", "itself = 70", "itself = 2")
    found = checked(load_world(own))["unseen"]
    assert found.verdict is Verdict.FAILED
    # Nobody calls it who could be seen waiting.
    assert max(found.evidence["unseen"], key=found.evidence["unseen"].get) == (
        "bad_release at web in own:outage"
    )
    assert all(chance > found.evidence["threshold"] for chance in found.evidence["unseen"].values())


def test_a_fault_stays_unseen_as_often_as_is_said_whatever_is_blind(own: Path) -> None:
    """Alerts and the edge are never down, so blind spots hide no fault from who is called."""
    edit(own / "world.toml", "missed = 15", "missed = 70")
    sharp = load_world(own)
    edit(own / "world.toml", "named = 0, blind = 10", "named = 0, blind = 90")
    blind = load_world(own)
    assert sharp != blind
    unseen, expected, spread = 0, 0.0, 0.0
    for index in range(1_500):
        incident = make_incident(f"outage/train/{index}", world=blind)
        real = known(incident.simulation)
        if not real.truth.faults:
            continue
        rows = chances(real.setting, real.topology, real.held, incident.horizon)
        chance = rows[real.truth]
        unseen += not is_seen(incident)
        expected += float(chance)
        spread += float(chance * (1 - chance))
        if index < 30:
            other = known(make_incident(f"outage/train/{index}", world=sharp).simulation)
            assert rows == chances(other.setting, real.topology, real.held, incident.horizon)
    assert expected > 30
    assert abs(unseen - expected) < 4 * spread**0.5


def test_a_long_prompt_is_counted(own: Path) -> None:
    before = checked(load_world(own))["prompt"]
    assert before.verdict is Verdict.PASSED
    for number in range(90):
        twin_of_overload(own, name=f"kind_{number}", order=3 + number)
    after = check_world(load_world(own), sizes=LEAST)[2]
    assert after.verdict is Verdict.FAILED
    assert after.evidence["characters"]["own:outage"] > after.evidence["threshold"]


def test_the_prompt_of_a_fresh_copy_passes_however_large_its_fleets_are(tmp_path: Path) -> None:
    """What fleets a copy draws depends on its name: three names draw three."""
    limits = WORLD.prompt, WORLD.prompt_service
    seen = set()
    for name in ("mine", "my-shop", "copy"):
        copy_world("oncall", tmp_path / name)
        tasks = ["fleet_outage", "compound_fleet-fog1"]
        found = check_world(load_world(tmp_path / name), tasks, sizes=LEAST)[2]
        assert found.verdict is Verdict.PASSED, found.summary
        services = found.evidence["services"]
        seen.update(services.values())
        assert found.evidence["threshold"] in {limits[0] + limits[1] * n for n in services.values()}
    assert len(seen) > 3


def test_confusions_are_shares_and_follow_the_signatures(own: Path) -> None:
    found = checked(load_world(own))["full-look"].evidence
    for row in found["rows"]:
        assert row["recognised"] + sum(share for _, share, _ in row["others"]) == pytest.approx(1)
    assert sum(row["share"] for row in found["rows"]) == pytest.approx(1)
    before = {row["kind"]: row for row in found["rows"]}["overload"]
    twin_of_overload(own)
    rows = {row["kind"]: row for row in checked(load_world(own))["full-look"].evidence["rows"]}
    other, share, another = rows["overload"]["others"][0]
    assert (other, another) == ("twin", False)  # nobody can tell, and nobody has to
    # Some places are kept for ood, and one of the two; else it would be an even chance.
    assert share == pytest.approx(rows["overload"]["recognised"], abs=0.1)
    assert rows["overload"]["bits"] > before["bits"] + 0.5


def test_what_has_no_worth_gets_the_one_that_its_seed_has() -> None:
    incident = make_incident("tiny:outage/test/0")
    found = with_worth(incident)
    assert (found.rubric, found.truth) == (TRIAGE_3.id, incident.truth)
    assert found.worth_of_hand_over is not None
    assert with_worth(found) is found


def test_a_dearer_hand_over_is_worth_it_more_often_and_the_best_bar_loses_less_than_none() -> None:
    found = checked(TINY)["hand-over"].evidence
    for column in ("worth", "handed_over", "gained"):
        values = [row[column] for row in found["by_worth"]]
        assert values == sorted(values)
    whole = sum(1 - row["worth"] for row in found["by_worth"])
    gained = sum(row["gained"] for row in found["by_worth"])
    assert found["ignored"]["mean"] == pytest.approx(gained / whole)
    assert 0 <= found["fixed"] <= found["ignored"]["mean"] + 1e-9
    assert net_values.net_value([]) is None
