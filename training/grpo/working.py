"""Settings that do not work together, refused before anything loads, with the reason."""

from logtriage.errors import InvalidInput
from training.grpo.fields import Fields


def check_together(fields: Fields) -> None:
    """Refuse combinations that cannot work.

    Raises:
        InvalidInput: naming the field and the reason.
    """
    four = "quantised weights cannot be trained"
    _refuse(fields.load_in_4bit and fields.lora_r == 0, "load_in_4bit", f"lora_r above 0: {four}")
    _refuse(
        fields.train != "all" and fields.lora_r > 0,
        "train",
        "lora_r = 0: LoRA trains adapters alone",
    )
    _refuse(
        fields.load_in_4bit and fields.vllm != "off",
        "load_in_4bit",
        "vllm = off: TRL gives vLLM the packed 4-bit weights as they are, which it cannot "
        "generate with (trl#4973); leave out one of both",
    )
    _refuse(
        fields.vllm == "server" and not fields.vllm_url, "vllm", "vllm_url: the server's address"
    )
    _refuse(
        fields.vllm != "off" and fields.use_cpu, "vllm", "use_cpu off: vLLM generates on a GPU here"
    )
    _refuse(
        fields.vllm == "colocate" and not 0 < fields.vllm_memory < 1,
        "vllm_memory",
        "a share of the GPU's memory above 0 and below 1",
    )
    _refuse(
        fields.vllm != "off" and fields.read_tokens < fields.completion_tokens,
        "vllm_length",
        f"no less than completion_tokens ({fields.completion_tokens})",
    )
    _refuse(
        fields.turn_tokens > fields.completion_tokens,
        "turn_tokens",
        f"completion_tokens of no less ({fields.completion_tokens}): it holds all replies",
    )
    _refuse(fields.push_to_hub and not fields.hub_model_id, "push_to_hub", "hub_model_id: where to")
    _refuse(
        fields.reward == "shaped" and bool(fields.rubric),
        "reward",
        "the tasks' own rubric: the belief's plans are valued by that",
    )


def _refuse(wrong: bool, name: str, needs: str) -> None:
    if wrong:
        raise InvalidInput(f"{name}: needs {needs}")
