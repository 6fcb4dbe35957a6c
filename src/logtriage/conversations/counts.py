"""Count what a conversation cost, by the usage that its requests note.

A usage stands beside a reply, in a response, or in the row. Each is counted once. Cached tokens
count as tokens of prompts, and thoughts as tokens of replies.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import attrs

#: Numbers by the name of a transcript's field.
Counts = Mapping[str, float]
#: The field of a message with (key, counts) of its usage. Messages of one response share the key.
USED: Final = "logtriage.used"
#: Keys that may hold a usage, or an object with one; the first that does counts.
_USAGE_AT: Final = (
    *("usage", "usageMetadata", "usage_metadata", "usageDetails", "usage_details"),
    *("token_usage", "models_usage"),
    *("total_token_usage", "metrics", "final_metrics", "tokens", "response_metadata"),
    *("extra", "response", "info", "llm_output"),
)
#: How deep a usage may stand in other objects.
_DEEPEST: Final = 3
#: The names of each count. Of the first tuple with any number, all numbers are added.
_NAMES: Final = {
    "prompt_tokens": (
        ("prompt_tokens",),
        (
            *("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
            *("input_tokens_cache_read", "input_tokens_cache_write"),
            *("input", "input_cached_tokens", "input_cache_read", "input_cache_creation"),
        ),
        ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"),
        ("promptTokenCount", "toolUsePromptTokenCount"),
        ("prompt_token_count", "tool_use_prompt_token_count"),
        *(("promptTokens",), ("request_tokens",), ("total_prompt_tokens",)),
        *(("gen_ai.usage.input_tokens",), ("gen_ai.usage.prompt_tokens",)),
        *(("llm.token_count.prompt",), ("llm.usage.prompt_tokens",)),
    ),
    "completion_tokens": (
        *(("completion_tokens",), ("output_tokens",), ("outputTokens",)),
        ("candidatesTokenCount", "thoughtsTokenCount"),
        ("candidates_token_count", "thoughts_token_count"),
        *(("completionTokens",), ("response_tokens",), ("total_completion_tokens",)),
        ("output", "thoughts", "output_reasoning_tokens"),
        ("gen_ai.usage.output_tokens",),
        *(("gen_ai.usage.completion_tokens",), ("llm.token_count.completion",)),
        ("llm.usage.completion_tokens",),
    ),
}


def usage_in(owner: Mapping[str, Any], depth: int = 0) -> Counts:
    """The tokens that an object counts under one of its keys; empty if it counts none."""
    for key in _USAGE_AT:
        inside = owner.get(key)
        if not isinstance(inside, Mapping) or depth == _DEEPEST:
            continue
        if found := tokens_in(inside) or usage_in(inside, depth + 1):
            return found
    models = owner.get("model_usage")  # of Inspect: a usage for each model
    usages = models.values() if isinstance(models, Mapping) else ()
    return _sum([tokens_in(usage) for usage in usages if isinstance(usage, Mapping)])


def tokens_in(usage: Mapping[str, Any]) -> Counts:
    """The tokens of a usage, whatever its provider calls them."""
    found = {}
    for name, ways in _NAMES.items():
        for way in ways:
            numbers = [whole(usage.get(key)) for key in way]
            known = [number for number in numbers if number is not None]
            if known:
                found[name] = sum(known)
                break
    return found


def whole(value: Any) -> int | None:
    """A whole number from 0 on, which OpenTelemetry writes as a text; None for another value."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 16:
        return int(value)
    is_whole = type(value) is int or (type(value) is float and value.is_integer())
    return int(value) if is_whole and value >= 0 else None


def noted(messages: Iterable[Mapping[str, Any]], counts: Counts, key: str) -> list[dict[str, Any]]:
    """The messages of one response, each with the counts of it."""
    used = {USED: (key, {"requests": 1, **counts})} if counts else {}
    return [{**message, **used} for message in messages]


@attrs.frozen
class Spent:
    """The counts of a row: of each turn of the agent (None: unknown), and of the row itself.

    ``is_failed``: the row is of a failed request, and its counts are of no turn.
    """

    turns: tuple[Counts | None, ...] = ()
    row: Counts = attrs.field(factory=dict)
    is_failed: bool = False

    @classmethod
    def of(
        cls, turns: Iterable[Sequence[Mapping[str, Any]]], row: Counts, is_failed: bool
    ) -> "Spent":
        """Read the counts of each turn. A response over several turns counts in the first."""
        seen: set[str] = set()
        found = []
        for turn in turns:
            noted_in = (message.get(USED) for message in turn)
            used: dict[str, Counts] = dict(pair for pair in noted_in if isinstance(pair, tuple))
            # A 0 is known: the response costs this turn nothing more.
            own = [dict.fromkeys(c, 0) if key in seen else c for key, c in used.items()]
            seen.update(used)
            found.append(_sum(own) if own else None)
        return cls(tuple(found), row, is_failed)

    def total(self, beginnings: Sequence["Spent"] = ()) -> tuple[Counts, bool]:
        """(counts of all requests, whether any is known of some requests only).

        With ``beginnings``, the rows of earlier requests, a row's own counts are those of its last
        turn. So are those of a row with one turn. What failed requests cost is added.
        """
        turns, row = list(self.turns), self.row
        answered = [part for part in beginnings if part.turns and not part.is_failed]
        failures = [part.row for part in beginnings if part.is_failed]
        if answered and self.is_failed:
            failures.append(row)
        elif answered or len(turns) == 1:
            answered.append(self)
        for part in answered:
            if counts := {**part.row, **(part.turns[-1] or {})}:
                requests = {"requests": 1} if counts.keys() & _NAMES.keys() else {}
                turns[len(part.turns) - 1] = {**requests, **counts}
        known, partly = _total(turns, {} if answered else row)
        for lost in failures:
            known = {name: count + lost.get(name, 0) for name, count in known.items()}
        return known, partly


def total_of_parts(parts: Iterable[Spent]) -> tuple[Counts, bool]:
    """:meth:`Spent.total` of rows that together make a conversation."""
    totals = [part.total() for part in parts if part.turns]
    counts, partial = _total([counts for counts, _ in totals], {})
    return counts, partial or any(partial for _, partial in totals)


def _total(each: Sequence[Counts | None], row: Counts) -> tuple[Counts, bool]:
    """(sums of what all of ``each`` count, over those of the row; whether some count more)."""
    known = [counts or {} for counts in each]
    found = {**row, **_sum(known)}
    return found, any(not counts.keys() <= found.keys() for counts in known)


def _sum(each: Sequence[Counts]) -> Counts:
    """The sums of the numbers that all have."""
    names = [name for name in each[0] if all(name in one for one in each)] if each else ()
    return {name: sum(one[name] for one in each) for name in names}
