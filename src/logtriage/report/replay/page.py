"""The page: styles, script and data put into one file that loads nothing."""

import re
from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Final

from logtriage.report.replay.document import Document

_PARTS: Final = "logtriage.report.replay"
#: The scripts of the page: one module, read in this order.
SCRIPTS: Final = ("base.js", "data.js", "graph.js", "panels.js", "lanes.js", "list.js", "main.js")
_FIELD: Final = re.compile(r"\{\{(\w+)\}\}")


def render_replay(found: Document) -> str:
    """The whole page as text."""
    script = "\n".join(_file(name) for name in SCRIPTS)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )
    fields = {
        "policy": escape(policy),
        "name": escape(str(found.facts["name"])),
        "version": escape(str(found.facts["version"])),
        "styles": _file("replay.css"),
        "script": script,
        "data": found.to_json(),
    }
    # In one pass: what was put in is never searched for further fields.
    return _FIELD.sub(lambda field: fields[field[1]], _file("replay.html"))


def _file(name: str) -> str:
    return files(_PARTS).joinpath(name).read_text("utf-8")
