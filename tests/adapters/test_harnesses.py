"""The examples for promptfoo and DeepEval, run as these call them; without the frameworks.

Where DeepEval is installed, its own classes are used.
"""

import asyncio
import importlib
import importlib.util
import json
import re
import shutil
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import attrs
import pytest

import logtriage as lt
from logtriage.adapters.plans import grade_plan
from logtriage.parsing import action_to_wire
from logtriage.policies import perfect_actions
from tests.builders import SEVEN_SERVICES

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "adapters"
INCIDENT = "single_crash-v4/test/0"
PERFECT = json.dumps(
    [action_to_wire(action) for action in perfect_actions(lt.make_incident(INCIDENT))]
)
MISROUTED = json.dumps(
    [
        {"action_type": "escalate", "value": team}
        for team in SEVEN_SERVICES.teams
        if team not in lt.make_incident(INCIDENT).truth.teams
    ][:1]
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path in (*EXAMPLES.glob("promptfoo/*"), *EXAMPLES.glob("deepeval/*")):
        if path.is_file():
            shutil.copy(path, tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# -- promptfoo ------------------------------------------------------------------------


def test_promptfoo_gets_a_test_for_each_incident_and_its_prompt(folder: Path) -> None:
    module = load(folder / "logtriage_promptfoo.py")
    config = {"task": "single_crash-v4", "split": "test", "episodes": 3}
    tests = module.generate_tests(config)
    ids = [test["vars"]["incident"] for test in tests]
    assert ids == list(lt.incident_ids("single_crash-v4", "test", 3))
    messages = json.loads(json.dumps(module.create_prompt({"vars": tests[0]["vars"]})))
    assert [message["role"] for message in messages] == ["system", "user"]
    assert messages[1]["content"].startswith("TICK 0/")


@pytest.mark.parametrize("output", [PERFECT, "lol", MISROUTED, "<think>hm"])
def test_promptfoo_gets_the_grade_with_its_reasons(folder: Path, output: str) -> None:
    module = load(folder / "logtriage_promptfoo.py")
    context = {"vars": {"incident": INCIDENT}, "config": {"threshold": 0.9}, "prompt": "…"}
    result = json.loads(json.dumps(module.get_assert(output, context)))
    graded = grade_plan(INCIDENT, output)
    assert result["score"] == graded.score
    assert result["pass"] is (output == PERFECT)
    assert result["namedScores"] == {row.name: row.score for row in graded.criteria}
    assert all(row.reason in result["reason"] for row in graded.criteria)
    assert (graded.gate is None) or result["reason"].startswith(graded.gate)


def test_a_reply_that_is_missing_is_an_error(folder: Path) -> None:
    module = load(folder / "logtriage_promptfoo.py")
    with pytest.raises(lt.InvalidInput, match="expected the text of a reply, got None"):
        module.get_assert(None, {"vars": {"incident": INCIDENT}, "config": {"threshold": 0.9}})


def test_the_configuration_names_what_exists(folder: Path) -> None:
    text = (folder / "promptfooconfig.yaml").read_text(encoding="utf-8")
    named = re.findall(r"file://(\w+)\.py(?::(\w+))?", text)
    assert len(named) == 3
    for stem, function in named:  # without one, promptfoo calls get_assert
        assert callable(getattr(load(folder / f"{stem}.py"), function or "get_assert"))
    task, split, episodes = re.search(
        r"\{task: (\S+), split: (\w+), episodes: (\d+)\}", text
    ).groups()  # type: ignore[union-attr]
    assert len(list(lt.incident_ids(task, split, int(episodes)))) == 20


# -- DeepEval -------------------------------------------------------------------------


class BaseMetric:
    """What a metric of DeepEval's inherits: these fields, which evaluation reads."""

    threshold: float | None = None
    score: float | None = None
    score_breakdown: dict[str, float] | None = None
    reason: str | None = None
    success: bool | None = None
    error: str | None = None
    async_mode = True


@attrs.define
class LLMTestCase:
    """The fields of DeepEval's test case that are used here."""

    input: str
    actual_output: str | None = None
    metadata: dict[str, Any] | None = None


@attrs.define
class OlderTestCase:
    """As before ``metadata`` got its name."""

    input: str
    actual_output: str | None = None
    additional_metadata: dict[str, Any] | None = None


@pytest.fixture
def deepeval(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """DeepEval, or what stands for it; gives the cases and metrics that are asserted."""
    asserted: list[Any] = []
    if importlib.util.find_spec("deepeval") is None:
        root: Any = ModuleType("deepeval")
        metrics: Any = ModuleType("deepeval.metrics")
        cases: Any = ModuleType("deepeval.test_case")
        metrics.BaseMetric, cases.LLMTestCase = BaseMetric, LLMTestCase
        for module in (root, metrics, cases):
            monkeypatch.setitem(sys.modules, module.__name__, module)
    found = importlib.import_module("deepeval")
    monkeypatch.setattr(found, "assert_test", lambda *given: asserted.append(given), raising=False)
    return asserted


@pytest.mark.usefixtures("deepeval")
@pytest.mark.parametrize(("output", "passes"), [(PERFECT, True), ("lol", False)])
def test_a_grade_is_a_metric_of_deepeval(folder: Path, output: str, passes: bool) -> None:
    metric = load(folder / "logtriage_deepeval.py").TriageMetric()
    graded = grade_plan(INCIDENT, output)
    told = {"incident": INCIDENT}
    for case in (
        sys.modules["deepeval.test_case"].LLMTestCase(
            input="…", actual_output=output, metadata=told
        ),
        OlderTestCase("…", output, told),
    ):
        assert metric.measure(case) == graded.score
        assert asyncio.run(metric.a_measure(case)) == graded.score
        assert metric.is_successful() is metric.success is passes
        assert metric.score_breakdown == {row.name: row.score for row in graded.criteria}
        assert graded.criteria[0].reason in metric.reason
    assert metric.__name__ == "triage"
    with pytest.raises(lt.InvalidInput, match="expected the text of a reply"):
        metric.measure(SimpleNamespace(metadata=told, actual_output=None))


def test_the_test_file_asks_the_model_and_asserts(
    folder: Path, deepeval: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    model: Any = ModuleType("my_model")
    model.ask = lambda messages: messages[-1]["content"][:6]
    monkeypatch.setitem(sys.modules, "my_model", model)
    monkeypatch.delitem(sys.modules, "logtriage_deepeval", raising=False)
    module = load(folder / "test_triage.py")
    (mark,) = module.test_plan.pytestmark
    assert len(mark.args[1]) == 20
    module.test_plan(mark.args[1][0])
    ((case, (metric,)),) = deepeval
    assert (case.actual_output, case.metadata) == ("TICK 0", {"incident": INCIDENT})
    assert metric.measure(case) == 0.0
    monkeypatch.delitem(sys.modules, "logtriage_deepeval")
