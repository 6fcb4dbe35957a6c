"""Work on threads that mostly wait for a server; results in the order of the work."""

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from typing import TypeVar

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")


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
