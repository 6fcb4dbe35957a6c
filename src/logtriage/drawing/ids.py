"""Ids of incidents, ``<task>/<split>/<index>``, and the seed that each stands for.

A task of any world but the default one is named ``<world>:<task>``.
"""

from functools import lru_cache
from typing import Final

import attrs

from logtriage._lib.seal import SEAL_VARIABLE, Seal
from logtriage.errors import InvalidInput, SealError, UnknownName, kind_of
from logtriage.rng import hash_name
from logtriage.tasks import DEFAULT_TASKS, OF_WORLD, UNSEEN_TASKS, TaskSpec, get_task, world_of_id
from logtriage.world.default import default_world
from logtriage.world.drawn import unseen_world, world_number
from logtriage.world.loading import WorldLike
from logtriage.world.model import World

#: The splits whose incidents anybody can draw. Their places are part of seeds, and have two bits.
SPLITS: Final = ("train", "val", "test", "ood")
#: The split whose incidents are drawn with a secret key.
SEALED: Final = "sealed"
ALL_SPLITS: Final = (*SPLITS, SEALED)
#: The number of incidents in one split of one task.
MAX_INDEX: Final = 1 << 48
SEED_BITS: Final = 62
SEED_MASK: Final = (1 << SEED_BITS) - 1
#: Rounds (shift, odd factor) of the bijection from indices to seeds.
SCRAMBLE: Final = ((29, 0x3F58476D1CE4E5B9), (31, 0x14D049BB133111EB), (30, 1))


def check_split(split: str) -> None:
    """Raise UnknownName for an unknown split."""
    if split not in ALL_SPLITS:
        raise UnknownName("split", split, ALL_SPLITS)


def is_sealed(incident_id: object) -> bool:
    """Whether an id has the form of a sealed incident's; False for what is no text."""
    return isinstance(incident_id, str) and incident_id.split("/")[1:-1] == [SEALED]


@attrs.frozen
class IncidentId:
    """A parsed incident id: ``<task>/<split>/<index>``, with the seal of a sealed one."""

    task: TaskSpec
    split: str
    index: int
    seal: Seal | None = None

    def __str__(self) -> str:
        return f"{self.task.id}/{self.split}/{self.index}"

    @property
    def seed(self) -> int:
        """The incident's seed: 62 bits, with the number of the split in the two bits above.

        The 62 bits are a bijection of the index, so no two incidents of a task and split share a
        seed. The seed of a sealed incident is a keyed hash of its id, and wider.

        Raises:
            SealError: for a sealed incident without its seal.
        """
        if self.split == SEALED:
            if self.seal is None:
                raise SealError(
                    f"{self}: sealed, and drawn only with its key; set {SEAL_VARIABLE}, give "
                    "--seal-file PATH on the command line, or in Python make_incident(id, "
                    "seal=Seal(key)), and graders a resolve that does so"
                )
            return self.seal.seed(str(self))
        value = (self.index + task_offset(self.task.id)) & SEED_MASK
        for shift, factor in SCRAMBLE:  # xor-shifts and odd multipliers, as in SplitMix64
            value = ((value ^ (value >> shift)) * factor) & SEED_MASK
        return (SPLITS.index(self.split) << SEED_BITS) | value


@lru_cache(maxsize=64)
def task_offset(task_id: str) -> int:
    """What is added to the indices of a task before they become seeds."""
    return hash_name(task_id) & SEED_MASK


def parse_incident_id(
    text: str, seal: Seal | None = None, world: WorldLike | None = None
) -> IncidentId:
    """Parse ``<task>/<split>/<index>``; ``seal`` is kept for a sealed incident only.

    ``world`` and errors are as of :func:`~logtriage.tasks.get_task`; also raises UnknownName for an
    unknown split, and InvalidInput for a text that is not an id in canonical form.
    """
    parts = str(text).split("/")
    if len(parts) == 2 and parts[1] in ALL_SPLITS:
        get_task(parts[0], world)  # report an unknown task before the missing number
    if len(parts) != 3:
        raise InvalidInput(f"incident id {text!r:.200}: {_part_error(parts)}")
    task = get_task(parts[0], world_of_incident(text, world))
    check_split(parts[1])
    return IncidentId(task, parts[1], index_of(text), seal if parts[1] == SEALED else None)


def world_of_incident(text: str, world: WorldLike | None = None) -> World:
    """The world of an incident (in ``unseen_world``, by its number); raises as ``world_of_id``."""
    if not isinstance(text, str):
        raise InvalidInput(f"expected the id of an incident, a text; got {kind_of(text)}")
    chosen = world_of_id(text, world)
    task, _, place = text.partition("/")
    split = place.partition("/")[0]
    if task not in UNSEEN_TASKS or split not in ALL_SPLITS or place.count("/") != 1:
        return chosen
    own = unseen_world(split, world_number(index_of(text)))
    if chosen not in (own, default_world()):  # the default: no world was given
        raise InvalidInput(
            f"{text!r:.200}: of world {own.name!r}, and the world given here is {chosen.name!r} "
            f"({chosen.fingerprint})"
        )
    return own


def index_of(text: str) -> int:
    """The number at the end of an incident's id; InvalidInput if not canonical, or too large."""
    digits = text.rpartition("/")[2]
    canonical = digits.isascii() and digits.isdigit() and (digits == "0" or digits[0] != "0")
    if not canonical or len(digits) > len(str(MAX_INDEX)) or int(digits) >= MAX_INDEX:
        raise InvalidInput(
            f"incident id {text!r}: index must be a whole number below {MAX_INDEX}, "
            "without sign or leading zeros"
        )
    return int(digits)


def indices(count: int, start: int = 0) -> range:
    """The numbers ``start`` to ``start + count - 1``; InvalidInput if any is out of range."""
    if count < 0:
        raise InvalidInput(f"count: expected 0 or more, got {count}")
    if not 0 <= start <= start + count <= MAX_INDEX:
        raise InvalidInput(f"ids {start} to {start + count - 1}: indices lie in [0, {MAX_INDEX})")
    return range(start, start + count)


def incident_ids(
    task_id: str, split: str, count: int, start: int = 0, *, world: WorldLike | None = None
) -> tuple[str, ...]:
    """The ids ``start`` to ``start + count - 1`` of a split; ``world`` as in ``get_task``.

    Raises:
        UnknownName: if the world, task or split is unknown.
        InvalidInput: for a negative count or start.
    """
    task = get_task(task_id, world)
    check_split(split)
    return tuple(f"{task.id}/{split}/{index}" for index in indices(count, start))


def _part_error(parts: list[str]) -> str:
    """What is wrong with an id that has not three parts, in words."""
    if not is_of_task(parts[0]) or len(parts) > 2:
        return "expected <task>/<split>/<index>"
    missing = "the number is" if len(parts) == 2 else "the split and the number are"
    split = parts[-1] if parts[-1] in ALL_SPLITS else "test"
    return f"{missing} missing; expected {parts[0]}/{split}/0, for example"


def is_of_task(incident_id: str) -> bool:
    """Whether an id begins with the id of a task, or with the name of any world."""
    task = incident_id.partition("/")[0]
    return OF_WORLD in task or task in DEFAULT_TASKS or task in UNSEEN_TASKS
