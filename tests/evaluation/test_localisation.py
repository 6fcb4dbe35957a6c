"""AC@k: exact on ties, strict on what a ranking must be, and part of a run."""

from itertools import permutations
from pathlib import Path
from statistics import fmean
from typing import Any

import attrs
import pytest

from logtriage.actions import Action, Resolve
from logtriage.errors import InvalidInput
from logtriage.evaluation import RunSpec, evaluate, hit_at, load_run, locate, record_episode
from logtriage.evaluation.localisation import check_ranking, ranking_of, ranking_to_json
from logtriage.observation import Observation
from logtriage.policies import Memory, Ranking
from logtriage.recorded import shipped_incidents

RANKINGS: tuple[Ranking, ...] = (
    (("a",), ("b",), ("c",), ("d",)), (("a", "b", "c", "d"),), (("a",), ("b", "c"), ("d",)),
    (("c", "d"), ("a", "b")), (("b",),), (),
)  # fmt: skip


@pytest.mark.parametrize("ranking", RANKINGS)
@pytest.mark.parametrize("accepted", [{"a"}, {"d"}, {"b", "c"}, {"a", "d"}])
@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_a_tie_is_worth_its_mean_over_all_orders(
    ranking: Ranking, accepted: set[str], k: int
) -> None:
    orders: list[list[str]] = [[]]
    for group in ranking:
        orders = [[*order, *one] for order in orders for one in permutations(group)]
    expected = fmean(bool(accepted & set(order[:k])) for order in orders)
    assert hit_at(k, ranking, accepted) == pytest.approx(expected)


def test_over_all_incidents_and_by_kind() -> None:
    first: Ranking = (("a",), ("b",), ("c",))
    rows = locate([("cpu", first, {"a"}), ("cpu", first, {"b"}), ("net", (("a", "b"),), {"b"})])
    assert [(row.kind, row.incidents, row.ac1, row.ac3) for row in rows] == [
        (None, 3, 0.5, 1.0),
        ("cpu", 2, 0.5, 1.0),
        ("net", 1, 0.5, 1.0),
    ]
    assert [row.avg5 for row in rows] == pytest.approx([0.9] * 3)
    assert locate([]) == ()


def test_a_ranking_on_the_wire() -> None:
    ranking = (("a",), ("b", "c"))
    assert ranking_to_json(ranking) == ["a", ["b", "c"]]
    assert check_ranking(["a", ["b", "c"]], "abcd") == ranking
    assert ranking_of({}, "ab", "b") == (("b",),)
    assert ranking_of({}, "ab", None) == ()
    assert ranking_of({"ranking": ["a"]}, "ab", "b") == (("a",),)


@pytest.mark.parametrize(
    ("ranking", "message"),
    [
        ("a", "ranking: expected a list, got str"),
        ([7], r"ranking\[0\]: expected a name or names, got 7"),
        (["a", []], r"ranking\[1\]: expected a name or names, got \[\]"),
        (["a", "x"], r"ranking\[1\]: 'x' is no service, or appears twice"),
        (["a", ["b", "a"]], r"ranking\[1\]: 'a' is no service, or appears twice"),
        ([[["a"]]], r"ranking\[0\]: \['a'\] is no service, or appears twice"),
    ],
)
def test_what_is_no_ranking_is_named(ranking: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        check_ranking(ranking, "ab")


@attrs.frozen
class _Says:
    """Resolves at once and gives the ranking that it was told to."""

    said: Any

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:  # noqa: ARG002
        return Resolve(), "note"

    def ranking(self, observation: Observation, memory: Memory) -> Ranking:
        assert memory == "note"
        assert observation.closing is not None
        if isinstance(self.said, Exception):
            raise self.said
        ranking: Ranking = self.said
        return ranking


def test_a_ranking_is_kept_with_the_transcript_and_read_back(tmp_path: Path) -> None:
    roots = [(next(iter(incident.truth.root_causes)),) for incident in shipped_incidents()]
    said = (roots[1], roots[0])
    rows = evaluate(
        RunSpec(["own", "expert"], ["recorded"]), tmp_path, factories={"own": lambda _: _Says(said)}
    )
    everything = rows[0].located[0]
    assert (everything.kind, everything.incidents) == (None, 3)
    assert [everything.ac1, everything.ac3] == pytest.approx([1 / 3, 2 / 3])
    assert [row.kind for row in rows[0].located[1:]] == [
        "cpu_contention",
        "network_delay",
        "return",
    ]
    # Who gives no ranking is taken at their word.
    assert rows[1].located[0].ac1 == rows[1].located[0].ac5 == rows[1].root_cause
    run = load_run(tmp_path)
    kept = [transcript.extra["ranking"] for transcript in run.transcripts["own", rows[0].task]]
    assert kept == [[roots[1][0], roots[0][0]]] * 3


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        (ValueError("lost"), "policy failed to rank: ValueError: lost"),
        ((("nobody",),), r"policy failed to rank: InvalidInput: ranking[0]: 'nobody' is no"),
        (7, "policy failed to rank: InvalidInput: ranking: expected a list, got int"),
    ],
)
def test_a_ranking_that_fails_is_an_unscored_episode(said: object, cause: str) -> None:
    transcript = record_episode(shipped_incidents()[0], lambda _: _Says(said), "own")
    assert transcript.status.startswith(cause)
    assert len(transcript.actions) == 1
