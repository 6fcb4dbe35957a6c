"""Settings from a preset and the command line, the latter before the former."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import UnionType
from typing import Any, Final, get_args

import attrs

from logtriage.errors import InvalidInput, UnknownName
from training.grpo.settings import Settings

FOLDER: Final = Path(__file__).parent / "configs"
DEFAULT: Final = "qwen3b_t4"


def preset_names() -> tuple[str, ...]:
    """The presets that are shipped."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def load_preset(name_or_file: str) -> dict[str, Any]:
    """The fields that a preset sets.

    Raises:
        UnknownName: if there is no such preset or file, or a key is no field.
        InvalidInput: if it is no TOML, or a value has the wrong type; with the file's name.
    """
    path = Path(name_or_file) if name_or_file.endswith(".toml") else FOLDER / f"{name_or_file}.toml"
    if not path.is_file():
        raise UnknownName("preset", name_or_file, [*preset_names(), "a file ending in .toml"])
    try:
        fields = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path}: not TOML: {error}") from None
    return {name: checked(name, value, str(path)) for name, value in fields.items()}


def checked(name: str, value: Any, where: str) -> Any:
    """The value of a field, if it has the field's type; a whole number is a float, too.

    Raises:
        UnknownName, InvalidInput: naming ``where`` it was found.
    """
    fields = attrs.fields_dict(Settings)
    if name not in fields:
        raise UnknownName(f"setting of {where}", name, fields)
    kind = fields[name].type
    wanted = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    if float in wanted and type(value) is int:
        return float(value)
    if type(value) not in wanted:
        names = " or ".join(getattr(kind, "__name__", str(kind)) for kind in wanted if kind)
        raise InvalidInput(f"{where}: {name} must be of type {names}, got {value!r}")
    return value


def resolve(preset: str, overrides: Mapping[str, Any]) -> Settings:
    """Settings of a preset, with those that are given in their place.

    Raises:
        UnknownName, InvalidInput: for what cannot be used, naming the field.
    """
    fields = {**load_preset(preset), **overrides}
    if "model" not in fields:
        raise InvalidInput(f"model: none given, and preset {preset!r} names none")
    return Settings(**fields)
