"""What the OpenEnv library itself thinks of the server and of the package to push."""

import asyncio
import json
import shutil
from pathlib import Path

import pytest
from openenv.cli._cli_utils import validate_env_structure
from openenv.cli._validation import validate_running_environment
from openenv.cli.commands.push import _prepare_staging_directory
from openenv.core.env_server.interfaces import Environment
from openenv.validation import Level, Verdict, run_validation
from openenv.validation.graders import Subject
from openenv.validation.graders.runtime.basic import (
    ObservationSchemaGrader,
    RewardWellFormedGrader,
    StateContractGrader,
)
from openenv.validation.parsers.openenv_yaml import OpenEnvYamlParser
from openenv.validation.runtime.collector import collect_runtime_evidence
from openenv.validation.runtime.contracts import RuntimePlan
from openenv.validation.types import CheckStatus

from logtriage.server.catalogue import Catalogue
from logtriage.server.environment import ENV_NAME, TriageEnvironment
from logtriage.tasks import DRAWN_TASKS
from tests.adapters.openenv.serving import Running

SPACE = Path(__file__).resolve().parents[3] / "deploy" / "space"


def test_a_running_server_passes_every_check(server: Running) -> None:
    report = validate_running_environment(server.http, timeout_s=30)
    assert [criterion["id"] for criterion in report["criteria"] if not criterion["passed"]] == []
    assert report["passed"]
    assert report["mode"] == "simulation"


def test_the_package_passes_static_validation() -> None:
    report = run_validation(SPACE, max_level=Level.STATIC, skip_build=True)
    assert report.verdict is Verdict.PASS
    assert report.results


# The library's collector itself uses what newer websockets call deprecated.
@pytest.mark.filterwarnings("ignore:connect.. must be used as a context manager")
def test_the_librarys_runtime_graders_pass(server: Running, tmp_path: Path) -> None:
    """The checks of level runtime, on evidence that the library collects from our server."""
    actions = [
        {"action_type": "classify_severity", "value": "P1"},
        {"action_type": "request_more_logs", "value": "nonsense"},
        {"text": '{"action_type": "escalate", "value": "security-team"}'},
    ]
    reset = {"episode_id": "mine", "seed": 7, "options": {"split": "val"}}
    plan = RuntimePlan(plan_schema_version="1", reset=reset, actions=actions)  # type: ignore[arg-type]
    evidence = collect_runtime_evidence(server.http, plan, episode_timeout_s=60)
    assert evidence.failure_reason is None
    manifest = OpenEnvYamlParser().parse(SPACE)
    subject = Subject(SPACE, manifest, None, None, tmp_path, evidence)
    for grader in (RewardWellFormedGrader(), ObservationSchemaGrader(), StateContractGrader()):
        result = grader.run(subject)
        assert result.status is CheckStatus.PASS, result.evidence


def test_openenv_push_takes_the_package_and_leaves_the_web_interface_off(tmp_path: Path) -> None:
    source = tmp_path / "space"
    shutil.copytree(SPACE, source)
    assert validate_env_structure(source) == ["Recommended directory missing: outputs/"]
    staged = tmp_path / "staged"
    _prepare_staging_directory(source, ENV_NAME, staged, [".*", "__pycache__"])
    text = (staged / "Dockerfile").read_text(encoding="utf-8")
    assert "ENABLE_WEB_INTERFACE=true" not in text
    assert text == (SPACE / "Dockerfile").read_text(encoding="utf-8")
    assert (staged / "README.md").read_text(encoding="utf-8").startswith("---\ntitle: logtriage\n")


def test_steps_run_on_the_servers_loop() -> None:
    """The library looks for overridden coroutines; else each step would go to a thread."""
    assert TriageEnvironment.step_async is not Environment.step_async
    env = TriageEnvironment(Catalogue(DRAWN_TASKS))
    seen = asyncio.run(env.reset_async(incident="single_crash-v4/test/0"))
    assert json.loads(seen.model_dump_json())["horizon"] == seen.horizon
