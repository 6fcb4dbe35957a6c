"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="One JSON object a line on stdout.")]
Bundle = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Recorded incidents from this bundle, not those that are shipped."
    ),
]
EnvUrl = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Play on this server (logtriage serve), not here; LOGTRIAGE_TOKEN is its token.",
    ),
]
