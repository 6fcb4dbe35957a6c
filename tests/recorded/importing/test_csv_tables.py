"""Incidents of one's own: what a folder becomes, and what is said of a bad field."""

import gzip
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from logtriage.errors import BundleError
from logtriage.recorded import as_incident, import_capture
from logtriage.recorded.figures_in_words import gauge
from logtriage.world.telemetry import Signal
from tests.recorded.layout import shown_by

START = datetime(2031, 5, 6, 23, 55, tzinfo=UTC)
LABELS = (
    "id,opened,root_cause,kind,baseline_start,baseline_end",
    "mine/1,2031-05-06T23:59:00Z,back,overload,2031-05-06T23:55:00Z,2031-05-06T23:58:00Z",
)


def _write(folder: Path, **files: list[str]) -> Path:
    folder.mkdir(exist_ok=True)
    for stem, rows in files.items():
        (folder / f"{stem}.csv").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Six minutes of front → back across midnight; back breaks after three."""
    logs, calls = (
        ["time,service,level,message,trace"],
        ["time,caller,callee,latency_ms,network_ms,trace"],
    )
    metrics = ["time,service,cpu_percent,p99_ms"]
    for second in range(0, 360, 2):
        at, broken = START + timedelta(seconds=second), second >= 180
        level = "error" if broken else "info"
        logs.append(f"{at:%Y-%m-%dT%H:%M:%SZ},back,{level},query {second} done,t{second}")
        calls.append(f"{at:%Y-%m-%dT%H:%M:%SZ},,front,{900 if broken else 30},,t{second}")
        calls.append(f"{at:%Y-%m-%dT%H:%M:%SZ},front,back,{800 if broken else 20},1.5,t{second}")
        if second % 60 == 0:
            for service in ("front", "back"):
                metrics.append(f"{at:%Y-%m-%dT%H:%M:%SZ},{service},{90 if broken else 2.5},")
    return _write(tmp_path / "mine", labels=list(LABELS), logs=logs, calls=calls, metrics=metrics)


def test_what_a_folder_becomes(folder: Path) -> None:
    (record,) = import_capture(folder, horizon=6)
    assert (record.id, record.opened, record.horizon) == ("mine/1", "2031-05-06T23:59:00Z", 6)
    assert (record.truth.root_causes, record.truth.kind) == (("back",), "overload")
    assert record.recording.baseline == "fault-free"
    back, front = record.recording.services
    assert (front.name, front.tier, front.calls) == ("front", "edge", ("back",))
    assert (back.baseline.calls, back.baseline.p50_ms, back.baseline.cpu_bp) == (30, 20, 250)
    now = back.series.at(0)
    assert (now.calls, now.p50_ms, now.network_ms, now.cpu_bp) == (30, 800, 2, 9000)
    incident = as_incident(record)
    signals = {one.name: one for one in shown_by(incident).signals(0)[0]}
    assert signals["new_errors_bp"].value == 10_000
    assert signals["events_bp"].stray > 5
    assert {alert.service for alert in shown_by(incident).alerts(0)} == {"back", "front"}


def test_columns_in_any_order_zipped_and_with_others_beside(folder: Path) -> None:
    expected = import_capture(folder)
    rows = (folder / "logs.csv").read_text().splitlines()
    turned = "".join(f"x,{','.join(reversed(row.split(',')))}\n" for row in rows)
    (folder / "logs.csv.gz").write_bytes(gzip.compress(turned.encode()))
    (folder / "logs.csv").unlink()
    assert import_capture(folder) == expected


def test_without_a_baseline_there_is_none(folder: Path) -> None:
    _write(folder, labels=["id,opened,root_cause,kind", "a/1,2031-05-06T23:59:00Z,back,x"])
    (record,) = import_capture(folder)
    assert record.recording.baseline == "none"
    assert record.recording.alerts == ()
    signals = shown_by(as_incident(record)).signals(0)
    assert all(one.stray == 0 for ones in signals for one in ones)


@pytest.mark.parametrize("stem", ["logs", "calls", "metrics"])
def test_one_kind_of_telemetry_is_enough(folder: Path, stem: str) -> None:
    for other in {"logs", "calls", "metrics"} - {stem}:
        (folder / f"{other}.csv").unlink()
    (record,) = import_capture(folder)
    assert "back" in {service.name for service in record.recording.services}


T = "2031-05-06T23:58:00Z"


@pytest.mark.parametrize(
    ("stem", "row", "message"),
    [
        ("logs", f"{T},back,LOUD,hello,t", "field level: must be a level such as INFO, WARN"),
        ("logs", "2031-05-06T23:58:00,back,INFO,hi,t", "field time: must be a time with an offset"),
        ("logs", "noon,back,INFO,hi,t", "field time: must be a time with an offset such as"),
        ("logs", f"{T}, ,INFO,hi,t",
         "field service: must be a string that is not empty, got a string ' '"),
        ("logs", f"{T},back,INFO,,t", "field message: must be a string that is not empty"),
        ("logs", f"{T},back,INFO", "wrong column count"),
        ("calls", f"{T},front,back,soon,,t", "field latency_ms: must be a number from 0 on"),
        ("calls", f"{T},front,back,,,t", "field latency_ms: must be a number of milliseconds"),
        ("calls", f"{T},front,,5,,t", "field callee: must be a string that is not empty"),
        ("calls", f"{T},front,back,5,-1,t", "field network_ms: must be a number from 0 on, or"),
        ("metrics", f"{T},back,NaN,", "field cpu_percent: must be a number from 0 on, or empty"),
        ("metrics", f"{T},back,1e99,", "field cpu_percent: must be a number from 0 on"),
        ("labels", f"a/2,{T},,x,,", "field root_cause: must be a string that is not empty"),
        ("labels", f"a/2,{T},bakc,x,,",
         "field root_cause: unknown service 'bakc' (did you mean 'back'?); known: back, front"),
        ("labels", f"a 2,{T},back,x,,", "id must be source/name of letters"),
        ("labels", f"mine/1,{T},back,x,,", "field id: 'mine/1' appears twice"),
        ("labels", f"a/2,{T},back,x,{T},{T}", "field baseline_end: must be a time after"),
        ("labels", f"a/2,{T},back,x,{T},", "field baseline_end: must be a time with an offset"),
        ("labels", "a/2,2001-01-01T00:00:00Z,back,x,,", "field opened: no rows within 10 min"),
    ],
)  # fmt: skip
def test_a_bad_field_is_named_with_file_and_line(
    folder: Path, stem: str, row: str, message: str
) -> None:
    path = folder / f"{stem}.csv"
    rows = path.read_text().splitlines()
    _write(folder, **{stem: [*rows, "", row]})
    with pytest.raises(BundleError) as caught:
        import_capture(folder)
    assert str(caught.value).startswith(f"{stem}.csv:{len(rows) + 2}: ")
    assert message in str(caught.value)


def test_what_is_missing_is_said(folder: Path) -> None:
    _write(folder, logs=["time,service,message", "x,y,z"])
    with pytest.raises(BundleError, match=r"logs\.csv:1: no column level; columns: time, service"):
        import_capture(folder)
    for stem in ("logs", "calls", "metrics"):
        (folder / f"{stem}.csv").unlink()
    with pytest.raises(
        BundleError, match=r"no telemetry in logs\.csv, calls\.csv, metrics\.csv or its"
    ):
        import_capture(folder)
    _write(folder, labels=[LABELS[0]])
    with pytest.raises(BundleError, match=r"^labels\.csv: only a header; expected a line for each"):
        import_capture(folder)
    (folder / "labels.csv").unlink()
    with pytest.raises(BundleError, match=r"mine: no labels\.csv; expected one with the columns"):
        import_capture(folder)
    (folder / "file").touch()
    for path, given in ((folder / "nowhere", "there is no such folder"), (folder / "file", "got")):
        with pytest.raises(BundleError, match=f"{path}: must be a folder with .*, {given}"):
            import_capture(path)


def _baseline(folder: Path, start: str, end: str, horizon: int, tick: int = 30) -> None:
    times = f"2031-05-06T{start}Z,2031-05-06T{end}Z"
    _write(folder, labels=[LABELS[0], f"mine/1,2031-05-06T23:57:00Z,back,x,{times}"])
    import_capture(folder, horizon=horizon, tick_seconds=tick)


@pytest.mark.parametrize(
    ("start", "end"), [("23:50:00", "23:57:01"), ("23:55:00", "23:59:59"), ("23:57:00", "23:58:00")]
)
def test_a_baseline_that_has_the_incident_is_refused(folder: Path, start: str, end: str) -> None:
    with pytest.raises(BundleError) as caught:
        _baseline(folder, start, end, horizon=4)
    assert str(caught.value) == (
        "labels.csv:2: field baseline_end: the baseline must not overlap the incident: it must end "
        "by opened (2031-05-06T23:57:00Z), or start after the last of 4 ticks of 30 s, "
        f"got 2031-05-06T{start}Z to 2031-05-06T{end}Z"
    )


def test_a_baseline_may_touch_the_incident(folder: Path) -> None:
    _baseline(folder, "23:55:00", "23:57:00", horizon=4)
    _baseline(folder, "23:59:00", "23:59:30", horizon=4)
    with pytest.raises(BundleError, match="the last of 5 ticks of 30 s"):
        _baseline(folder, "23:59:00", "23:59:30", horizon=5)
    with pytest.raises(BundleError, match="the last of 4 ticks of 60 s"):
        _baseline(folder, "23:59:00", "23:59:30", horizon=4, tick=60)


def test_a_file_that_would_be_ignored_is_refused(folder: Path) -> None:
    """What a typing error of the name or a broken link hides would be missing unsaid."""
    path, content = folder / "logs.csv", (folder / "logs.csv").read_bytes()
    (folder / "logs.csv.gz").write_bytes(gzip.compress(content))
    with pytest.raises(BundleError, match=r"mine: must have logs\.csv or logs\.csv\.gz, has both"):
        import_capture(folder)
    (folder / "logs.csv.gz").unlink()
    path.rename(folder / "Logs.csv")
    with pytest.raises(
        BundleError, match=r"Logs\.csv: the name must be logs\.csv or logs\.csv\.gz"
    ):
        import_capture(folder)
    (folder / "Logs.csv").unlink()
    path.symlink_to(folder / "nothing.csv")
    with pytest.raises(BundleError, match=r"/logs\.csv: must be a file, is a link that leads nowh"):
        import_capture(folder)
    path.unlink()
    path.mkdir()
    with pytest.raises(BundleError, match=r"/logs\.csv: must be a file, is a folder"):
        import_capture(folder)


def _logs(folder: Path, *rows: str) -> Path:
    before = (folder / "logs.csv").read_text().splitlines()
    return _write(folder, logs=[*before, *rows])


def _told(folder: Path) -> list[tuple[str, str]]:
    (record,) = import_capture(folder)
    return [
        (line.level, line.message)
        for window in record.recording.windows
        for line in window.lines
        if line.service == "other"
    ]


@pytest.mark.parametrize(
    ("given", "level"),
    [("err", "ERROR"), ("", "INFO"), ("crit", "FATAL"), ("Emerg", "FATAL"), ("verbose", "INFO")],
)
def test_levels_that_loggers_use(folder: Path, given: str, level: str) -> None:
    assert _told(_logs(folder, f"2031-05-06T23:58:59Z,other,{given},hello,t")) == [(level, "hello")]


def test_a_quoted_message_may_span_lines_and_have_commas(folder: Path) -> None:
    row = '2031-05-06T23:58:59Z,other,ERROR,"failed, twice\n  at ""x""\n",t'
    assert _told(_logs(folder, row)) == [("ERROR", 'failed, twice at "x"')]
    _logs(folder, "2031-05-06T23:58:59Z,other,LOUD,x,t")
    count = len((folder / "logs.csv").read_text().splitlines())
    with pytest.raises(BundleError, match=rf"logs\.csv:{count}: field level"):
        import_capture(folder)


def test_a_quote_that_is_never_closed_names_its_line(folder: Path) -> None:
    count = len((folder / "logs.csv").read_text().splitlines())
    _logs(folder, '2031-05-06T23:58:59Z,other,ERROR,"failed,t', "2031-05-06T23:58:59Z,b,INFO,x,t")
    with pytest.raises(BundleError, match=rf"logs\.csv:{count + 1}: broken CSV"):
        import_capture(folder)


def _metrics_only(folder: Path, rows: list[str]) -> Path:
    for stem in ("logs", "calls"):
        (folder / f"{stem}.csv").unlink()
    return _write(
        folder,
        metrics=rows,
        labels=[
            "id,opened,root_cause,kind,baseline_start,baseline_end",
            "mine/1,2031-05-06T12:00:00Z,back,x,2031-05-06T00:00:00Z,2031-05-06T10:00:00Z",
        ],
    )


def test_any_numeric_column_is_a_signal_and_five_minutes_are_a_tick(folder: Path) -> None:
    rows = ["time,service,queue,latency_seconds,free_percent,temperature,region"]
    for minute in range(0, 12 * 60 + 30, 5):
        late, slow = minute >= 11 * 60 + 55, 0.002 if minute % 10 else 0.0
        time = f"2031-05-06T{minute // 60:02}:{minute % 60:02}:00Z"
        for service in ("back", "front"):
            broken = late and service == "back"
            latency = 0.5 if broken else 0.0204 + slow
            rows.append(f"{time},{service},{7 if broken else 5},{latency},99.5,-3.25,eu")
    told: list[str] = []
    (record,) = import_capture(_metrics_only(folder, rows), note=told.append)
    assert record.recording.tick_seconds == 300
    assert told == ["metrics.csv:2: column region is left out: 'eu' is not a number"]
    telemetry = shown_by(as_incident(record))
    back = {one.name: one for one in telemetry.signals(0)[0]}
    assert set(back) == {"queue_milli", "latency_us", "free_bp", "temperature_milli"}
    assert (back["latency_us"].value, back["latency_us"].usual) == (500_000, 21_400)
    assert (back["latency_us"].spread, back["latency_us"].iqr) == (1000, 2000)
    assert back["temperature_milli"].value == back["temperature_milli"].usual == -3250
    # Steady figures: a hundredth of the usual value is the least spread.
    assert (back["free_bp"].value, back["free_bp"].spread) == (9950, 99)
    assert back["queue_milli"].stray == 40
    assert record.recording.services[0].metrics[0].value[:5] == (9950,) * 5
    front = {one.name: one for one in telemetry.signals(3)[1]}
    assert abs(front["latency_us"].stray) <= 1
    told_of = [one.text for one in telemetry.metrics(0, 0)]
    assert "latency 500ms (usual 21.4ms ± 1ms)" in told_of
    assert "temperature -3.25 (usual -3.25 ± 0.032)" in told_of
    texts = [gauge("back", 0, Signal("free_bp", value, -3, 1)).text for value in (-150, -15, 15)]
    assert texts == [f"free {one} (usual 0.0% ± 0.01%)" for one in ("-1.5%", "-0.1%", "0.1%")]


def test_empty_cells_hide_nothing_and_a_silent_service_has_no_figures(folder: Path) -> None:
    for stem in ("logs", "calls"):
        (folder / f"{stem}.csv").unlink()
    rows = ["time,service,cpu_percent,p99_ms,queue"]
    for second in range(0, 540, 15):
        at = f"{START + timedelta(seconds=second):%Y-%m-%dT%H:%M:%SZ}"
        rows += [f"{at},front,5,,", *([f"{at},back,9,,7", f"{at},back,,80,"] * (second <= 300))]
    (record,) = import_capture(_write(folder, metrics=rows), tick_seconds=30)
    back, front = record.recording.services
    columns = back.series.cpu_bp, back.series.p99_ms, back.metrics[0].value, front.series.cpu_bp
    assert columns == (*((one,) * 9 + (None,) * 4 for one in (900, 80, 7000)), (500,) * 13)


@pytest.mark.parametrize("column", ["pod", "container_id", "other"])
def test_a_service_has_the_mean_of_its_instances(folder: Path, column: str) -> None:
    """Also where no column names them. What counts is a rate of each, as in Prometheus."""
    for stem in ("logs", "calls"):
        (folder / f"{stem}.csv").unlink()
    rows = [f"time,service,{column},cpu_percent,p99_ms,queue,requests_total"]
    for second in range(0, 540, 15):
        at = f"{START + timedelta(seconds=second):%Y-%m-%dT%H:%M:%SZ}"
        rows += [
            f"{at},back,b-{pod},{90 - 80 * pod},{200 + pod},{7 + pod},{900 * pod + second}"
            for pod in (0, 1)
        ]
    told: list[str] = []
    (record,) = import_capture(_write(folder, metrics=rows), note=told.append)
    (back,) = record.recording.services
    assert (back.series.cpu_bp[0], back.series.p99_ms[0]) == (5000, 201)
    assert {one.name: (one.value[0], one.usual) for one in back.metrics} == {
        "queue_milli": (7500, 7500),
        "requests_total_per_second_milli": (1000, 1000),
    }
    assert any("taken for another instance" in one for one in told) == (column == "other")


def test_the_length_of_a_tick_is_an_option(folder: Path) -> None:
    (record,) = import_capture(folder, tick_seconds=60, horizon=4)
    assert record.recording.tick_seconds == 60
    # Windows of a minute: the one of tick 0 holds the minute before the opening.
    window = next(one for one in record.recording.windows if one.tick == 0)
    assert -60 <= window.lines[0].second < 0


@pytest.mark.parametrize(
    ("header", "row", "message"),
    [
        ("time,service,queue", f"{T},back,many", "field queue: must be a number, or empty"),
        ("time,service,x_seconds", f"{T},back,1e17", "63 bits as x_us, got a string '1e17'"),
        *(
            ("time,service,queue", f"{T},back,{text}", "field queue: must be a number, or empty")
            for text in ("1e30", "1e999999999", "-1e999999999", "nan", "inf")
        ),
        ("time,service,queue,queue", f"{T},back,1,2", "column 'queue' appears twice"),
    ],
)  # fmt: skip
def test_a_bad_metric_is_named(folder: Path, header: str, row: str, message: str) -> None:
    first = f"{T},back," + ",".join("1" for _ in header.split(",")[2:])
    with pytest.raises(BundleError, match=r"metrics\.csv:") as caught:
        import_capture(_write(folder, metrics=[header, first, row]))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"logs\.csv:1: no column time, .*; columns: none, the file is empty$"),
        ("time,service\n".encode("utf-16"), r"logs\.csv:1: not UTF-8: byte 0xff at 0; save the"),
        (b"time,service,level,message\n2031-05-06T23:56:00Z,back,info,caf\xe9\n",
         r"logs\.csv:2: not UTF-8: byte 0xe9 at 34; save the file as UTF-8"),
        (b"\x1b[31mtime,\x07\n",
         "columns: \N{REPLACEMENT CHARACTER}\\[31mtime, \N{REPLACEMENT CHARACTER}$"),
        (b"time,service,level,message\n" + 2_000_000 * b"x",
         r"logs\.csv:2: longer than 1,000,000 b"),
        (b"a,\x07,\x07\n", "no column time"),
    ],
)  # fmt: skip
def test_a_file_of_something_else_is_said_to_be(folder: Path, content: bytes, message: str) -> None:
    (folder / "logs.csv").write_bytes(content)
    with pytest.raises(BundleError, match=message) as refused:
        import_capture(folder)
    assert str(refused.value).isprintable()


def test_a_byte_order_mark_and_windows_line_ends_are_read(folder: Path) -> None:
    before = import_capture(folder)
    path = folder / "logs.csv"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert import_capture(folder) == before


@pytest.mark.parametrize("opened", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"])
def test_a_time_out_of_this_world_is_refused(folder: Path, opened: str) -> None:
    path = folder / "labels.csv"
    path.write_text(path.read_text().replace("2031-05-06T23:59:00Z", opened))
    with pytest.raises(BundleError, match=r"labels\.csv:2: field opened: must be a time from 1970"):
        import_capture(folder)
