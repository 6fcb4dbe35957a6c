"""The protocol of training, as token ids: what a model is shown, and what it said.

It is that of TRL's ``GRPOTrainer`` with ``environment_factory=TriageEnv``: messages go
through the tokenizer's chat template with the tools, replies are read back by its
response template, and the ids that the model wrote are kept as they are; what follows
them is appended.
"""

import inspect
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import jinja2
from transformers import PreTrainedTokenizerBase
from transformers.utils import get_json_schema
from trl.chat_template_utils import (
    add_response_schema,
    get_training_chat_template,
    is_chat_template_prefix_preserving,
    parse_response,
)

from logtriage.adapters.trl import NotationEnv, Playing, RecordedEnv, TriageEnv
from logtriage.errors import InvalidInput
from logtriage.rendering import check_style
from training.tiny.words import Grammar, style_of

Message = Mapping[str, Any]


@cache
def tool_schemas(environment: type[Playing] = TriageEnv) -> tuple[dict[str, Any], ...]:
    """The tools of an environment as schemas, in the order in which TRL shows them."""
    playing = environment()
    return tuple(
        get_json_schema(getattr(playing, name))
        for name, _ in inspect.getmembers(environment, predicate=inspect.isfunction)
        if not name.startswith("_") and name not in ("reset", "get_reward")
    )


#: What a call is read by, whatever was on offer.
_EVERY_TOOL = list(
    {
        schema["function"]["name"]: schema
        for environment in (TriageEnv, RecordedEnv, NotationEnv)
        for schema in tool_schemas(environment)
    }.values()
)


class Chat:
    """A tokenizer's chat template, both ways.

    Attributes:
        style: how the screens are written that the tokenizer is for.
        grammar: that of notation, in that style.

    Args:
        tokenizer: with a chat template. One without a response template is given the one
            that TRL knows for its chat template, as its trainer does.
        template: more that the template is told, such as ``enable_thinking``.

    Raises:
        InvalidInput: if the tokenizer has no chat template, or one that cannot be read
            back or continued.
    """

    def __init__(
        self, tokenizer: PreTrainedTokenizerBase, template: Mapping[str, Any] | None = None
    ) -> None:
        if tokenizer.chat_template is None:
            raise InvalidInput("the tokenizer has no chat_template; an instruct model has one")
        self.tokenizer = tokenizer
        self.style = check_style(style_of(tokenizer))
        self.grammar = Grammar.of(tokenizer)
        self._told = dict(template or {})
        if tokenizer.eos_token_id is None:
            raise InvalidInput("the tokenizer has no eos_token, which ends a reply")
        try:
            if getattr(tokenizer, "response_template", None) is None:
                add_response_schema(tokenizer)
            preserving = is_chat_template_prefix_preserving(tokenizer)
            self._template = None if preserving else get_training_chat_template(tokenizer)
        except (ValueError, jinja2.TemplateError) as error:
            raise InvalidInput(
                f"the chat template cannot be used for tool calls over several turns: {error}; "
                "set tokenizer.response_template for a template of your own"
            ) from error

    def opening(
        self, messages: Sequence[Message], environment: type[Playing] | None = TriageEnv
    ) -> list[int]:
        """The ids of an opening, up to where the model writes.

        It includes the tools of the environment; None for none.
        """
        shown = None if environment is None else list(tool_schemas(environment))
        return self._ids(messages, tools=shown, add_generation_prompt=True)

    def following(self, messages: Sequence[Message]) -> list[int]:
        """The ids that follow a reply's end token: these messages, up to the next reply.

        Raises:
            InvalidInput: if the template is not prefix-preserving after all.
        """
        said: dict[str, Any] = {"role": "assistant", "content": ""}
        if messages[0]["role"] == "tool":
            call = {"name": messages[0]["name"], "arguments": {}}
            said["tool_calls"] = [{"type": "function", "function": call}]
        before = [{"role": "user", "content": "dummy"}, said]
        start = self._ids(before, add_generation_prompt=False)
        whole = self._ids([*before, *messages], add_generation_prompt=True)
        # Some templates put a line break after the end token, which the model does not write.
        ends = [at for at, token in enumerate(start) if token == self.tokenizer.eos_token_id]
        if ends:
            start = start[: ends[-1] + 1]
        if whole[: len(start)] != start:
            raise InvalidInput("the chat template does not continue what it wrote before")
        return whole[len(start) :]

    def read(self, reply: list[int], before: list[int]) -> dict[str, Any]:
        """The message that a reply is; ``tool_calls`` if it has any that can be read.

        ``before`` are the ids of the last message before it, with the reply's opening.
        """
        if not reply:
            return {"role": "assistant", "content": ""}
        message: dict[str, Any] = parse_response(
            self.tokenizer, reply, prefix=before, tools=_EVERY_TOOL
        )
        return message

    def text(self, reply: list[int]) -> str:
        """A reply as the model wrote it, without the token that ends it."""
        if reply and reply[-1] == self.tokenizer.eos_token_id:
            reply = reply[:-1]
        text: str = self.tokenizer.decode(reply, skip_special_tokens=False)
        return text

    def _ids(self, messages: Sequence[Message], **options: Any) -> list[int]:
        ids: list[int] = self.tokenizer.apply_chat_template(
            [dict(message) for message in messages],
            tokenize=True,
            return_dict=False,
            chat_template=self._template,
            **self._told,
            **options,
        )
        return ids
