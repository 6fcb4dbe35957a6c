"""Options of ``eval`` for models behind an endpoint, and the report on their replies."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

import attrs

from logtriage._lib.printable import counted
from logtriage.adapters.request_limits import MAX_TOKENS, RETRIES, TIMEOUT
from logtriage.adapters.served import (
    ENDPOINT,
    REPLIES,
    Endpoint,
    ServedPlayer,
    endpoints_in,
    json_object,
    served_player,
)
from logtriage.cli.console import note
from logtriage.cli.options import option
from logtriage.errors import InvalidInput
from logtriage.evaluation import Row
from logtriage.evaluation.usage import TOO_MANY_CUT, Usage, warning_of_cuts
from logtriage.registry.policies import LOADED
from logtriage.rendering import STYLES, check_style
from logtriage.roles import RoleSplit

if TYPE_CHECKING:
    from logtriage.adapters.local.player import LocalPlayer
_PANEL: Final = f"Models behind an endpoint ({ENDPOINT}MODEL)"
#: The longest reply, in tokens, of a model in this process; a call without thoughts is shorter.
LOCAL_TOKENS: Final = 1_024


def _option(metavar: str, text: str) -> Any:
    return option(metavar, text, panel=_PANEL)


#: The prefix of the name of a model in this process, and the options that such a model takes.
LOCAL: Final = f"{LOADED}:"
_LOCAL_TAKES: Final = ("max_tokens", "temperature", "seed")
#: Options that change nothing, or are checked elsewhere, if nobody asks a served model.
_ANY_TAKES: Final = ("concurrency", "template")
TEMPLATES: Final = ("own", "tools")


@attrs.frozen
class Models:
    """How models are asked."""

    base_url: Annotated[
        str | None,
        _option(
            "URL",
            "Where they are served, such as http://127.0.0.1:8000/v1. The key is read from "
            "OPENAI_API_KEY, if the server needs a key.",
        ),
    ] = None
    concurrency: Annotated[int, _option("N", "How many episodes to play at a time.")] = 8
    reply: Annotated[
        str,
        _option("WAY", f"How they answer: {' or '.join(REPLIES)} in text. Teams answer in JSON."),
    ] = REPLIES[0]
    style: Annotated[
        str,
        _option(
            "STYLE",
            f"How rules and screens are written: {' or '.join(STYLES)}. In notation a screen is a "
            "line of words, what is new alone, and an answer is one word.",
        ),
    ] = STYLES[0]
    max_tokens: Annotated[int, _option("N", "The longest reply in tokens, thoughts included.")] = (
        MAX_TOKENS
    )
    temperature: Annotated[
        float | None, _option("T", "Default: the endpoint's own; 0 for hf:.")
    ] = None
    seed: Annotated[int | None, _option("N", "For endpoints that sample reproducibly.")] = None
    extra_body: Annotated[
        str | None,
        _option(
            "JSON",
            "More fields of each request, such as "
            """'{"chat_template_kwargs": {"enable_thinking": false}}'.""",
        ),
    ] = None
    timeout: Annotated[float, _option("S", "Seconds for one request.")] = TIMEOUT
    retries: Annotated[int, _option("N", "How often a failed request is sent again.")] = RETRIES
    template: Annotated[
        str,
        option(
            "WHICH", "hf:DIR: the chat template, the model's own or ours with tools (own or tools)."
        ),
    ] = TEMPLATES[0]

    @property
    def endpoint(self) -> Endpoint:
        """The settings of served models."""
        return Endpoint(
            self.base_url,
            self.reply,
            self.max_tokens,
            self.temperature,
            self.seed,
            json_object("extra-body", self.extra_body or ""),
            self.timeout,
            self.retries,
            check_style(self.style),
        )


def served_players(
    policies: Sequence[str], models: Models, split: RoleSplit | None = None
) -> dict[str, ServedPlayer]:
    """A player for each policy with a served model; InvalidInput for options that none uses."""
    endpoint = models.endpoint
    served = [policy for policy in policies if endpoints_in(policy)]
    loaded = any(policy.startswith(LOCAL) for policy in policies)
    of_others = {*_ANY_TAKES, *(_LOCAL_TAKES if loaded else ())}
    for field in () if served else attrs.fields(Models):
        if field.name not in of_others and getattr(models, field.name) != field.default:
            option = field.name.replace("_", "-")
            raise InvalidInput(f"--{option} goes with a model behind an endpoint, {ENDPOINT}MODEL")
    return {policy: served_player(policy, endpoint, split) for policy in served}


def loaded_players(
    policies: Sequence[str], models: Models, split: RoleSplit | None
) -> "dict[str, LocalPlayer]":
    """A player for each policy ``hf:DIR``, a model from a directory or the hub."""
    local = [policy for policy in policies if policy.startswith(LOCAL)]
    template = models.template
    if template not in TEMPLATES or (template != TEMPLATES[0] and not local):
        raise InvalidInput(
            f"--template {template}: expected one of {', '.join(TEMPLATES)}, with {LOCAL}DIR"
        )
    if not local:
        return {}
    if split is not None:
        raise InvalidInput(f"--split-roles: {local[0]} plays alone; serve it for a team")
    from logtriage.adapters.local.player import LocalPlayer  # loads torch

    return {
        policy: LocalPlayer.of(
            policy,
            temperature=models.temperature or 0.0,
            seed=models.seed or 0,
            batch=models.concurrency,
            max_tokens=LOCAL_TOKENS if models.max_tokens == MAX_TOKENS else models.max_tokens,
            template=template,
        )
        for policy in local
    }


def in_words(usage: Usage) -> str:
    """A text on usage: requests, and tokens of prompts and replies."""
    return (
        f"{counted(usage.requests, 'request')}, "
        f"{usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens"
    )


def sum_up(rows: Sequence[Row]) -> bool:
    """Print each model's usage; return whether too many replies were cut off."""
    cut = False
    for policy in dict.fromkeys(row.policy for row in rows):
        usages = [row.usage for row in rows if row.policy == policy and row.usage is not None]
        if usages:
            unread = sum(row.unread for row in rows if row.policy == policy)
            firsts = (row.first_unread for row in rows if row.policy == policy and row.unread)
            cut |= tell_usage(policy, sum(usages, Usage()), unread, next(firsts, None) or "")
    return cut


def tell_usage(policy: str, usage: Usage, unread: int, first: str) -> bool:
    """Print a model's usage and its ``unread`` replies; return whether too many were cut off."""
    if unread:
        note(
            f"{policy}: {unread:,} of {counted(usage.requests, 'reply', 'replies')} cannot be "
            f"read; the first: {first:.200}",
            "bold red" if unread > TOO_MANY_CUT * usage.requests else "yellow",
        )
    more = f", {usage.retries:,} sent again, {counted(usage.cut_off, 'reply', 'replies')} cut off"
    note(f"{policy}: {in_words(usage)}{more}", "dim")
    share = usage.cut_off / usage.requests if usage.requests else None
    warning = warning_of_cuts(policy, usage.requests, share, "--max-tokens")
    if warning is not None:
        note(warning, "bold red")
    return warning is not None
