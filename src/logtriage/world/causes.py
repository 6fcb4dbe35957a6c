"""What lines say that name a cause: outright, or as one that is over.

Groups of phrasings and placeholders as in :mod:`logtriage.world.phrases`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from logtriage.world.phrases import Phrase

#: ``names``: by fault kind, how a service names it as its own cause, outright.
NAMES: Final[Mapping[str, tuple[tuple[Phrase, ...], ...]]] = MappingProxyType(
    {
        "bad_deploy": (
            (
                ("ERROR", "bug in the new release: it fails requests that passed before"),
                ("ERROR", "bug shipped with the last deploy breaks request handling"),
                ("ERROR", "regression in the new release, valid requests are rejected"),
                ("ERROR", "errors come from a bug in the new release, old instances are fine"),
            ),
            (
                ("ERROR", "defect introduced by the latest build makes operations fail"),
                ("ERROR", "latest build is defective, its predecessor took the same input"),
            ),
            (
                ("ERROR", "freshly shipped package mishandles calls by a programming mistake"),
                ("ERROR", "programming mistake in what was just shipped, calls end in failure"),
            ),
        ),
        "config_drift": (
            (
                ("ERROR", "wrong config value breaks request handling"),
                ("ERROR", "config revision is wrong: endpoint does not exist"),
                ("ERROR", "requests fail on a wrong setting in the active config"),
                ("ERROR", "config has drifted to values that cannot work"),
            ),
            (
                ("ERROR", "misconfigured: a parameter holds a nonsensical number"),
                ("ERROR", "parameter file edited by mistake, operations fail because of it"),
            ),
            (
                ("ERROR", "environment variables are set to garbage, calls die on them"),
                ("ERROR", "a tuning knob was set badly by hand, calls die of it"),
            ),
        ),
        "crash_loop": (
            (
                ("ERROR", "crash loop: process exits and starts, over and over"),
                ("ERROR", "process keeps crashing, supervisor backs off"),
                ("ERROR", "process crashed again right after its start, as each time"),
                ("ERROR", "repeated crash with signal 11, no start lasts"),
            ),
            (
                ("ERROR", "daemon dies shortly after each boot, {n} times so far"),
                ("ERROR", "boot, segfault, boot, segfault: daemon will not stay up"),
            ),
            (
                ("ERROR", "falls over again and again, no attempt survives for long"),
                ("ERROR", "respawned without end, each life ends in an abort"),
            ),
        ),
        "memory_leak": (
            (
                ("ERROR", "memory leak: heap grows and is never freed"),
                ("ERROR", "heap grows without bound, objects are leaked"),
                ("ERROR", "heap dump shows a leak, retained objects pile up"),
                ("ERROR", "leaking memory: heap larger after every full gc"),
            ),
            (
                ("ERROR", "allocations are never given back, resident size only rises"),
                ("ERROR", "references kept for ever, resident size swells"),
            ),
            (
                ("ERROR", "process bloats steadily: whatever ram it takes, it keeps"),
                ("ERROR", "unbounded accumulation of dead data in ram"),
            ),
        ),
        "deadlock": (
            (
                ("ERROR", "deadlock: {n} workers block each other"),
                ("ERROR", "thread dump shows a deadlock, workers hang for good"),
                ("ERROR", "deadlocked workers, none of them can go on"),
                ("ERROR", "deadlock detector: threads hang in a circular wait"),
            ),
            (
                ("ERROR", "mutual blocking among executors, they never wake"),
                ("ERROR", "executors frozen, each holds the mutex the next one needs"),
            ),
            (
                ("ERROR", "handlers wait on one another in a ring and never move"),
                ("ERROR", "cyclic monitor ownership, handlers stuck for ever"),
            ),
        ),
        "slow_query": (
            (
                ("ERROR", "report query hogs the disk, everything else crawls"),
                ("ERROR", "runaway report query reads whole tables from disk"),
                ("ERROR", "long-running report query takes all of the disk i/o"),
                ("ERROR", "report query without an index is why the disk is slow"),
            ),
            (
                ("ERROR", "an analyst's select over the full history occupies storage"),
                ("ERROR", "analyst's own select lacks an index and starves everyone of i/o"),
            ),
            (
                ("ERROR", "in-house dashboard sql crawls through every block of the volume"),
                ("ERROR", "poorly written dashboard sql monopolises the volume"),
            ),
        ),
        "lock_contention": (
            (
                ("ERROR", "lock contention: transactions pile up behind row locks"),
                ("ERROR", "one open transaction holds row locks that all others need"),
                ("ERROR", "hot row: transactions get its row lock one at a time"),
                ("ERROR", "contended row locks hold up every transaction"),
            ),
            (
                ("ERROR", "writers jam on a tuple kept by an unfinished change"),
                ("ERROR", "all writers want the same tuple, throughput collapses"),
            ),
            (
                ("ERROR", "records are fought over, updates can only go one by one"),
                ("ERROR", "a commit left pending bars all other updates"),
            ),
        ),
        "cache_thrash": (
            (
                ("ERROR", "cache thrashing: entries evicted before they are used again"),
                ("ERROR", "cache evicts what it just loaded"),
                ("ERROR", "constant eviction in the cache, nothing stays"),
                ("ERROR", "working set does not fit, cache thrashes"),
            ),
            (
                ("ERROR", "memory tier churns, newcomers push each other out"),
                ("ERROR", "fresh copies pushed out at once, the memory tier is of no use"),
            ),
            (
                ("ERROR", "whatever gets stored for reuse is discarded moments later"),
                ("ERROR", "buffered results displace one another, discarded without reuse"),
            ),
        ),
        "stale_cache": (
            (
                ("ERROR", "stale cache: outdated entries are served"),
                ("ERROR", "cache entries were not invalidated, outdated values go out"),
                ("ERROR", "serving outdated data from the cache"),
                ("ERROR", "cache invalidation did not run, entries are stale"),
            ),
            (
                ("ERROR", "answers come from expired copies that should be gone"),
                ("ERROR", "expired copies survived their purge and reach users"),
            ),
            (
                ("ERROR", "readers get superseded data, nothing cleared it"),
                ("ERROR", "obsolete snapshots are handed to readers"),
            ),
        ),
        "stuck_replica": (
            (
                ("ERROR", "replication stopped, replica applies nothing"),
                ("ERROR", "replica is stuck: apply thread not running"),
                ("ERROR", "replication is broken, replica stays at an old position"),
                ("ERROR", "replication halted, the replica no longer follows"),
            ),
            (
                ("ERROR", "standby ceased to follow, its replay process is dead"),
                ("ERROR", "follower stands still, no wal replayed any more"),
            ),
            (
                ("ERROR", "secondary node hung at an ancient offset, takes nothing over"),
                ("ERROR", "copying to the secondary node came to a standstill"),
            ),
        ),
        "poison_message": (
            (
                ("ERROR", "poison message: every consumer fails on it"),
                ("ERROR", "one message can never be processed and blocks the partition"),
                ("ERROR", "poison message at the head, offset does not move"),
                ("ERROR", "undecodable message fails for ever, others stuck behind it"),
            ),
            (
                ("ERROR", "malformed item defeats each receiver, the topic stands still"),
                ("ERROR", "a single bad item jams the topic"),
            ),
            (
                ("ERROR", "corrupt record nobody can digest obstructs the stream"),
                ("ERROR", "one broken payload chokes the stream for all that follow"),
            ),
        ),
        "saturation": (
            (
                ("ERROR", "overload: demand exceeds the capacity of all instances"),
                ("ERROR", "capacity reached, more regular traffic than instances can take"),
                ("ERROR", "saturated: every instance at its limit, demand is above capacity"),
                ("ERROR", "too few instances for the present demand"),
            ),
            (
                ("ERROR", "ordinary users outgrow what the fleet can handle"),
                ("ERROR", "fleet undersized for the volume that users bring"),
            ),
            (
                ("ERROR", "more legitimate work arrives than these machines can do"),
                ("ERROR", "headroom gone: customers ask for more than was provisioned"),
            ),
        ),
        "pool_exhaustion": (
            (
                ("ERROR", "connection pool exhausted, that is what fails requests"),
                ("ERROR", "connection pool is empty and stays empty"),
                ("ERROR", "connection pool too small, exhausted for all callers"),
                ("ERROR", "connection pool exhausted: {n} of {n} in use"),
            ),
            (
                ("ERROR", "ran out of handles, the cap on them is the bottleneck"),
                ("ERROR", "handles used up for good, raise their cap"),
            ),
            (
                ("ERROR", "socket allotment spent entirely, nobody gets through"),
                ("ERROR", "fixed number of sockets is too small, all are gone"),
            ),
        ),
        "traffic_flood": (
            (
                ("ERROR", "flood of hostile requests from many addresses"),
                ("ERROR", "denial of service attack: bogus requests flood in"),
                ("ERROR", "request flood from a botnet"),
                ("ERROR", "under attack, flooded with {n}k bogus requests a second"),
            ),
            (
                ("ERROR", "ddos in progress, junk calls swamp us"),
                ("ERROR", "malicious senders bombard us with junk"),
            ),
            (
                ("ERROR", "zombie hosts hammer this endpoint on purpose"),
                ("ERROR", "volumetric assault, garbage pours in from everywhere"),
            ),
        ),
        "session_abuse": (
            (
                ("ERROR", "forged session tokens were accepted"),
                ("ERROR", "attacker uses forged sessions of many accounts"),
                ("ERROR", "session store is full of forged sessions"),
                ("ERROR", "sessions are forged: many accounts act from one host"),
            ),
            (
                ("ERROR", "intruder impersonates users with counterfeit cookies"),
                ("ERROR", "counterfeit cookies pass, somebody acts as other users"),
            ),
            (
                ("ERROR", "fabricated bearer credentials, strangers pose as customers"),
                ("ERROR", "identities taken over by means of fabricated credentials"),
            ),
        ),
        "malicious_query": (
            (
                ("ERROR", "sql injection: attacker reads tables"),
                ("ERROR", "injected sql dumps whole tables"),
                ("ERROR", "attacker runs injected statements against {n} tables"),
                ("ERROR", "injection attack: union select over credential tables"),
            ),
            (
                ("ERROR", "hostile select smuggled in through a form copies data out"),
                ("ERROR", "smuggled query fragment exfiltrates rows"),
            ),
            (
                ("ERROR", "data theft by crafted search terms"),
                ("ERROR", "intruder's crafted filter leaks records that are none of his"),
            ),
        ),
        "compromised_release": (
            (
                ("ERROR", "release is compromised: it runs foreign code"),
                ("ERROR", "malware in the release opens outbound connections"),
                ("ERROR", "signature check of the release fails, foreign code inside"),
                ("ERROR", "malware found in the running release: a crypto miner"),
            ),
            (
                ("ERROR", "build was tampered with, backdoor active"),
                ("ERROR", "backdoor inside the current build phones home"),
            ),
            (
                ("ERROR", "supply chain attack: this package carries an implant"),
                ("ERROR", "hidden implant in the installed package talks to strangers"),
            ),
        ),
    }
)

#: By fault kind: noun phrases for ``{cause}`` in the texts of ``old_cause``.
CAUSES: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = MappingProxyType(
    {
        "bad_deploy": (
            ("a bug in a release", "a regression by a deploy"),
            ("a defective build", "a defect in a build"),
            ("a programming mistake", "a faulty shipped package"),
        ),
        "config_drift": (
            ("a wrong config value", "a wrong setting"),
            ("a misconfigured parameter", "a mistake in a parameter file"),
            ("a garbage environment variable", "a badly set tuning knob"),
        ),
        "crash_loop": (
            ("a crash loop", "a process that kept crashing"),
            ("a daemon dying after each boot", "an endless boot and segfault"),
            ("an endlessly respawned worker", "an endless run of respawns"),
        ),
        "memory_leak": (
            ("a memory leak", "a leak in the heap"),
            ("an ever growing resident size", "memory never given back"),
            ("a slowly bloating process", "an accumulation of data in ram"),
        ),
        "deadlock": (
            ("a deadlock", "a deadlock of workers"),
            ("a mutual blocking of executors", "a pair of frozen executors"),
            ("a cyclic monitor ownership", "a ring of stuck handlers"),
        ),
        "slow_query": (
            ("a report query hogging the disk", "a runaway report query"),
            ("an analyst's endless select", "an analyst's unindexed select"),
            ("an in-house dashboard's sql", "a poor piece of dashboard sql"),
        ),
        "lock_contention": (
            ("contention for a row lock", "a pile-up behind row locks"),
            ("a jam of writers on a tuple", "an unfinished change by a writer"),
            ("a fight over records", "a commit left pending"),
        ),
        "cache_thrash": (
            ("a thrashing cache", "constant eviction in a cache"),
            ("a churning memory tier", "a memory tier too small"),
            ("results discarded before reuse", "copies displacing one another"),
        ),
        "stale_cache": (
            ("a stale cache", "an outdated cache entry"),
            ("an expired copy in use", "a purge that left expired copies"),
            ("superseded data for readers", "an obsolete snapshot"),
        ),
        "stuck_replica": (
            ("a stuck replica", "a stop of replication"),
            ("a dead replay process", "a standby that ceased to follow"),
            ("a hung secondary node", "a standstill of the secondary"),
        ),
        "poison_message": (
            ("a poison message", "an undecodable message"),
            ("a malformed item", "a bad item jamming a topic"),
            ("a corrupt record in the stream", "a payload choking the stream"),
        ),
        "saturation": (
            ("demand above capacity", "an overload of all instances"),
            ("an undersized fleet", "a fleet outgrown by its users"),
            ("too little headroom", "more work than was provisioned"),
        ),
        "pool_exhaustion": (
            ("an exhausted connection pool", "a connection pool too small"),
            ("a cap on handles set too low", "a shortage of handles"),
            ("a spent socket allotment", "too small a number of sockets"),
        ),
        "traffic_flood": (
            ("a flood of hostile requests", "a denial of service attack"),
            ("a ddos", "a bombardment with junk"),
            ("a volumetric assault", "a hammering by zombie hosts"),
        ),
        "session_abuse": (
            ("a wave of forged sessions", "a forged session token"),
            ("an intruder with false cookies", "a batch of counterfeit cookies"),
            ("a set of fabricated credentials", "a takeover of identities"),
        ),
        "malicious_query": (
            ("an sql injection", "a dump by injected sql"),
            ("a smuggled query fragment", "a hostile select"),
            ("a theft by crafted search terms", "an intruder's crafted filter"),
        ),
        "compromised_release": (
            ("a compromised release", "malware in a release"),
            ("a backdoor in a build", "a build tampered with"),
            ("a supply chain attack", "an implant in a package"),
        ),
    }
)
