"""The command line ``logtriage``, which needs the extra ``cli`` (typer and rich)."""

import sys
from importlib.util import find_spec

from logtriage.errors import MissingExtra

__all__ = ["main"]


def main() -> None:
    """Run the command line; without its extra, say which extra to install."""
    if any(find_spec(name) is None for name in ("typer", "rich")):
        sys.exit(str(MissingExtra("the command line", "cli")))
    try:
        from logtriage.cli.app import app
    except KeyboardInterrupt:
        sys.exit(130)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal may lack a character of a message
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="logtriage")
