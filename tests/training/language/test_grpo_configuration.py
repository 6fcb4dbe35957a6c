"""What TRL is told of vLLM, which needs no vLLM to be told."""

from pathlib import Path
from typing import Any

from trl import GRPOConfig

from training.grpo.configuration import grpo_config
from training.grpo.settings import Settings


def config(**given: Any) -> GRPOConfig:
    settings = Settings(model="m", precision="fp32", report_to="none", **given)
    return grpo_config(settings, Path("out"), processes=1, horizon=10)


def test_vllm_in_the_same_process_has_a_length_a_share_and_sleeps() -> None:
    found = config(vllm="colocate", vllm_memory=0.4, completion_tokens=2_000, turn_tokens=100)
    assert (found.use_vllm, found.vllm_mode) == (True, "colocate")
    assert found.vllm_gpu_memory_utilization == 0.4
    assert found.vllm_max_model_length == 4_096 + 2_000  # a prompt and an episode
    assert found.vllm_enable_sleep_mode is True
    # By the name that vLLM has for the limit of one reply.
    assert found.generation_kwargs == {"max_tokens": 100}
    awake = config(vllm="colocate", vllm_length=20_000, vllm_sleep=False)
    assert awake.vllm_max_model_length == 20_000
    assert awake.vllm_enable_sleep_mode is False


def test_vllm_on_a_server_has_an_address_and_never_sleeps() -> None:
    found = config(vllm="server", vllm_url="http://127.0.0.1:1")
    assert (found.use_vllm, found.vllm_mode) == (True, "server")
    assert found.vllm_server_base_url == "http://127.0.0.1:1"
    assert found.vllm_enable_sleep_mode is False


def test_without_vllm_nothing_is_told_of_it() -> None:
    found, usual = config(turn_tokens=100), GRPOConfig(output_dir="out", bf16=False)
    assert found.use_vllm is False
    assert found.vllm_max_model_length == usual.vllm_max_model_length
    assert found.vllm_enable_sleep_mode == usual.vllm_enable_sleep_mode
    assert found.generation_kwargs == {"max_new_tokens": 100}
