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
