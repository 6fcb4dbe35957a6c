"""Notation carries the tokens of the text, in few words, and names nothing more."""

import re
from collections import Counter
from collections.abc import Sequence

import pytest

import logtriage as lt
from logtriage.actions import all_actions
from logtriage.errors import InvalidInput, UnknownName
from logtriage.evidence import evidence
from logtriage.recorded import shipped_incidents
from logtriage.rendering.notation import notation
from logtriage.world.channels import DOWN, SCRAPE, Channel, named_service
from tests.rendering.reader_notation import Piece, in_notation, read_in_notation, states_of
from tests.rendering.reader_rules import Rules
from tests.rendering.reader_screens import Seen
from tests.rendering.test_reader import drawn, questions, topics_of

#: Sorts of gauges and lines as the reader of texts calls them.
SORTS = {"cpu": "CPU", "traffic": "requests"}
PLAYERS = ("observer", "expert", "random")


def shown(state: lt.State) -> Counter[Piece]:
    """The evidence of a state without slots."""
    names = (*state.incident.topology.names, "")
    return Counter(
        (one.channel, names[one.service], one.start, one.token) for one in evidence(state)
    )


def busy(incident: lt.Incident, shift: int) -> list[lt.Action]:
    """A wrong remedy, a page and a fix between questions."""
    every = all_actions(incident.topology)
    remedies = [one for one in every if type(one).__name__ == "Remediate"]
    asked = questions(incident.topology.names, shift)
    remedy = remedies[shift % len(remedies)]
    oracle = [action for _, action in lt.play(incident, "oracle").history]
    pages = [one for one in oracle if isinstance(one, lt.Escalate)]
    return [asked[0], remedy, asked[1], *pages, *asked[2:5], *oracle]


@pytest.mark.parametrize("task", ["single_crash-v4", "cascading_failure-v4-fog0", "tiny:outage"])
@pytest.mark.parametrize("index", range(3))
def test_notation_is_read_back_into_all_evidence(task: str, index: int) -> None:
    incident = lt.make_incident(f"{task}/val/{index}")
    ends = [lt.play(incident, player) for player in PLAYERS]
    ends.append(lt.play(incident, busy(incident, index)))
    for end in ends:
        assert read_in_notation(states_of(end)).pieces == shown(end)


@pytest.mark.parametrize("task", ["compound_failure-v4", "fleet_outage-v4", "unseen_world-v4"])
def test_notation_is_read_back_for_many_faults_and_services(task: str) -> None:
    end = lt.play(lt.make_incident(f"{task}/val/1"), "observer")
    assert read_in_notation(states_of(end)).pieces == shown(end)


@pytest.mark.parametrize("task", ["tiny:outage", "single_crash-v4"])
@pytest.mark.parametrize("index", range(3))
def test_notation_and_text_say_the_same(task: str, index: int) -> None:
    incident = drawn(task, index)
    asked = questions(incident.topology.names, index)[: incident.horizon - 1]
    states = states_of(lt.play(incident, asked))
    text = Seen(Rules(lt.system_prompt(incident)))
    for state in states:
        text.take(lt.render_observation(lt.observe(state)), topics_of(state))
    told, alerts = signs_of(states)
    assert {key: cells for key, cells in text.readings.items() if cells} == told
    assert text.alerts == alerts


def signs_of(
    states: Sequence[lt.State],
) -> tuple[dict[tuple[str, str], dict[int, str]], dict[tuple[str, str], int | None]]:
    """What notation shows of services, as the reader of texts has it."""
    reader = read_in_notation(states)
    told: dict[tuple[str, str], dict[int, str]] = {}
    for (channel, service, start, part), token in reader.cells.items():
        if token == DOWN or not service or channel is Channel.ALERT:
            continue
        readings = channel in (Channel.METRICS, Channel.TRACES)
        sort = str(part) if readings else "change" if channel is Channel.CHANGE else "log"
        name, place = token.partition(":")[0], named_service(token)
        sign = reader.world.words[sort].get(name, "")
        sign += "" if place is None else f":{reader.names[place]}"
        at = start // SCRAPE * SCRAPE if channel is Channel.WINDOW else start
        told.setdefault((service, SORTS.get(sort, sort)), {})[at] = sign
    alerts = {
        (service, rule.watches): reader.firing.get((service, rule.name))
        for service in reader.names
        for rule in reader.world.tokens.alert.tokens
    }
    return told, alerts


def test_a_screen_after_the_first_has_60_to_100_characters() -> None:
    lengths = [
        len(screen)
        for index in range(12)
        for screen in in_notation(
            states_of(lt.play(lt.make_incident(f"single_crash-v4/val/{index}"), "observer"))
        )[1:]
    ]
    assert 60 <= sum(lengths) / len(lengths) <= 100


def test_a_screen_says_only_what_is_new() -> None:
    state = lt.initial_state(lt.make_incident("single_crash-v4/val/0"))
    first = lt.observe(state)
    whole = lt.observe(lt.transition(state, lt.RequestMetrics("user-db")))
    new, standalone = (
        lt.render_observation(whole, "notation", before=before) for before in (first, None)
    )
    for heading in ("own:", "change:", "c0.", "edge:"):
        assert heading in standalone
        assert heading not in new
    assert "metrics: user-db" in new


def test_all_words_of_a_notation_stand_in_the_text_or_in_the_rules() -> None:
    """No truth, and no name that the text lacks: a kind, a class, a cause."""
    for index in range(4):
        end = lt.play(lt.make_incident(f"single_crash-v4/val/{index}"), "observer")
        rules = lt.system_prompt(end.incident, style="notation").replace("_", " ")
        for state, screen in zip(states_of(end), in_notation(states_of(end)), strict=True):
            text = lt.render_observation(lt.observe(state)).replace("_", " ")
            for word in re.split(r"[\s:>=*/?@]+", screen):
                assert word.replace("_", " ").lstrip("~c").lower() in (rules + text).lower(), word


def test_what_has_no_notation_is_refused() -> None:
    seen = lt.observe(lt.initial_state(lt.make_incident("single_crash-v4/val/0")))
    with pytest.raises(UnknownName, match="unknown style 'poem'; known: text, notation"):
        lt.render_observation(seen, "poem")  # type: ignore[arg-type]
    recorded = lt.observe(lt.initial_state(shipped_incidents()[0]))
    with pytest.raises(InvalidInput, match=r"simulated incidents, such as those of \*-v4 tasks"):
        notation(recorded)
