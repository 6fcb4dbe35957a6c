"""Trained networks as roles: what is read, what is refused, and that mixed teams play."""

import json
import pickle
import re
import zipfile
from functools import cache
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from numpy.lib import format as npy

from logtriage import InvalidInput, make_incident
from logtriage.beliefs.model import model_of
from logtriage.codec import load_role_split, role_split_to_json
from logtriage.evaluation import RunSpec, evaluate, joint_steps, play_joint_episode
from logtriage.policies import RolePolicies
from logtriage.recorded import shipped_incidents
from logtriage.registry import make_team
from logtriage.roles import RoleSplit, role_actions
from logtriage.roles.splits import TRIO, TRIO_WITHOUT_REPORTS
from logtriage.trained.networks import SCHEMA, TEAM, WEIGHTS, read_team
from logtriage.vector import role_tokens_of
from logtriage.vector.role_inputs import RoleInput

TASK = "cascading_failure-v4"
INCIDENT = make_incident(f"{TASK}/test/3")


@cache
def drawn(roles: RoleSplit) -> dict[str, Any]:
    """Networks of drawn weights that fit a split, by the names of their arrays."""
    setting, topology = INCIDENT.setting, INCIDENT.topology
    assert setting is not None
    draws = np.random.default_rng(0)
    arrays: dict[str, Any] = {}
    for place, role in enumerate(roles.roles):
        layout = role_tokens_of(roles, role, setting, topology, INCIDENT.horizon)
        mine = RoleInput(role, layout, model_of(setting, topology, False).hypotheses)
        wide = [
            mine.size,
            8,
            len(role_actions(role, topology, hand_over=True)) + mine.pointers.groups,
        ]
        for number, (columns, outputs) in enumerate(pairwise(wide)):
            arrays[f"{place}.{number}.weight"] = draws.normal(size=(outputs, columns))
            arrays[f"{place}.{number}.bias"] = draws.normal(size=outputs)
        arrays |= {f"{place}.{name}": row for name, row in attrs.asdict(mine.pointers).items()}
    return arrays


def save(where: Path, *, roles: RoleSplit = TRIO, **changes: object) -> Path:
    """A trained team, as ``training.mappo`` saves it."""
    where.mkdir(exist_ok=True)
    np.savez(where / WEIGHTS, **drawn(roles))
    about: dict[str, object] = {"schema": SCHEMA, "task": TASK, "split": role_split_to_json(roles)}
    about |= {"trust": 4.0, "activation": "relu", **changes}
    (where / TEAM).write_text(json.dumps(about))
    return where


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("run"))


def test_networks_play_beside_others_and_alone(net: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(net.parent))
    for spec in (
        f"net:~/{net.name}",
        f"triage=net:{net},escalation=expert,remediation=observer",
        f"triage=oracle, escalation=net:{net}, remediation=random:7",
    ):
        factory = make_team(spec, TRIO)
        there = pickle.loads(pickle.dumps(factory))
        for incident in (INCIDENT, make_incident(f"{TASK}/ood/0")):  # there with more hypotheses
            team = factory(incident)
            assert isinstance(team, RolePolicies)
            assert team.incident == incident  # whom networks follow
            here, again = (
                list(joint_steps(incident, make(incident), TRIO)) for make in (factory, there)
            )
            assert here == again
            assert here[-1].is_closed
    assert load_role_split(net / TEAM) == TRIO


def test_without_a_network_teams_are_those_of_the_registry() -> None:
    team = make_team("expert", TRIO)(INCIDENT)
    assert isinstance(team, RolePolicies)
    assert team.incident is None


def test_observers_role_by_role_are_the_observer_team() -> None:
    each = make_team("triage=observer,escalation=observer,remediation=observer", TRIO)
    whole = make_team("observer", TRIO)
    one, other = (
        play_joint_episode(INCIDENT, make(INCIDENT), TRIO).actions for make in (each, whole)
    )
    assert one == other


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("net:", "policy 'net:': expected the directory of a run after net:"),
        (
            "net:nowhere",
            "nowhere: expected the directory of a run of training.mappo, with team.json",
        ),
        ("triage=net:nowhere,escalation=expert,remediation=expert", "nowhere: expected"),
    ],
)
def test_what_is_no_run_says_so(spec: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        make_team(spec, TRIO)


def test_a_role_of_another_split_is_refused_with_what_is_other(net: Path) -> None:
    with pytest.raises(
        InvalidInput,
        match="role 'triage' was trained in split 'trio', where it has other views, may, words "
        "than in 'trio_without_reports'",
    ):
        make_team(f"net:{net}", TRIO_WITHOUT_REPORTS)
    medic = RoleSplit("medics", [attrs.evolve(one, name=f"{one.name}s") for one in TRIO.roles])
    with pytest.raises(InvalidInput, match="its split 'trio' has no role 'triages'"):
        make_team(f"triages=net:{net},escalations=expert,remediations=expert", medic)
    # A colleague with more words: the role is the same, what it hears is not.
    triage, escalation, remediation = TRIO.roles
    wordy = RoleSplit("wordy", [triage, attrs.evolve(escalation, words=("kinds",)), remediation])
    team = make_team(f"triage=net:{net},escalation=expert,remediation=expert", wordy)
    with pytest.raises(InvalidInput, match=r"role 'triage' was trained on 'cascading_failure-v4'"):
        team(INCIDENT)


def test_an_incident_of_which_no_probabilities_are_known_is_refused(net: Path) -> None:
    with pytest.raises(InvalidInput, match="its probabilities are not known"):
        make_team(f"net:{net}", TRIO)(shipped_incidents()[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "logtriage.team/9"}, "schema: expected"),
        ({"split": {"name": "x", "roles": []}}, "role split 'x' has no roles @ $.split"),
        ({"task": 3}, "expected a string, got a number 3 @ $.task"),
        ({"trust": "much"}, "expected a decimal, got a string 'much' @ $.trust"),
        ({"activation": "gelu"}, "activation: expected relu or tanh, got 'gelu'"),
    ],
)
def test_a_field_that_cannot_be_used_is_named(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    save(tmp_path, **change)
    with pytest.raises(InvalidInput, match=re.escape(f"{tmp_path / TEAM}: {message}")):
        read_team(tmp_path)


class Trap:
    def __reduce__(self) -> tuple[object, ...]:
        return (Path("trapped").touch, ())


def test_nothing_is_unpickled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save(tmp_path)
    arrays: dict[str, Any] = {"0.0.weight": np.array([Trap()], object)}
    np.savez(tmp_path / WEIGHTS, **arrays)
    with pytest.raises(InvalidInput, match="expected arrays of numbers"):
        read_team(tmp_path)
    (tmp_path / WEIGHTS).write_bytes(pickle.dumps(Trap()))
    with pytest.raises(InvalidInput, match="expected arrays of numbers"):
        read_team(tmp_path)
    assert not Path("trapped").exists()


def test_weights_that_are_missing_are_named(tmp_path: Path) -> None:
    save(tmp_path)
    arrays: dict[str, Any] = {"0.0.weight": np.zeros((2, 2))}
    np.savez(tmp_path / WEIGHTS, **arrays)
    with pytest.raises(InvalidInput, match=re.escape("expected an array '0.0.bias'")):
        read_team(tmp_path)
    (tmp_path / WEIGHTS).unlink()
    with pytest.raises(InvalidInput, match="no weights there"):
        read_team(tmp_path)


def bomb(where: Path, shape: tuple[int, ...], content: int, packed: int) -> None:
    """An archive with an array that says its shape, and holds so many bytes of nothing."""
    header = BytesIO()
    npy.write_array_header_1_0(header, {"shape": shape, "fortran_order": False, "descr": "<f8"})
    with (
        zipfile.ZipFile(where / WEIGHTS, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("0.0.weight.npy", "w") as member,
    ):
        member.write(header.getvalue())
        for _ in range(content >> 20):
            member.write(bytes(1 << 20))
    assert (where / WEIGHTS).stat().st_size < packed


@pytest.mark.parametrize(
    ("shape", "content", "told"),
    [
        ((1 << 25,), 257 << 20, "they unpack to 269,484,160 bytes; at most 268,435,456"),
        ((1 << 30, 1), 0, "0.0.weight.npy: 128 bytes for 8,589,934,592"),
    ],
)
def test_an_archive_that_asks_for_too_much_memory_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...], content: int, told: str
) -> None:
    save(tmp_path)
    bomb(tmp_path, shape, content, packed=1 << 20)
    monkeypatch.setattr(np, "load", lambda *_, **__: pytest.fail("unpacked"))
    with pytest.raises(InvalidInput, match=re.escape(told)):
        read_team(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        {"0.0.bias": np.zeros(3)}, {"0.0.weight": np.zeros(8)},
        {"0.1.weight": np.zeros((2, 2)), "0.1.bias": np.zeros(2)}, {"0.0.bias": np.full(8, np.nan)},
        {"0.0.bias": np.zeros(8, int)}, {"0.group": np.zeros(1, int)}, {"0.action": np.array([-1])},
    ],
)  # fmt: skip
def test_arrays_that_are_no_network_are_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    save(tmp_path)
    np.savez(tmp_path / WEIGHTS, **{**drawn(TRIO), **change})
    with pytest.raises(InvalidInput, match="the arrays of 'triage' do not fit each other"):
        read_team(tmp_path)


def test_a_run_knows_a_network_from_another_one_in_its_place(tmp_path: Path) -> None:
    where = save(tmp_path / "net")
    spec = RunSpec([f"net:{where}"], [TASK], episodes=1, role_split=TRIO)
    (row,) = evaluate(spec, tmp_path / "run")
    assert (row.episodes, row.unscored) == (1, 0)
    evaluate(spec, tmp_path / "run")
    save(where, trust=5.0)
    with pytest.raises(InvalidInput, match="net:"):
        evaluate(spec, tmp_path / "run")
    (where / "run.json").write_text('{"finished": false}')
    with pytest.raises(InvalidInput, match=r"net: its training did not finish; .* copy team.json"):
        read_team(where)
