"""Command lines from settings classes."""

import argparse

import attrs
import pytest

from training.common.options import add_options, as_options, parsed


@attrs.frozen
class Settings:
    model: str = attrs.field(default="", metadata={"help": "a directory"})
    steps: int = 100


def parser_of_settings() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    add_options(parser, Settings)
    return parser


@pytest.mark.parametrize("flag", ["--quick", "--qui"])
def test_an_abbreviated_flag_is_its_preset(flag: str) -> None:
    presets = {"quick": {"steps": 2}}
    assert parsed(parser_of_settings(), [flag], presets) == {"model": "", "steps": 2}
    assert parsed(parser_of_settings(), [flag, "--steps", "3"], presets)["steps"] == 3
    assert parsed(parser_of_settings(), [], presets)["steps"] == 100


def test_fields_as_they_are_typed() -> None:
    fields = {"lora_r": 8, "lr": 1e-3, "task": "a b", "packing": True, "fast": False}
    assert as_options(fields) == "--lora-r 8 --lr 0.001 --task 'a b' --packing --no-fast"


def test_help_tells_no_empty_default() -> None:
    told = parser_of_settings().format_help()
    assert "default: 100" in told
    assert "a directory\n" in told
