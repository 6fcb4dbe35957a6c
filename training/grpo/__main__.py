"""Train a language model by GRPO, and leave model, curves and figures in a directory."""

import argparse
import shlex
import sys
from pathlib import Path
from typing import Any

from logtriage.errors import LogTriageError
from training.common.options import add_options
from training.common.worlds import ALL, add_world, task_in
from training.grpo import beforehand, store
from training.grpo.nothing import NothingToLearn
from training.grpo.presets import DEFAULT, preset_names, resolve
from training.grpo.settings import Settings


def main(arguments: list[str] | None = None) -> int:
    """Read the command line, and train or show what would be done.

    Returns 0, or 1 if there was nothing to learn.
    """
    words = sys.argv[1:] if arguments is None else arguments
    parser = _parser()
    options: dict[str, Any] = vars(parser.parse_args(words))
    preset = options.pop("preset")
    out: Path | None = options.pop("output_dir")
    resume, dry_run = options.pop("resume"), options.pop("dry_run")
    if out is None and not dry_run:
        parser.error("--output-dir is needed, but for --dry-run")
    command = "python -m training.grpo " + shlex.join(word for word in words if word != "--resume")
    try:
        world = options.pop("world")
        if world is not None:
            options["task"] = task_in(world, options.get("task", ALL))
        settings = resolve(preset, options)
        if dry_run:
            from training.grpo.dry_run import show

            show(settings)
        else:
            assert out is not None
            _check(settings, out, resume=resume)
            # Loads torch and trl, which --help and whatever is wrong need not wait for.
            print("loading torch and TRL ...", file=sys.stderr, flush=True)  # noqa: T201
            from training.grpo.learn import run

            run(settings, out, command, resume=resume)
    except NothingToLearn as reason:
        print(f"stopped: {reason}", file=sys.stderr)  # noqa: T201
        return 1
    except LogTriageError as wrong:
        parser.error(str(wrong))
    return 0


def _check(settings: Settings, out: Path, *, resume: bool) -> None:
    """Refuse, before anything loads, what cannot be used; a run that is finished needs nothing."""
    about = store.check(settings, out, resume=resume)
    if about is None or not about["finished"]:
        beforehand.check(settings, out)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m training.grpo",
        usage="%(prog)s --model MODEL --output-dir OUT [--preset PRESET] [options]",
        description=__doc__,
        epilog="What is not given comes from the preset. --max-steps is --grpo-max-steps, too.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--preset",
        default=DEFAULT,
        help=f"settings to start from: {', '.join(preset_names())}, or a TOML file; "
        f"default: {DEFAULT}",
    )
    parser.add_argument("--output-dir", type=Path, help="directory for this run")
    parser.add_argument("--resume", action="store_true", help="continue the existing run")
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="show settings, memory and first prompt; load nothing",
    )
    parser.add_argument(
        "--grpo-max-steps", type=int, dest="max_steps", default=argparse.SUPPRESS,
        help=argparse.SUPPRESS,
    )  # fmt: skip
    add_world(parser)
    add_options(parser, Settings, only_given=True)
    return parser


if __name__ == "__main__":
    sys.exit(main())
