"""Settings, presets and the command line: what is taken, and what is refused."""

from pathlib import Path

import pytest

from logtriage.errors import InvalidInput, UnknownName
from logtriage.tasks import FIRST_WORLD
from training.grpo.__main__ import main
from training.grpo.presets import DEFAULT, load_preset, preset_names, resolve
from training.grpo.settings import Settings


def test_the_default_preset_is_the_originals() -> None:
    settings = resolve(DEFAULT, {})
    assert settings.model == "Qwen/Qwen2.5-3B-Instruct"
    assert (settings.lr, settings.batch) == (1e-5, 4)
    assert (settings.lora_r, settings.lora_alpha, settings.load_in_4bit) == (16, 32, True)


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_can_be_used_and_the_command_line_comes_first(name: str) -> None:
    settings = resolve(name, {"model": "mine", "lr": 0.5})
    assert (settings.model, settings.lr) == ("mine", 0.5)
    assert settings.tasks == FIRST_WORLD
    rest = {**load_preset(name), "model": "mine", "lr": 0.5}
    assert settings == Settings(**rest)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("speed = 3", "unknown setting of .*speed"),
        ("batch = 'four'", "batch must be of type int, got 'four'"),
        ("batch = true", "batch must be of type int, got True"),
        ("episodes = 1.5", "episodes must be of type int or None"),
        ("lr = ", "not TOML"),
    ],
)
def test_a_preset_that_is_wrong_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=said):
        load_preset(str(path))


def test_an_unknown_preset_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="cpu, "):
        load_preset("laptop")


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("group", 1, "advantages are differences"),
        ("rollouts", 10, "a multiple of group"),
        ("loss", "ppo", "expected one of dapo"),
        ("task", "single_crash", "unknown task"),
        ("temperature", 0.0, "above 0"),
        ("load_in_4bit", True, "lora_r"),
        ("push_to_hub", True, "hub_model_id"),
        ("vllm", "server", "vllm_url"),
        ("reward", "tokens", "expected one of grade, step"),
        ("lr", -1.0, "no less than 0"),
        ("iterations", 3, "save_steps"),
    ],
)
def test_values_that_make_no_sense_are_refused(field: str, value: object, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        Settings(model="mine", **{field: value})


def test_a_step_must_be_dealt_out_over_the_processes() -> None:
    settings = Settings(model="mine", group=4, rollouts=16, batch=4)
    assert settings.accumulation(2) == 2
    with pytest.raises(InvalidInput, match="4 x 3"):
        settings.accumulation(3)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--preset", "cpu", "--dry-run"], "model: none given"),
        (["--preset", "cpu", "--model", "m"], "--output-dir is needed"),
        (["--model", "m", "--reward", "x", "--dry-run"], "--reward: invalid choice"),
        (["--model", "/no/where", "--dry-run"], "no such directory"),
        (["--model", "m", "--group", "1", "--dry-run"], "group = 1: must be"),
    ],
)
def test_the_command_line_says_what_is_wrong(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert said in capsys.readouterr().err
