"""Series drawn as bars behind the rows of a screen."""

from logtriage.rendering.sparklines import ONSET, edge, sparklined
from logtriage.world.telemetry import EdgePanel


def test_a_row_gets_a_bar_for_each_figure_and_the_mark_of_its_onset() -> None:
    line = "cpu %  34 33 35 88 94 (usual 34)"
    assert sparklined(line) == f"{line}  ▄▃▄██"
    assert sparklined(line, 3) == f"{line}  ▄▃▄{ONSET}██"


def test_each_series_of_a_line_is_drawn_and_marks_are_no_figures() -> None:
    edge = "EDGE: errors %  0.1 0.1 9 (usual 0.1); p99 ms  80 80 80 (usual 80)"
    assert sparklined(edge) == f"{edge}  ▁▁█  ▅▅▅"
    memory = "memory %  50 70 80 climbing (usual 50)"
    assert sparklined(memory) == f"{memory}  ▅▆▇"


def test_other_lines_stay_as_they_are() -> None:
    for line in ("TICK 3/17", "-23s INFO a-db: 12 34 (usual)", "12  a-db  release 1.2.3 #4127"):
        assert sparklined(line) == line


def test_the_edge_in_a_narrow_line_has_the_latest_figures_and_both_series() -> None:
    panel = EdgePanel(9, 6800, 9, 83, "usual/P1", (-3, 0, 3), (8, 10, 9), (83, 3400, 6800))
    line = "EDGE: errors %  0.09 (usual 0.09); p99 ms  6800 (usual 83)"
    assert edge(panel) == f"{line}  ▄▅▅  ▁▅█"
