"""Spreading work over processes or machines, or over threads that mostly wait for a server."""

import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from itertools import chain, islice
from multiprocessing import get_context
from multiprocessing.reduction import ForkingPickler
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from typing import Any, Final, Protocol, TypeVar

import attrs

from logtriage._lib.seal import Seal, reduce_with_key
from logtriage.errors import InvalidInput, LogTriageError, SealError

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")
#: At most this many episodes travel to a worker at a time ...
MAX_CHUNK: Final = 16
#: ... and each worker gets at least this many chunks, if there are episodes for them.
CHUNKS: Final = 4
#: At most this many chunks for each worker are handed out and not yet returned.
AHEAD: Final = 16

# A key goes from process to process by a pipe; a pickle of any other kind holds no key.
ForkingPickler.register(Seal, reduce_with_key)


class Workers(Protocol):
    """Workers that process chunks side by side: :class:`Processes`, or a Ray cluster.

    ``str`` describes them for people. Results never depend on the workers.
    """

    @property
    def count(self) -> int:
        """How many chunks are processed at a time."""

    @property
    def hold_keys(self) -> bool:
        """Whether the key of sealed incidents may travel to them."""

    def pool(self) -> AbstractContextManager[Executor]:
        """A context with an executor; if the context ends by an error, pending work is dropped.

        Functions must be picklable. A future raises the error of its function, or
        ``BrokenExecutor`` if its worker died.
        """


@attrs.frozen
class Processes:
    """Processes of this machine, spawned for each pool; a ``count`` of 1 is this process alone."""

    count: int
    hold_keys: bool = attrs.field(default=True, init=False)

    def __str__(self) -> str:
        return f"{self.count} processes" if self.count > 1 else "1 process"

    @contextmanager
    def pool(self) -> Iterator[Executor]:
        """As :meth:`Workers.pool`."""
        # Only the process that gave the work handles an interrupt.
        pool = _Spawned(
            self.count, get_context("spawn"), signal.signal, (signal.SIGINT, signal.SIG_IGN)
        )
        try:
            yield pool
        except BaseException:  # nobody waits for the rest
            for process in list((pool._processes or {}).values()):
                process.terminate()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


class _Spawned(ProcessPoolExecutor):
    """A pool whose processes start as work comes, with interrupts held back."""

    def submit(self, *work: Any, **options: Any) -> Future[Any]:
        with _uninterrupted():
            return super().submit(*work, **options)


def workers_of(jobs: int | Workers, seal: Seal | None = None) -> Workers:
    """The workers that ``jobs`` stands for: a number of processes, or workers as they are.

    Raises:
        InvalidInput: for a number below 1.
        SealError: for workers that may not have the key of ``seal``.
    """
    if not isinstance(jobs, int):
        if seal is not None and not jobs.hold_keys:
            raise SealError(f"seal {seal.fingerprint}: its key stays here, and is not sent to Ray")
        return jobs
    if jobs < 1:
        raise InvalidInput(f"jobs must be at least 1, got {jobs}")
    return Processes(jobs)


def chunk_size(episodes: int, workers: Workers) -> int:
    """How many episodes travel to a worker at a time."""
    # In a single process, each episode is written when it is over.
    jobs = workers.count
    return 1 if jobs == 1 else max(1, min(MAX_CHUNK, episodes // (jobs * CHUNKS)))


def alone(workers: Workers) -> bool:
    """Whether all the work is done in this process."""
    return isinstance(workers, Processes) and workers.count == 1


def in_order(
    function: Callable[[Chunk], Result], chunks: Iterable[Chunk], workers: Workers
) -> Generator[tuple[Chunk, Result], None, None]:
    """Yield (chunk, result) in the order of the chunks; LogTriageError if a worker died.

    Chunks are taken only as they are needed.
    """
    left = iter(chunks)
    first = [] if alone(workers) else list(islice(left, 2))
    if len(first) < 2:  # a single chunk is not worth a worker
        yield from ((chunk, function(chunk)) for chunk in chain(first, left))
        return
    waiting: deque[tuple[Chunk, Future[Result]]] = deque()
    try:
        with workers.pool() as pool:
            most = AHEAD * workers.count
            for chunk in chain(first, left):
                waiting.append((chunk, pool.submit(function, chunk)))
                while waiting and (len(waiting) >= most or waiting[0][1].done()):
                    oldest, future = waiting.popleft()
                    yield oldest, future.result()
            while waiting:
                oldest, future = waiting.popleft()
                yield oldest, future.result()
    except BrokenExecutor as error:
        why = str(error).partition("\n")[0]
        raise LogTriageError(
            f"{workers}: one of them died; what was finished is kept ({why})"
        ) from error


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold an interrupt back until the block ends, also from processes that start meanwhile.

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


def threaded(
    function: Callable[[Chunk], Result],
    keep: Callable[[Chunk, Result], None],
    chunks: Sequence[Chunk],
    threads: int,
) -> Generator[Result, None, None]:
    """Yield the result of each chunk, in the order of the chunks; at most ``threads`` run at once.

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
