"""eval, compare, report and import: whole runs through the command line."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from logtriage.cli.figures import share
from logtriage.recorded import dump_bundle, shipped_incidents, shipped_records
from logtriage.tasks import DRAWN_TASKS
from tests.cli.players import VARIABLE
from tests.cli.test_cli import command, lines, logtriage
from tests.recorded.layout import BETA, ID, write_layout

BENCHMARK = list(DRAWN_TASKS)


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    dump_bundle(shipped_records()[1:], tmp_path / "two.jsonl")
    return tmp_path / "two.jsonl"


def test_table_has_a_row_for_each_policy_and_task(tmp_path: Path) -> None:
    result = logtriage("eval", "oracle", "first_error", "--episodes", 5, "--out", tmp_path / "run")
    assert result.exit_code == 0
    for task in BENCHMARK:
        assert f"{task}/test  5 episodes, rubric logtriage/3" in result.stdout
    # Each task has two tables of figures, and one by the worth of a hand-over.
    rows = [re.findall(rf"^{policy} ", result.stdout, re.M) for policy in ("oracle", "first_error")]
    assert len(rows[0]) == len(rows[1]) >= 3 * len(BENCHMARK)
    assert "1.000 [1.000, 1.000]" in result.stdout
    assert result.stderr.splitlines() == [
        f"transcripts and summary: {tmp_path / 'run'}",
        f"to see each episode tick by tick: logtriage replay {tmp_path / 'run'} --open",
    ]


def test_tables_fit_their_terminal(tmp_path: Path) -> None:
    long = "constant:classify_severity=P1,escalate=sre-team,resolve"
    run = tmp_path / "run"
    logtriage("eval", "first_error", long, "--task", BENCHMARK[0], "--out", run, "--episodes", 3)
    pair = ("--policy-a", "first_error", "--policy-b", long)
    for width in (60, 80, 100, 160):
        for shown, last, whole in (
            (logtriage("report", run, "--legend", width=width), "Brier", "handed over"),
            (logtriage("compare", run, run, *pair, "--legend", width=width), "same", "net B"),
        ):
            table, _, legend = shown.stdout.partition("LEGEND\n")
            assert max(map(len, shown.stdout.splitlines())) <= width
            assert not re.search(r"[a-z]-(\s|$)", table), "a heading is hyphenated"
            assert "…" not in table
            for title in (last, "[95 % interval]"):
                assert title in table
                assert title in legend
            if width in (60, 160):  # a list, in which each figure stands beside its name
                assert (f"  {whole}  " in table) is (width == 60)


def test_json_is_the_summary_a_row_a_line(tmp_path: Path) -> None:
    result = logtriage("eval", "expert", "--episodes", 3, "--out", tmp_path / "run", "--json")
    assert lines(result) == json.loads((tmp_path / "run" / "summary.json").read_text())["rows"]
    assert logtriage("report", tmp_path / "run", "--json").stdout == result.stdout


def test_the_class_of_a_fault_has_a_column_where_it_is_graded(tmp_path: Path) -> None:
    policy, run = "constant:classify_fault=network,resolve", tmp_path / "run"
    tasks = ("--task", "recorded", "--task", "recorded_models")
    shown = logtriage("eval", policy, *tasks, "--out", run, "--legend", width=160).stdout
    first, _, second = shown.partition("recorded_models_")
    assert re.search(r"root +fault", first)
    assert re.search(r"root +fault", second)
    assert "real faults whose class was declared" in second
    assert re.search(rf" {share(0.0, 1)} +({share(1 / 3, 1)}|{share(1 / 3, 0)}) ", second)


def test_recorded_incidents_shipped_and_from_a_bundle(bundle: Path) -> None:
    (shipped,) = lines(logtriage("eval", "expert", "--task", "recorded", "--json"))
    (given,) = lines(logtriage("eval", "expert", "--bundle", bundle, "--json"))
    assert (shipped["task"], shipped["episodes"]) == (shipped_incidents()[0].task, 3)
    assert (given["task"], given["episodes"]) == (shipped["task"], 2)
    both = logtriage(
        "eval", "expert", "--task", BENCHMARK[0], "--bundle", bundle, "--episodes", 1, "--json"
    )
    assert [row["task"] for row in lines(both)] == [BENCHMARK[0], given["task"]]


def test_interrupted_run_says_how_to_resume_and_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = (
        "eval", "tests.cli.players:quitting", "--task", BENCHMARK[0], "--episodes", "2",
        "--out", str(tmp_path / "run"),
    )  # fmt: skip
    monkeypatch.setenv(VARIABLE, "1")
    done = subprocess.run(command(*arguments), capture_output=True)
    assert done.returncode == 130
    assert done.stdout == b""
    assert b"1 of 2 episodes are kept" in done.stderr
    assert b"the same command resumes" in done.stderr
    assert b"Traceback" not in done.stderr
    monkeypatch.delenv(VARIABLE)
    result = logtriage(*arguments, "--json")
    assert result.exit_code == 0
    assert "resuming: 1 of 2 episodes are already there" in result.stderr
    (row,) = lines(result)
    assert (row["episodes"], row["unscored"]) == (2, 0)


def test_episodes_that_broke_off_are_offered_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "1")
    common = ["eval", "tests.cli.players:gone", "--task", BENCHMARK[0], "--episodes", 2]
    common += ["--out", tmp_path / "run"]
    result = logtriage(*common)
    assert result.exit_code == 1
    assert "tests.cli.players:gone" in result.stdout
    assert "unscored: 2 episodes; --retry-unscored plays them again" in result.stderr
    monkeypatch.delenv(VARIABLE)
    (row,) = lines(logtriage(*common, "--retry-unscored", "--json"))
    assert row["unscored"] == 0


def test_compare(tmp_path: Path) -> None:
    common, a, b = ("eval", "--task", BENCHMARK[0]), tmp_path / "a", tmp_path / "b"
    logtriage(*common, "oracle", "random", "--episodes", 5, "--out", a)
    logtriage(*common, "oracle", "--episodes", 8, "--out", b)
    result = logtriage("compare", a, b, width=200)
    assert result.exit_code == 0
    assert f"{BENCHMARK[0]}/test  5 shared incidents" in result.stdout
    assert "+0.000 [+0.000, +0.000]" in result.stdout
    assert "5 incidents shared; left out: 0 only in A, 3 only in B" in result.stderr
    (one,) = lines(logtriage("compare", a, b, "--policy-a", "random", "--json"))
    assert one["shared"] == 5
    assert isinstance(one["difference"], dict)
    assert one["difference"]["low"] > 0


@pytest.mark.parametrize("out", [None, "page.html"])
def test_report_writes_a_page_with_the_flag_for_it_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    logtriage("eval", "expert", "--task", BENCHMARK[0], "--episodes", 1, "--out", "run")
    few = ("--beliefs", 0, "--explain", 0)
    result = logtriage("report", "run", "--html", *few, *([] if out is None else [out]))
    assert result.exit_code == 0, result.output
    page = Path("run/report.html" if out is None else out)
    assert page.read_text(encoding="utf-8").lstrip().startswith("<!")
    without = logtriage("report", "run", page)
    assert without.exit_code == 2
    assert "--html" in without.stderr


def test_import_makes_a_bundle_to_evaluate(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.jsonl.gz"
    result = logtriage("import", "nezha", write_layout(tmp_path / "data"), "--out", bundle)
    assert result.exit_code == 0, result.output
    # Whoever prepares a blind run is not told the answers.
    assert "network_delay" not in result.output
    (row,) = lines(logtriage("eval", "oracle", "--bundle", bundle, "--json"))
    assert (row["episodes"], row["root_cause"]) == (1, 1.0)
    (truth,) = lines(logtriage("show", ID, "--bundle", bundle, "--truth", "--json"))
    assert truth["root_causes"] == [BETA.rsplit("-", 2)[0]]


def test_own_incidents_become_a_bundle_or_nothing(tmp_path: Path) -> None:
    data, bundle = tmp_path / "data", tmp_path / "mine.jsonl.gz"
    data.mkdir()
    (data / "labels.csv").write_text(
        "id,opened,root_cause,kind\nmine/1,2031-05-06T10:00:30Z,back,overload\n"
    )
    (data / "logs.csv").write_text(
        "time,service,level,message\n2031-05-06T10:00:10Z,back,ERROR,out of memory\n"
    )
    result = logtriage("import", "capture", data, "--out", bundle)
    assert result.exit_code == 0
    assert "mine/1" in result.stdout
    shown = logtriage("show", "mine/1", "--bundle", bundle).stdout
    assert "ERROR back: out of memory" in shown
    (report,) = lines(logtriage("import", "capture", data, "--out", bundle, "--json"))
    assert report == {"bundle": str(bundle), "incidents": ["mine/1"]}
    (data / "logs.csv").write_text("time,service,level,message\nnow,back,ERROR,x\n")
    other = tmp_path / "other.jsonl"
    result = logtriage("import", "capture", data, "--out", other)
    assert result.exit_code == 2
    assert "logs.csv:2: field time: must be a time with an offset" in result.stderr
    assert not other.exists()
