"""The example rollouts of NeMo Gym's resources server, collected by its own commands.

    .venv-nemo/bin/python scripts/nemo_gym_rollouts.py build/nemo [POLICY]

Its head server, agent, model server and our resources server run as processes (``gym env
start``) that share this environment instead of one each; ``gym eval run`` collects. What is
scripted is the endpoint alone that the model server asks: it plays a policy. Writes
``rollouts.jsonl``, to be copied to
``deploy/nemo_gym/resources_servers/logtriage/data/example_rollouts.jsonl``.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from signal import SIGTERM
from threading import Thread
from time import sleep
from typing import Any, Final
from urllib.request import urlopen

import logtriage as lt
from logtriage.conversations.tools import call_from_action
from logtriage.evaluation import play_episode
from logtriage.registry import make_policy

HOME: Final = Path(__file__).resolve().parent.parent / "deploy" / "nemo_gym"
SERVER: Final = Path("resources_servers/logtriage")
#: Loaded by every Python of a run: Ray is not started, which none of these servers uses.
NO_RAY: Final = """
from nemo_gym import server_utils
server_utils.initialize_ray = lambda: None
"""
READY: Final = "http://127.0.0.1:11000/readyz"
#: The servers of a run, for each of which NeMo Gym looks for an environment.
SERVERS: Final = (
    SERVER,
    Path("responses_api_agents/simple_agent"),
    Path("responses_api_models/openai_model"),
    Path("environment_servers/legacy_agent"),
)


def scripts_of(policy: str) -> dict[str, list[dict[str, Any]]]:
    """By first screen, the items that the scripted model answers with one after another."""
    found = {}
    for line in (HOME / SERVER / "data/example.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        incident = lt.make_incident(row["incident"])
        items: list[dict[str, Any]] = []
        for n, action in enumerate(play_episode(incident, make_policy(policy)(incident)).actions):
            name, arguments = call_from_action(action)
            call = {"name": name, "arguments": json.dumps(arguments), "call_id": f"call_{n}"}
            items.append({"type": "function_call", "id": f"fc_{n}", "status": "completed", **call})
        text = {"type": "output_text", "text": "The incident is closed.", "annotations": []}
        said = {"role": "assistant", "status": "completed", "content": [text]}
        items.append({"type": "message", "id": "msg", **said})
        found[row["responses_create_params"]["input"][1]["content"]] = items
    return found


@contextmanager
def endpoint(scripts: dict[str, list[dict[str, Any]]]) -> Iterator[str]:
    """An endpoint of the Responses API on this machine; its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            (items,) = (scripts[one["content"]] for one in asked["input"]
                        if one.get("role") == "user")  # fmt: skip
            n = sum(one.get("type") == "function_call" for one in asked["input"])
            body = json.dumps(
                {
                    "id": f"resp_{n}", "created_at": 0, "model": asked["model"],
                    "object": "response", "output": [items[n]], "parallel_tool_calls": False,
                    "tool_choice": "auto", "tools": asked.get("tools", []),
                }
            ).encode()  # fmt: skip
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def gym(out: Path, *words: str) -> subprocess.Popen[bytes]:
    """Start a command of NeMo Gym in the folder that has the resources server."""
    (out / "site").mkdir(parents=True, exist_ok=True)
    (out / "site" / "sitecustomize.py").write_text(NO_RAY, encoding="utf-8")
    paths = filter(None, (str(out / "site"), os.environ.get("PYTHONPATH")))
    return subprocess.Popen(
        [str(Path(sys.executable).parent / "gym"), *words],
        cwd=HOME,
        start_new_session=True,  # its servers are in its group
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )


@contextmanager
def servers(out: Path, *words: str) -> Iterator[None]:
    """All servers of a run, once they are ready."""
    environments = out / "environments"
    for one in SERVERS:
        (environments / one).mkdir(parents=True, exist_ok=True)
        link = environments / one / ".venv"
        if not link.is_symlink():
            link.symlink_to(sys.prefix)
    started = gym(
        out, "env", "start", "--config", f"{SERVER}/configs/logtriage.yaml", *words,
        f"+uv_venv_dir={environments}", "+skip_venv_if_present=true",
    )  # fmt: skip
    try:
        while not ready():
            assert started.poll() is None, "gym env start has ended"
            sleep(1)
        yield
    finally:
        os.killpg(started.pid, SIGTERM)  # an interrupt would not reach one in the background
        started.wait()


def ready() -> bool:
    """Whether NeMo Gym's head server says that all are up."""
    try:
        urlopen(READY, timeout=5).close()
    except OSError:
        return False
    return True


def main(out: Path, policy: str = "expert") -> None:
    out.mkdir(parents=True, exist_ok=True)
    rollouts = out / "rollouts.jsonl"
    with endpoint(scripts_of(policy)) as url:
        model = ["--model", f"scripted-{policy}", "--model-url", url, "--model-api-key", "none"]
        with servers(out, "--model-type", "openai_model", *model):
            code = gym(
                out, "eval", "run", "--no-serve", "--agent", "logtriage_simple_agent",
                "--input", f"{SERVER}/data/example.jsonl", "--output", str(rollouts),
            ).wait()  # fmt: skip
            assert code == 0, f"gym eval run: exit status {code}"
    count = len(rollouts.read_text(encoding="utf-8").splitlines())
    assert count == 5, f"{rollouts}: {count} rollouts, not 5"


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), *sys.argv[2:])
