"""What the Dockerfile and the Space's files say of this package is true; no image is built."""

import ast
import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from logtriage.server.settings import TOKEN_VARIABLE, Settings

ROOT = Path(__file__).resolve().parents[2]
SPACE = ROOT / "deploy" / "space"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def dockerfile() -> dict[str, str]:
    """Its instructions, each of which it has once; continued lines are put together."""
    text = (SPACE / "Dockerfile").read_text(encoding="utf-8")
    lines = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ").splitlines()
    pairs = [line.split(maxsplit=1) for line in lines if line]
    told: dict[str, str] = dict(pairs)
    assert len(told) == len(pairs)
    return told


def words_after(text: str, option: str) -> str:
    words = shlex.split(text)
    return words[words.index(option) + 1]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory that the script makes; the wheel in it is an empty file."""
    folder = tmp_path_factory.mktemp("space")
    fake = folder / "python"
    wheel = f"logtriage-{PROJECT['version']}-py3-none-any.whl"
    # It is called as `python -m build --wheel --outdir OUT ROOT`.
    fake.write_text(f'#!/bin/sh\n[ "$2" = build ] && mkdir "$5" && : >"$5/{wheel}"\n', "utf-8")
    fake.chmod(0o755)
    out = folder / "out"
    script = str(ROOT / "scripts" / "make_space.sh")
    subprocess.run(["bash", script, str(fake), str(out)], check=True, capture_output=True)
    return out


def test_what_the_image_copies_is_there(made: Path) -> None:
    *sources, target = dockerfile()["COPY"].split()
    assert target == "./"
    found = [[path.name for path in made.glob(source)] for source in sources]
    assert found == [["constraints.txt"], [f"logtriage-{PROJECT['version']}-py3-none-any.whl"]]


def test_what_the_image_installs_exists_and_is_pinned(made: Path) -> None:
    run = dockerfile()["RUN"]
    assert words_after(run, "-c") == "constraints.txt"
    (extra,) = re.findall(r"logtriage-\*\.whl\)\[([\w-]+)\]", run)
    wanted = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"][extra]]
    lines = (made / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(line.lower().split("==") for line in lines if not line.startswith("#"))
    for requirement in map(Requirement, wanted):
        assert pins[requirement.name] in requirement.specifier, requirement
    assert PROJECT["name"] not in pins  # the wheel beside it says which version
    (python,) = re.findall(r"^python:([\d.]+)-slim$", dockerfile()["FROM"])
    assert python in SpecifierSet(PROJECT["requires-python"])
    space = tomllib.loads((SPACE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert space["dependencies"] == [f"{PROJECT['name']}[{extra}]"]
    assert space["requires-python"] in PROJECT["requires-python"].split(",")


def test_what_the_image_starts_exists() -> None:
    python, option, module = json.loads(dockerfile()["CMD"])
    assert (python, option) == ("python", "-m")
    space = tomllib.loads((SPACE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert space["scripts"] == {"server": f"{module}:main"}
    source = (ROOT / "src" / Path(*module.split("."))).with_suffix(".py")
    defined = {getattr(one, "name", None) for one in ast.parse(source.read_text("utf-8")).body}
    assert "main" in defined
    (app,) = re.findall(r"^app: (.*)$", (SPACE / "openenv.yaml").read_text("utf-8"), re.MULTILINE)
    module, _, name = app.partition(":")
    served = (SPACE / Path(*module.split("."))).with_suffix(".py").read_text(encoding="utf-8")
    assert f"\n{name} = " in served


def test_the_user_is_not_root_and_the_web_interface_is_off() -> None:
    told = dockerfile()
    assert words_after(told["RUN"], "--uid") == "1000"
    assert shlex.split(told["RUN"])[-1] == told["USER"] != "root"
    assert told["ENV"] == "ENABLE_WEB_INTERFACE=false"
    assert told["STOPSIGNAL"] == "SIGTERM"


def test_everyone_names_the_port_of_the_settings() -> None:
    port = str(Settings().port)
    assert dockerfile()["EXPOSE"] == port
    for page, pattern in (
        (SPACE / "README.md", r"^app_port: (\d+)$"),
        (SPACE / "openenv.yaml", r"^port: (\d+)$"),
        (ROOT / "docs" / "server.md", rf"^    docker run -p \d+:(\d+) -e {TOKEN_VARIABLE}="),
    ):
        assert re.findall(pattern, page.read_text("utf-8"), re.MULTILINE) == [port], page
    assert f"os.environ.get('PORT', {port})" in dockerfile()["HEALTHCHECK"]


@contextmanager
def answering(status: int) -> Iterator[int]:
    """The port of a server whose /health has a status; all else is not found."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/health" else 404)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def health_check(port: int) -> int:
    """The exit status of the image's own check, for a container that was told a port."""
    command = json.loads(dockerfile()["HEALTHCHECK"].partition(" CMD ")[2])
    assert command[0] == "python"
    done = subprocess.run(
        [sys.executable, *command[1:]],
        env={"PORT": str(port)},
        check=False,
        capture_output=True,
        timeout=30,
    )
    return done.returncode


def test_the_health_check_asks_the_port_that_is_served() -> None:
    with answering(200) as port:
        assert health_check(port) == 0
    assert health_check(port) != 0  # nobody listens there any more
    with answering(503) as port:
        assert health_check(port) != 0
