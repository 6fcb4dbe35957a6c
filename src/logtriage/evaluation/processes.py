"""Work spread over processes, with results in the order of the work."""

import signal
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from multiprocessing.reduction import ForkingPickler
from typing import Final, TypeVar

from logtriage._lib.seal import Seal, reduce_with_key
from logtriage.errors import LogTriageError

#: At most this many episodes travel to a process at a time ...
MAX_CHUNK: Final = 16
#: ... and this many chunks for each process are on their way.
AHEAD: Final = 4

# From process to process, by a pipe; a pickle of any other kind holds no key.
ForkingPickler.register(Seal, reduce_with_key)

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")


def chunk_size(episodes: int, jobs: int) -> int:
    """How many episodes travel to a process at a time."""
    # Alone, each episode is written when it is over; others share the work in small shares.
    return 1 if jobs == 1 else max(1, min(MAX_CHUNK, episodes // (jobs * AHEAD)))


def in_order(
    function: Callable[[Chunk], Result], chunks: Sequence[Chunk], jobs: int
) -> Generator[tuple[Chunk, Result], None, None]:
    """Each chunk with its result, in the order of the chunks, over at most ``jobs`` processes."""
    jobs = min(jobs, len(chunks))
    if jobs <= 1:
        return ((chunk, function(chunk)) for chunk in chunks)
    return _spread(function, chunks, jobs)


def _spread(
    function: Callable[[Chunk], Result], chunks: Sequence[Chunk], jobs: int
) -> Generator[tuple[Chunk, Result], None, None]:
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_be_quiet)
    waiting: deque[tuple[Chunk, Future[Result]]] = deque()
    try:
        for chunk in chunks:
            waiting.append((chunk, pool.submit(function, chunk)))
            if len(waiting) >= jobs * AHEAD:
                first, future = waiting.popleft()
                yield first, future.result()
        while waiting:
            first, future = waiting.popleft()
            yield first, future.result()
    except BrokenProcessPool as error:
        raise LogTriageError(
            "a process that played episodes died; what was finished is kept"
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _be_quiet() -> None:
    """Leave an interrupt to the process that gave the work."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
