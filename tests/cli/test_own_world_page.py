"""docs/own-world.md is worked through: each of its commands runs, each of its files is used."""

import re
import shlex
import shutil
from pathlib import Path

import attrs
import pytest

from logtriage.audit.limits import QUICK
from logtriage.world.loading import load_world
from logtriage.world.schema.parts import Layout
from tests.cli.test_cli import logtriage
from tests.worlds.newcomer import FILES

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "own-world.md"
SHOP = ROOT / "examples" / "teashop"
pytestmark = pytest.mark.skipif(
    not (PAGE.exists() and SHOP.exists()), reason="no docs here: a source distribution"
)
SMALL = attrs.evolve(QUICK, looks=4, net_values=8, bars=2)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks() -> list[tuple[str, str]]:
    """The fenced blocks of the page, in order: language and text."""
    return BLOCK.findall(PAGE.read_text(encoding="utf-8"))


def test_the_page_is_worked_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text block right below commands is how the output of the last one begins.

    Worlds are checked on fewer incidents than by ``--quick``; a replay explains by fewer samples.
    """
    monkeypatch.setattr("logtriage.audit.QUICK", SMALL)
    monkeypatch.setattr("logtriage.evaluation.explaining.SAMPLES", 1)
    monkeypatch.chdir(tmp_path)
    shutil.copytree(SHOP, tmp_path / "examples/teashop")
    written, last, ran = iter(FILES.items()), "", 0
    for language, text in blocks():
        if language == "toml" and text.startswith("order = "):
            path, content = next(written)
            assert f"`my-shop/{path}`" in PAGE.read_text(encoding="utf-8")
            assert text == content.lstrip()
            (tmp_path / "my-shop" / path).write_text(text)
        elif language == "text":
            assert last.startswith(text)
        elif language == "sh":
            for line in text.splitlines():
                name, *words = shlex.split(line)
                if name == "python":
                    continue  # tests/training runs it, where torch is
                assert name == "logtriage"
                done = logtriage(*words)
                assert done.exit_code == 0, (line, done.output)
                last, ran = done.stdout, ran + 1
    assert next(written, None) is None
    assert ran == 11
    assert "dns_misconfig" in load_world(tmp_path / "my-shop").kind_names


def test_the_topology_that_is_imported_is_the_shop_s(tmp_path: Path) -> None:
    folder = tmp_path / "seen"
    done = logtriage("export", "otlp", "outage/test/0", folder, "--world", SHOP)
    assert done.exit_code == 0, done.output
    shutil.copytree(SHOP, tmp_path / "teashop")
    out = tmp_path / "teashop/topologies/real.toml"
    done = logtriage("import", "topology", folder, "--out", out)
    assert done.exit_code == 0, done.output
    found: dict[str, Layout] = {one.name: one for one in load_world(tmp_path / "teashop").layouts}
    calls = {one.name: set(one.calls) for one in found["shop"].services}
    assert {one.name: set(one.calls) for one in found["real"].services} == calls
