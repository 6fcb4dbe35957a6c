"""Command lines from settings classes."""

import argparse
import math
from pathlib import Path

import attrs
import pytest

from logtriage.errors import InvalidInput
from training.common.files import last_step
from training.common.options import add_options, as_options, check_fields, option, parsed


@attrs.frozen
class Settings:
    model: str = option("", "a directory")
    steps: int = 100


@attrs.frozen
class Checked:
    kind: str = option("a", "which", "a", "b")
    steps: int = 1
    lr: float = 0.0

    def __attrs_post_init__(self) -> None:
        check_fields(self, "steps")


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("kind", "c", "kind: expected one of a, b, got 'c'"),
        ("steps", 0, "steps: must be at least 1 and finite, got 0"),
        ("lr", -0.5, "lr: must be at least 0 and finite, got -0.5"),
        ("lr", math.nan, "lr: must be at least 0 and finite, got nan"),
        ("lr", math.inf, "lr: must be at least 0 and finite, got inf"),
    ],
)
def test_a_field_that_cannot_be_is_named(field: str, value: object, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        attrs.evolve(Checked(), **{field: value})


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


def test_a_half_written_checkpoint_is_passed_over(tmp_path: Path) -> None:
    assert last_step(tmp_path / "none") == 0
    for number in (9, 10, 11):
        (tmp_path / f"checkpoint-{number}").mkdir()
    for number in (9, 10):
        (tmp_path / f"checkpoint-{number}" / "trainer_state.json").write_text("{}")
    assert last_step(tmp_path) == 10
    assert not (tmp_path / "checkpoint-11").exists()
