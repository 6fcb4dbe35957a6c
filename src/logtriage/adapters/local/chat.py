"""Write conversations as token ids for a model, and read its replies.

Token ids that the model wrote are kept, and the ids of the answer are appended. So the prompt of a
turn always continues the last one, and the mask of ids that the model wrote is exact.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from logtriage.actions import Action
from logtriage.adapters.episode import Episode
from logtriage.adapters.local.words import CUE, actions_of, manner_of, token_of
from logtriage.adapters.turns import Turn
from logtriage.conversations.tools import call_from_action
from logtriage.conversations.wires import calls_of
from logtriage.errors import InvalidInput
from logtriage.incident import Incident
from logtriage.parsing import render_action

#: Our chat template: tools as one line each, calls as <tool_call>, for any tokenizer.
TOOLS_TEMPLATE: Final = Path(__file__).with_name("tools.jinja")
#: The way out of a template that cannot be used.
WAY_OUT: Final = "give --template tools, which replaces it by a template of logtriage"
_PROBE: Final = "probe_5d1c"
#: How TRL, and servers that follow transformers, read replies in our template.
_RESPONSE: Final[dict[str, Any]] = {
    "defaults": {"role": "assistant"},
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "tool_calls": {
            "open": "<tool_call>",
            "close": "</tool_call>",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
    },
}


def use_our_template(tokenizer: Any) -> None:
    """Replace a tokenizer's chat template by ours, which has tools."""
    tokenizer.chat_template = TOOLS_TEMPLATE.read_text("utf-8")
    fields = {**_RESPONSE["fields"], "content": {"close": tokenizer.eos_token}}
    tokenizer.response_template = {**_RESPONSE, "fields": fields}


class Chat:
    """Writes prompts and reads replies by a tokenizer's chat template, or by its action tokens.

    ``manner`` is how screens are written, ``actions`` has the words of action tokens by id,
    ``stops`` the ids that end a reply.

    Args:
        tokenizer: with a chat template that has tools, or with action tokens.
        template: more variables for the chat template, such as ``enable_thinking``.
        stops: more ids that end a reply, such as those of a model's generation settings.

    Raises:
        InvalidInput: for a tokenizer without a chat template or end token, and for a template that
            leaves out tools, calls or answers, does not end replies with the end token, or whose
            calls cannot be read back.
    """

    def __init__(
        self, tokenizer: Any, template: Mapping[str, Any] | None = None, stops: Sequence[int] = ()
    ) -> None:
        self.tokenizer = tokenizer
        self.manner = manner_of(tokenizer)
        self.actions = actions_of(tokenizer)
        self._options = dict(template or {})
        if self.manner.style == "notation":
            if not self.actions:
                raise InvalidInput(
                    "notation: the tokenizer has no tokens for actions, and would play stray "
                    "ones; training.sft --style notation adds them"
                )
            self.stops = frozenset(self.actions)
            return
        if tokenizer.eos_token_id is None:
            raise InvalidInput("the tokenizer has no eos_token, which ends a reply")
        self.stops = frozenset((tokenizer.eos_token_id, *stops))
        check_template(tokenizer, self._options)

    @property
    def is_notation(self) -> bool:
        """Whether a reply is one token."""
        return self.manner.style == "notation"

    @cached_property
    def hand_over(self) -> int | None:
        """The id of the token that hands over; None without action tokens."""
        ids = {word: token_id for token_id, word in self.actions.items()}
        return ids.get("hand_over")

    def begin(self, incident: Incident) -> tuple[Episode, list[int]]:
        """A new episode, and the ids of its opening, up to where the model writes."""
        episode = Episode(incident, style=self.manner.style)
        rules, screen = (message["content"] for message in episode.prompt)
        if self.is_notation:
            shown = f"{rules}\n{screen}{CUE}" if self.manner.rules else f"{screen}{CUE}"
            return episode, self._encode(shown)
        messages = [{"role": "user", "content": screen}]
        if self.manner.rules:
            messages.insert(0, {"role": "system", "content": rules})
        return episode, self._encode(self._text(messages, tools=episode.tools))

    def play(self, episode: Episode, reply: Sequence[int]) -> tuple[str, Turn, list[int]]:
        """Play a reply. Returns its text, the turn, and the ids to append for the next turn.

        These begin with the end token if the reply was cut off, and are empty after the episode.
        """
        text = self.said(reply)
        if self.is_notation:
            turn = episode.step(self.actions.get(reply[-1], text))
        else:
            turn = episode.step({"role": "assistant", "content": text})
        if episode.done:
            return text, turn, []
        return text, turn, self._following(reply, turn)

    def said(self, reply: Sequence[int]) -> str:
        """A reply as text, without the token that ends it."""
        ids = list(reply)
        if self.is_notation:
            return " ".join(self.actions.get(token, self._decode([token])) for token in ids)
        return self._decode(ids[:-1] if ids and ids[-1] in self.stops else ids)

    def reply_for(self, action: Action) -> list[int]:
        """The ids of the reply that takes an action, its end included."""
        if self.is_notation:
            word = render_action(action, "word")
            number: int = self.tokenizer.convert_tokens_to_ids(token_of(word))
            if number not in self.actions:
                raise InvalidInput(f"action {word!r}: the tokenizer has no token for it")
            return [number]
        name, arguments = call_from_action(action)
        shown = self._text([_USER])
        whole = self._text([_USER, _calling(name, arguments)], generate=False)
        if not whole.startswith(shown):
            raise InvalidInput(
                "the chat template writes a reply otherwise than it asks for it (thoughts?); "
                f"{WAY_OUT}"
            )
        reply, _, _ = whole[len(shown) :].rpartition(self.tokenizer.eos_token)
        return [*self._encode(reply), self.tokenizer.eos_token_id]

    def _following(self, reply: Sequence[int], turn: Turn) -> list[int]:
        """The ids after a reply: its end if it lacks one, the answer, and the next turn's cue."""
        answer = turn.text
        if self.is_notation:
            return self._encode(f"{answer}{CUE}")
        message = {"role": "user", "content": answer}
        stand_in = {"role": "assistant", "content": _PROBE}
        if calls_of({"role": "assistant", "content": self.said(reply)}):
            stand_in = _calling(_PROBE, {})
            message = {"role": "tool", "name": _PROBE, "content": answer}
        whole = self._text([_USER, stand_in, message])
        # After the end token some templates put a line break, which the model does not write.
        _, _, rest = whole.partition(_PROBE)[2].partition(self.tokenizer.eos_token)
        ended = [] if reply[-1] in self.stops else [self.tokenizer.eos_token_id]
        return [*ended, *self._encode(rest)]

    def _text(
        self, messages: Sequence[Mapping[str, Any]], *, generate: bool = True, tools: Any = None
    ) -> str:
        text: str = self.tokenizer.apply_chat_template(
            list(messages),
            tokenize=False,
            tools=tools,
            add_generation_prompt=generate,
            **self._options,
        )
        return text

    def _encode(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer.encode(text, add_special_tokens=False)
        return ids

    def _decode(self, ids: Sequence[int]) -> str:
        text: str = self.tokenizer.decode(list(ids), skip_special_tokens=False)
        return text


_USER: Final = {"role": "user", "content": "incident"}


def _calling(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    call = {"type": "function", "function": {"name": name, "arguments": dict(arguments)}}
    return {"role": "assistant", "content": "", "tool_calls": [call]}


def check_template(tokenizer: Any, options: Mapping[str, Any] | None = None) -> None:
    """Raise InvalidInput, which names a way out, if the chat template cannot show tool calls."""
    if not tokenizer.chat_template:
        raise InvalidInput(f"the tokenizer has no chat template; {WAY_OUT}")
    import jinja2

    properties = {"service": {"type": "string"}}
    parameters = {"type": "object", "properties": properties, "required": ["service"]}
    function = {"name": f"tool_{_PROBE}", "description": "A probe.", "parameters": parameters}
    tool = {"type": "function", "function": function}
    call = _calling(f"call_{_PROBE}", {"service": f"value_{_PROBE}"})
    answer = {"role": "tool", "name": f"call_{_PROBE}", "content": f"answer_{_PROBE}"}
    parts = {
        "tools": f"tool_{_PROBE}",
        "the names of calls": f"call_{_PROBE}",
        "the arguments of calls": f"value_{_PROBE}",
        "the answers of tools": f"answer_{_PROBE}",
    }
    try:
        text = tokenizer.apply_chat_template(
            [_USER, call, answer], tokenize=False, tools=[tool], **(options or {})
        )
    except (jinja2.TemplateError, TypeError, ValueError) as error:
        raise InvalidInput(
            f"the chat template cannot show tool calls: {error}; {WAY_OUT}"
        ) from None
    missing = [what for what, probe in parts.items() if probe not in text]
    if missing:
        raise InvalidInput(f"the chat template leaves out {', '.join(missing)}; {WAY_OUT}")
    ended = text.partition(f"call_{_PROBE}")[2].partition(f"answer_{_PROBE}")[0]
    if tokenizer.eos_token not in ended:
        raise InvalidInput(
            f"the chat template does not end a reply with {tokenizer.eos_token}, the tokenizer's "
            f"eos_token; {WAY_OUT}"
        )
    read = calls_of({"role": "assistant", "content": text.partition(_USER["content"])[2]})
    names = [call.get("name") for call in read]
    if names != [f"call_{_PROBE}"]:
        raise InvalidInput(
            "calls as the chat template writes them cannot be read back: expected "
            f"<tool_call>{{…}}</tool_call>; {WAY_OUT}"
        )
    shown = tokenizer.apply_chat_template(
        [_USER], tokenize=False, tools=[tool], add_generation_prompt=True, **(options or {})
    )
    if getattr(tokenizer, "response_template", None) and text.startswith(shown):
        _check_response_template(tokenizer, shown, text[len(shown) :])


def _check_response_template(tokenizer: Any, shown: str, text: str) -> None:
    """Refuse a response template that finds no call in a reply: TRL would then play nothing."""
    reply = text.partition(tokenizer.eos_token)[0] + tokenizer.eos_token
    try:
        parsed = tokenizer.parse_response(reply, prefix=shown)
    except ValueError as error:
        raise InvalidInput(f"the tokenizer's response_template: {error}; {WAY_OUT}") from None
    if f"call_{_PROBE}" not in str(parsed.get("tool_calls")):
        raise InvalidInput(f"the tokenizer's response_template reads no call; {WAY_OUT}")
