"""The configuration of nginx that the page shows, with nginx itself."""

import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from openenv.core import GenericEnvClient
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.adapters.openenv.serving import running, wait_for

PAGE = Path(__file__).resolve().parents[3] / "docs" / "server.md"
TOKEN = "0123456789abcdef0123"
HEADERS = {"Authorization": f"Bearer {TOKEN}"}

pytestmark = pytest.mark.skipif(
    not (shutil.which("nginx") and shutil.which("openssl")), reason="needs nginx and openssl"
)


@pytest.fixture
def proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The port of a proxy in front of a server, with 3 connections for an address."""
    key, certificate = tmp_path / "logtriage.key", tmp_path / "logtriage.crt"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
         "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    blocks = re.findall(r"^```nginx\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    with running(token=TOKEN) as server:
        text = blocks[0]
        for old, new in (
            ("443 ssl", f"127.0.0.1:{port} ssl"),
            ("127.0.0.1:8000", f"127.0.0.1:{server.port}"),
            ("/etc/nginx/logtriage", str(tmp_path / "logtriage")),
            ("limit_conn open 64", "limit_conn open 3"),
        ):
            assert text.count(old) >= 1
            text = text.replace(old, new)
        paths = "".join(
            f"{kind}_temp_path {tmp_path};\n"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        text = text.replace("http {", f"http {{\naccess_log off;\n{paths}", 1)
        (tmp_path / "nginx.conf").write_text(text, encoding="utf-8")
        log = tmp_path / "error.log"
        nginx = subprocess.Popen(
            ["nginx", "-p", tmp_path, "-c", "nginx.conf", "-e", log,
             "-g", f"daemon off; pid {tmp_path}/nginx.pid;"]
        )  # fmt: skip
        try:
            wait_for((tmp_path / "nginx.pid").exists)
            yield port
        finally:
            nginx.terminate()
            nginx.wait()


def test_the_proxy_of_the_page_serves_and_bounds(proxy: int) -> None:
    url = f"https://localhost:{proxy}"
    context = ssl.create_default_context()
    assert httpx.get(f"{url}/health", verify=context).status_code == 200
    assert httpx.get(f"{url}/schema", verify=context).status_code == 401
    with GenericEnvClient(url, headers=HEADERS).sync() as env:
        env.reset(incident="single_crash-v4/test/0")
        assert env.step({"action_type": "resolve"}).done
    socket_url = f"wss://localhost:{proxy}/ws"
    held = [connect(socket_url, additional_headers=HEADERS, ssl=context).__enter__() for _ in "123"]
    with pytest.raises(InvalidStatus, match="429"), connect(socket_url, ssl=context):
        pass
    for one in held:
        one.close()
