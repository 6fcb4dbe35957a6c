"""A command line from a settings class: one option a field."""

import argparse
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from math import inf
from pathlib import Path
from types import MappingProxyType, UnionType
from typing import Any, NoReturn, get_args

import attrs

from logtriage.errors import InvalidInput, LogTriageError
from training.common.tasks import add_world, task_in


def option(default: Any, text: str, *choices: str) -> Any:
    """A field of settings with its help, and what it may be."""
    about: dict[str, Any] = {"help": text}
    if choices:
        about["choices"] = choices
    return attrs.field(default=default, metadata=about)


def check_fields(settings: Any, *counts: str) -> None:
    """Refuse a value that is no choice, a number below 0, and a count below 1 (InvalidInput)."""
    for field in attrs.fields(type(settings)):
        value, choices = getattr(settings, field.name), field.metadata.get("choices")
        if choices and value not in choices:
            known = ", ".join(choices)
            raise InvalidInput(f"{field.name}: expected one of {known}, got {value!r}")
        least = 1 if field.name in counts else 0
        if isinstance(value, int | float) and not least <= value < inf:  # nor NaN
            raise InvalidInput(f"{field.name}: must be at least {least} and finite, got {value!r}")


def add_options(parser: argparse.ArgumentParser, settings: type) -> None:
    """Add an option for each field; those without a default are required.

    A field of type ``int | None`` reads a whole number, and so on. ``metadata`` may limit it
    (``choices``) and say what it is (``help``).
    """
    for field in attrs.fields(settings):
        required = field.default is attrs.NOTHING
        kind: dict[str, Any] = {"type": _reader(field.type)}
        if field.type is bool:
            kind = {"action": argparse.BooleanOptionalAction}
        if "choices" in field.metadata:
            kind["choices"] = field.metadata["choices"]
        words = [field.metadata["help"]] if "help" in field.metadata else []
        if not required and field.default != "":
            words.append(f"default: {field.default}")
        parser.add_argument(
            "--" + field.name.replace("_", "-"),
            required=required,
            default=None if required else field.default,
            help="; ".join(words).replace("%", "%%") or None,
            **kind,
        )


def as_options(fields: Mapping[str, Any]) -> str:
    """Fields as they are typed: ``--lora-r 8 --no-checkpointing``."""
    names = {name: name.replace("_", "-") for name in fields}
    return " ".join(
        (f"--{names[name]}" if value else f"--no-{names[name]}")
        if isinstance(value, bool)
        else f"--{names[name]} {shlex.quote(str(value))}"
        for name, value in fields.items()
    )


def _reader(kind: Any) -> Any:
    """The function that reads a field of this type from text; None in a union is left out."""
    if isinstance(kind, UnionType):
        (kind,) = (member for member in get_args(kind) if member is not type(None))
    return kind if kind in (str, float) else int


def parsed(
    parser: argparse.ArgumentParser, words: Sequence[str], presets: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """The options of a command line, with those of each preset whose flag is given as defaults.

    ``presets`` are fields by the name of a flag, such as ``quick``; flags are left out.
    """
    given = vars(parser.parse_args(words))  # which knows abbreviated flags, too
    for flag, fields in presets.items():
        if given[flag]:
            parser.set_defaults(**fields)
    options = vars(parser.parse_args(words))
    return {name: value for name, value in options.items() if name not in presets}


class ProgramParser(argparse.ArgumentParser):
    """The command line of a program; an error is a line, since the usage is a screen."""

    def __init__(self, program: str, about: str) -> None:
        shown = argparse.RawDescriptionHelpFormatter
        super().__init__(f"python -m {program}", description=about, formatter_class=shown)

    def error(self, message: str) -> NoReturn:
        """End the program with a message."""
        self.exit(2, f"{self.prog}: error: {message}; --help lists the options\n")


def recipe_parser(
    program: str, about: str, settings: type, *, out_needed: bool = True
) -> argparse.ArgumentParser:
    """The command line of a recipe: ``--out``, ``--world``, and an option a field of settings."""
    parser = ProgramParser(program, about)
    parser.add_argument("--out", type=Path, required=out_needed, help="directory for this run")
    add_world(parser)
    add_options(parser, settings)
    return parser


def add_restart(parser: argparse.ArgumentParser, quick: Mapping[str, Any]) -> None:
    """Add ``--resume``, and ``--quick``, which stands for these fields."""
    named = {"resume": "go on with the run there, by the same options", "quick": as_options(quick)}
    for name, words in named.items():
        parser.add_argument(f"--{name}", action="store_true", help=words)


def run_recipe(
    parser: argparse.ArgumentParser,
    arguments: Sequence[str] | None,
    settings: type,
    run: Callable[..., object],
    presets: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> None:
    """Let ``run`` take the settings, ``--out`` and the command; further options by their names.

    A mistake and an interrupt end the program with a line that says what to do.
    """
    words = sys.argv[1:] if arguments is None else arguments
    options = parsed(parser, words, presets)
    resumes = "resume" in options
    out, world = options.pop("out"), options.pop("world")
    try:
        options["task"] = task_in(world, options["task"])
        fields = {field.name: options.pop(field.name) for field in attrs.fields(settings)}
        run(settings(**fields), out, f"{parser.prog} {shlex.join(words)}", **options)
    except LogTriageError as wrong:
        parser.error(str(wrong))
    except KeyboardInterrupt:
        on = "with --resume goes on from its last checkpoint, if any" if resumes else "begins anew"
        parser.exit(130, f"\nstopped: the same command {on}\n")
