"""What is uploaded to the hub, by the hub's own client to a server that talks its API."""

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import attrs
import pytest
from huggingface_hub import constants

from tests.training.language.models import acting_tokenizer, save_acting
from training.grpo import store
from training.grpo.learn import run
from training.grpo.review import NotUploaded, push
from training.grpo.settings import Settings
from training.language.loading import load_tokenizer

NAME = "someone/triage"
SETTINGS = Settings(model="m", push_to_hub=True, hub_model_id=NAME)


class Hub(ThreadingHTTPServer):
    """Repositories of files; nothing goes by LFS."""

    def __init__(self, taken: str = "") -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.taken = taken
        self.created: list[str] = []
        self.files: dict[str, bytes] = {}
        self.keys: set[str | None] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Hub

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.keys.add(self.headers["Authorization"])
        if self.path == "/api/repos/create":
            asked = json.loads(body)
            name = f"{asked['organization']}/{asked['name']}"
            if name == self.server.taken:
                return self._answer(403, {"error": "not yours"})
            self.server.created.append(name)
            return self._answer(200, {"url": f"{self.server.url}/{name}", "name": name})
        if self.path == "/api/validate-yaml":
            return self._answer(200, {"errors": [], "warnings": []})
        if self.path == f"/api/models/{NAME}/preupload/main":
            modes = [
                {"path": one["path"], "uploadMode": "regular", "shouldIgnore": False}
                for one in json.loads(body)["files"]
            ]
            return self._answer(200, {"files": modes})
        assert self.path == f"/api/models/{NAME}/commit/main", self.path
        for line in body.splitlines():
            row = json.loads(line)
            if row["key"] == "file":
                value = row["value"]
                self.server.files[value["path"]] = base64.b64decode(value["content"])
        commit = {"commitUrl": f"{self.server.url}/{NAME}/commit/0", "commitOid": "0" * 40}
        return self._answer(200, commit)

    def _answer(self, status: int, value: object) -> None:
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    found = Hub()
    monkeypatch.setattr(constants, "ENDPOINT", found.url)
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    thread = threading.Thread(target=found.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield found
    found.shutdown()
    found.server_close()
    thread.join()


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """The directory of a run that is done, as far as its names go."""
    folder = tmp_path / "run"
    asked_nothing = attrs.evolve(SETTINGS, push_to_hub=False, hub_model_id=None)
    begun = store.begin(asked_nothing, folder, "test", resume=False)
    (folder / store.RUN).write_text(json.dumps(begun | {"finished": True}), "utf-8")
    save_acting(folder)
    for name in ("README.md", "results.json", "steps.csv", "episodes.jsonl", "half.tmp"):
        (folder / name).write_text(name, "utf-8")
    for name in ("checkpoint-2/optimizer.pt", "checkpoint-2/deep/er", "runs/events"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name, "utf-8")
    return folder


def test_model_card_and_results_arrive_and_checkpoints_do_not(hub: Hub, out: Path) -> None:
    push(SETTINGS, out)
    assert hub.created == [NAME]
    assert hub.keys == {"Bearer hf_secret"}
    kept = {one.name for one in out.iterdir() if one.is_file()} - {"half.tmp"}
    assert {"README.md", "results.json", "model.safetensors"} < kept
    assert set(hub.files) == kept
    assert hub.files["model.safetensors"] == (out / "model.safetensors").read_bytes()


def test_what_arrives_can_be_loaded(hub: Hub, out: Path, tmp_path: Path) -> None:
    push(SETTINGS, out)
    there = tmp_path / "there"
    there.mkdir()
    for name, content in hub.files.items():
        (there / name).write_bytes(content)
    words = "restart user-db"
    assert load_tokenizer(str(there))(words) == acting_tokenizer()(words)


def test_a_finished_run_is_uploaded_later_and_again_after_a_refusal(hub: Hub, out: Path) -> None:
    hub.taken = NAME
    with pytest.raises(NotUploaded, match=r"(?s)is complete.*--resume tries again.*not yours"):
        run(SETTINGS, out, "test", resume=True)
    assert hub.files == {}
    hub.taken = ""
    run(SETTINGS, out, "test", resume=True)
    assert hub.created == [NAME]
    assert "model.safetensors" in hub.files


def test_a_hub_that_cannot_be_reached_is_told(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    with pytest.raises(NotUploaded, match="not uploaded to someone/triage"):
        push(SETTINGS, out)
