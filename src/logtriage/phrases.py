"""What logs say. Two phrasings: 0 is used everywhere but in split ``ood``, 1 only there.

Placeholders: ``{dep}`` a dependency, ``{ms}`` milliseconds and ``{pct}`` a percentage
(measured where the line is about a measured service, else arbitrary), ``{n}`` a small
number, ``{v}`` the release or config revision behind the fault. A *cue* is a fragment
that occurs in the cause lines of one fault kind and nowhere else (a test holds this for
the whole table).
"""

from typing import Final

#: How the root names its own cause, by fault kind: (phrasing 0, phrasing 1).
CAUSES: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "bad_deploy": (
        (
            "unhandled exception in handler, first seen with release {v}",
            "regression: {pct}% of calls throw, first seen with release {v}",
        ),
        ("rollout of {v} broke request decoding; older pods are fine",),
    ),
    "config_drift": (
        (
            "config revision {v} rejected at runtime: timeout_ms must be positive",
            "config revision {v} points to a retired endpoint",
        ),
        ("settings {v} misapplied: feature flag table is empty",),
    ),
    "crash_loop": (
        (
            "process exited with signal 11, crash number {n} in 10 min",
            "supervisor: back-off after crash number {n}",
        ),
        ("worker died again (exit 139), {n} respawns so far",),
    ),
    "memory_leak": (
        (
            "heap at {pct}% after full GC, growing every minute",
            "GC overhead {pct}%: heap not reclaimed",
        ),
        ("resident set keeps climbing, {pct}% of the limit, nothing freed",),
    ),
    "deadlock": (
        (
            "{n} worker threads blocked on each other (deadlock suspected)",
            "thread dump: deadlock between pool-{n} and dispatcher",
        ),
        ("no progress for {n} workers, circular wait detected",),
    ),
    "slow_query": (
        (
            "reporting query running for {n} min, full scan, I/O wait {pct}%",
            "long-running reporting query holds the disk, I/O wait {pct}%",
        ),
        ("analytics statement without index still scanning after {n} min",),
    ),
    "lock_contention": (
        (
            "lock wait timeout: {n} transactions behind one row lock",
            "{n} transactions queue for a row lock held for {ms} ms",
        ),
        ("writers pile up behind an open transaction, {n} waiting",),
    ),
    "cache_thrash": (
        (
            "cache eviction rate {pct}%, entries evicted before first reuse",
            "hit rate fell to {n}%: entries evicted before first reuse",
        ),
        ("working set churns: just-loaded keys dropped again, {n}% hits",),
    ),
    "stale_cache": (
        (
            "serving stale entries: cached schema v{n} is outdated",
            "cached entry outdated by {n} min, checksum mismatch",
        ),
        ("invalidation missed: clients get values {n} min old",),
    ),
    "stuck_replica": (
        (
            "replication stopped, replica lag {n} min and rising",
            "replica lag {n} min: apply thread not running",
        ),
        ("follower froze at an old offset, {n} min behind the leader",),
    ),
    "poison_message": (
        (
            "message redelivered {n} times, consumer rejects it every time",
            "head-of-line message redelivered {n} times, offset does not move",
        ),
        ("same undecodable record handed out {n} times, partition blocked",),
    ),
    "saturation": (
        (
            "all instances at {pct}% CPU, run queue {n}, demand above capacity",
            "admission queue full: demand above capacity, CPU {pct}%",
        ),
        ("every replica pegged at {pct}%, more load than they can take",),
    ),
    "pool_exhaustion": (
        (
            "connection pool exhausted: 0 of {n} free, {ms} ms wait",
            "cannot borrow connection, pool exhausted ({n} in use)",
        ),
        ("no spare handles left, {n} callers parked for {ms} ms",),
    ),
    "traffic_flood": (
        (
            "{n}k req/s from one address block, user agents random: flood",
            "SYN flood from an address block, {n}k half-open connections",
        ),
        ("botnet pattern: {n}k bogus requests a second",),
    ),
    "session_abuse": (
        (
            "forged session tokens accepted, {n} accounts in use from one host",
            "one host replays forged session tokens, {n} accounts",
        ),
        ("hijacked logins: {n} identities behind a single client",),
    ),
    "malicious_query": (
        (
            "UNION SELECT from an unknown client reads credentials, {n} tables",
            "injected statement from an unknown client dumps {n} tables",
        ),
        ("SQL injection: foreign session exfiltrates {n} tables",),
    ),
    "compromised_release": (
        (
            "unsigned binary in release {v} opens outbound connections",
            "release {v}: unsigned binary burns {pct}% CPU (miner)",
        ),
        ("image {v} fails signature check and talks to unknown hosts",),
    ),
}

#: Lower-case fragments that name a kind; every cause line holds one of its own kind only.
CUES: Final[dict[str, tuple[str, ...]]] = {
    "bad_deploy": ("first seen with release", "broke request decoding"),
    "config_drift": ("config revision", "misapplied"),
    "crash_loop": ("crash number", "respawns so far"),
    "memory_leak": ("heap", "resident set"),
    "deadlock": ("deadlock", "circular wait"),
    "slow_query": ("reporting query", "analytics statement"),
    "lock_contention": ("row lock", "open transaction"),
    "cache_thrash": ("evicted before first reuse", "working set churns"),
    "stale_cache": ("outdated", "invalidation missed"),
    "stuck_replica": ("replica lag", "follower froze"),
    "poison_message": ("redelivered", "undecodable record"),
    "saturation": ("demand above capacity", "every replica pegged"),
    "pool_exhaustion": ("pool exhausted", "no spare handles"),
    "traffic_flood": ("flood", "botnet"),
    "session_abuse": ("forged session", "hijacked logins"),
    "malicious_query": ("unknown client", "sql injection"),
    "compromised_release": ("unsigned binary", "fails signature check"),
}

#: How a caller complains of the dependency that it waits for: hard and soft failures.
COMPLAINTS: Final = (
    (
        "call to {dep} timed out after {ms} ms",
        "upstream {dep} returned 503, {n} retries failed",
        "circuit open for {dep} after {n} failed calls",
    ),
    ("no answer from {dep} within {ms} ms", "giving up on {dep} after {n} attempts"),
)
SLOW_COMPLAINTS: Final = (
    ("call to {dep} slow: {ms} ms", "waiting {ms} ms for {dep}, budget exceeded"),
    ("{dep} takes {ms} ms to answer lately",),
)

#: How any affected service describes what is visible of it, without the cause.
SYMPTOMS: Final = (
    ("{pct}% of requests failing", "latency objective missed: {ms} ms"),
    ("service level breached, {ms} ms", "{pct}% of responses are errors"),
)
SLOW_SYMPTOMS: Final = (
    ("requests slower than usual: {ms} ms", "latency creeping up: {ms} ms"),
    ("responses take longer by the minute: {ms} ms",),
)

#: Said by a healthy service when asked.
HEALTHY: Final = (
    "all checks passing, dependencies answer in time",
    "steady, no errors in the last 10 min",
)
#: Said by a service that was restarted without need.
RESTARTED: Final = "process restarted on request, connections reset, warming up"

#: Everyday lines: (level, text).
NOISE: Final = (
    ("INFO", "GET /v1/items 200 in {n} ms"),
    ("INFO", "health probe ok"),
    ("INFO", "job heartbeat, {n} tasks done"),
    ("INFO", "TLS session resumed for {n} clients"),
    ("INFO", "log file rotated after {n} MB"),
    ("INFO", "connection accepted, {n} open"),
    ("INFO", "metrics flushed in {n} ms"),
    ("INFO", "scheduled compaction took {n} ms"),
    ("WARN", "slow client upload, {ms} ms"),
    ("WARN", "deprecated header seen {n} times"),
    ("WARN", "clock skew {n} ms corrected"),
    ("ERROR", "request rejected: malformed JSON from a client"),
)

#: Alerts on what a fault does: failed requests, slow ones, and slowly slower ones.
ERROR_ALERT: Final = "HighErrorRate"
LATENCY_ALERT: Final = "HighLatency"
DRIFT_ALERT: Final = "LatencyDrift"
FAULT_ALERTS: Final = (ERROR_ALERT, LATENCY_ALERT, DRIFT_ALERT)

#: True telemetry that has nothing to do with the fault: (alert or "", level, text).
DISTRACTORS: Final = (
    ("DiskUsage", "WARN", "disk usage {pct}% on the log volume"),
    ("CertExpiry", "WARN", "certificate expires in {n} days"),
    ("BatchDuration", "WARN", "nightly export runs {n} min longer than usual"),
    ("", "ERROR", "optional banner failed to render, default shown"),
    ("", "ERROR", "third-party webhook answered 503, queued for retry"),
    ("AuthFailures", "ERROR", "{n} logins with an expired password refused"),
)

#: What a benign incident turns out to be: (name, what the service says).
BENIGN: Final = (
    ("batch_job", "nightly export job {pct}% done, reads elevated until it ends"),
    ("backup", "backup snapshot in progress, {pct}% copied, ends by itself"),
    ("cache_warmup", "cache warming after planned maintenance, {pct}% warm"),
    ("index_rebuild", "planned index rebuild, {pct}% done, slower until it ends"),
    ("load_test", "synthetic load test tagged lt-{n}, stops on schedule"),
)
