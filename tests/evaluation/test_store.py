import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from logtriage.drawing.generator import make_incident
from logtriage.errors import InvalidInput, RubricError, TranscriptError, UnknownName
from logtriage.evaluation import Incidents, RunSpec, evaluate, load_run, plan
from logtriage.evaluation.cell_files import slug
from logtriage.grading import DEFAULT, grade_transcript
from logtriage.incident import Incident
from logtriage.policies import ExpertPolicy, FirstErrorPolicy, Policy
from logtriage.recorded import dump_bundle, shipped_incidents, shipped_records
from tests.evaluation.test_runner import contents

SPEC = RunSpec(["expert", "random:7"], ["single_crash-v4", "cascading_failure-v4"], episodes=3)
FIRST = "transcripts/expert--single_crash-v4.jsonl"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    evaluate(SPEC, tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """Two recorded incidents, not compressed."""
    path = tmp_path / "bundle.txt"
    dump_bundle(shipped_records()[:2], path)
    return path


def change(path: Path, **fields: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


def test_what_a_run_leaves(run: Path) -> None:
    assert set(contents(run)) == {
        "run.json", "summary.json", FIRST, "transcripts/expert--cascading_failure-v4.jsonl",
        f"transcripts/{slug('random:7')}--single_crash-v4.jsonl",
        f"transcripts/{slug('random:7')}--cascading_failure-v4.jsonl",
    }  # fmt: skip
    manifest = json.loads((run / "run.json").read_text())
    assert manifest["schema"] == "logtriage.run/1"
    assert manifest["policies"] == ["expert", "random:7"]
    assert manifest["rubrics"]["single_crash-v4"] == {"id": "logtriage/3", "digest": DEFAULT.digest}


def test_loading_grades_anew(run: Path) -> None:
    loaded = load_run(run)
    assert loaded.complete
    assert loaded.policies == ("expert", "random:7")
    assert loaded.tasks == ("single_crash-v4", "cascading_failure-v4")
    key = "random:7", "cascading_failure-v4"
    assert loaded.grades[key] == tuple(map(grade_transcript, loaded.transcripts[key]))


def test_loading_by_another_rubric(run: Path) -> None:
    stricter = attrs.evolve(DEFAULT, id="mine/1", criteria=(*DEFAULT.criteria,), bounds=(0.0, 0.9))
    loaded = load_run(run, stricter)
    assert loaded.rubrics["single_crash-v4"] == ("mine/1", stricter.digest)
    assert {grade.rubric for grades in loaded.grades.values() for grade in grades} == {"mine/1"}


@pytest.mark.parametrize(
    ("changed", "difference"),
    [
        ({"episodes": 4}, "episodes is 3, asked for 4"),
        ({"split": "val"}, 'split is "test", asked for "val"'),
        ({"start": 1}, "start is 0, asked for 1"),
        ({"policies": ["expert"]}, "policies is expert, random:7, asked for expert"),
    ],
)
def test_directory_of_another_run_is_refused(
    run: Path, changed: dict[str, Any], difference: str
) -> None:
    before = contents(run)
    with pytest.raises(InvalidInput, match="holds another run") as caught:
        evaluate(attrs.evolve(SPEC, **changed), run)
    assert difference in str(caught.value)
    assert contents(run) == before


def test_a_run_of_kinds_is_read_back_resumed_and_no_other(tmp_path: Path) -> None:
    kinds = ["memory_leak", "slow_query"]
    spec = RunSpec(["expert"], ["single_crash-v4"], episodes=5, kinds=kinds)
    evaluate(spec, tmp_path / "run")
    whole = (tmp_path / "run" / FIRST).read_bytes()
    (tmp_path / "run" / FIRST).write_bytes(b"".join(whole.splitlines(keepends=True)[:2]))
    evaluate(spec, tmp_path / "run")
    assert (tmp_path / "run" / FIRST).read_bytes() == whole
    run = load_run(tmp_path / "run")
    assert run.manifest.spec.kinds == tuple(kinds)
    played = [run.incidents(one.incident) for one in run.transcripts["expert", "single_crash-v4"]]
    assert len(played) == 5
    assert {one.truth.fault_kind for one in played} <= set(kinds)
    with pytest.raises(InvalidInput, match="kinds is memory_leak, slow_query, asked for null"):
        evaluate(attrs.evolve(spec, kinds=()), tmp_path / "run")


def test_run_of_another_version_is_not_mixed_with_this_one(run: Path) -> None:
    change(run / "run.json", logtriage="0.0.1")
    with pytest.raises(InvalidInput, match=r'logtriage is "0\.0\.1", asked for'):
        evaluate(SPEC, run)


@pytest.mark.parametrize("fresh", [False, True])
def test_directory_with_other_things_is_left_alone(tmp_path: Path, fresh: bool) -> None:
    (tmp_path / "thesis.tex").write_text("words")
    with pytest.raises(InvalidInput, match=r"not empty \(it holds thesis.tex\)"):
        evaluate(SPEC, tmp_path, fresh=fresh)
    assert set(contents(tmp_path)) == {"thesis.tex"}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{}", "incident: expected an incident id, got nothing"),
        (b"oh no", "not JSON"),
        (b'{"incident": "single_crash-v4/test/9", "actions": [], "agent": "expert"}',
         "incident: none of this run: 'single_crash-v4/test/9'"),
        (b'{"incident": "single_crash-v4/test/1", "actions": [], "agent": "me"}',
         "agent: expected 'expert', got 'me'"),
    ],
)  # fmt: skip
def test_line_that_the_run_did_not_write_is_named(run: Path, line: bytes, reason: str) -> None:
    lines = (run / FIRST).read_bytes().splitlines()
    (run / FIRST).write_bytes(b"\n".join([lines[0], line, lines[2], b""]))
    for use in (load_run, lambda path: evaluate(SPEC, path)):
        with pytest.raises(TranscriptError) as caught:
            use(run)
        assert str(caught.value).startswith(f"{run / FIRST}:2: {reason}")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"schema": "other/2"}, "schema: expected 'logtriage.run/1', got 'other/2'"),
        ({"episodes": "3"}, r"expected a whole number, got a string '3' @ \$\.episodes"),
        ({"episodes": True}, r"expected a whole number, got a boolean True @ \$\.episodes"),
        ({"policies": ["expert", 3]}, r"expected a string, got a number 3 @ \$\.policies\[1\]"),
        ({"tasks": ["nope-v1"]}, "unknown task 'nope-v1'; known: single_crash-v4"),
        ({"split": "exam"}, "unknown split 'exam'; known: train"),
        ({"rubrics": {"single_crash-v4": []}},
         r"expected an object, got a list \[\] @ \$\.rubrics"),
    ],
)  # fmt: skip
def test_damaged_definition_names_file_and_field(
    run: Path, fields: dict[str, Any], reason: str
) -> None:
    change(run / "run.json", **fields)
    with pytest.raises(InvalidInput, match=f"run.json: {reason}"):
        load_run(run)


def test_directory_without_a_run(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="not the directory of a run"):
        load_run(tmp_path)
    with pytest.raises(InvalidInput, match="not the directory of a run"):
        load_run(tmp_path / "nowhere")
    (tmp_path / "shifts.jsonl").touch()
    with pytest.raises(InvalidInput, match="a run of shifts; report and replay show it"):
        load_run(tmp_path)


def test_run_graded_by_what_the_rubric_was_is_refused(run: Path) -> None:
    rubrics = json.loads((run / "run.json").read_text())["rubrics"]
    other = {"id": "logtriage/3", "digest": "0123456789abcdef"}
    for task in ("other-v4", "single_crash-v4"):
        change(run / "run.json", rubrics={**rubrics, task: other})
        with pytest.raises(RubricError, match=rf"{task} was graded by logtriage/3 \(digest 01"):
            load_run(run)


@pytest.mark.parametrize("torn", [b"{", b'{"schema": "logtri', b'{"ranking": ["a"'])
def test_torn_line_is_played_again(run: Path, torn: bytes) -> None:
    whole = contents(run)
    lines = (run / FIRST).read_bytes().splitlines(keepends=True)
    (run / FIRST).write_bytes(lines[0] + torn)
    evaluate(SPEC, run)
    assert contents(run) == whole


@pytest.mark.parametrize("content", [b"the only copy of my notes", b"\x00" * 4096, b"{1: 2}"])
@pytest.mark.parametrize("kept", [0, 1])
def test_what_is_no_torn_line_is_never_cut_off(run: Path, content: bytes, kept: int) -> None:
    lines = (run / FIRST).read_bytes().splitlines(keepends=True)[:kept]
    (run / FIRST).write_bytes(b"".join(lines) + content)
    with pytest.raises(TranscriptError, match=rf"jsonl:{kept + 1}: no beginning of a transcript"):
        evaluate(SPEC, run)
    assert (run / FIRST).read_bytes() == b"".join(lines) + content


def test_transcripts_are_not_looked_for_behind_a_link(run: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "mine.jsonl"
    elsewhere.write_bytes((run / FIRST).read_bytes()[:-5])
    (run / FIRST).unlink()
    (run / FIRST).symlink_to(elsewhere)
    before = elsewhere.read_bytes()
    with pytest.raises(InvalidInput, match=r"single_crash-v4\.jsonl: a link"):
        evaluate(SPEC, run)
    assert elsewhere.read_bytes() == before
    evaluate(SPEC, run, fresh=True)
    assert elsewhere.read_bytes() == before
    assert not (run / FIRST).is_symlink()


def test_fresh_leaves_transcripts_that_are_not_of_the_run(run: Path) -> None:
    (run / "transcripts" / "mine.jsonl").write_text("{}")
    (run / "bundle.jsonl").write_text("mine")
    evaluate(RunSpec(["expert"], ["single_crash-v4"], episodes=1), run, fresh=True)
    assert set(contents(run)) == {
        "run.json", "summary.json", FIRST, "transcripts/mine.jsonl", "bundle.jsonl",
    }  # fmt: skip


def expert(_: Incident) -> Policy:
    return ExpertPolicy()


def first_error(_: Incident) -> Policy:
    return FirstErrorPolicy()


MINE = RunSpec(["mine"], ["single_crash-v4"], episodes=2)


def test_another_policy_of_the_same_name_is_noticed(tmp_path: Path) -> None:
    evaluate(MINE, tmp_path, factories={"mine": expert})
    evaluate(MINE, tmp_path, factories={"mine": expert})
    before = contents(tmp_path)
    with pytest.raises(
        InvalidInput, match=r"""holds another run: policy 'mine' is "[\w. ]+", asked"""
    ):
        evaluate(MINE, tmp_path, factories={"mine": first_error})
    assert contents(tmp_path) == before


@attrs.frozen
class Model:
    description: str

    def __call__(self, _: Incident) -> Policy:
        return FirstErrorPolicy()


def test_another_player_of_the_same_name_is_noticed_by_its_description(tmp_path: Path) -> None:
    evaluate(MINE, tmp_path, factories={"mine": Model("0.5 B")})
    with pytest.raises(InvalidInput, match=r"""policy 'mine' is "0.5 B", asked for "7 B"."""):
        evaluate(MINE, tmp_path, factories={"mine": Model("7 B")})


#: Incidents at which the model server is gone.
GONE: set[str] = set()


def weak(incident: Incident) -> Policy:
    if incident.id in GONE:
        raise ConnectionError("gone")
    return ExpertPolicy()


WEAK: Any = {"factories": {"mine": weak}}


@pytest.fixture
def gone() -> Iterator[set[str]]:
    GONE.update({"single_crash-v4/test/1", "single_crash-v4/test/3"})
    yield GONE
    GONE.clear()


def test_episodes_that_broke_off_are_played_again_on_request(
    tmp_path: Path, gone: set[str]
) -> None:
    spec = RunSpec(["mine"], ["single_crash-v4"], episodes=5)
    (row,) = evaluate(spec, tmp_path / "run", **WEAK)
    assert row.unscored == 2
    gone.remove("single_crash-v4/test/1")
    (row,) = evaluate(spec, tmp_path / "run", **WEAK)
    assert row.unscored == 2  # not without being told
    seen: list[tuple[int, int]] = []
    again: Any = {**WEAK, "retry_unscored": True, "on_progress": lambda *now: seen.append(now)}
    (row,) = evaluate(spec, tmp_path / "run", **again)
    assert (row.unscored, seen) == (1, [(3, 5), (4, 5), (5, 5)])
    gone.clear()
    (row,) = evaluate(spec, tmp_path / "run", **again)
    assert row.unscored == 0
    evaluate(spec, tmp_path / "never broken", **WEAK)
    assert contents(tmp_path / "run") == contents(tmp_path / "never broken")


def test_bundle_travels_with_its_run(tmp_path: Path, bundle: Path) -> None:
    spec = RunSpec(["expert"], ["recorded"])
    rows = evaluate(spec, tmp_path / "run", bundle=bundle)
    assert [row.episodes for row in rows] == [2]
    assert (tmp_path / "run" / "bundle.jsonl").read_bytes() == bundle.read_bytes()
    bundle.unlink()
    assert load_run(tmp_path / "run").complete


def test_copy_of_the_bundle_must_be_the_one_that_was_played(tmp_path: Path, bundle: Path) -> None:
    evaluate(RunSpec(["expert"], ["recorded"]), tmp_path / "run", bundle=bundle)
    copy = tmp_path / "run" / "bundle.jsonl"
    copy.write_bytes(copy.read_bytes() + b"\n")
    with pytest.raises(InvalidInput, match=r"bundle\.jsonl: digest is"):
        load_run(tmp_path / "run")
    copy.unlink()
    with pytest.raises(InvalidInput, match="are missing"):
        load_run(tmp_path / "run")


def test_incidents_by_id(bundle: Path) -> None:
    drawn = "single_crash-v4/test/0"
    shipped = shipped_incidents()
    assert Incidents()(drawn) == make_incident(drawn)
    assert Incidents()(shipped[2].id) == shipped[2]
    incidents = Incidents.of(bundle)
    assert incidents(shipped[0].id) == shipped[0]
    with pytest.raises(UnknownName, match="unknown recorded incident") as caught:
        incidents(shipped[2].id)
    assert shipped[0].id in str(caught.value)


def test_names_given_twice_count_once() -> None:
    spec = RunSpec(["expert", "expert"], ["single_crash-v4", "single_crash-v4"], episodes=2)
    assert [cell.ids for cell in plan(spec, Incidents())] == [
        ("single_crash-v4/test/0", "single_crash-v4/test/1")
    ]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"policies": []}, "at least one of its policies"),
        ({"tasks": []}, "at least one of its tasks"),
        ({"tasks": "single_crash-v4"}, "got the string"),
        ({"tasks": ["nope"]}, r"unknown task 'nope'; known: single_crash-v4, .* and \d+ more"),
        ({"split": "exam"}, "unknown split 'exam'"),
        ({"episodes": 0}, "episodes must be at least 1, got 0"),
        ({"start": -1}, "start must not be negative, got -1"),
        ({"kinds": ["crash"]}, "unknown kind 'crash'"),
        ({"tasks": ["recorded"], "kinds": ["crash"]}, "recorded has no kinds of a world"),
    ],
)
def test_definitions_that_make_no_sense(fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        RunSpec(**{"policies": ["expert"], "tasks": ["single_crash-v4"], **fields})


def test_file_names_are_plain_and_never_shared() -> None:
    names = ["expert", "random:7", "random:8", "random-7", "constant:resolve", "constant:ignore"]
    names += ["constant:" + "escalate=sre-team," * 9, "constant:" + "escalate=sre-team," * 8]
    names += ["a--b", "../etc/passwd", "..", "", "émile"]
    slugs = [slug(name) for name in names]
    assert slugs[0] == "expert"
    assert len(set(slugs)) == len(names)
    assert all(len(name) < 60 and "/" not in name and "--" not in name for name in slugs)
