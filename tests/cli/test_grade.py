"""grade: transcripts from files and pipes."""

import gzip
import json
import re
import subprocess
from pathlib import Path
from statistics import fmean
from typing import Any

import attrs
import pytest

from logtriage import incident_ids, make_incident, play, transcript_of
from logtriage.codec import decode_transcript, encode_transcript
from logtriage.evaluation import net_value
from logtriage.grading import DEFAULT, RUBRICS, grade_to_json, grade_transcript
from tests.builders import HALVED
from tests.cli.test_cli import BUFFERED, INCIDENT, command, grades, lines, logtriage

RESOLVE = {"action_type": "resolve"}


def line(incident: str = INCIDENT, actions: Any = (RESOLVE,), **others: Any) -> str:
    return json.dumps({"incident": incident, "actions": list(actions), **others})


def write(path: Path, *texts: str) -> Path:
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_one_grade_a_line_and_a_byte_order_mark_is_no_part_of_the_first(
    tmp_path: Path, mark: str
) -> None:
    texts = [line(agent="me"), line("single_crash-v4/test/531", [])]
    result = logtriage("grade", write(tmp_path / "runs.jsonl", mark + texts[0], texts[1]), "--json")
    assert result.exit_code == 0
    wanted = [grade_to_json(grade_transcript(decode_transcript(text))) for text in texts]
    assert [[*one.items()] for one in grades(result)] == [[*one.items()] for one in wanted]


def test_bad_lines_are_named_and_the_good_ones_graded(tmp_path: Path) -> None:
    path = write(
        tmp_path / "runs.jsonl",
        line(),
        "{",
        line("nope-v1/test/0"),
        "",
        line(actions="resolve"),
        line(agent=7),
        line(),
    )
    result = logtriage("grade", path, "--json", width=300)
    assert [one["incident"] for one in grades(result)] == [INCIDENT, INCIDENT]
    assert result.exit_code == 1
    named = [text for text in result.stderr.splitlines() if text.startswith("error: ")]
    assert [text.split(": ")[1] for text in named] == [f"{path}:{n}" for n in (2, 3, 5, 6)]
    assert "not JSON" in named[0]
    assert "unknown task 'nope-v1'; known: single_crash-v4" in named[1]
    assert "agent: expected a string, got a number" in named[3]
    assert "2 graded; 0 unscored; 4 bad lines" in result.stderr
    assert "mean grade 0.000 [–, –] (0.000 with what is unscored or bad as 0)" in result.stderr


def test_each_incident_counts_once_however_often_it_was_tried(tmp_path: Path) -> None:
    first, second = (make_incident(f"single_crash-v4/test/{number}") for number in (0, 1))
    over = {"action_type": "hand_over"}
    rows = [line(first.id, [over]) for _ in range(3)]
    rows += [line(second.id, [over]), line(second.id, [over], status="lost")]
    result = logtriage("grade", write(tmp_path / "runs.jsonl", *rows), "--json")
    (agent,) = json.loads(result.stdout.splitlines()[-1])["summary"]["agents"]
    worths = [one.worth_of_hand_over or 0.0 for one in (first, second)]
    assert agent["always_handing_over"]["grade"] == pytest.approx(sum(worths) / 2)
    assert agent["grade"]["mean"] == pytest.approx(sum(worths) / 2)
    bound = (worths[0] + worths[1] / 2) / 2
    assert agent["bound"] == pytest.approx(bound)
    result = logtriage("grade", write(tmp_path / "runs.jsonl", *rows, "torn"), "--json")
    (agent,) = json.loads(result.stdout.splitlines()[-1])["summary"]["agents"]
    assert agent["bound"] == pytest.approx(bound * 5 / 6)  # 1 of 6 lines is bad


@pytest.mark.parametrize("nothing", [None, float("nan")])
def test_fields_that_hold_nothing_count_as_missing(nothing: object, tmp_path: Path) -> None:
    figures = ("cost", "prompt_tokens", "completion_tokens", "requests", "ranking", "agent")
    fields: dict[str, Any] = dict.fromkeys(figures, nothing)
    path = write(tmp_path / "runs.jsonl", line(**fields))
    result = logtriage("grade", path, "--out", tmp_path / "run")
    assert result.exit_code == 0, result.stderr
    assert logtriage("report", tmp_path / "run").exit_code == 0
    result = logtriage("report", tmp_path / "run", "--value-of-incident", 100)
    assert "keeps no cost" in result.stderr


def test_unscored_transcripts_exit_1_and_enter_no_mean(tmp_path: Path) -> None:
    path = write(tmp_path / "runs.jsonl", line(status="connection lost"))
    result = logtriage("grade", path)
    assert result.exit_code == 1
    assert "unscored: its status is 'connection lost', not 'completed'" in result.stdout
    assert result.stderr == "0 graded; 1 unscored; 0 bad lines\n"
    summary = lines(logtriage("grade", path, "--json"))[-1]["summary"]
    assert (summary["unscored"], summary["agents"][0]["net_value"]) == (1, None)


def played(policy: str, count: int, **fields: Any) -> list[str]:
    """Lines of a policy on the first incidents of a task."""
    ids = incident_ids("cascading_failure-v4", "test", count)
    states = [play(make_incident(name), policy) for name in ids]
    return [encode_transcript(attrs.evolve(transcript_of(state), **fields)) for state in states]


def test_net_value_stands_beside_always_handing_over(tmp_path: Path) -> None:
    texts = played("expert", 8, agent="me")
    path = write(tmp_path / "runs.jsonl", *texts)
    grades_ = [grade_transcript(decode_transcript(text)) for text in texts]
    worths = [make_incident(one.incident).worth_of_hand_over or 0.0 for one in grades_]
    net = net_value([(one.score or 0.0, worth) for one, worth in zip(grades_, worths, strict=True)])
    assert net is not None
    shown = logtriage("grade", path).stderr
    assert (
        f"net value {net.mean:.3f} [{net.low:.3f}, {net.high:.3f}]; always handing over 0" in shown
    )
    assert f"always handing over {fmean(worths):.3f}" in shown
    (agent,) = lines(logtriage("grade", path, "--json"))[-1]["summary"]["agents"]
    assert agent["net_value"] == attrs.asdict(net)
    assert agent["always_handing_over"] == {"grade": pytest.approx(fmean(worths)), "net_value": 0.0}


def test_agents_are_summed_up_apart_and_what_is_lost_counts_as_0(tmp_path: Path) -> None:
    lost = json.loads(played("expert", 1, agent="b")[0]) | {"status": "no route"}
    texts = [*played("expert", 2, agent="a"), *played("constant:hand_over", 2, agent="b")]
    shown = logtriage("grade", write(tmp_path / "runs.jsonl", *texts, json.dumps(lost))).stderr
    assert "b: net value 0.000 [0.000, 0.000] (-" in shown
    assert "a: net value" in shown


def test_actions_that_cannot_be_read_are_counted_with_the_first_reason_of_each_kind(
    tmp_path: Path,
) -> None:
    actions = [
        {"type": "escalate"}, {"type": "resolve"}, {"action_type": "escalate", "value": "pay"},
        {"action_type": "escalate", "value": "shop"}, RESOLVE, {"type": "after the end"},
    ]  # fmt: skip
    path = write(tmp_path / "runs.jsonl", line(actions=actions), line())
    result = logtriage("grade", path)
    assert result.exit_code == 0
    assert (
        "4 of 6 actions could not be read:\n  2: no field action_type; the action has: type\n"
        in (result.stderr)
    )
    assert "\n  2: unknown team 'pay'; one of: sre-team" in result.stderr
    assert logtriage("grade", path, "--strict").exit_code == 1
    assert logtriage("grade", write(path, line()), "--strict").exit_code == 0
    graded = grade_transcript(decode_transcript(line(actions=actions)))
    assert graded.verdict.endswith(
        " 4 of 5 actions could not be read: no field action_type (2), unknown team 'pay' (2)."
    )


@pytest.mark.parametrize("content", [b"", b"\n\n", gzip.compress(b"", mtime=0)])
def test_an_empty_file_is_an_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "runs.jsonl").write_bytes(content)
    result = logtriage("grade", tmp_path / "runs.jsonl")
    assert result.exit_code == 2
    assert "empty: nothing to grade" in result.stderr


def test_a_gzip_is_read_and_other_bytes_are_named(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl.gz"
    path.write_bytes(gzip.compress(f"{line()}\n{line()}\n".encode()))
    assert len(grades(logtriage("grade", path, "--json"))) == 2
    missing = logtriage("grade", path, tmp_path / "missing.jsonl")
    assert (missing.exit_code, missing.stdout) == (2, "")  # before anything is graded
    path.write_bytes(b"\x28\xb5\x2f\xfd....")
    refused = logtriage("grade", path)
    assert (refused.exit_code, "a file of zstd, not lines of text" in refused.stderr) == (2, True)


def test_a_run_of_a_file_is_like_any_other(tmp_path: Path) -> None:
    base, mine = tmp_path / "base", tmp_path / "mine"
    task = ("--task", "cascading_failure-v4", "--episodes", 20)
    logtriage("eval", "expert", *task, "--out", base)
    (file,) = (base / "transcripts").iterdir()
    summary = logtriage("grade", file).stderr
    backwards = write(tmp_path / "back.jsonl", *reversed(file.read_text("utf-8").splitlines()))
    told = logtriage("grade", backwards, "--out", mine)
    assert told.exit_code == 0, told.output
    assert told.stderr.startswith(summary)
    figures = [lines(logtriage("report", run, "--json")) for run in (base, mine)]
    assert figures[0] == figures[1]
    gate = logtriage("gate", mine, base, "--json")
    assert [one["difference"]["mean"] for one in lines(gate) if one["difference"]] == [0.0] * 3
    assert lines(logtriage("compare", base, mine, "--json"))[0]["difference"]["mean"] == 0.0
    assert logtriage("calibration", mine).exit_code == 0
    assert logtriage("replay", mine, "--beliefs", 0, "--explain", 0).exit_code == 0
    assert (mine / "replay.html").is_file()
    assert logtriage("grade", file, "--out", mine, "--fresh").exit_code == 0


def test_a_run_has_no_other_rubric(tmp_path: Path) -> None:
    path = write(tmp_path / "runs.jsonl", line())
    refused = logtriage("grade", path, "--rubric", "recorded/3", "--out", tmp_path / "run")
    assert refused.exit_code == 2
    assert not (tmp_path / "run").exists()


def test_standard_input() -> None:
    done = subprocess.run(
        command("grade", "-", "--json"), input=f"{line()}\nnope\n", capture_output=True, text=True
    )
    assert json.loads(done.stdout.splitlines()[0])["incident"] == INCIDENT
    assert "error: <stdin>:2: not JSON" in done.stderr
    assert done.returncode == 1


def test_input_is_graded_as_it_comes() -> None:
    with subprocess.Popen(
        command("grade", "-", "--json"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=BUFFERED
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{line()}\n".encode())
        process.stdin.flush()
        first = json.loads(process.stdout.readline())  # though the input goes on
        assert first["incident"] == INCIDENT
        process.stdin.close()
        assert json.loads(process.stdout.read())["summary"]["graded"] == 1
        assert process.wait() == 0


def test_output_for_people_has_criteria_and_of_the_total_the_gate_alone(tmp_path: Path) -> None:
    ignore = line("single_crash-v4/test/531", [{"action_type": "ignore"}], agent="me")
    incident = make_incident("cascading_failure-v4/test/0")
    wrong = next(team for team in incident.topology.teams if team not in incident.truth.teams)
    paged = line(incident.id, [{"action_type": "escalate", "value": wrong}])
    result = logtriage("grade", write(tmp_path / "runs.jsonl", ignore, paged))
    ignored, mispaged = result.stdout.splitlines()
    assert ignored.startswith("0.000  single_crash-v4/test/531  me  severity 0.00")
    assert ignored.endswith("ignored_incident: a real fault was ignored")
    assert "wrong_escalation: " in mispaged
    assert "unescalated" not in mispaged


def test_output_for_people_has_discounts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RUBRICS, DEFAULT.id, HALVED)
    result = logtriage("grade", write(tmp_path / "runs.jsonl", line("single_crash-v4/test/531")))
    (text,) = result.stdout.splitlines()
    assert text.endswith("  halved x 0.500")


def test_another_rubric(tmp_path: Path) -> None:
    path = write(tmp_path / "runs.jsonl", line())
    (graded,) = grades(logtriage("grade", path, "--rubric", "recorded/3", "--json"))
    assert graded["rubric"] == "recorded/3"
    (graded,) = grades(logtriage("grade", path, "--rubric", "tests.builders:HALVED", "--json"))
    assert [one["name"] for one in graded["discounts"]] == ["halved"]


def test_output_has_what_a_report_of_the_impact_was_worth(tmp_path: Path) -> None:
    report = {"action_type": "report_impact", "value": "api-gateway->auth-service"}
    texts = [line("compound_failure-v4/test/0", [report, RESOLVE]), line()]
    result = logtriage("grade", write(tmp_path / "runs.jsonl", *texts))
    first, second = result.stdout.splitlines()[:2]
    found = grade_transcript(decode_transcript(texts[0])).impact
    assert found is not None
    assert f"path F1 {found.node_f1:.3f} nodes {found.edge_f1:.3f} edges, roots not exact" in first
    assert "path F1" not in second


def test_a_run_has_a_table_of_them() -> None:
    policy = "constant:report_impact=api-gateway->auth-service,ignore"
    two = ("--task", "compound_failure-v4", "--episodes", 2)
    result = logtriage("eval", policy, "expert", *two, "--legend", width=120)
    assert result.exit_code == 0, result.output
    assert "node F1" in result.stdout
    assert "never part of a grade" in result.stdout
    silent = logtriage("eval", "oracle", *two)
    assert "node F1" not in silent.stdout


def test_repeats_have_one_row_at_each_worth(tmp_path: Path) -> None:
    path = write(tmp_path / "runs.jsonl", line(agent="me"), line(agent="me"))
    logtriage("grade", path, "--out", tmp_path / "run")
    shown = logtriage("report", tmp_path / "run").stdout
    assert "me (2 repeats)" in shown
    assert re.search(r"me \(2 repeats\) +0%", shown)


def test_a_directory_with_a_run_is_refused_before_anything_is_graded(tmp_path: Path) -> None:
    path = write(tmp_path / "runs.jsonl", line())
    assert logtriage("grade", path, "--out", tmp_path / "run").exit_code == 0
    again = logtriage("grade", path, "--out", tmp_path / "run")
    assert (again.exit_code, again.stdout) == (2, "")
    assert "holds a run already; choose another directory" in again.stderr


def test_conversations_are_sent_to_convert(tmp_path: Path) -> None:
    rows: tuple[dict[str, object], ...] = ({"incident": INCIDENT, "messages": []}, {"messages": []})
    for row in rows:
        path = write(tmp_path / "runs.jsonl", json.dumps(row))
        result = logtriage("grade", path, width=300)
        assert result.exit_code == 2
        assert result.stderr.splitlines()[-1] == (
            "conversations become transcripts so: logtriage convert FILE | logtriage grade -"
        )
    mixed = logtriage("grade", write(path, json.dumps(row), line()), width=300)
    assert "logtriage convert" not in mixed.stderr


def test_a_report_can_read_whatever_was_graded(tmp_path: Path) -> None:
    wrong = ({"ranking": ["user-db", "user db"]}, {"cost": "a lot"}, {"prompt_tokens": -1})
    tokens: dict[str, Any] = {"prompt_tokens": 1_000_000, "completion_tokens": 0}
    over = [{"action_type": "hand_over"}]
    rows = [line(actions=over, **tokens), *(line(**each) for each in wrong)]
    path, out = write(tmp_path / "runs.jsonl", *rows), tmp_path / "run"
    done = logtriage("grade", path, "--out", out)
    assert [text.split(": ")[1] for text in done.stderr.splitlines()[:3]] == [
        f"{path}:{number}" for number in (2, 3, 4)
    ]
    (agent,) = lines(logtriage("grade", path, "--json"))[-1]["summary"]["agents"]
    assert agent["bound"] == agent["grade"]["mean"] / 4 > 0
    prices = ("--value-of-incident", 1, "--price-per-million-tokens", "3,5")
    shown = logtriage("report", out, *prices, "--json")
    assert lines(shown)[0]["money"]["cost"] == 3.0
    assert "3 bad lines had no grade when this run was made" in shown.stderr


def test_attempts_at_an_incident_do_not_make_an_interval_narrower(tmp_path: Path) -> None:
    ids = [f"cascading_failure-v4/test/{number}" for number in range(6)]
    paged = [{"action_type": "escalate", "value": "dba-team"}, {"action_type": "resolve"}]
    once = [line(incident=name, actions=paged[number % 2 :]) for number, name in enumerate(ids)]
    path, more = write(tmp_path / "once.jsonl", *once), write(tmp_path / "more.jsonl", *once * 9)
    single, nine = (lines(logtriage("grade", file, "--json"))[-1] for file in (path, more))
    for key in ("grade", "net_value"):
        ends = [each["summary"]["agents"][0][key] for each in (single, nine)]
        assert ends[0] == pytest.approx(ends[1])
