"""The page: styles, script and data put into one file that loads nothing."""

import re
from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Final

from logtriage.report.replay.document import Document

_ROOM: Final = "logtriage.report.replay"
#: The scripts of the page: one module, read in this order.
SCRIPTS: Final = (
    *("base.js", "data.js", "figures.js", "graph.js", "panels.js", "lanes.js", "talk.js"),
    *("list.js", "main.js"),
)
_STYLES: Final = ("replay.css", "figures.css")
_FRAME: Final = "replay.html"
PARTS: Final = (*SCRIPTS, *_STYLES, _FRAME)
_FIELD: Final = re.compile(r"\{\{(\w+)\}\}")


def render_replay(document: Document) -> str:
    """The whole page as text."""
    script = "\n".join(map(_file, SCRIPTS))
    fields = {
        "policy": escape(_content_security_policy(script)),
        "name": escape(str(document.facts["name"])),
        "title": escape(str(document.facts["title"])),
        "version": escape(str(document.facts["version"])),
        "styles": "".join(map(_file, _STYLES)),
        "script": script,
        "data": document.to_json(),  # has no < and no >, which could end its element
    }
    # In one pass, so that inserted text is never searched for further fields.
    return _FIELD.sub(lambda field: fields[field[1]], _file(_FRAME))


def _content_security_policy(script: str) -> str:
    """The policy of a page that has this script and nothing from elsewhere."""
    digest = b64encode(sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _file(name: str) -> str:
    return files(_ROOM).joinpath(name).read_text("utf-8")
