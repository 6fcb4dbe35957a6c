"""What the page in a browser asks for: an incident played, graded and replayed without NumPy."""

import json
import subprocess
import sys

import pytest

import logtriage as lt
from logtriage.actions import action_name, action_value
from logtriage.rendering.sparklines import sparklined
from logtriage.report.live import PLAYER, RIVAL, Game

INCIDENT = "single_crash-v4/test/2277"

WITHOUT_NUMPY = """
import json, sys
sys.modules["numpy"] = None  # an import of it raises
from logtriage.errors import WorldError
from logtriage.report.live import Game
game = Game("single_crash-v4/test/531")
game.act('{"action_type": "request_more_logs", "value": "all"}')
game.act('{"action_type": "resolve"}')
print(json.loads(game.debrief())["score"])
"""


def lines_of(state: lt.State) -> list[str]:
    """A screen as people see it."""
    return [sparklined(line) for line in lt.render_observation(lt.observe(state)).split("\n")]


def test_it_needs_no_numpy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_NUMPY], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    incident = lt.make_incident(INCIDENT)
    state = lt.play(incident, [lt.RequestMoreLogs(), lt.Resolve()])
    assert float(done.stdout) == lt.grade(state).score


def test_the_view_is_the_screen_and_every_action() -> None:
    game = Game(INCIDENT)
    view = json.loads(game.view())
    state = lt.initial_state(lt.make_incident(INCIDENT))
    assert view["screen"] == lines_of(state)
    offered = {(kind, value) for kind, values in view["choices"].items() for value in values}
    known = lt.all_actions(state.incident.topology)
    assert offered == {
        (action_name(one), action_value(one)) for one in known if action_value(one) is not None
    }
    bare = {kind for kind, values in view["choices"].items() if not values}
    assert bare == {"resolve", "ignore", "hand_over"}
    assert (view["tick"], view["closed"], view["done"]) == (0, False, [])


def test_an_action_moves_the_view_and_nonsense_costs_nothing() -> None:
    game = Game(INCIDENT)
    with pytest.raises(lt.InvalidInput, match="unknown service 'nowhere'"):
        game.act('{"action_type": "request_metrics", "value": "nowhere"}')
    view = json.loads(game.act('{"action_type": "request_metrics", "value": "user-db"}'))
    assert view["tick"] == 1
    assert [one["told"] for one in view["done"]] == ["request_metrics user-db"]


def test_the_debrief_grades_and_shows_the_expert_beside() -> None:
    game = Game(INCIDENT)
    view = json.loads(game.act('{"action_type": "ignore"}'))
    assert view["closed"]
    assert view["choices"] == {}
    found = json.loads(game.debrief())
    graded = lt.grade(game.state)
    assert found["score"] == graded.score == 0.0
    assert found["verdict"] == graded.verdict
    expert = lt.grade(lt.play(lt.make_incident(INCIDENT), "expert"))
    assert found["rival"] == {"score": expert.score, "verdict": expert.verdict}
    assert [row[0] for row in found["criteria"]] == [one.name for one in graded.criteria]
    facts = json.loads(found["page"].split('id="data">')[1].split("</script>")[0])
    assert (facts["episodes"], facts["believed"], facts["numpy"]) == (2, 0, False)
    assert {PLAYER, RIVAL} == {"you", "expert"}
