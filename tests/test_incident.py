"""Incidents and truths: immutable, hashable, and benign exactly without a root cause."""

import attrs
import pytest

from logtriage import Incident
from logtriage.incident import Truth
from tests.builders import benign_incident, real_incident


def test_benign_is_having_no_root_cause() -> None:
    assert benign_incident().truth.benign
    assert not real_incident().truth.benign
    assert not Truth(None, None, frozenset({"user-db"}), frozenset(), frozenset()).benign


def test_incidents_are_values() -> None:
    assert real_incident() == real_incident()
    assert hash(real_incident()) == hash(real_incident())
    assert real_incident(horizon=8) != real_incident(horizon=12)


@pytest.mark.parametrize("field", [field.name for field in attrs.fields(Incident)])
def test_no_field_can_be_set(field: str) -> None:
    incident = real_incident()
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        setattr(incident, field, None)


def test_the_strict_rules_are_the_default() -> None:
    assert real_incident().wrong_page_closes
