"""Grades of ten thousand random episodes are what they were when the file was recorded."""

import numpy as np
import pytest

from logtriage import Topology
from logtriage.grading.batch import WORTH_A_KERNEL, action_array, grade_batch, truths_of
from tests.golden.random_episodes import COLUMNS, COUNT, FILE, Episode, episodes, record, table

pytestmark = pytest.mark.golden


def test_every_grade_and_digest_is_the_recorded_one() -> None:
    recorded, got = np.load(FILE), table(episodes())
    assert sorted(recorded.files) == sorted(COLUMNS)
    for name in COLUMNS:
        assert len(recorded[name]) == COUNT
        differ = np.flatnonzero(recorded[name] != got[name])
        assert not len(differ), f"{name} of episodes {differ[:5].tolist()}"


def test_the_file_holds_every_ending_and_many_scores() -> None:
    recorded = np.load(FILE)
    assert set(recorded["gate"].tolist()) == {-1, 0, 1}
    assert set(recorded["closing"].tolist()) == {-1, 0, 1, 2, 3, 4}
    assert len(set(recorded["score"].tolist())) > 500
    assert len(set(recorded["digest"].tolist())) > 0.95 * COUNT


def test_kernels_grade_the_same_lists_alike() -> None:
    pytest.importorskip("numba")
    scores, groups = np.load(FILE)["score"], dict[Topology, list[tuple[int, Episode]]]()
    for number, episode in enumerate(episodes()):
        if not episode.joint:
            groups.setdefault(episode.incident.topology, []).append((number, episode))
    batches = [rows for rows in groups.values() if len(rows) >= WORTH_A_KERNEL]
    assert sum(map(len, batches)) > COUNT // 3
    for rows in batches:
        incidents = [episode.incident for _, episode in rows]
        lists = [[action for _, action in episode.plays] for _, episode in rows]
        acts = action_array(incidents[0].topology, lists, hand_over=True)
        expected = [scores[number] for number, _ in rows]
        assert grade_batch(truths_of(incidents), acts).scores.tolist() == expected


def test_the_recorded_grades_are_never_overwritten() -> None:
    before = FILE.read_bytes()
    with pytest.raises(SystemExit, match="new version of the rubric"):
        record()
    assert FILE.read_bytes() == before
