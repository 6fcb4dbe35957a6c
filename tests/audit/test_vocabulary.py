"""Every field of every action is varied, and what is not is said."""

from typing import get_args

import attrs

from logtriage import Action
from logtriage.actions import IdentifyRootCause, Malformed, all_actions
from logtriage.audit.vocabulary import variations, vocabulary
from tests.builders import SEVEN_SERVICES


def test_no_field_of_any_action_is_left_out() -> None:
    words = vocabulary(SEVEN_SERVICES)
    for kind in get_args(Action):
        said = [word for word in words if type(word) is kind]
        for field in attrs.fields(kind):
            assert len({getattr(word, field.name) for word in said}) > 1, (kind, field.name)
    assert {type(word) for word in words} == set(get_args(Action))
    assert set(words) >= set(all_actions(SEVEN_SERVICES))
    assert len(set(words)) == len(words)
    stated = {word.confidence for word in words if isinstance(word, IdentifyRootCause)}
    assert stated == {None, 0.0, 0.5, 1.0}


def test_variations_change_one_field_each() -> None:
    action = IdentifyRootCause("user-db")
    assert [word.confidence for word in variations(action)] == [0.0, 0.5, 1.0]  # type: ignore[union-attr]
    for other in variations(Malformed("", "does nothing")):
        changed = [
            field.name
            for field in attrs.fields(Malformed)
            if getattr(other, field.name) != getattr(Malformed("", "does nothing"), field.name)
        ]
        assert len(changed) == 1
