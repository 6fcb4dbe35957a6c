"""Harbor's environment without containers: a folder and a process for each service.

Dockerfiles and the compose file are followed as far as these tasks use them (COPY, CMD), and
absolute paths of a container are written to its folder. What one service wrote no other one
sees, so the order in which Harbor stops, collects and verifies is what is tested.
"""

import asyncio
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import yaml
from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.environments.capabilities import EnvironmentCapabilities

ABSOLUTE = re.compile(r"(?<![\w.}/])/(logs|tests|solution|record|triage|root|usr/local/bin)\b")


class LocalEnvironment(BaseEnvironment):
    """Every service in a folder of its own; exec runs a shell whose paths lead there."""

    @staticmethod
    def type() -> str:
        return "local"

    @property
    def capabilities(self) -> EnvironmentCapabilities:
        return EnvironmentCapabilities(docker_compose=True)

    def _validate_definition(self) -> None:
        assert (self.environment_dir / "Dockerfile").is_file()

    def _root(self, service: str | None = None) -> Path:
        return self.trial_paths.trial_dir / "local" / self.session_id / (service or "main")

    def _path(self, path: str, service: str | None = None) -> Path:
        return self._root(service) / str(path).lstrip("/")

    def _here(self, text: str, service: str | None = None) -> str:
        return ABSOLUTE.sub(lambda found: f"{self._root(service)}{found[0]}", text)

    def _put(self, source: Path, target: Path, service: str | None = None) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
        if target.suffix == ".sh":
            target.write_text(self._here(target.read_text(), service))

    def _build(self, folder: Path, service: str | None = None) -> list[str]:
        """Follow a Dockerfile; returns its command."""
        command: list[str] = []
        for line in (folder / "Dockerfile").read_text().splitlines():
            word, _, rest = line.partition(" ")
            if word == "COPY":
                *patterns, target = rest.split()
                # A pattern with a star may match nothing; any other source must be there.
                sources = [
                    source
                    for pattern in patterns
                    for source in (
                        [path.name for path in folder.glob(pattern)]
                        if "*" in pattern
                        else [pattern]
                    )
                ]
                for source in sources:
                    name = target + source if target.endswith("/") else target
                    self._put(folder / source, self._path(name, service), service)
            elif word == "CMD":
                command = json.loads(rest)
        return command

    async def start(self, force_build: bool) -> None:  # noqa: ARG002 (Harbor's signatures)
        self._build(self.environment_dir)
        for name in ("logs/agent", "logs/verifier", "logs/artifacts", "usr/local/bin", "root"):
            self._path(name).mkdir(parents=True, exist_ok=True)
        python = self._path("usr/local/bin/python")
        python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
        python.chmod(0o755)
        self._process: subprocess.Popen[bytes] | None = None
        self._env = {"PATH": f"{self._path('usr/local/bin')}:{os.environ['PATH']}"}
        compose = self.environment_dir / "docker-compose.yaml"
        if compose.is_file():
            (name,) = yaml.safe_load(compose.read_text())["services"].keys() - {"main"}
            assert name == "triage"
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
            command = self._build(self.environment_dir / "triage", name)
            command = [self._here(word, name) for word in command]
            self._path("usr/local/bin/triage").chmod(0o755)
            self._env["TRIAGE_URL"] = f"http://127.0.0.1:{port}"
            self._process = subprocess.Popen(
                [sys.executable, *command[1:], "--host", "127.0.0.1", "--port", str(port)]
            )
            await self._healthy()

    async def _healthy(self) -> None:
        for _ in range(600):
            try:
                urlopen(self._env["TRIAGE_URL"], timeout=5).close()
                return
            except OSError:
                await asyncio.sleep(0.1)
        raise RuntimeError("the player does not answer")

    async def stop(self, delete: bool) -> None:  # noqa: ARG002
        if getattr(self, "_process", None) is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    async def stop_service(self, service: str) -> None:
        assert service == "main"

    async def exec(
        self,
        command: str,
        cwd: str | None = None,  # noqa: ARG002
        env: dict[str, str] | None = None,
        timeout_sec: int | None = None,
        user: str | int | None = None,  # noqa: ARG002
        service: str | None = None,
    ) -> ExecResult:
        given = {**os.environ, **self._env, **(self._merge_env(env) or {})}
        done = await asyncio.to_thread(
            subprocess.run,
            ["bash", "-c", self._here(command, service)],
            cwd=self._root(service),
            env=given,
            capture_output=True,
            text=True,
            timeout=timeout_sec,
        )
        return ExecResult(stdout=done.stdout, stderr=done.stderr, return_code=done.returncode)

    async def service_exec(
        self, command: str, *, service: str | None = None, **how: Any
    ) -> ExecResult:
        return await self.exec(command, service=service, **how)

    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        self._put(Path(source_path), self._path(target_path))

    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        for path in Path(source_dir).rglob("*"):
            if path.is_file():
                self._put(path, self._path(target_dir) / path.relative_to(source_dir))

    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        shutil.copy(self._path(source_path), target_path)

    async def download_dir(self, source_dir: str, target_dir: Path | str) -> None:
        shutil.copytree(self._path(source_dir), target_dir, dirs_exist_ok=True)

    async def service_download_file(
        self, source_path: str, target_path: Path | str, *, service: str | None = None
    ) -> None:
        shutil.copy(self._path(source_path, service), target_path)
