"""The signature table in words: what is seen where something is the matter, and how often.

Nothing here is a second copy: shares come from :mod:`logtriage.world.signatures`, and
only the short names of tokens are this module's own.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final

from logtriage.faults import FAULT_KINDS, FaultKind
from logtriage.world.channels import CALLS, GAUGE_TOKENS, ITSELF, TIMEOUT
from logtriage.world.signatures import KINDS, Signature

#: From how many per cent on each word is used; what is rarer goes unsaid.
WORDS: Final = (("usually", 60), ("often", 30), ("sometimes", 10))

#: By sort of cell and token: its short name. What log lines are about stands in quotes.
NAMES: Final[Mapping[str, Mapping[str, str]]] = {
    "alert": {"errors": "error alert", "latency": "latency alert"},
    "time": {ITSELF: "own time", CALLS: "time in call"},
    "errors": {ITSELF: "own errors", CALLS: "errors from call"},
    "change": {
        "release_before": "release",
        "config_before": "config change",
        "traffic_before": "traffic change",
        "release_after": "release after",
        "config_after": "config change after",
        "traffic_after": "traffic change after",
    },
    "tier": {
        "lock_waits": "lock waits",
        "disk_reads": "disk reads",
        "replica_lag": "replica lag",
        "cold_cache": "low cache hits",
        "backlog": "backlog",
        "redeliveries": "redeliveries",
    },
    "cpu": {"low": "CPU low", "high": "CPU high"},
    "memory": {"high": "memory high", "climbing": "memory climbs"},
    "workers": {"busy": "busy", "full": "workers full"},
    "traffic": {"more": "more traffic", "new_clients": "new clients"},
    "log": {
        "queueing": "'queueing'",
        "no_connection": "'no connection'",
        "slow_reads": "'slow reads'",
        "lock_wait": "'lock wait'",
        "unknown_client": "'unknown client'",
        "exceptions": "'exception'",
        "restarted": "'restarted'",
        "long_pause": "'long pause'",
        "misses": "'cache miss'",
        "mismatch": "'mismatch'",
        "lag": "'lagging copy'",
        "redelivery": "'redelivered'",
        "new_version": "'new version'",
        "odd_login": "'odd login'",
        "cpu_starved": "'no CPU'",
        "busy_job": "'job runs'",
        "old_cause": "'an old cause'",
        TIMEOUT: "'call failed'",
    },
}
#: Whether errors or latency come first decides the signs of these sorts, kind by kind
#: nearly alike: they are told once.
_SHARED: Final = ("alert", "time", "errors")
#: What that is called, where errors come first and where latency does.
STYLES: Final = {True: "E", False: "L"}

#: Short names of signs by how often they are seen; in the order of :data:`WORDS`.
Signs = Mapping[str, tuple[str, ...]]


def word_of(share: int) -> str | None:
    """How often a share of per cent is, in a word; None if it is too rare to be told."""
    return next((word for word, least in WORDS if share >= least), None)


def signs_of(signature: Signature, sorts: Iterable[str] = tuple(NAMES)) -> Signs:
    """The short names of a signature's signs, by how often they are seen.

    Of one gauge, what is seen in the second place goes unsaid if the first is seen more
    often by a word.
    """
    found: dict[str, list[str]] = {word: [] for word, _ in WORDS}
    for sort in sorts:
        shares = sorted(signature.get(sort, {}).items(), key=lambda one: -one[1])
        strongest = word_of(shares[0][1]) if shares else None
        for token, share in shares:
            word = word_of(share)
            if word is not None and (word == strongest or sort not in GAUGE_TOKENS):
                found[word].append(NAMES[sort][token])
    return {word: tuple(names) for word, names in found.items()}


def told(signs: Signs) -> str:
    """Signs in columns, one for each of :data:`WORDS`."""
    columns = [", ".join(names) or "-" for names in signs.values()]
    while columns and columns[-1] == "-":
        columns.pop()
    return " | ".join(columns)


@lru_cache(maxsize=2)
def style_of(*, errors: bool) -> Signs:
    """The signs that most kinds share which show in errors, or in latency."""
    rows = [signs_of(KINDS[one.name], _SHARED) for one in FAULT_KINDS if one.errors is errors]
    common = Counter(tuple(row.items()) for row in rows).most_common(1)[0][0]
    return dict(common)


def style_rows() -> Iterator[str]:
    """What :data:`STYLES` stand for."""
    for errors, name in STYLES.items():
        yield f"{name}: {told(style_of(errors=errors))}"


def kind_signs(kind: FaultKind) -> str:
    """The signs of a fault kind: its style, and what it has besides.

    A kind that lacks signs of its style, or shows them less often, is told in full.
    """
    style, own = style_of(errors=kind.errors), signs_of(KINDS[kind.name])
    seen = {name: place for place, names in enumerate(own.values()) for name in names}
    for place, names in enumerate(style.values()):
        if any(seen.get(name, len(WORDS)) > place for name in names):
            return told(own)
    rest = {
        word: tuple(one for one in names if one not in style[word]) for word, names in own.items()
    }
    first = WORDS[0][0]
    return told({**rest, first: (STYLES[kind.errors], *rest[first])})
