"""Build a small model of notation, and let it imitate the observer (DAgger)."""

import argparse
import shlex
import sys
from pathlib import Path

from logtriage.errors import LogTriageError
from training.common.directory import check_empty
from training.common.options import add_options
from training.tiny.settings import Settings


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, and leave a model directory."""
    words = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(prog="python -m training.tiny", description=__doc__)
    parser.add_argument("--output-dir", type=Path, required=True, help="the model's directory")
    add_options(parser, Settings)
    options = vars(parser.parse_args(words))
    out: Path = options.pop("output_dir")
    try:
        settings = Settings(**options)
        check_empty(out)
    except (ValueError, LogTriageError) as wrong:
        parser.error(str(wrong))
    print("loading torch ...", file=sys.stderr, flush=True)  # noqa: T201
    # Loads torch and trl, which --help and a wrong option need not wait for.
    from training.tiny.build import build

    try:
        build(settings, out, "python -m training.tiny " + shlex.join(words))
    except LogTriageError as wrong:
        parser.error(str(wrong))


if __name__ == "__main__":
    main()
