"""Any OpenAI-compatible chat endpoint, as the model behind a chat policy.

>>> from logtriage.adapters.endpoint import ChatEndpoint
>>> from logtriage.policies import ChatPolicies
>>> ask = ChatEndpoint("my-model", base_url="http://127.0.0.1:8000/v1")  # doctest: +SKIP
>>> policies = ChatPolicies(ask)  # doctest: +SKIP

Needs the extra ``openai``, the official client: connections, retries with back-off and
timeouts are its own.
"""

import os
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any, Final

import attrs

from logtriage._lib.extras import imports_of
from logtriage.adapters.request_limits import MAX_TOKENS, RETRIES, TIMEOUT, EndpointError
from logtriage.conversations.words import THOUGHTS
from logtriage.errors import InvalidInput
from logtriage.evaluation.usage import Usage

with imports_of("openai", "logtriage.adapters.endpoint", "openai"):
    import openai

#: The variable that holds the key.
KEY_VARIABLE: Final = "OPENAI_API_KEY"
#: The key for a server that asks for none.
NO_KEY: Final = "none"
#: The field of the limit at endpoints of reasoning models. Their refusal of the other quotes it.
_NEWER: Final = "max_completion_tokens"
#: The ``finish_reason`` of a reply that reached the limit.
_CUT_OFF: Final = "length"


@attrs.define
class _Shared:
    """What all copies of an endpoint share: the longest reply in tokens, and the field for it.

    ``answered`` says whether the endpoint ever answered, ``failure`` why the first request failed,
    ``usage`` what all of them used in this process.
    """

    limit: int
    field: str = "max_tokens"
    answered: bool = False
    failure: str | None = None
    usage: Usage = attrs.field(factory=Usage)


class ChatEndpoint:
    """Asks a model on an OpenAI-compatible endpoint; safe to share between threads.

    If the endpoint fails after all retries, or answers nonsense, the call raises and the episode
    is unscored. An empty or unreadable *reply* is an action of the model.

    Args:
        model: the model's name on the endpoint.
        base_url: such as ``http://127.0.0.1:8000/v1``; None for the client's default.
        api_key: None for the variable ``OPENAI_API_KEY``; with a ``base_url`` no key is needed.
        timeout: seconds for one request.
        retries: how often a request is sent again after a failure that may pass.
        max_tokens: the longest reply, thoughts included. Where an endpoint refuses this
            field, as those of reasoning models do, it is sent as ``max_completion_tokens``.
        temperature: None for the endpoint's default.
        seed: for endpoints that sample reproducibly.
        extra: more fields of the request's body, such as a server's own options.

    Raises:
        InvalidInput: if there is no key, or a number makes no sense.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
        max_tokens: int = MAX_TOKENS,
        temperature: float | None = None,
        seed: int | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        if timeout <= 0 or retries < 0 or max_tokens < 1:
            raise InvalidInput(
                "timeout must be above 0, retries at least 0 and max_tokens at least 1, got "
                f"{timeout}, {retries} and {max_tokens}"
            )
        if base_url is not None and not base_url.startswith(("http://", "https://")):
            raise InvalidInput(
                f"base_url: expected http:// or https:// and a host, got {base_url!r:.80}"
            )
        key = api_key or os.environ.get(KEY_VARIABLE) or (NO_KEY if base_url else None)
        if key is None:
            raise InvalidInput(f"no key: set {KEY_VARIABLE}, or give a base_url of your own")
        self.model = model
        self._options: dict[str, Any] = {
            "base_url": base_url,
            "api_key": key,
            "timeout": timeout,
            "max_retries": retries,
        }
        sampling = {"temperature": temperature, "seed": seed}
        self._sampling = {name: value for name, value in sampling.items() if value is not None}
        self._shared = _Shared(max_tokens)
        self._extra = dict(extra or {})
        self._begin()

    def _begin(self) -> None:
        self._client = openai.OpenAI(**self._options)
        self._lock = Lock()
        #: The usage so far, in this process.
        self.usage = self._shared.usage = Usage()

    def __repr__(self) -> str:
        return f"<{self.model} at {self._client.base_url}>"  # never the key

    def __getstate__(self) -> dict[str, Any]:
        # Another process makes its own connections, and counts its own usage.
        own = ("_client", "_lock", "usage")
        return {name: value for name, value in vars(self).items() if name not in own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._begin()

    def counting_anew(self) -> "ChatEndpoint":
        """A copy of the endpoint on the same connections, with a new :attr:`usage`."""
        other = object.__new__(type(self))
        vars(other).update(vars(self), usage=Usage())
        return other

    @property
    def spent(self) -> Usage:
        """The usage so far of this endpoint and all its copies."""
        return self._shared.usage

    def _count(self, usage: Usage) -> None:
        with self._lock:
            self.usage += usage
            self._shared.usage += usage

    @property
    def why_never_answered(self) -> str | None:
        """Why the first request failed; None if any copy of this endpoint got an answer."""
        return None if self._shared.answered else self._shared.failure

    def __call__(self, messages: Sequence[Mapping[str, str]]) -> str:
        """The model's reply; the empty string if it has no text. Raises as :meth:`message`."""
        return str(self.message(messages)["content"])

    def with_tools(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        """The :meth:`message` with ``tools`` on offer; it has ``tool_calls`` if any was called."""
        return self.message(messages, tools=[dict(tool) for tool in tools])

    def message(self, messages: Sequence[Mapping[str, Any]], **more: Any) -> dict[str, Any]:
        """The model's message, thoughts included; ``more`` are fields of the request.

        EndpointError if the endpoint fails after all retries, or its answer makes no sense.
        """
        answer, retries = self._complete(messages, **more)
        try:
            choice = answer.choices[0]
            text = _text_of(choice.message)
            message: dict[str, Any] = {"role": "assistant", "content": text}
            if calls := _calls_of(choice.message):
                message["tool_calls"] = calls
            for name in THOUGHTS:
                thought = getattr(choice.message, name, None)
                if thought and type(thought) is str:
                    message[name] = thought
        except (AttributeError, TypeError, ValueError, IndexError):  # the client checks nothing
            raise self._failed("the answer is no chat completion") from None
        used = getattr(answer, "usage", None)
        self._count(
            Usage(
                requests=1,
                prompt_tokens=getattr(used, "prompt_tokens", None) or 0,
                completion_tokens=getattr(used, "completion_tokens", None) or 0,
                cut_off=getattr(choice, "finish_reason", None) == _CUT_OFF,
                retries=retries,
            )
        )
        self._shared.answered = True
        return message

    def _complete(self, messages: Sequence[Mapping[str, Any]], **more: Any) -> tuple[Any, int]:
        """The client's unchecked answer, and how often it sent the request again."""
        request: dict[str, Any] = {
            "model": self.model,
            "messages": [dict(message) for message in messages],
            "extra_body": self._extra or None,
            **self._sampling,
            **more,
        }
        field = self._shared.field  # another thread may change it meanwhile
        try:
            try:
                return self._create(request, field)
            except openai.BadRequestError as error:
                if field == _NEWER or _NEWER not in str(error):
                    raise
            self._shared.field = _NEWER
            return self._create(request, _NEWER)
        except (openai.OpenAIError, ValueError) as error:  # ValueError: an answer that is no JSON
            has_no_answer = isinstance(error, openai.APIConnectionError)
            status = getattr(error, "status_code", 0)
            # These the client sends again, until no retry is left.
            if has_no_answer or status in (408, 409, 429) or status > 499:
                self._count(Usage(retries=self._options["max_retries"]))
            raise self._failed(_reason(error, request)) from error

    def _failed(self, why: str) -> EndpointError:
        """The error of a failed request; the first is kept for all copies."""
        failure = f"{self!r}: {why}"
        self._shared.failure = self._shared.failure or failure
        return EndpointError(failure)

    def _create(self, request: dict[str, Any], field: str) -> tuple[Any, int]:
        limited = {**request, field: self._shared.limit}
        raw = self._client.chat.completions.with_raw_response.create(**limited)
        return raw.parse(), raw.retries_taken


def _reason(error: Exception, request: Mapping[str, Any]) -> str:
    reason = f"{type(error).__name__}: {error}"
    if not isinstance(error, openai.OpenAIError):
        reason = f"the answer is no chat completion ({reason})"
    if isinstance(error, openai.APIConnectionError) and error.__cause__ is not None:
        reason = f"{reason} ({error.__cause__})"
    if isinstance(error, openai.NotFoundError):
        reason = f"{reason} (does the address end in /v1, and is this the model's name there?)"
    if isinstance(error, openai.BadRequestError) and "tools" in request:
        reason = f"{reason} (a server that takes no tools needs --reply json)"
    return reason


def _text_of(message: Any) -> str:
    """The content of a message, else its refusal, else an empty text.

    Raises:
        AttributeError: if ``message`` has no content field.
        TypeError: if the text is not a string.
    """
    text = message.content or getattr(message, "refusal", None) or ""
    if not isinstance(text, str):
        raise TypeError(text)
    return text


def _calls_of(message: Any) -> list[dict[str, Any]]:
    """The tool calls of a message as JSON, each with an id; TypeError or ValueError if bad."""
    calls = []
    for number, call in enumerate(getattr(message, "tool_calls", None) or ()):
        fields = call.model_dump(exclude_none=True) if hasattr(call, "model_dump") else dict(call)
        calls.append({"type": "function", **fields, "id": fields.get("id") or f"call_{number}"})
    return calls
