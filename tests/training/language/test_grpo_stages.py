"""A stage gives way to the next when its pages are right, and not before."""

import attrs
import pytest

from training.grpo.stages import Curriculum


@attrs.frozen
class Played:
    paged: float
    mis_paged: float


RIGHT, WRONG, SILENT = Played(0.8, 0.1), Played(0.8, 0.6), Played(0.0, 0.0)


def stages(played: list[Played], window: int = 2) -> list[int]:
    found = Curriculum(3, precision=0.75, pages=0.3, window=window)
    for one in played:
        found.note(one)
    return [found.stage(number) for number in range(len(played) + 2)]


def test_right_pages_end_a_stage_after_the_window() -> None:
    # Two rounds decide on the round after next, which the one between has drawn already.
    assert stages([RIGHT, RIGHT]) == [0, 0, 0, 1]
    # The round between counts for its own stage, and the next stage is measured anew.
    assert stages([RIGHT] * 6) == [0, 0, 0, 1, 1, 1, 2, 2]
    assert stages([RIGHT] * 20)[-1] == 2


@pytest.mark.parametrize("played", [WRONG, SILENT], ids=["mis-pages", "no pages"])
def test_a_model_that_pages_wrongly_or_nobody_stays(played: Played) -> None:
    assert set(stages([played] * 10)) == {0}


def test_precision_is_of_all_pages_of_the_window() -> None:
    # 1 - (0.1 + 0.6) / 1.6 is 0.56; of the last two rounds it is 0.875.
    assert stages([RIGHT, WRONG])[-1] == 0
    assert stages([RIGHT, WRONG, RIGHT, RIGHT])[-1] == 1


def test_what_is_not_known_yet_is_not_told() -> None:
    curriculum = Curriculum(2, precision=0.5, pages=0.1, window=1)
    assert curriculum.stage(1) == 0
    with pytest.raises(IndexError):
        curriculum.stage(2)


def test_a_run_taken_up_again_decides_as_before() -> None:
    history = [RIGHT, WRONG, RIGHT, RIGHT, RIGHT, SILENT]
    for cut in range(len(history)):
        assert stages(history[:cut]) == stages(history)[: cut + 2]
