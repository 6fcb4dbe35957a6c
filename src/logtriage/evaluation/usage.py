"""The cost of asking a model: requests, tokens, retries, and replies that were cut off.

The transcript of a served model keeps these counts, so a resumed run has all of them.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import attrs

from logtriage.transcript import Transcript

#: The fields of :class:`Usage` that have a price.
TOKENS: Final = ("prompt_tokens", "completion_tokens")
#: :func:`warning_of_cuts` warns if a larger share of replies was cut off.
TOO_MANY_CUT: Final = 0.1


@attrs.frozen
class Usage:
    """Counts of a model's answered requests, and of retries.

    ``completion_tokens`` include thoughts. ``cut_off`` counts replies that ended at the limit
    (``finish_reason`` is ``length``), ``retries`` how often any request was sent again.
    """

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cut_off: int = 0
    retries: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        pairs = zip(attrs.astuple(self), attrs.astuple(other), strict=True)
        return Usage(*(ours + theirs for ours, theirs in pairs))

    def cost(self, prompt_price: float, completion_price: float) -> float:
        """The cost at prices per million tokens, in their currency."""
        total = self.prompt_tokens * prompt_price + self.completion_tokens * completion_price
        return total / 1_000_000


def usage_in(extra: Mapping[str, object]) -> Usage | None:
    """The usage in a transcript's extra fields; None if they count no requests or tokens."""
    fields = {name: extra.get(name) for name in attrs.fields_dict(Usage)}
    counts = {name: count for name, count in fields.items() if type(count) is int}
    return Usage(**counts) if counts.keys() & {"requests", *TOKENS} else None


def usage_of(transcripts: Iterable[Transcript]) -> Usage | None:
    """The summed usage of transcripts; None if no model was asked."""
    counted = [usage_in(transcript.extra) for transcript in transcripts]
    known = [usage for usage in counted if usage is not None]
    return sum(known, Usage()) if known else None


def warning_of_cuts(agent: str, replies: int, share: float | None, limit: str) -> str | None:
    """A warning if option ``limit`` cut off a ``share`` above :data:`TOO_MANY_CUT`; else None."""
    if share is None or share <= TOO_MANY_CUT:
        return None
    return (
        f"{agent}: {share:.0%} of its {replies:,} replies were cut off at the limit, most likely "
        f"while thinking; what it did says little. Raise {limit}, or turn its thinking off."
    )
