"""What log lines say: the texts of every log token, in three groups of phrasings.

Splits ``train`` and ``val`` share a group, ``test`` and ``ood`` have one each. Groups
share few telling words, so that a reader must understand a line to know its token. The
token can be told from the text alone; a text of a token that several causes share hints
at none of them, and makes sense in every tier of its token.

Placeholders: ``{n}`` a small number, ``{ms}`` milliseconds, ``{pct}`` a percentage,
``{mb}`` megabytes: figures that say nothing, whatever their size. ``{v}`` a release or
revision, ``{dep}`` the service that is called, ``{cause}`` a noun phrase of
:data:`CAUSES`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

#: Level and text.
Phrase = tuple[str, str]

#: The groups of phrasings, in the order of every row below.
GROUPS: Final = ("train", "test", "ood")

#: By log token: what is said of it.
LOGS: Final[Mapping[str, tuple[tuple[Phrase, ...], ...]]] = MappingProxyType(
    {
        "queueing": (
            (
                ("WARN", "request waited {ms} ms for a free worker"),
                ("WARN", "all workers busy, request held back {ms} ms"),
                ("INFO", "worker_wait={ms}ms before the request was picked up"),
                ("WARN", "no idle worker thread, {n} requests in line"),
            ),
            (
                ("WARN", "executor slots all taken, incoming call parked {ms} ms"),
                ("INFO", "dispatch delayed {ms} ms, handlers occupied"),
            ),
            (
                ("WARN", "concurrency limit met, {n} arrivals not begun yet"),
                ("INFO", "accepted, but processing deferred {ms} ms: in-flight limit"),
            ),
        ),
        "no_connection": (
            (
                ("WARN", "waited {ms} ms for a connection from the pool"),
                ("WARN", "no idle connection in the pool, {n} borrowers waiting"),
                ("ERROR", "could not borrow a connection from the pool within {ms} ms"),
                ("INFO", "pool.acquire={ms}ms, connections all in use"),
            ),
            (
                ("WARN", "conn checkout blocked {ms} ms, none returned yet"),
                ("ERROR", "every conn is lent out, checkout refused"),
            ),
            (
                ("WARN", "keep-alive sockets all engaged, lease granted after {ms} ms"),
                ("WARN", "lease of an open socket denied, {n} in front of us"),
            ),
        ),
        "slow_reads": (
            (
                ("WARN", "slow statement: {ms} ms, most of it reading from disk"),
                ("WARN", "statement took {ms} ms and read {mb} MB from disk"),
                ("INFO", "duration={ms}ms disk_read={mb}MB for one statement"),
                ("WARN", "long statement, {n}k pages read from disk"),
            ),
            (
                ("WARN", "query pulled {mb} MB off storage, elapsed {ms} ms"),
                ("WARN", "whole table scanned off storage by a query, elapsed {ms} ms"),
            ),
            (
                ("WARN", "sql call dragged on, {mb} MB of blocks brought in from the volume"),
                ("INFO", "heavy block i/o under a single sql call, {ms} ms"),
            ),
        ),
        "lock_wait": (
            (
                ("WARN", "statement waited {ms} ms for a row lock"),
                ("WARN", "lock wait: transaction {n} is behind another one"),
                ("INFO", "lock_wait={ms}ms mode=exclusive"),
                ("WARN", "update held up {ms} ms by a lock of another transaction"),
            ),
            (
                ("WARN", "blocked {ms} ms: same tuple in use by a different writer"),
                ("INFO", "writer resumed after {ms} ms, tuple was taken"),
            ),
            (
                ("WARN", "uncommitted change elsewhere, this insert stood still {ms} ms"),
                ("INFO", "exclusive claim on a record granted after {ms} ms"),
            ),
        ),
        "unknown_client": (
            (
                ("WARN", "client with a user agent not seen before calls in an unusual order"),
                ("WARN", "client key first used today asks for rarely used operations"),
                ("WARN", "unknown client c-{n}: unusual mix of operations"),
                ("INFO", "client address not on record, unusual choice of options"),
            ),
            (
                ("WARN", "unrecognised sdk string, uncommon sequence of commands"),
                ("INFO", "caller fingerprint is new here, its calls are out of the ordinary"),
            ),
            (
                ("WARN", "peer without history, usage pattern unlike the rest"),
                ("INFO", "unfamiliar peer p-{n}, asks for things no other peer does"),
            ),
        ),
        "exceptions": (
            (
                ("ERROR", "unhandled exception while serving a request"),
                ("ERROR", "request failed: internal error, ref {n}"),
                ("ERROR", "exception in request handler, stack trace follows"),
                ("ERROR", "{n} requests ended with an internal error"),
            ),
            (
                ("ERROR", "uncaught throwable, operation aborted"),
                ("ERROR", "status=fault on {n} operations, backtrace written"),
            ),
            (
                ("ERROR", "call blew up half-way, caller got a generic failure"),
                ("ERROR", "generic server-side failure sent back, see the dump"),
            ),
        ),
        "restarted": (
            (
                ("INFO", "process started, ready after {ms} ms"),
                ("WARN", "process was restarted, uptime {n} s"),
                ("INFO", "startup complete, accepting requests"),
                ("INFO", "started again as pid {n}"),
            ),
            (
                ("INFO", "boot sequence finished in {ms} ms"),
                ("WARN", "instance came back up {n} s ago"),
            ),
            (
                ("INFO", "initialised anew, listening once more"),
                ("INFO", "bring-up done, state read in {ms} ms"),
            ),
        ),
        "long_pause": (
            (
                ("WARN", "gc pause of {ms} ms"),
                ("WARN", "stop-the-world pause, {ms} ms"),
                ("WARN", "garbage collection stopped all threads for {ms} ms"),
                ("INFO", "gc type=full pause={ms}ms"),
            ),
            (
                ("WARN", "runtime froze {ms} ms to reclaim memory"),
                ("WARN", "everything halted at a safepoint for {ms} ms, memory pressure"),
            ),
            (
                ("WARN", "heap collector took over, application stood still {ms} ms"),
                ("WARN", "allocation stalled {ms} ms while the heap was tidied"),
            ),
        ),
        "misses": (
            (
                ("INFO", "cache miss, entry loaded from the origin in {ms} ms"),
                ("WARN", "low cache hit ratio, entries loaded from the origin"),
                ("INFO", "key not in cache, filled in {ms} ms"),
                ("WARN", "{n} cache or buffer misses in a row"),
            ),
            (
                ("INFO", "lookup found nothing kept locally, fetched in {ms} ms"),
                ("WARN", "in-memory copy absent for {n} lookups, went to the source"),
            ),
            (
                ("WARN", "few answers come out of memory, most are derived afresh"),
                ("INFO", "memoised result absent, derived afresh in {ms} ms"),
            ),
        ),
        "mismatch": (
            (
                ("ERROR", "checksum differs from the one expected"),
                ("WARN", "value read is not the expected one, {n} fields differ"),
                ("ERROR", "schema check failed: field {n} not as expected"),
                ("WARN", "expected version {v}, found another one"),
            ),
            (
                ("ERROR", "digest disagrees with its reference"),
                ("WARN", "inconsistent content, hash is not what the reference says"),
            ),
            (
                ("WARN", "sanity comparison came out unequal"),
                ("ERROR", "contents contradict their contract in {n} places"),
            ),
        ),
        "lag": (
            (
                ("WARN", "replica is {n} s behind the primary"),
                ("WARN", "replication lag {ms} ms"),
                ("INFO", "replica lag: {mb} MB of log left to apply"),
                ("WARN", "reads from the replica are {n} s behind"),
            ),
            (
                ("WARN", "standby trails the leader by {mb} MB"),
                ("WARN", "follower not caught up with the leader, {n} s to go"),
            ),
            (
                ("WARN", "secondary node late by {n} s in log shipping"),
                ("INFO", "wal receiver {mb} MB short of the sender's position"),
            ),
        ),
        "redelivery": (
            (
                ("WARN", "message m-{n} delivered again"),
                ("WARN", "redelivery: no acknowledgement for message m-{n}"),
                ("INFO", "redelivered=true consumer=c-{n}"),
                ("WARN", "message went back to the queue and was delivered again"),
            ),
            (
                ("WARN", "no ack in {ms} ms, item handed out once more"),
                ("INFO", "item back on the topic after a nack"),
            ),
            (
                ("WARN", "visibility expired, same record offered anew"),
                ("WARN", "record offered a second time, receiver never confirmed it"),
            ),
        ),
        "new_version": (
            (
                ("INFO", "running {v} since the last rollout"),
                ("INFO", "active revision {v}, rolled out some time ago"),
                ("INFO", "revision {v} in effect on all instances"),
                ("INFO", "rollout of {v} is complete"),
            ),
            (
                ("INFO", "change {v} has been live for a while"),
                ("INFO", "live with {v}, the former one is retired"),
            ),
            (
                ("INFO", "switched over to {v} earlier, now the default"),
                ("INFO", "this node adopted {v} a while back"),
            ),
        ),
        "odd_login": (
            (
                ("WARN", "login from a country not usual for this account"),
                ("WARN", "session opened from an unusual place"),
                ("INFO", "login of account a-{n} from an unusual network"),
                ("WARN", "account a-{n} logged in from two distant places"),
            ),
            (
                ("WARN", "sign-in from afar, this user is normally local"),
                ("INFO", "sign-in location does not fit the user's habits"),
            ),
            (
                ("WARN", "authenticated from somewhere this identity never was"),
                ("INFO", "identity i-{n} surfaced on another continent, password correct"),
            ),
        ),
        "cpu_starved": (
            (
                ("WARN", "thread waited {ms} ms for cpu"),
                ("WARN", "cpu throttled for {n} periods"),
                ("WARN", "{n} threads runnable, no cpu for {ms} ms"),
                ("INFO", "cpu_wait={ms}ms throttled=true"),
            ),
            (
                ("WARN", "cgroup quota used up, tasks idle until the next slice"),
                ("WARN", "processor oversubscribed, timer fired {ms} ms late"),
            ),
            (
                ("WARN", "ready to run, yet kept off the cores for {ms} ms"),
                ("WARN", "kernel gave us no turn on any of the cores for {ms} ms"),
            ),
        ),
        "busy_job": (
            (
                ("INFO", "scheduled job running, {pct}% done"),
                ("INFO", "planned job j-{n} still in progress"),
                ("WARN", "job from the schedule active, ends by itself"),
                ("INFO", "maintenance calendar: job at {pct}%"),
            ),
            (
                ("INFO", "routine task under way, step {n}"),
                ("WARN", "timetabled task under way, finishes unattended"),
            ),
            (
                ("INFO", "announced activity ongoing, {pct}% through"),
                ("INFO", "activity from the ops diary ongoing, stops on its own"),
            ),
        ),
        "old_cause": (
            (
                ("INFO", "yesterday's ticket closed: {cause}"),
                ("INFO", "last week's incident was {cause}, fixed"),
                ("INFO", "postmortem filed: {cause}, fixed last month"),
                ("INFO", "fix of last night holds: {cause} is gone"),
            ),
            (
                ("INFO", "earlier episode put to rest: {cause}"),
                ("INFO", "{cause} three days ago, resolved"),
            ),
            (
                ("INFO", "archived since spring: {cause}"),
                ("INFO", "lesson from the previous quarter: {cause}"),
            ),
        ),
    }
)

#: ``timeout``: a call to a dependency failed, timed out or was slow.
TIMEOUT: Final[tuple[tuple[Phrase, ...], ...]] = (
    (
        ("ERROR", "call to {dep} timed out after {ms} ms"),
        ("WARN", "call to {dep} slow: {ms} ms"),
        ("ERROR", "call to {dep} failed, {n} retries used"),
        ("WARN", "circuit open for {dep} after failed calls"),
    ),
    (
        ("ERROR", "no answer from {dep} within {ms} ms"),
        ("WARN", "{dep} unavailable, gave up at attempt {n}"),
    ),
    (
        ("ERROR", "still nothing back from {dep}, deadline passed"),
        ("WARN", "{dep} responds sluggishly or not at all"),
    ),
)

#: By tier: what is said where there is nothing to say.
EVERYDAY: Final[Mapping[str, tuple[tuple[Phrase, ...], ...]]] = MappingProxyType(
    {
        "edge": (
            (
                ("INFO", "200 /v1/items in {ms} ms"),
                ("INFO", "304 /static/app.css"),
                ("INFO", "load balancer probe answered with 200"),
                ("INFO", "tls handshake resumed with {n} peers"),
                ("INFO", "access log rotated at {mb} MB"),
                ("INFO", "http/2 stream {n} closed by the browser"),
                ("INFO", "certificate chain verified, {n} weeks left"),
                ("INFO", "{n} visitors redirected from http to https"),
                ("INFO", "cors preflight answered"),
                ("WARN", "deprecated request header, still accepted"),
                ("WARN", "response of {mb} MB sent uncompressed"),
                ("ERROR", "request refused with 400: malformed json"),
            ),
            (
                ("INFO", "gzip saved {pct}% on /v1/catalog"),
                ("INFO", "websocket closed normally, code 1000"),
                ("INFO", "route table printed, {n} entries"),
                ("INFO", "favicon served {n} times"),
                ("WARN", "trailing slash in a path corrected"),
                ("ERROR", "405 on /v1/items: no such method"),
            ),
            (
                ("INFO", "etag matched, body not sent"),
                ("INFO", "ocsp staple renewed"),
                ("INFO", "brotli chosen for {pct}% of the bodies"),
                ("INFO", "byte counters handed to the collector"),
                ("WARN", "cookie of {n} kB accepted, header nearly full"),
                ("ERROR", "413 for an upload of {mb} MB, over the agreed size"),
            ),
        ),
        "service": (
            (
                ("INFO", "request answered in {ms} ms"),
                ("INFO", "liveness probe answered"),
                ("INFO", "metrics pushed, {n} series"),
                ("INFO", "trace kept by the sampler, rate {pct}%"),
                ("INFO", "audit record written"),
                ("INFO", "page {n} of a listing returned"),
                ("INFO", "event ev-{n} published"),
                ("INFO", "text catalogue read, {n} languages"),
                ("INFO", "log file rotated at {mb} MB"),
                ("WARN", "deprecated field in a request, ignored"),
                ("WARN", "clock corrected by {ms} ms"),
                ("ERROR", "input refused: amount is not a number"),
            ),
            (
                ("INFO", "openapi document served"),
                ("INFO", "item {n} created for a customer"),
                ("INFO", "retention rule applied, {n} entries kept"),
                ("INFO", "usage counters summed up"),
                ("WARN", "time zone absent in a form, utc assumed"),
                ("ERROR", "form rejected: e-mail lacks an at sign"),
            ),
            (
                ("INFO", "telemetry snapshot shipped, {mb} MB"),
                ("INFO", "heartbeat sent to the registry"),
                ("INFO", "{n} spans exported"),
                ("INFO", "amounts rounded to {n} decimals"),
                ("WARN", "optional picture left out, over {mb} MB"),
                ("ERROR", "customer input declined: no such date in the calendar"),
            ),
        ),
        "datastore": (
            (
                ("INFO", "checkpoint complete, {n} segments written"),
                ("INFO", "client disconnected normally"),
                ("INFO", "statistics of table t_{n} refreshed"),
                ("INFO", "wal segment archived, {mb} MB"),
                ("INFO", "server log rotated at {mb} MB"),
                ("INFO", "dead tuples removed from table t_{n}"),
                ("INFO", "{n} prepared statements deallocated"),
                ("INFO", "temporary file removed, {mb} MB"),
                ("WARN", "index i_{n} is unused"),
                ("WARN", "table t_{n} has no primary key"),
                ("WARN", "data directory {pct}% full"),
                ("ERROR", "duplicate key refused, row already present"),
            ),
            (
                ("INFO", "sequence s_{n} advanced"),
                ("INFO", "tablespace ts_{n} grew by {mb} MB"),
                ("INFO", "transaction log segment {n} recycled"),
                ("INFO", "cursor closed by its client"),
                ("WARN", "column c_{n} has few distinct values"),
                ("ERROR", "foreign key refused a delete"),
            ),
            (
                ("INFO", "free space map updated"),
                ("INFO", "histogram of t_{n} recalculated"),
                ("INFO", "partition p_{n} attached"),
                ("INFO", "savepoint released"),
                ("WARN", "implicit cast in a where clause"),
                ("ERROR", "check constraint turned down an update"),
            ),
        ),
        "queue": (
            (
                ("INFO", "message published to topic t_{n}"),
                ("INFO", "consumer group g_{n} committed its offset"),
                ("INFO", "segment rolled at {mb} MB"),
                ("INFO", "{n} messages acknowledged"),
                ("INFO", "retention removed {n} old segments"),
                ("INFO", "topic list sent to a client"),
                ("INFO", "producer p_{n} disconnected normally"),
                ("INFO", "heartbeat of consumer c_{n} received"),
                ("INFO", "metrics scraped in {ms} ms"),
                ("WARN", "topic t_{n} has no description"),
                ("WARN", "consumer c_{n} uses a deprecated command"),
                ("ERROR", "publish refused: topic name not valid"),
            ),
            (
                ("INFO", "topic index flushed, {mb} MB"),
                ("INFO", "offsets of group g_{n} saved"),
                ("INFO", "binding b_{n} added to an exchange"),
                ("INFO", "subscription s_{n} ended by its owner"),
                ("WARN", "header h_{n} is not utf-8, kept as it is"),
                ("ERROR", "publish refused: body over the size limit"),
            ),
            (
                ("INFO", "journal file {n} sealed"),
                ("INFO", "watermark moved on"),
                ("INFO", "{n} records compressed to {pct}%"),
                ("INFO", "topic tree printed, {n} nodes"),
                ("WARN", "producer sends without a content type"),
                ("ERROR", "routing key with spaces turned down"),
            ),
        ),
    }
)

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
