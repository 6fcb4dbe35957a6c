"""Objects of a user's own by ``module:name``, and rubrics by either name."""

from functools import partial
from pathlib import Path

import attrs
import pytest

from logtriage._lib.references import code_of, imported, is_reference, name_in_module, player_name
from logtriage.errors import InvalidInput, UnknownName
from logtriage.grading import TRIAGE_3, grade_actions, rubric_named
from logtriage.roles.splits import TRIO
from logtriage.trained.networks import NetworkRoles, TrainedTeam

TEAM = TrainedTeam("runs/1", "0123", "single_crash-v4", TRIO, 0.0, "relu", {})
OWN = """
import attrs
from logtriage.grading import TRIAGE_3
HARSH = attrs.evolve(TRIAGE_3, id="harsh/1", criteria=TRIAGE_3.criteria)
NUMBER = 3
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module of the working directory, under a name that no other test imports."""
    (tmp_path / "own_references.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    monkeypatch.delitem(__import__("sys").modules, "own_references", raising=False)
    return "own_references"


def test_a_rubric_is_an_id_or_an_object_of_a_module(own: str) -> None:
    assert rubric_named("logtriage/3") is TRIAGE_3
    mine = rubric_named(f"{own}:HARSH")
    assert mine.id == "harsh/1"
    assert imported(f"{own}:NUMBER") == 3
    graded = grade_actions("single_crash-v4/test/0", [{"action_type": "resolve"}], mine)
    assert graded.rubric == "harsh/1"
    assert is_reference(f"{own}:HARSH")
    assert not is_reference("logtriage/3")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("{own}:NUMBER", "expected a Rubric, found int"),
        ("{own}:NOTHING", "has no 'NOTHING'"),
        ("no_such_module:X", "no module named 'no_such_module'"),
        (":X", "expected module:name"),
    ],
)
def test_what_is_none_is_named(own: str, name: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        rubric_named(name.format(own=own))


def test_an_unknown_id_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="logtriage/3"):
        rubric_named("logtriage/4")


def test_players_are_told_apart_by_names_arguments_and_descriptions() -> None:
    here = f"{__name__}.own{code_of(__name__)}"
    made = [own, partial(own, 0.5), partial(own, None, by=[2]), (own, own)]
    made += [TRIAGE_3, NetworkRoles(TEAM)]
    assert [player_name(maker) for maker in made] == [
        here, f"{here} of (0.5)", f"{here} of (None) (by=(2))", f"({here}, {here})",
        "logtriage.grading.rubric.Rubric", "net:runs/1 0123",
    ]  # fmt: skip
    splits = (attrs.evolve(TRIO, name=name) for name in ("one", "other"))
    assert len({player_name(partial(own, split)) for split in splits}) == 2


def test_a_function_sent_by_value_keeps_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quick, "__module__", "drivers_own_module")
    assert name_in_module(quick) == "drivers_own_module.quick"
    monkeypatch.setattr(quick, "__module__", "logtriage")
    with pytest.raises(InvalidInput, match="has no name in a module"):
        name_in_module(quick)


def quick() -> None:
    """Stands for a criterion of a user's own."""
