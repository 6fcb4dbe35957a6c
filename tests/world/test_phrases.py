"""Texts of logs: complete, unmistakable, and held-out groups in words of their own."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping

import pytest

from logtriage.world.loading import load_world
from logtriage.world.schema.forms import pieces
from logtriage.world.schema.parts import GROUPS, Phrase
from logtriage.world.topologies import random_topology
from tests.builders import SEVEN_SERVICES, TIERS

WORLD = load_world("oncall")
KINDS = list(WORLD.kind_names)
TIMEOUT = "timeout"
TOKENS = [one.name for one in WORLD.topics if not one.ordinary and not one.dependency]
#: What is said, by token, tier and kind: three groups of phrases.
SPOKEN = {
    topic.name: topic.said_at(topic.tiers[0]).groups for topic in WORLD.topics if not topic.ordinary
}
CHATTER = {tier: WORLD.topic("everyday").said_at(tier).groups for tier in TIERS}
NAMES = {kind.name: kind.names.groups for kind in WORLD.kinds}
CAUSES = {kind.name: kind.past.groups for kind in WORLD.kinds}
FIGURES = {"n", "ms", "pct", "mb"}
LONGEST = 75

#: Per token and group: fragments that tell the token. Every text holds one of its own
#: group, and no text of another token, nor an everyday one, holds any of them.
CUES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "queueing": (
        ("free worker", "workers busy", "worker_wait", "worker thread"),
        ("executor slots", "handlers occupied"),
        ("concurrency limit", "in-flight limit"),
    ),
    "no_connection": (
        ("connection from the pool", "connection in the pool", "pool.acquire"),
        ("conn checkout", "every conn is"),
        ("sockets all engaged", "open socket denied"),
    ),
    "slow_reads": (
        ("disk",),
        ("storage",),
        ("block i/o", "blocks brought in"),
    ),
    "lock_wait": (
        ("row lock", "lock wait", "lock_wait", "by a lock"),
        ("tuple in use", "tuple was taken"),
        ("uncommitted", "exclusive claim"),
    ),
    "unknown_client": (
        ("client with a user agent", "client key", "unknown client", "client address"),
        ("unrecognised sdk", "caller fingerprint"),
        ("peer without history", "unfamiliar peer"),
    ),
    "exceptions": (
        ("exception", "internal error"),
        ("uncaught", "backtrace"),
        ("blew up", "server-side failure"),
    ),
    "restarted": (
        ("process started", "restarted", "startup", "started again"),
        ("boot sequence", "came back up"),
        ("initialised anew", "bring-up"),
    ),
    "long_pause": (
        ("pause", "garbage collection"),
        ("froze", "safepoint"),
        ("heap",),
    ),
    "misses": (
        ("cache",),
        ("kept locally", "in-memory copy"),
        ("out of memory, most", "memoised"),
    ),
    "mismatch": (
        ("expected",),
        ("disagrees", "inconsistent"),
        ("unequal", "contradict"),
    ),
    "lag": (
        ("replica",),
        ("leader",),
        ("secondary node", "wal receiver"),
    ),
    "redelivery": (
        ("delivered again", "redelivery", "redelivered", "was delivered"),
        ("no ack in", "nack"),
        ("offered",),
    ),
    "new_version": (
        ("rollout of {v}", "running {v}", "revision {v}"),
        ("live with {v}", "change {v}"),
        ("switched over to {v}", "adopted {v}"),
    ),
    "odd_login": (
        ("login", "session", "logged in"),
        ("sign-in",),
        ("authenticated", "identity"),
    ),
    "cpu_starved": (
        ("cpu",),
        ("cgroup", "processor"),
        ("the cores",),
    ),
    "busy_job": (
        ("job",),
        ("task under way",),
        ("activity",),
    ),
    "old_cause": (
        ("yesterday", "last week", "last month", "last night"),
        ("earlier episode", "days ago"),
        ("archived since", "previous quarter"),
    ),
    TIMEOUT: (
        ("call to {dep}", "circuit open for {dep}"),
        ("no answer from {dep}", "{dep} unavailable"),
        ("nothing back from {dep}", "{dep} responds"),
    ),
}  # fmt: skip

#: The same for the lines that name their cause, and for the noun phrases.
NAMING: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "bad_deploy": (
        ("bug ", "regression"),
        ("defect",),
        ("programming mistake", "faulty shipped"),
    ),
    "config_drift": (
        ("config value", "config revision", "setting", "config has"),
        ("misconfigured", "parameter file"),
        ("environment variable", "knob"),
    ),
    "crash_loop": (
        ("crash",),
        ("daemon", "segfault"),
        ("again and again", "respawn"),
    ),
    "memory_leak": (
        ("leak in", "a leak", "leaked", "leaking", "memory leak", "is never freed"),
        ("given back", "resident size"),
        ("bloat", "in ram"),
    ),
    "deadlock": (
        ("deadlock",),
        ("executors",),
        ("in a ring", "a ring of", "cyclic monitor"),
    ),
    "slow_query": (
        ("report query",),
        ("analyst",),
        ("dashboard",),
    ),
    "lock_contention": (
        ("row lock",),
        ("writer",),
        ("fought over", "fight over", "left pending"),
    ),
    "cache_thrash": (
        ("thrash", "evict"),
        ("memory tier",),
        ("discarded", "displac"),
    ),
    "stale_cache": (
        ("stale", "outdated"),
        ("expired cop",),
        ("superseded", "obsolete"),
    ),
    "stuck_replica": (
        ("replica",),
        ("standby", "follower", "replay process"),
        ("secondary",),
    ),
    "poison_message": (
        ("poison", "message"),
        ("malformed item", "bad item"),
        ("corrupt record", "payload"),
    ),
    "saturation": (
        ("demand", "overload", "capacity"),
        ("fleet",),
        ("provisioned", "more legitimate work", "headroom"),
    ),
    "pool_exhaustion": (
        ("connection pool",),
        ("handles",),
        ("socket",),
    ),
    "traffic_flood": (
        ("flood", "denial of service"),
        ("ddos", "junk"),
        ("zombie", "volumetric"),
    ),
    "session_abuse": (
        ("forged",),
        ("cookies",),
        ("fabricated", "takeover"),
    ),
    "malicious_query": (
        ("injection", "injected"),
        ("smuggled", "hostile select"),
        ("crafted",),
    ),
    "compromised_release": (
        ("compromised", "malware", "foreign code"),
        ("backdoor", "tampered"),
        ("implant", "supply chain"),
    ),
}  # fmt: skip


def texts(groups: tuple[tuple[Phrase, ...], ...]) -> Iterator[tuple[int, str]]:
    """The number of its group, and each text."""
    return ((number, text) for number, group in enumerate(groups) for _, text in group)


def begins(fragment: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(fragment)}", text.lower()) is not None


def held(text: str, cues: Mapping[str, tuple[tuple[str, ...], ...]]) -> set[tuple[str, int]]:
    """Whose fragments, and of which group, begin a word of the text."""
    return {
        (owner, number)
        for owner, groups in cues.items()
        for number, fragments in enumerate(groups)
        if any(begins(fragment, text) for fragment in fragments)
    }


ROWS = [
    *(("logs", key, groups) for key, groups in SPOKEN.items()),
    *(("everyday", key, groups) for key, groups in CHATTER.items()),
    *(("names", key, groups) for key, groups in NAMES.items()),
]
ALL_PHRASES = [phrase for _, _, groups in ROWS for group in groups for phrase in group]
ALL_CAUSES = [cause for groups in CAUSES.values() for group in groups for cause in group]
ALL_TEXTS = [*(text for _, text in ALL_PHRASES), *ALL_CAUSES]


def test_every_token_tier_and_kind_has_its_row_and_nothing_else_has() -> None:
    assert list(SPOKEN) == [*TOKENS, TIMEOUT]
    assert list(NAMES) == list(CAUSES) == KINDS


@pytest.mark.parametrize(("table", "key", "groups"), ROWS)
def test_every_group_has_its_phrases(
    table: str, key: str, groups: tuple[tuple[Phrase, ...], ...]
) -> None:
    fewest = (10, 6, 6) if table == "everyday" else (4, 2, 2)
    assert len(groups) == len(GROUPS) == len(fewest), key
    assert all(len(group) >= few for group, few in zip(groups, fewest, strict=True)), key


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_noun_phrases_in_every_group(kind: str) -> None:
    groups = CAUSES[kind]
    assert len(groups) == len(GROUPS)
    assert all(len(group) >= 2 for group in groups)


def test_no_text_occurs_twice_anywhere() -> None:
    counts = Counter(text.casefold() for text in ALL_TEXTS)
    assert not [text for text, count in counts.items() if count > 1]


@pytest.mark.parametrize(("table", "key", "groups"), ROWS)
def test_placeholders_stand_only_where_they_are_filled(
    table: str, key: str, groups: tuple[tuple[Phrase, ...], ...]
) -> None:
    needed = {"timeout": {"dep"}, "old_cause": {"cause"}}.get(key, set())
    allowed = FIGURES | needed | ({"v"} if key in ("new_version", "mismatch") else set())
    for _, text in texts(groups):
        fields = set(pieces(text)[1::2])
        assert needed <= fields <= allowed, f"{table} {key}: {text}"
        assert all(text.count(f"{{{field}}}") == 1 for field in needed), text
    if key == "new_version":
        assert all("{v}" in text for _, text in texts(groups))


def test_noun_phrases_hold_no_placeholder_and_no_stop() -> None:
    for cause in ALL_CAUSES:
        assert not set(cause) & set("{}.,:;!?"), cause


def test_levels_are_those_of_logs_and_everyday_lines_are_mostly_information() -> None:
    assert {level for level, _ in ALL_PHRASES} == {"INFO", "WARN", "ERROR"}
    for tier, groups in CHATTER.items():
        for group in groups:
            levels = Counter(level for level, _ in group)
            assert levels["INFO"] > len(group) // 2, tier
            assert min(levels["WARN"], levels["ERROR"]) > 0, tier


def test_a_text_is_one_plain_short_line_in_lower_case_but_for_units() -> None:
    for text in ALL_TEXTS:
        assert text.isascii(), text
        assert text.isprintable(), text
        assert text.split(" ") == text.split(), text
        assert len(text) <= LONGEST, text
        assert not text.endswith("."), text
        assert re.sub(r"(?<=[} ])[Mk]B\b", "", text).islower(), text


def test_filled_lines_are_short_too() -> None:
    names = {*SEVEN_SERVICES.names, *random_topology(1, 200).names}
    longest_name = max(names, key=len)
    for _, text in texts(SPOKEN[TIMEOUT]):
        filled = text.format(dep=longest_name, ms=12_345, n=59)
        assert len(filled) <= LONGEST, filled
    for number, text in texts(SPOKEN["old_cause"]):
        for groups in CAUSES.values():
            for cause in groups[number]:
                assert len(text.format(cause=cause)) <= LONGEST, text


@pytest.mark.parametrize("token", [*TOKENS, TIMEOUT])
def test_a_text_tells_its_token_and_no_other_in_the_words_of_its_group(token: str) -> None:
    for number, text in texts(SPOKEN[token]):
        assert held(text, CUES) == {(token, number)}, text


@pytest.mark.parametrize("tier", TIERS)
def test_everyday_lines_tell_nothing(tier: str) -> None:
    for _, text in texts(CHATTER[tier]):
        assert not held(text, CUES), text
        assert not held(text, NAMING) - {("poison_message", 0)}, text  # queues speak of messages


@pytest.mark.parametrize("kind", KINDS)
def test_a_named_cause_is_its_kind_and_no_other_in_the_words_of_its_group(kind: str) -> None:
    for number, text in texts(NAMES[kind]):
        assert held(text, NAMING) == {(kind, number)}, text
    for number, group in enumerate(CAUSES[kind]):
        for cause in group:
            assert held(cause, NAMING) == {(kind, number)}, cause


#: Fragments of :data:`NAMING` that are symptoms, too, with the token that may hold them.
SYMPTOMS = {
    ("lock_wait", "lock_contention"),
    ("no_connection", "pool_exhaustion"),
    ("lag", "stuck_replica"),
    ("redelivery", "poison_message"),
}


@pytest.mark.parametrize("token", [*TOKENS, TIMEOUT])
def test_a_symptom_hints_at_no_cause(token: str) -> None:
    for _, text in texts(SPOKEN[token]):
        hinted = {(token, kind) for kind, _ in held(text, NAMING)}
        assert hinted <= SYMPTOMS, text


def test_what_names_a_cause_is_not_in_the_past() -> None:
    for kind, groups in NAMES.items():
        for _, text in texts(groups):
            owners = {owner for owner, _ in held(text, CUES)}
            assert not owners & {"old_cause", TIMEOUT, "new_version"}, f"{kind}: {text}"


def test_every_cue_is_used() -> None:
    for token, groups in CUES.items():
        for number, fragments in enumerate(groups):
            said = [text for at, text in texts(SPOKEN[token]) if at == number]
            assert all(any(begins(cue, text) for text in said) for cue in fragments), token
    for kind, groups in NAMING.items():
        for number, fragments in enumerate(groups):
            said = [text for at, text in texts(NAMES[kind]) if at == number]
            said += CAUSES[kind][number]
            assert all(any(begins(cue, text) for text in said) for cue in fragments), kind
