"""What log lines say: the texts of every log token, in three groups of phrasings.

Splits ``train`` and ``val`` share a group, ``test`` and ``ood`` have one each. Groups
share few telling words, so that a reader must understand a line to know its token. The
token can be told from the text alone; a text of a token that several causes share hints
at none of them, and makes sense in every tier of its token.

Placeholders: ``{n}`` a small number, ``{ms}`` milliseconds, ``{pct}`` a percentage,
``{mb}`` megabytes: figures that say nothing, whatever their size. ``{v}`` a release or
revision, ``{dep}`` the service that is called, ``{cause}`` a noun phrase of
:data:`logtriage.world.causes.CAUSES`.
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
