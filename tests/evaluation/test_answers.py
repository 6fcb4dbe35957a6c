"""Answer sheets become ordinary runs, and every mistake in one is named."""

from pathlib import Path

import pytest

from logtriage.conversations.words import words_of
from logtriage.errors import UnknownName
from logtriage.evaluation import LoadedRun, load_run
from logtriage.evaluation.answers import SheetResult, grade_answers, records_of
from logtriage.evaluation.calibration import calibrate
from logtriage.evaluation.money import Prices, worth_of
from logtriage.evaluation.repeats import repeats_of
from logtriage.evaluation.sheets import SheetError, template
from logtriage.evaluation.summary import summarise
from logtriage.recorded import dump_bundle, load_records, shipped_records
from logtriage.recorded.records import RecordedIncident
from tests.builders import known

CONTACTS, BASIC, CODE = records_of("recorded")
ROOTS = {CONTACTS: "ts-contacts-service", BASIC: "ts-basic-service"}
HEADER = "id,root_cause,fault_class,confidence,handed_over,seconds,cost,notes"


def graded(folder: Path, *rows: str, header: str = HEADER) -> tuple[SheetResult, LoadedRun]:
    sheet = folder / "answers.csv"
    sheet.write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    sources = map(records_of, ("trainticket", "petshop"))
    return grade_answers(sheet, list(sources), folder / "run", "us"), load_run(folder / "run")


def test_a_sheet_is_graded_as_a_run(tmp_path: Path) -> None:
    what, run = graded(
        tmp_path,
        f"{CONTACTS},ts-contacts-service,code,0.9,,31,0.5,saw a wrong value",
        f"{BASIC},ts-order-service,resource,0.6,no,40,0.7,",
        f"{CODE},,,,yes,12,0.2,",
    )
    assert (what.repeats, what.missing, what.ungraded) == (1, (), ())
    assert run.complete
    (task,) = run.tasks
    scores = [grade.score for grade in run.grades["us", task]]
    over = run.incidents(run.grades["us", task][2].incident).worth_of_hand_over
    assert scores == [1.0, 0.0, pytest.approx(over)]
    assert run.policies[1:] == (
        "constant:hand_over",
        "constant:identify_root_cause=ts-contacts-service,classify_fault=code",
    )
    ours, all_handed_over, _ = summarise(run)
    assert known(all_handed_over.net).net.mean == 0.0
    assert ours.located[0].ac1 == pytest.approx(1 / 3)
    assert known(ours.net).handed_over == pytest.approx(1 / 3)
    assert calibrate(run)[0].stated == 2
    first = run.transcripts["us", task][0]
    assert words_of(first) == ("saw a wrong value", None, None)
    assert (first.extra["seconds"], first.extra["answer"]["id"]) == (31.0, CONTACTS)
    worth = worth_of(run, Prices(100.0))[0]
    assert worth.cost == pytest.approx(1.4)


def test_as_many_rows_for_each_incident_are_repeats(tmp_path: Path) -> None:
    right = [f"{name},{root},," for name, root in ROOTS.items()]
    wrong = [f"{name},ts-order-service,," for name in ROOTS]
    rows = [*right, wrong[0], right[1]]
    what, run = graded(tmp_path, *(f"{row},,,," for row in rows))
    assert (what.repeats, len(what.missing)) == (2, 1)
    (repeats,) = repeats_of(run)
    assert repeats.pass_at[0].mean == 0.0  # without its class, no answer has full marks
    assert (repeats.incidents, repeats.repeats) == (2, 2)
    rows_shown = summarise(run)
    assert known(rows_shown[0].grade).mean == pytest.approx(0.7 * 3 / 4)
    assert rows_shown[0].bound == pytest.approx(0.7 * 3 / 6)  # an incident has no row
    assert (rows_shown[0].policy, rows_shown[0].attempts) == ("us", 2)
    assert (rows_shown[0].located[0].kind, rows_shown[0].located[0].incidents) == (None, 2)
    assert len(rows_shown) == 3
    assert rows_shown[0].root_cause == pytest.approx(3 / 4)
    assert worth_of(run, Prices(1.0, per_episode=0.0))[0].incidents == 2


@pytest.mark.parametrize(
    ("row", "mistake"),
    [
        ("nope,ts-x,,,,,,", "answers.csv:2: id: unknown: 'nope'; one of: nezha/"),
        (f"{BASIC},ts-basic,,,,,,", "root_cause: unknown: 'ts-basic'; none, or a service of: ts-"),
        (f"{BASIC},ts-basic-service,disk,,,,,", "fault_class: expected one of resource, network"),
        (f"{BASIC},ts-basic-service,,87,,,,", "confidence: expected a number from 0 to 1, such"),
        (f"{BASIC},ts-basic-service,,nan,,,,", "confidence: expected a number from 0 to 1"),
        (f"{BASIC},ts-basic-service,,,perhaps,,,", "handed_over: expected one of yes, true"),
        (f"{BASIC},ts-basic-service,,,,-1,,", "seconds: expected a number from 0 on, got '-1'"),
        (f"{BASIC},,,,,,,", "root_cause: empty; expected a service, or yes as handed_over"),
        (f"{BASIC},ts-basic-service,,,yes,,,", "root_cause: given beside yes as handed_over"),
        (f"{BASIC},,,0.5,yes,,,", "confidence: given without a service"),
        (f"{BASIC},none,code,,,,,", "fault_class: given beside root_cause none"),
        (f"{BASIC},ts-basic-service", "answers.csv:2: 2 cells; the header has 8"),
    ],
)
def test_a_mistake_is_named_by_line_and_column(tmp_path: Path, row: str, mistake: str) -> None:
    with pytest.raises(SheetError) as caught:
        graded(tmp_path, row)
    (told,) = caught.value.mistakes
    assert mistake in told
    assert not (tmp_path / "run").exists()


def test_all_mistakes_are_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(SheetError) as caught:
        graded(tmp_path, "a,,,,,,,", "short", f"{BASIC},,,,,,,", "b,,,,,,,")
    assert [told.split(":")[1] for told in caught.value.mistakes] == ["2", "3", "4", "5"]
    once, twice = f"{BASIC},ts-basic-service,,,,,,", f"{CODE},ts-basic-service,,,,,,"
    with pytest.raises(SheetError, match=r"csv:4: .* stands in 2 rows \(lines 3, 4\), and others"):
        graded(tmp_path, once, twice, twice)


@pytest.mark.parametrize(
    ("header", "mistake"),
    [
        ("id,root_cause,conf", "answers.csv:1: unknown column 'conf'; one of id, root_cause"),
        ("id,notes", "expected the columns id, and root_cause or handed_over"),
        ("id,root_cause,id", "column id stands there twice"),
    ],
)
def test_wrong_columns_are_named(tmp_path: Path, header: str, mistake: str) -> None:
    with pytest.raises(SheetError, match=mistake):
        graded(tmp_path, header=header)


def test_the_template_has_every_incident(tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.jsonl"
    template(list(records_of("recorded")), sheet)
    filled = sheet.read_text("utf-8").replace('"handed_over": null', '"handed_over": true')
    sheet.write_text(filled, encoding="utf-8")
    what = grade_answers(sheet, [records_of("recorded")], tmp_path / "run", "us")
    assert (what.repeats, what.missing) == (1, ())
    template(list(records_of("petshop")), tmp_path / "sheet.csv")
    assert len((tmp_path / "sheet.csv").read_text("utf-8").splitlines()) == 3
    with pytest.raises(UnknownName, match="nothing"):
        records_of("nothing")


def test_a_bundle_of_one_s_own_and_a_stretch_without_a_fault(tmp_path: Path) -> None:
    import attrs

    from logtriage.recorded import RecordedTruth

    record = shipped_records()[0]
    calm = attrs.evolve(record, id="own/calm", truth=RecordedTruth((), "none"))
    bundle = tmp_path / "own.jsonl.gz"
    dump_bundle([calm, record], bundle)
    assert [row.id for row in load_records(bundle)] == ["own/calm", record.id]
    sheet = tmp_path / "sheet.csv"
    rows: list[RecordedIncident] = list(records_of(str(bundle)).values())
    assert rows[1].id == record.id
    for cause, score, alarm in (("none", 1.0, 0.0), ("ts-basic-service", 0.0, 1.0)):
        sheet.write_text(f"id,root_cause,severity\nown/calm,{cause},P1\n", encoding="utf-8")
        out = tmp_path / cause
        what = grade_answers(sheet, [records_of(str(bundle))], out, "us")
        assert (len(what.missing), what.ungraded) == (1, ("severity",))
        row = summarise(load_run(out))[0]
        assert (known(row.grade).mean, row.false_alarm) == (score, alarm)
