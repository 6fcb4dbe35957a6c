"""Settings, presets and the command line: what is taken, and what is refused."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import attrs
import pytest

import logtriage as lt
from logtriage.codec import encode_transcript
from logtriage.errors import InvalidInput, UnknownName
from logtriage.tasks import DRAWN_TASKS, get_task
from logtriage.transcript import Transcript
from training.grpo.__main__ import main
from training.grpo.beforehand import check
from training.grpo.presets import DEFAULT, load_preset, preset_names, resolve
from training.grpo.settings import Settings
from training.grpo.store import BEFORE

TASK = "single_crash-v3-fog0"


def test_the_default_preset_is_the_originals() -> None:
    settings = resolve(DEFAULT, {})
    assert settings.model == "Qwen/Qwen2.5-3B-Instruct"
    assert (settings.lr, settings.batch) == (1e-5, 4)
    assert (settings.lora_r, settings.lora_alpha, settings.load_in_4bit) == (16, 32, True)


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_can_be_used_and_the_command_line_comes_first(name: str) -> None:
    settings = resolve(name, {"model": "mine", "lr": 0.5})
    assert (settings.model, settings.lr) == ("mine", 0.5)
    assert settings.scale_rewards == "none"
    rest = {**load_preset(name), "model": "mine", "lr": 0.5}
    assert settings == Settings(**rest)


def test_the_v2_tasks_of_the_benchmark_are_trained_on_by_default() -> None:
    assert Settings(model="mine").tasks == DRAWN_TASKS


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
        ("thinking", "maybe", "expected one of as_is, off, on"),
        ("lmbda", 1.5, "in \\[0, 1\\]"),
        ("stage_window", 0, "at least 1"),
        ("turn_tokens", 9000, "completion_tokens"),
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


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"load_in_4bit": True, "lora_r": 8, "vllm": "colocate"}, "packed 4-bit weights"),
        ({"train": "embeddings", "lora_r": 8}, "adapters alone"),
        ({"vllm": "colocate", "use_cpu": True}, "generates on a GPU"),
        ({"vllm": "colocate", "vllm_memory": 1.0}, "above 0 and below 1"),
        ({"vllm": "colocate", "vllm_length": 100}, "no less than completion_tokens"),
        ({"reward": "shaped", "rubric": "recorded/3"}, "own rubric"),
    ],
)
def test_what_cannot_work_together_is_refused_with_the_reason(
    given: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        Settings(model="mine", **given)


def test_thinking_sets_the_template_and_the_limits() -> None:
    as_is, off, on = (Settings(model="mine", thinking=one) for one in ("as_is", "off", "on"))
    assert [one.template_arguments for one in (as_is, off, on)] == [
        {}, {"enable_thinking": False}, {"enable_thinking": True}]  # fmt: skip
    assert on.turn_tokens >= 1_000
    # The longest episode: sixteen screens of 330 tokens, and as many calls of 40.
    ticks = get_task("silent_degradation-v3").horizon
    assert off.completion_tokens >= ticks * (330 + 40)
    assert on.completion_tokens >= ticks * (330 + 40 + 1_000)
    assert Settings(model="mine", thinking="on", turn_tokens=7).turn_tokens == 7


def own(split: str, number: int) -> lt.Incident:
    """A task of one's own."""
    return attrs.evolve(lt.make_incident(f"{TASK}/{split}/{number}"), id=f"own/{split}/{number}")


def test_what_is_not_there_is_refused_before_torch_loads(tmp_path: Path) -> None:
    taken, mine, model = (tmp_path / name for name in ("run", "mine", "model"))
    for file in (taken / "run.json", mine / "notes.txt", model / "config.json"):
        file.parent.mkdir()
        file.write_text("{}")
    played = tmp_path / "before.jsonl"
    played.write_text(f"{encode_transcript(Transcript(f'{TASK}/test/1', ()))}\n", "utf-8")
    here = ["--model", str(model), "--task", TASK, "--fog", "", "--eval-episodes", "1"]
    refused = [
        (["--output-dir", str(taken)], "holds a run already"),
        (["--output-dir", str(mine)], "not an empty directory"),
        (["--output-dir", str(mine), "--resume"], "not an empty directory"),
        (["--model", "runs/none"], "no such directory here"),
        ([*here, "--rubric", "logtriage/9"], "unknown rubric 'logtriage/9'"),
        ([*here, "--rubric", f"{__name__}:own"], "expected a Rubric, found function"),
        ([*here, "--task", "nobodys_module:draw"], "no module named 'nobodys_module'"),
        ([*here, "--task", f"{__name__}:draw"], "has no 'draw'"),
        ([*here, "--eval-task", "single_crush-v3"], "unknown task 'single_crush-v3'"),
        ([*here, "--eval-task", f"{__name__}:draw"], "has no 'draw'"),
        ([*here, "--eval-samples", "2", "--eval-temperature", "0"], "2 samples at temperature 0"),
        ([*here, "--eval-before", str(tmp_path / "none")], "eval_before: cannot be read"),
        ([*here, "--eval-before", str(played)], "not the 1 of this run"),
    ]
    script = (
        "import json, sys\n"
        "from training.grpo.__main__ import main\n"
        "for given in json.loads(sys.argv[1]):\n"
        "    try:\n        main(given)\n"
        "    except SystemExit:\n        print('NEXT', file=sys.stderr)\n"
        "print('torch' in sys.modules)\n"
    )
    always = ["--preset", "cpu", "--model", "m", "--output-dir", str(tmp_path / "new")]
    ran = subprocess.run(
        [sys.executable, "-c", script, json.dumps([[*always, *given] for given, _ in refused])],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )
    *errors, _ = ran.stderr.split("NEXT\n")
    for error, (_, said) in zip(errors, refused, strict=True):
        assert said in error
    assert ran.stdout == "False\n"
    assert not (tmp_path / "new").exists()


def test_names_that_can_be_used_are_not_refused(tmp_path: Path) -> None:
    """And a run that was begun needs the episodes of another one no more."""
    one = Settings(
        model="tiny:nano", task=f"{__name__}:own {TASK}", rubric="logtriage/3", eval_episodes=2,
        eval_task=f"{__name__}:own", eval_before="gone.jsonl",
    )  # fmt: skip
    with pytest.raises(InvalidInput, match="eval_before: cannot be read"):
        check(one, tmp_path)
    (tmp_path / BEFORE).touch()
    check(one, tmp_path)
    check(attrs.evolve(one, eval_episodes=0, eval_before=""), tmp_path / "new")


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
