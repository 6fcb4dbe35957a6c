"""What must hold between the parts of a world, beyond the schema of each file.

Checks run in stages, since later ones rely on what earlier ones ensure.
"""

from collections.abc import Callable, Iterator
from typing import Final

from logtriage.world.checking.names import name_problems
from logtriage.world.checking.play import layout_problems, severity_problems, task_problems
from logtriage.world.checking.problem import Problem
from logtriage.world.checking.references import reference_problems
from logtriage.world.checking.signatures import signature_problems
from logtriage.world.checking.texts import text_problems
from logtriage.world.model import World

_STAGES: Final[tuple[Callable[[World], Iterator[Problem]], ...]] = (
    name_problems,
    reference_problems,
    severity_problems,
    text_problems,
    signature_problems,
    layout_problems,
    task_problems,
)


def problems(world: World) -> Iterator[Problem]:
    """The mistakes in a world, up to the first stage that finds any."""
    for stage in _STAGES:
        wrong = stage(world)
        first = next(wrong, None)
        if first is not None:
            yield first
            yield from wrong
            return
