"""The signature table in words: what is seen where something is the matter, and how often.

Nothing here is a second copy: shares come from :mod:`logtriage.world.signatures`, and
only the short names of tokens are this module's own.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from logtriage.world.channels import CALLS, GAUGE_TOKENS, ITSELF, TIMEOUT
from logtriage.world.signatures import Signature

#: From how many per cent on each word is used; what is rarer goes unsaid.
WORDS: Final = (("usually", 60), ("often", 30), ("sometimes", 10))

#: By sort of cell and token: its short name. A ``~`` stands before what log lines are about.
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
        "cold_cache": "cold cache",
        "backlog": "backlog",
        "redeliveries": "redeliveries",
    },
    "cpu": {"low": "idle", "high": "hot"},
    "memory": {"high": "memory high", "climbing": "memory climbs"},
    "workers": {"busy": "busy", "full": "full"},
    "traffic": {"more": "more traffic", "new_clients": "new clients"},
    "log": {
        "queueing": "~queued",
        "no_connection": "~no connection",
        "slow_reads": "~slow reads",
        "lock_wait": "~lock wait",
        "unknown_client": "~stranger",
        "exceptions": "~exception",
        "restarted": "~restarted",
        "long_pause": "~long pause",
        "misses": "~miss",
        "mismatch": "~mismatch",
        "lag": "~lagging",
        "redelivery": "~redelivered",
        "new_version": "~new version",
        "odd_login": "~odd login",
        "cpu_starved": "~no CPU",
        "busy_job": "~job runs",
        "old_cause": "~an old cause",
        TIMEOUT: "~call failed",
    },
}
#: Two signs that most faults show equally often, under one letter: errors, and latency.
PAIRS: Final[Mapping[str, tuple[str, str]]] = {
    "E": (NAMES["alert"]["errors"], NAMES["errors"][ITSELF]),
    "L": (NAMES["alert"]["latency"], NAMES["time"][ITSELF]),
}

#: Short names of signs by how often they are seen; in the order of :data:`WORDS`.
Signs = Mapping[str, tuple[str, ...]]


def word_of(share: int) -> str | None:
    """How often a share of per cent is, in a word; None if it is too rare to be told."""
    return next((word for word, least in WORDS if share >= least), None)


def signs_of(signature: Signature) -> Signs:
    """The short names of a signature's signs, by how often they are seen.

    Of one gauge, what is seen in the second place goes unsaid if the first is seen more
    often by a word.
    """
    found: dict[str, list[str]] = {word: [] for word, _ in WORDS}
    for sort in NAMES:
        shares = sorted(signature.get(sort, {}).items(), key=lambda one: -one[1])
        strongest = word_of(shares[0][1]) if shares else None
        for token, share in shares:
            word = word_of(share)
            if word is not None and (word == strongest or sort not in GAUGE_TOKENS):
                found[word].append(NAMES[sort][token])
    return {word: tuple(names) for word, names in found.items()}


def told(signs: Signs) -> str:
    """Signs in columns, one for each of :data:`WORDS`; pairs under their letter.

    A column that is empty holds a dash; empty ones at the end go unsaid.
    """
    columns = [", ".join(_paired(names)) or "-" for names in signs.values()]
    while columns and columns[-1] == "-":
        columns.pop()
    return "; ".join(columns)


def _paired(names: tuple[str, ...]) -> Iterator[str]:
    """Names, of which those that stand for a pair come first."""
    whole = {letter: pair for letter, pair in PAIRS.items() if set(pair) <= set(names)}
    yield from whole
    yield from (name for name in names if not any(name in pair for pair in whole.values()))
