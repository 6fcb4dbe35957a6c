"""Log texts: a cue names one kind, and nothing but a cause holds a cue."""

from string import Formatter

import pytest

from logtriage.faults import FAULT_KINDS
from logtriage.phrases import (
    BENIGN,
    CAUSES,
    COMPLAINTS,
    CUES,
    DISTRACTORS,
    HEALTHY,
    NOISE,
    RESTARTED,
    SLOW_COMPLAINTS,
    SLOW_SYMPTOMS,
    SYMPTOMS,
)
from logtriage.topologies import random_topology
from logtriage.topology import SEVEN_SERVICES

COMPLAINT_TEXTS = tuple(text for rows in (*COMPLAINTS, *SLOW_COMPLAINTS) for text in rows)
OTHER_TEXTS = (
    *COMPLAINT_TEXTS,
    *(text for rows in (*SYMPTOMS, *SLOW_SYMPTOMS) for text in rows),
    *HEALTHY,
    RESTARTED,
    *(text for _, text in NOISE),
    *(text for _, _, text in DISTRACTORS),
    *(name for name, _, _ in DISTRACTORS if name),
    *(text for _, text in BENIGN),
)
KIND_NAMES = [kind.name for kind in FAULT_KINDS]


def kinds_named_by(text: str) -> set[str]:
    lowered = text.lower()
    return {kind for kind, cues in CUES.items() if any(cue in lowered for cue in cues)}


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_every_cause_line_names_its_kind_and_no_other(kind: str) -> None:
    for texts in CAUSES[kind]:
        assert texts
        for text in texts:
            assert kinds_named_by(text) == {kind}, text


@pytest.mark.parametrize("text", OTHER_TEXTS)
def test_no_other_line_names_any_kind(text: str) -> None:
    assert not kinds_named_by(text)


def test_no_service_name_or_placeholder_value_can_make_a_cue() -> None:
    names = {*SEVEN_SERVICES.names, *random_topology(1, 200).names}
    for text in COMPLAINT_TEXTS:
        for name in names:
            assert not kinds_named_by(text.format(dep=name, ms=12_345, n=59, pct=97, v="9.29.9"))


def test_cues_are_lower_case_and_each_one_is_used() -> None:
    for kind, cues in CUES.items():
        texts = [text.lower() for rows in CAUSES[kind] for text in rows]
        for cue in cues:
            assert cue == cue.lower()
            assert any(cue in text for text in texts)


def test_the_two_phrasings_share_no_text_and_no_cue() -> None:
    for kind, (usual, other) in CAUSES.items():
        assert not set(usual) & set(other)
        held = [{cue for cue in CUES[kind] if cue in text.lower()} for text in (*usual, *other)]
        seen = set().union(*held[: len(usual)])
        unseen = set().union(*held[len(usual) :])
        assert not seen & unseen


def test_texts_use_the_documented_placeholders_only() -> None:
    causes = [text for rows in CAUSES.values() for texts in rows for text in texts]
    for text in (*causes, *OTHER_TEXTS):
        fields = {field for _, field, _, _ in Formatter().parse(text) if field is not None}
        assert fields <= {"dep", "ms", "pct", "n", "v"}
        assert ("dep" in fields) == (text in COMPLAINT_TEXTS)


def test_no_text_breaks_a_line() -> None:
    causes = [text for rows in CAUSES.values() for texts in rows for text in texts]
    assert all(text.isprintable() and text.strip() == text for text in (*causes, *OTHER_TEXTS))
