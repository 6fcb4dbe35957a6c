"""Run work on Ray instead of processes: on a cluster, or on a Ray started on this machine.

Needs the extra ``ray``. Every machine needs the same version of logtriage, and the files that the
work names under the same path. A task whose worker is killed is tried again by Ray.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager, suppress
from typing import Any, Final, Self

from logtriage import __version__
from logtriage.errors import InvalidInput, LogTriageError, MissingExtra

try:
    import ray
    from ray.exceptions import RayError, RayTaskError
except ModuleNotFoundError as error:
    if error.name != "ray":
        raise
    raise MissingExtra("--ray", "ray") from None

#: The address that starts a Ray on this machine.
LOCAL: Final = "local"
#: How often a task is tried again after its worker was killed.
RETRIES: Final = 3


class RayWorkers:
    """Workers of Ray, used like :class:`logtriage.evaluation.parallel.Workers`.

    If this process uses a Ray already, that is used, whatever the address, and never stopped.

    Args:
        address: ``local``, or that of a cluster, such as ``auto`` or ``ray://head:10001``.
        count: how many workers ``local`` has, a core each; by default as many as there are cores.

    Raises:
        InvalidInput: for a count below 1, or one beside the address of a cluster.
        LogTriageError: if no cluster answers at the address.
    """

    hold_keys: Final = False  # of sealed incidents: they stay on this machine

    def __init__(self, address: str = LOCAL, count: int | None = None) -> None:
        if count is not None and address != LOCAL:
            raise InvalidInput(f"jobs {count}: the cluster {address} has its own workers")
        if count is not None and count < 1:
            raise InvalidInput(f"jobs must be at least 1, got {count}")
        self._address, self._own = address, not ray.is_initialized()
        if not self._own:
            return
        local_options: dict[str, Any] = {"num_cpus": count, "include_dashboard": False}
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray reports what it starts
        try:
            ray.init(
                address,
                log_to_driver=False,
                logging_level="error",
                **(local_options if address == LOCAL else {}),
            )
        except Exception as error:  # Ray raises a bare one when it does not come up in time
            raise LogTriageError(f"Ray at {address}: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._own:
            ray.shutdown()

    @property
    def count(self) -> int:
        """The cores of the cluster now; each works on one chunk."""
        return max(1, int(ray.cluster_resources().get("CPU", 1)))

    def __str__(self) -> str:
        machines = sum(node["Alive"] for node in ray.nodes())
        place = "" if self._address == LOCAL else f" on {machines} machines"
        return f"{self.count} workers of Ray{place}"

    @contextmanager
    def pool(self) -> Iterator[Executor]:
        """An executor on Ray, as :meth:`logtriage.evaluation.parallel.Workers.pool` has one."""
        pool = _Tasks()
        try:
            yield pool
        finally:
            pool.cancel()


class _Tasks(Executor):
    """Ray's tasks as an executor."""

    def __init__(self) -> None:
        self._left: dict[Future[Any], ray.ObjectRef[Any]] = {}
        self._run = ray.remote(num_cpus=1, max_retries=RETRIES)(_run)

    def submit(self, function: Callable[..., Any], /, *work: Any, **options: Any) -> Future[Any]:
        """Run one call as a task of Ray."""
        future: Future[Any] = Future()
        self._left[future] = ref = self._run.remote(__version__, function, work, options)

        def over(done: Future[Any]) -> None:
            self._left.pop(future, None)
            error = done.exception()
            if error is None:
                future.set_result(done.result())
            else:
                future.set_exception(_raised_error(error))

        ref.future().add_done_callback(over)
        return future

    def cancel(self) -> None:
        """Cancel all tasks that are not done."""
        for ref in list(self._left.values()):
            with suppress(RayError):  # it may be over by now
                ray.cancel(ref, force=True)


def _raised_error(error: BaseException) -> BaseException:
    """What a future raises for an error of Ray: that of the function, or BrokenExecutor."""
    if isinstance(error, RayTaskError):
        return error.cause if isinstance(error.cause, BaseException) else error
    return BrokenExecutor(str(error)) if isinstance(error, RayError) else error


def _run(version: str, function: Callable[..., Any], work: Any, options: Any) -> Any:
    """One call on a worker, which must have the same version of the package."""
    if version != __version__:
        raise LogTriageError(f"a worker of Ray has logtriage {__version__}, expected {version}")
    return function(*work, **options)
