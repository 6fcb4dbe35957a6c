"""Runs of teams: played jointly, kept with their split, summed up, compared and shown."""

import json
from pathlib import Path
from typing import Any

import attrs
import pytest

import logtriage as lt
from logtriage.codec import role_split_to_json
from logtriage.evaluation import (
    PolicyFailure,
    RunSpec,
    compare_runs,
    evaluate,
    joint_steps,
    load_run,
    play_joint_episode,
    record_joint_episode,
)
from logtriage.grading import grade_transcript
from logtriage.policies import ConstantPolicy, ExpertPolicy, RolePolicies, TeamPolicy
from logtriage.registry import make_team
from logtriage.report.episode import Episode
from logtriage.report.replay import write_replay
from logtriage.report.replay.episode import Lines, episode_data
from logtriage.report.replay.truths import parts_of
from logtriage.report.run import read_run
from logtriage.roles import Role, RoleSplit
from logtriage.roles.splits import DUO, SOLO, TRIO, TRIO_WITHOUT_BOARD
from tests.builders import known
from tests.evaluation.test_runner import contents

INCIDENT = lt.make_incident("cascading_failure-v4/test/42")
TASKS = ("single_crash-v4", "silent_degradation-v4")


class Waiting:
    """Waits, then raises what it was given."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def act(self, observation: lt.Observation, memory: Any) -> tuple[lt.Action, Any]:
        if observation.tick:
            raise self.error
        return lt.Wait(), memory


def all_resolving(_: lt.Incident) -> TeamPolicy:
    return RolePolicies([ConstantPolicy((lt.Resolve(),))] * 3)


class Saying:
    def __init__(self, said: Any) -> None:
        self.said = said

    def act(self, _: lt.Observation, memory: Any) -> tuple[lt.Action, Any]:
        return self.said() if callable(self.said) else self.said, memory


def team(*policies: lt.Policy) -> RolePolicies:
    return RolePolicies(policies)


def failing_on_third(incident: lt.Incident) -> TeamPolicy:
    broken = Waiting(ConnectionError("model server is gone"))
    found = make_team("oracle", TRIO)(incident)
    if not incident.id.endswith("/2"):
        return found
    return team(ExpertPolicy(TRIO.roles[0]), broken, ExpertPolicy(TRIO.roles[2]))


def test_a_part_that_does_not_exist_is_refused_before_anything_is_played(tmp_path: Path) -> None:
    first = attrs.evolve(TRIO.roles[0], watches=("nroth",))
    lost = attrs.evolve(TRIO, name="lost", roles=(first, *TRIO.roles[1:]))
    with pytest.raises(lt.InvalidInput, match="unknown part 'nroth'"):
        evaluate(RunSpec(["expert"], TASKS, episodes=1, role_split=lost), tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_role_that_raises_is_named_and_its_episode_unscored() -> None:
    broken = team(Saying(lt.Wait()), Waiting(OSError("gone")), Saying(lt.Wait()))
    transcript = record_joint_episode(INCIDENT, lambda _: broken, "mine", TRIO)
    assert transcript.status.startswith("policy failed in tick 1: escalation: OSError: gone (")
    assert transcript.ticks == (0, 0, 0)
    assert transcript.role_split == "trio"
    graded = grade_transcript(transcript)
    assert graded.score is None
    assert graded.cause == transcript.status
    with pytest.raises(PolicyFailure) as caught:
        play_joint_episode(INCIDENT, broken, TRIO)
    assert caught.value.state.tick == 1
    for said, cause in (
        (lt.RequestTraces("nowhere"), "UnknownName: unknown service 'nowhere'"),
        (lambda: lt.Report("x" * 999), f"InvalidInput: .* got 999 .*{Path(__file__).name}:"),
    ):
        with pytest.raises(PolicyFailure, match=f"policy failed in tick 0: escalation: {cause}"):
            play_joint_episode(
                INCIDENT, team(Saying(lt.Wait()), Saying(said), Saying(lt.Wait())), TRIO
            )


def test_what_a_role_may_not_do_is_malformed_and_only_its_own_screen_says_so() -> None:
    wrong = team(Saying(lt.Resolve()), Saying(lt.Wait()), Saying(lt.Wait()))
    *_, last = joint_steps(INCIDENT, wrong, TRIO)
    assert last.closing == "out_of_time"
    first = last.actions[0]
    assert isinstance(first, lt.Malformed)
    assert first.by == "triage"
    screens = [lt.render_observation(lt.observe(last, role)) for role in TRIO.roles]
    assert "LAST: not understood: triage may not resolve; it may: classify" in screens[0]
    assert not any("not understood" in screen for screen in screens[1:])


def test_the_split_is_kept_in_full_and_read_back(tmp_path: Path) -> None:
    mine = RoleSplit("mine", [attrs.evolve(TRIO.roles[0], name="finder"), *TRIO.roles[1:]])
    spec = RunSpec(["expert"], TASKS, episodes=2, role_split=mine)
    evaluate(spec, tmp_path)
    written = json.loads((tmp_path / "run.json").read_text())
    assert written["role_split"] == role_split_to_json(mine)
    assert load_run(tmp_path).manifest.spec == spec
    path = tmp_path / "transcripts" / "expert--single_crash-v4.jsonl"
    for line in path.read_text().splitlines():
        assert json.loads(line)["role_split"] == "mine"


OTHER = RoleSplit("crew", (*TRIO.roles, Role("scribe", ["slo"], ["report"])))


def test_a_run_with_another_split_is_another_run(tmp_path: Path) -> None:
    evaluate(RunSpec(["expert"], TASKS, episodes=1, role_split=TRIO), tmp_path)
    before = contents(tmp_path)
    asked = {None: 'is "trio", asked for null', DUO: 'is "trio", asked for "duo"', OTHER: '"crew"'}
    for other, difference in asked.items():
        with pytest.raises(lt.InvalidInput, match=f"(?s)holds another run.*{difference}"):
            evaluate(RunSpec(["expert"], TASKS, episodes=1, role_split=other), tmp_path)
    assert contents(tmp_path) == before


def test_a_damaged_split_is_named(tmp_path: Path) -> None:
    evaluate(RunSpec(["expert"], TASKS, episodes=1, role_split=TRIO), tmp_path)
    manifest = json.loads((tmp_path / "run.json").read_text())
    for wrong, message in (
        ({**manifest["role_split"], "roles": 3}, "expected a list, got a number 3"),
        ("trio", "expected an object, got a string 'trio'"),
    ):
        (tmp_path / "run.json").write_text(json.dumps({**manifest, "role_split": wrong}))
        with pytest.raises(lt.InvalidInput, match=rf"run\.json: {message} @ \$\.role_split"):
            load_run(tmp_path)


@pytest.mark.parametrize("jobs", [1, 2])
def test_teams_of_ones_own_and_their_failures(tmp_path: Path, jobs: int) -> None:
    spec = RunSpec(["mine"], TASKS[:1], episodes=4, role_split=TRIO)
    (row,) = evaluate(spec, tmp_path, jobs=jobs, teams={"mine": failing_on_third})
    assert (row.episodes, row.unscored) == (4, 1)
    assert known(row.grade).mean > 0.9
    cause = load_run(tmp_path).grades["mine", TASKS[0]][2].cause
    said = (
        "policy failed in tick 1: escalation: ConnectionError: model server is gone (test_teams.py:"
    )
    assert known(cause).startswith(said)


def test_what_a_role_may_not_do_is_counted_with_its_reason(tmp_path: Path) -> None:
    spec = RunSpec(["closing"], TASKS[:1], episodes=2, role_split=TRIO)
    (row,) = evaluate(spec, tmp_path, teams={"closing": all_resolving})
    assert row.refused == 4  # of the first two roles; the third closes the incident
    assert known(row.first_refused).startswith("triage may not resolve; it may: classify_severity,")
    assert row.said == 0.0


def test_a_team_of_one_has_the_figures_of_the_single_agent(tmp_path: Path) -> None:
    alone = evaluate(RunSpec(["expert", "oracle"], TASKS, episodes=20), tmp_path / "a")
    spec = RunSpec(["expert", "oracle"], TASKS, episodes=20, role_split=SOLO)
    solo = evaluate(spec, tmp_path / "b")
    assert [attrs.evolve(row, role_split=None) for row in solo] == list(alone)
    assert {row.role_split for row in solo} == {"solo"}
    assert {row.role_split for row in alone} == {None}


def test_figures_of_joint_play(tmp_path: Path) -> None:
    spec = RunSpec(["oracle", "expert"], TASKS, episodes=20, role_split=TRIO)
    rows = {(row.policy, row.task): row for row in evaluate(spec, tmp_path)}
    oracle, expert = rows["oracle", TASKS[0]], rows["expert", TASKS[0]]
    assert oracle.ticks is not None
    assert 2.0 < oracle.ticks <= 3.0  # in seven actions; benign incidents take one tick
    assert oracle.root_cause == oracle.severity == oracle.solved == 1.0
    assert known(expert.ticks) > oracle.ticks


def test_splits_are_compared_on_the_same_incidents(tmp_path: Path) -> None:
    for split in (TRIO, TRIO_WITHOUT_BOARD):
        spec = RunSpec(["expert"], TASKS[:1], episodes=20, role_split=split)
        evaluate(spec, tmp_path / split.name)
    with_board, without = (load_run(tmp_path / one.name) for one in (TRIO, TRIO_WITHOUT_BOARD))
    (compared,) = compare_runs(with_board, without)
    assert compared.shared == 20
    assert compared.mean_b < compared.mean_a


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("runs") / "teams"
    spec = RunSpec(["expert", "mine"], TASKS[:1], episodes=4, role_split=TRIO)
    evaluate(spec, directory, teams={"mine": failing_on_third})
    return directory


def held(run: Path) -> list[tuple[Episode, dict[str, Any]]]:
    """Each episode of a run with its data for the pages."""
    episodes = list(read_run(run).episodes)
    return [
        (episode, episode_data(episode, parts_of(episode.incident), Lines(), believed=False))
        for episode in episodes
    ]


def test_the_page_shows_what_each_role_did_in_each_tick(run_dir: Path, tmp_path: Path) -> None:
    page = write_replay(run_dir, tmp_path / "page.html", beliefs=0, explain=0)
    assert ["roles", "trio (triage, escalation, remediation)"] in page.facts["figures"]["facts"]
    acts = {
        (TRIO.names[act["role"]], act["kind"])
        for _, data in held(run_dir)
        for tick in data["ticks"]
        for act in tick.get("acts", ())
    }
    assert ("triage", "classify_severity") in acts
    assert ("escalation", "escalate") in acts
    assert ("remediation", "remediate") in acts
    assert ("escalation", "remediate") not in acts


def test_the_timeline_has_a_step_a_tick_and_ends_at_the_grade(run_dir: Path) -> None:
    for episode, data in held(run_dir):
        *played, last = data["ticks"]
        assert "acts" not in last
        # A page that ends the episode cuts its tick short.
        assert all([act["role"] for act in one["acts"]] == [0, 1, 2] for one in played[:-1])
        assert all(len(tick["screens"]) == 3 for tick in data["ticks"])
        if episode.grade.score is not None:
            assert last["total"] == episode.grade.score
            assert len(played) == episode.grade.ticks
