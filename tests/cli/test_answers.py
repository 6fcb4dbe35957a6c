"""``answers``, and money, on the command line."""

from pathlib import Path

from tests.cli.test_cli import lines, logtriage

ROOTS = {
    "nezha/2023-01-29T084304": "ts-contacts-service,code",
    "nezha/2023-01-30T115921": "ts-basic-service,resource",
    "nezha/2023-01-30T122929": "ts-order-service,network",
}


def test_thirty_answers_are_graded_in_one_command(tmp_path: Path) -> None:
    sheet, out = tmp_path / "answers.csv", tmp_path / "run"
    rows = [f"{name},{answer},0.8,1.5" for _ in range(10) for name, answer in ROOTS.items()]
    text = "\n".join(["id,root_cause,fault_class,confidence,cost", *rows, ""])
    sheet.write_text(text, encoding="utf-8")
    done = logtriage("answers", "grade", sheet, "--out", out, "--value-of-incident", 100)
    assert done.exit_code == 0, done.output
    assert "agent (10 repeats)" in done.stdout
    assert "constant:hand_over" in done.stdout
    shown = logtriage("report", out, "--value-of-incident", 100, "--legend").stdout
    assert "the cost of an episode at which the worth is 0" in " ".join(shown.split())
    first, *others = lines(logtriage("report", out, "--value-of-incident", 100, "--json"))
    assert first["repeats"]["pass_at"][0]["mean"] == first["repeats"]["pass_hat"][9]["mean"]
    assert (first["money"]["incidents"], first["money"]["cost"]) == (3, 4.5)
    assert (first["policy"], first["attempts"], len(others)) == ("agent", 10, 2)
    assert "the bar hands over  " in logtriage("calibration", out, "--legend").stdout
    rival = logtriage("compare", out, out, "--policy-a", "constant:hand_over", "--policy-b",
                      "agent", "--value-of-incident", 100, "--json")  # fmt: skip
    (pair,) = lines(rival)
    assert pair["money"]["a"] == 0.0
    figures = logtriage("compare", out, out, "--value-of-incident", 100, "--legend").stdout
    tables, legend = figures.split("LEGEND\n")  # a single one, after the tables of money
    assert "worth A" in tables
    assert "worth A" in legend


def test_a_wrong_sheet_is_refused_with_every_mistake(tmp_path: Path) -> None:
    sheet = tmp_path / "answers.csv"
    sheet.write_text("id,root_cause\nnope,x\nnezha/2023-01-29T084304,\n", encoding="utf-8")
    done = logtriage("answers", "grade", sheet, "--out", tmp_path / "run")
    assert done.exit_code == 2
    assert [line.split("answers.csv:")[1][0] for line in done.stderr.splitlines()] == ["2", "3"]


def test_a_template_lacks_nothing_but_the_answers(tmp_path: Path) -> None:
    sheet = tmp_path / "answers.csv"
    assert logtriage("answers", "template", "recorded", sheet).exit_code == 0
    done = logtriage("answers", "grade", sheet, "--out", tmp_path / "run")
    assert done.stderr.count("root_cause: empty") == 3


def test_a_template_never_replaces_answers(tmp_path: Path) -> None:
    sheet = tmp_path / "answers.csv"
    sheet.write_text("id,root_cause\n", encoding="utf-8")
    done = logtriage("answers", "template", "recorded", sheet)
    assert done.exit_code == 2
    assert "answers.csv exists, and may hold answers: name another file" in done.stderr
    assert sheet.read_text(encoding="utf-8") == "id,root_cause\n"


def test_a_sheet_of_another_separator_is_told_so(tmp_path: Path) -> None:
    sheet = tmp_path / "answers.csv"
    for mark in ";\t":
        sheet.write_text(f"id{mark}root_cause\n", encoding="utf-8")
        done = logtriage("answers", "grade", sheet, "--out", tmp_path / "run")
        assert done.exit_code == 2
        assert "answers.csv:1: the cells are not separated by commas" in done.stderr


def test_costs_alone_are_refused(tmp_path: Path) -> None:
    for options in (("--cost-per-episode", 1), ("--price-per-million-tokens", "1,2")):
        assert "--value-of-incident: missing" in logtriage("report", tmp_path, *options).stderr
