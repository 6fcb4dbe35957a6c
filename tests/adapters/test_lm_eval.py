"""The functions of the task for lm-evaluation-harness, which the harness calls by name."""

import importlib.util
from pathlib import Path
from types import ModuleType

import logtriage as lt

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "adapters" / "lm_eval"


def task() -> ModuleType:
    path = FOLDER / "logtriage_plan.py"
    spec = importlib.util.spec_from_file_location("logtriage_plan", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_rows_have_the_screen_and_not_the_truth() -> None:
    rows = task().rows("single_crash-v4", 3)
    assert [row["incident"] for row in rows] == list(lt.incident_ids("single_crash-v4", "test", 3))
    for row in rows:
        assert row.keys() == {"prompt", "incident"}
        start = lt.initial_state(lt.make_incident(row["incident"]))
        assert row["prompt"].endswith(lt.render_observation(lt.observe(start)))


def test_scores_are_grades() -> None:
    doc = {"incident": "single_crash-v4/test/531"}
    ignored = ['[{"action_type": "ignore"}]']
    assert task().process_results(doc, ignored) == {"grade": 0.0, "gated": 1.0}
    assert task().process_results(doc, ["lol"]) == {"grade": 0.0, "gated": 0.0}


def test_the_yaml_names_functions_that_exist() -> None:
    text = (FOLDER / "logtriage_plan.yaml").read_text(encoding="utf-8")
    named = [line.split("logtriage_plan.")[1] for line in text.splitlines() if "!function" in line]
    assert len(named) == 2
    assert all(callable(getattr(task(), name)) for name in named)
