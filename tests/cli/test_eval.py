"""eval, compare, report and import: whole runs through the command line."""

import json
import re
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from logtriage.cli.figures import share
from logtriage.recorded import dump_bundle, load_records, shipped_incidents
from logtriage.tasks import DRAWN_TASKS
from tests.cli.players import VARIABLE
from tests.cli.test_cli import command, lines, logtriage
from tests.evaluation.test_runner import contents
from tests.recorded.layout import BETA, ID, append, write_layout

BENCHMARK = list(DRAWN_TASKS)


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    shipped = str(files("logtriage").joinpath("data", "recorded", "trainticket.jsonl.gz"))
    dump_bundle(load_records(shipped)[1:], tmp_path / "two.jsonl")
    return tmp_path / "two.jsonl"


def test_table_has_a_row_for_each_policy_and_task(tmp_path: Path) -> None:
    result = logtriage("eval", "oracle", "first_error", "--episodes", 5, "--out", tmp_path / "run")
    assert result.exit_code == 0
    for task in BENCHMARK:
        assert f"{task}/test  5 episodes, rubric logtriage/3" in result.stdout
    # Each task has two tables of figures, and one by the price of a hand-over.
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
            (logtriage("compare", run, run, *pair, "--legend", width=width), "same", "same"),
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


def test_any_number_of_jobs_prints_and_writes_the_same(tmp_path: Path) -> None:
    common = [
        "eval",
        "expert",
        "random",
        "--task",
        BENCHMARK[0],
        "--task",
        "recorded",
        "--episodes",
        6,
    ]
    one = logtriage(*common, "--out", tmp_path / "one")
    two = logtriage(*common, "--out", tmp_path / "two", "--jobs", 2)
    assert one.stdout == two.stdout
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_without_a_directory_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = logtriage("eval", "expert", "--episodes", 2, "--task", BENCHMARK[0])
    assert result.exit_code == 0
    assert not list(tmp_path.iterdir())
    assert result.stderr == ""


def test_all_tasks_are_the_benchmark() -> None:
    result = logtriage("eval", "expert", "--task", "all", "--episodes", 1, "--json")
    assert [row["task"] for row in lines(result)] == BENCHMARK


def test_the_class_of_a_fault_has_a_column_where_it_is_graded(tmp_path: Path) -> None:
    policy, run = "constant:classify_fault=network,resolve", tmp_path / "run"
    tasks = ("--task", "recorded", "--task", "recorded_models")
    shown = logtriage("eval", policy, *tasks, "--out", run, "--legend", width=160).stdout
    first, _, second = shown.partition("recorded_models_")
    assert not re.search(r"root +fault", first)
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


def test_other_run_in_the_directory_is_refused_until_fresh(tmp_path: Path) -> None:
    common = ["eval", "expert", "--task", BENCHMARK[0], "--out", tmp_path / "run", "--episodes"]
    assert logtriage(*common, 2).exit_code == 0
    result = logtriage(*common, 3)
    assert result.exit_code == 2
    assert "episodes is 2, asked for 3" in result.stderr
    assert logtriage(*common, 3, "--fresh").exit_code == 0


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
    assert "2 episodes are unscored; --retry-unscored plays them again" in result.stderr
    monkeypatch.delenv(VARIABLE)
    (row,) = lines(logtriage(*common, "--retry-unscored", "--json"))
    assert row["unscored"] == 0


@pytest.mark.parametrize(
    ("value", "wide", "narrow"),
    [
        (None, "–", "–"),
        (0.0, "0%", "0%"),
        (1.0, "100%", "100%"),
        (0.9996, "99.9%", "99%"),
        (0.0001, "0.1%", "1%"),
        (0.5, "50.0%", "50%"),
    ],
)
def test_shares_are_never_rounded_to_all_or_none(
    value: float | None, wide: str, narrow: str
) -> None:
    assert share(value, 1) == wide
    assert share(value, 0) == narrow


# -- compare ---------------------------------------------------------------------------


def test_compare(tmp_path: Path) -> None:
    common = ["eval", "--task", BENCHMARK[0]]
    logtriage(*common, "oracle", "random", "--episodes", 5, "--out", tmp_path / "a")
    logtriage(*common, "oracle", "--episodes", 8, "--out", tmp_path / "b")
    result = logtriage("compare", tmp_path / "a", tmp_path / "b", width=200)
    assert result.exit_code == 0
    assert f"{BENCHMARK[0]}/test  5 shared incidents" in result.stdout
    assert "+0.000 [+0.000, +0.000]" in result.stdout
    assert "5 incidents shared; left out: 0 only in A, 3 only in B" in result.stderr
    (one,) = lines(
        logtriage("compare", tmp_path / "a", tmp_path / "b", "--policy-a", "random", "--json")
    )
    assert one["shared"] == 5
    assert isinstance(one["difference"], dict)
    assert one["difference"]["low"] > 0


def test_runs_by_different_rubrics_are_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        logtriage(
            "eval", "expert", "--task", BENCHMARK[0], "--episodes", 2, "--out", tmp_path / name
        )
    path = tmp_path / "b" / "run.json"
    manifest = json.loads(path.read_text())
    manifest["rubrics"][BENCHMARK[0]]["digest"] = "0" * 16
    path.write_text(json.dumps(manifest))
    result = logtriage("compare", tmp_path / "a", tmp_path / "b")
    assert result.exit_code == 2
    assert "logtriage/3 (digest 0000000000000000)" in result.stderr
    assert result.stdout == ""


# -- report ----------------------------------------------------------------------------


def test_report_shows_the_table_of_a_run_again(tmp_path: Path) -> None:
    first = logtriage("eval", "expert", "--episodes", 2, "--out", tmp_path / "run")
    again = logtriage("report", tmp_path / "run")
    assert again.stdout == first.stdout
    assert again.stderr == ""


def test_report_of_an_unfinished_run_says_so(tmp_path: Path) -> None:
    logtriage("eval", "expert", "--task", BENCHMARK[0], "--episodes", 2, "--out", tmp_path / "run")
    path = tmp_path / "run" / "transcripts" / f"expert--{BENCHMARK[0]}.jsonl"
    path.write_bytes(path.read_bytes()[:-1])
    result = logtriage("report", tmp_path / "run")
    assert "not finished" in result.stderr
    assert "1 episodes" in result.stdout


@pytest.mark.parametrize("out", [None, "page.html"])
def test_report_writes_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    logtriage("eval", "expert", "--task", BENCHMARK[0], "--episodes", 2, "--out", "run")
    result = logtriage("report", "run", "--html", *([] if out is None else [out]))
    assert result.exit_code == 0, result.output
    page = Path("run/report.html" if out is None else out)
    assert page.read_text(encoding="utf-8").lstrip().startswith("<!")


def test_page_without_the_flag_for_it_is_a_mistake(tmp_path: Path) -> None:
    logtriage("eval", "expert", "--task", BENCHMARK[0], "--episodes", 1, "--out", tmp_path / "run")
    result = logtriage("report", tmp_path / "run", tmp_path / "page.html")
    assert result.exit_code == 2
    assert "--html" in result.stderr


def test_rankings_have_a_table_of_their_own(bundle: Path) -> None:
    result = logtriage("eval", "combined", "expert", "--bundle", bundle)
    assert result.exit_code == 0
    assert "AC@1" in result.stdout
    assert "cpu_contention" in result.stdout
    assert "AC@1" not in logtriage("eval", "expert", "--task", BENCHMARK[0], "--episodes", 1).stdout
    (row,) = lines(logtriage("eval", "combined", "--bundle", bundle, "--json"))
    first: Any = row["located"]
    assert (first[0]["kind"], first[0]["ac1"]) == (None, 1.0)


# -- import ----------------------------------------------------------------------------


LOG = "rca_data/2031-05-06/log/10_21_log.csv"


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


def test_import_names_the_rows_that_it_skips(tmp_path: Path) -> None:
    data = write_layout(tmp_path / "data")
    line = append(data / LOG, "1,2,3")
    result = logtriage("import", "nezha", data, "--out", tmp_path / "bundle.jsonl", "--json")
    assert result.exit_code == 0
    assert f"{LOG}:{line}: wrong column count" in result.stderr
    (report,) = lines(result)
    assert report["incidents"] == [ID]


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


@pytest.mark.parametrize("given", [["recorded"], ["recorded_models", "recorded"]])
def test_recorded_incidents_have_no_split_to_choose(given: list[str]) -> None:
    words = [one for task in given for one in ("--task", task)]
    done = logtriage("eval", "expert", *words, "--split", "val", "--episodes", 1)
    assert done.exit_code == 2
    assert "--split val: recorded incidents have no split; leave it out" in done.stderr
    beside = logtriage(
        "eval", "expert", *words, "--task", BENCHMARK[0], "--split", "val", "--episodes", 1
    )
    assert beside.exit_code == 0
