"""No figure and no word of a text tells more of the truth than the token behind it."""

from logtriage.audit import Verdict, subject_of
from tests.audit.planted.tasks import WORLD_TASK, told_by_a_figure
from tests.audit.text_figures import figures

SCREENS, DRAWS, RATE = 300, 100, 0.01


def test_no_figure_tells_of_the_truth() -> None:
    found = figures(subject_of(WORLD_TASK), SCREENS, DRAWS, RATE)
    assert found.verdict is Verdict.PASSED, found.summary


def test_a_figure_that_goes_with_the_root_is_found() -> None:
    found = figures(subject_of(told_by_a_figure), SCREENS, DRAWS, RATE)
    assert found.verdict is Verdict.FAILED, found.summary
