"""The version of recorded tasks: how a recording is shown, whatever bundle it is in.

It changes when the same record is shown, or played, in another way; the format of
bundles has its own (:data:`logtriage.recorded.records.SCHEMA`).
"""

from typing import Final

#: The version of tasks of recorded incidents.
VERSION: Final = 4
#: Why each version was made, the first one first.
HISTORY: Final = (
    "v1: log windows, figures of an inspected service, health and alerts",
    "v2: signals of every service beside their usual values, so that a policy can rank all "
    "candidates by what it sees; time in the service itself; rates of partly recorded minutes "
    "over what was recorded; kinds of line told apart before messages are cut",
    "v3: what is not known is said to be unknown, and what is old to be old; only calls that were "
    "seen; no status words; new lines are marked and come first; where a service has no usual "
    "value that of the others stands in; any metric is a signal; requested figures tell their "
    "spread; a prompt of its own",
    "v4: nobody recorded who owns what, so there is one team, unknown; a price of hand-over is on "
    "the screen",
)


def task_id(name: str) -> str:
    """The id of a recorded task, such as ``recorded_trainticket-v4``."""
    return f"{name}-v{VERSION}"
