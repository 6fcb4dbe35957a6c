"""Actions in one word: each has one form, and is read back from it."""

import pytest

import logtriage as lt
from logtriage.actions import FAULT_CATEGORIES, action_id
from logtriage.errors import InvalidInput
from logtriage.parsing import SOLO_KINDS, TEAM_KINDS, render_action
from logtriage.parsing.marks import MAX_TEXT

TOPOLOGY = lt.make_incident("single_crash-v4/val/0").topology
EVERY = lt.all_actions(TOPOLOGY, hand_over=True)


def read(text: str) -> lt.Action:
    return lt.parse_action(text, TOPOLOGY, SOLO_KINDS | TEAM_KINDS, "word")


def test_every_canonical_action_is_one_word_and_is_read_back() -> None:
    words = [render_action(action, "word") for action in EVERY]
    assert len(set(words)) == len(EVERY)
    assert all(len(word.split()) == 1 for word in words)
    numbers = [action_id(read(word), TOPOLOGY, hand_over=True) for word in words]
    assert numbers == list(range(len(EVERY)))


@pytest.mark.parametrize(
    "action", [lt.Wait(), lt.Report("the queue is full"), *map(lt.ClassifyFault, FAULT_CATEGORIES)]
)
def test_other_actions_are_read_back(action: lt.Action) -> None:
    assert read(render_action(action, "word")) == action


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("classify_severity:P1", lt.ClassifySeverity("P1")),
        (" escalate:sre-team \n", lt.Escalate("sre-team")),
        ("<think>ignore</think>remediate:restart:user-db", lt.Remediate("restart", "user-db")),
        ("I will not\nignore: it\n\nresolve\n", lt.Resolve()),
        ("request_more_logs", lt.RequestMoreLogs(None)),
        ("request_more_logs:all", lt.RequestMoreLogs(None)),
        ("resolve\nresolve", lt.Resolve()),
        ("hand_over", lt.HandOver()),
    ],
)
def test_an_action_is_a_line_of_its_own(text: str, action: lt.Action) -> None:
    assert read(text) == action


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no line of the reply is an action"),
        ("ignore it", "no line of the reply is an action"),
        ('{"action_type": "resolve"}', "no line of the reply is an action"),
        ("escalate:payment", "unknown team 'payment'; one of: sre-team"),
        ("remediate:restart", "remediate wants '<remedy>:<service>'"),
        ("resolve\nignore", "2 different actions in one reply"),
        ("x" * (MAX_TEXT + 1), f"at most {MAX_TEXT} are read"),
    ],
)
def test_what_is_no_action_says_why(text: str, reason: str) -> None:
    action = read(text)
    assert isinstance(action, lt.Malformed)
    assert reason in action.reason


def test_a_word_is_only_read_where_it_is_asked_for() -> None:
    assert isinstance(lt.parse_action("ignore", TOPOLOGY), lt.Malformed)
    assert lt.parse_action("ignore", TOPOLOGY, form="word") == lt.Ignore()


@pytest.mark.parametrize(
    "action",
    [
        lt.Malformed("?", "why"),
        lt.ReportImpact((("api-gateway", "user-db"),)),
        lt.IdentifyRootCause("user-db", 0.5),
    ],
)
def test_what_has_no_form_in_one_word_is_refused(action: lt.Action) -> None:
    with pytest.raises(InvalidInput, match="has no form in one word"):
        render_action(action, "word")
