"""A command line from a settings class: one option a field."""

import argparse
from typing import Any

import attrs


def add_options(parser: argparse.ArgumentParser, settings: type) -> None:
    """Add an option for each field; those without a default are required.

    A field of type ``int | None`` reads a whole number. ``metadata={"choices": …}`` limits it.
    """
    for field in attrs.fields(settings):
        required = field.default is attrs.NOTHING
        kind: dict[str, Any] = {"type": field.type if field.type in (str, float) else int}
        if field.type is bool:
            kind = {"action": argparse.BooleanOptionalAction}
        if "choices" in field.metadata:
            kind["choices"] = field.metadata["choices"]
        parser.add_argument(
            "--" + field.name.replace("_", "-"),
            required=required,
            default=None if required else field.default,
            help=None if required else f"default: {field.default}",
            **kind,
        )
