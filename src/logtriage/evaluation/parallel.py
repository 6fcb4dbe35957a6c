"""Work spread over processes, or over threads that mostly wait for a server."""

import signal
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.reduction import ForkingPickler
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from typing import Final, TypeVar

from logtriage._lib.seal import Seal, reduce_with_key
from logtriage.errors import LogTriageError

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")
#: At most this many episodes travel to a process at a time ...
MAX_CHUNK: Final = 16
#: ... and each process gets at least so many chunks, if there are episodes for them.
CHUNKS: Final = 4

# From process to process, by a pipe; a pickle of any other kind holds no key.
ForkingPickler.register(Seal, reduce_with_key)


def chunk_size(episodes: int, jobs: int) -> int:
    """How many episodes travel to a process at a time."""
    # Alone, each episode is written when it is over; others share the work in small shares.
    return 1 if jobs == 1 else max(1, min(MAX_CHUNK, episodes // (jobs * CHUNKS)))


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
    done = False
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_be_quiet)
    try:
        with _uninterrupted():  # the processes are started here, and inherit it
            results = pool.map(function, chunks)
        yield from zip(chunks, results, strict=True)
        done = True
    except BrokenProcessPool as error:
        raise LogTriageError(
            "a process that played episodes died; what was finished is kept"
        ) from error
    finally:
        if not done:  # nobody waits for the rest
            for process in list((pool._processes or {}).values()):
                process.terminate()
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold an interrupt back until the end, also from processes that are started meanwhile.

    Such a process ignores interrupts only once it has imported what it needs.
    """
    held: list[int] = []
    in_main = threading.current_thread() is threading.main_thread()  # others get no interrupts
    handler = signal.signal(signal.SIGINT, lambda *_: held.append(1)) if in_main else None
    masks = hasattr(signal, "pthread_sigmask")  # not on Windows
    # A new process inherits the mask of this thread, but no handler.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if masks else None
    try:
        yield
    finally:
        if before is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if in_main:
            signal.signal(signal.SIGINT, handler or signal.SIG_DFL)
    if held:
        raise KeyboardInterrupt


def _be_quiet() -> None:
    """Leave an interrupt to the process that gave the work."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def threaded(
    function: Callable[[Chunk], Result],
    keep: Callable[[Chunk, Result], None],
    chunks: Sequence[Chunk],
    threads: int,
) -> Generator[Result, None, None]:
    """The result of each chunk, in the order of the chunks, on at most this many threads.

    Each result is first passed to ``keep``, one at a time, as soon as it is there. Once the
    generator is closed nothing more is kept, no thread begins another chunk, and nobody waits for
    running chunks: an interrupt must not hang on a server that does not answer.
    """
    waiting: SimpleQueue[tuple[Chunk, Future[Result]]] = SimpleQueue()
    results: list[tuple[Chunk, Future[Result]]] = [(chunk, Future()) for chunk in chunks]
    for pair in results:
        waiting.put(pair)
    stop, keeping = Event(), Lock()

    def work() -> None:
        while not stop.is_set():
            try:
                chunk, future = waiting.get_nowait()
            except Empty:
                return
            try:
                result = function(chunk)
                with keeping:
                    if not stop.is_set():
                        keep(chunk, result)
                future.set_result(result)
            except BaseException as error:  # raised when the result is read
                future.set_exception(error)

    for _ in range(min(threads, len(results))):
        Thread(target=work, daemon=True).start()
    try:
        for _, future in results:
            yield future.result()
    finally:
        with keeping:
            stop.set()
