"""Work on threads that mostly wait for a server; results in the order of the work."""

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import TypeVar

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")


def threaded(
    function: Callable[[Chunk], Result], chunks: Sequence[Chunk], threads: int
) -> Generator[tuple[Chunk, Result], None, None]:
    """Each chunk with its result, in the order of the chunks, on at most this many threads.

    Once the generator is closed, no thread begins another chunk, and nobody waits for running
    chunks: an interrupt must not hang on a server that does not answer.
    """
    waiting: SimpleQueue[tuple[Chunk, Future[Result]]] = SimpleQueue()
    results: list[tuple[Chunk, Future[Result]]] = [(chunk, Future()) for chunk in chunks]
    for pair in results:
        waiting.put(pair)
    stop = Event()

    def work() -> None:
        while not stop.is_set():
            try:
                chunk, future = waiting.get_nowait()
            except Empty:
                return
            try:
                future.set_result(function(chunk))
            except BaseException as error:  # raised when the result is read
                future.set_exception(error)

    for _ in range(min(threads, len(results))):
        Thread(target=work, daemon=True).start()
    try:
        for chunk, future in results:
            yield chunk, future.result()
    finally:
        stop.set()
