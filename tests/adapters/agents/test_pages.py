"""The programs of the page run as they stand, with a scripted model behind an endpoint."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from logtriage.evaluation import load_run
from tests.adapters.agents.scripted import ACTIONS, answer
from tests.adapters.pages import ROOT
from tests.adapters.test_endpoint import server

RECIPES = {
    path.stem: path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "examples/adapters/agents").glob("*.py"))
}


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_plays_all_incidents(name: str, tmp_path: Path) -> None:
    code = RECIPES[name]
    assert code.count('"10"') == 1
    with server(answer) as (url, asked):
        here = str(Path(sys.executable).parent)
        own = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none", "HOME": str(tmp_path)}
        own |= {"PATH": f"{here}{os.pathsep}{os.environ['PATH']}"}
        own |= {"OPENAI_AGENTS_DISABLE_TRACING": "1"}
        done = subprocess.run(
            [sys.executable, "-c", code.replace('"10"', '"2"')], check=False, capture_output=True,
            text=True, cwd=tmp_path, env={**os.environ, **own}, timeout=300,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(asked) >= 9  # four for each incident, and one to be told that all are done
    (out,) = (tmp_path / "runs").iterdir()
    run = load_run(out)
    assert run.complete
    (transcripts,) = run.transcripts.values()
    assert [list(map(dict, row.actions)) for row in transcripts] == [ACTIONS] * 2


def test_the_page_names_each_program() -> None:
    page = (ROOT / "docs/agents.md").read_text(encoding="utf-8")
    assert set(re.findall(r"agents/(\w+)\.py", page)) == RECIPES.keys()
    assert len(RECIPES) == 5
