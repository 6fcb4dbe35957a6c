"""Which episodes a server offers, and how clients name them.

An episode is named by its incident id, or by task, split and index. In a split without
a task, the tasks on offer take turns: index ``i`` is number ``i // n`` of task ``i % n``.
"""

import secrets
from collections.abc import Mapping
from typing import Any, Final

import attrs

from logtriage._lib.seal import Seal
from logtriage.drawing.ids import (
    ALL_SPLITS,
    MAX_INDEX,
    SEALED,
    SPLITS,
    check_split,
    parse_incident_id,
)
from logtriage.errors import InvalidInput, SealError, UnknownName
from logtriage.server.messages import check_fields
from logtriage.tasks import get_task
from logtriage.world.default import default_world
from logtriage.world.model import World

#: The most task specs in one answer.
MAX_LISTED: Final = 1_000
DEFAULT_SPLIT: Final = "train"
#: The splits by the kinds that the OpenEnv protocol knows.
_KINDS: Final = {
    "train": "train",
    "val": "validation",
    "test": "test",
    "ood": "test",
    SEALED: "test",
}
#: The fields that name an episode.
EPISODE_FIELDS: Final = ("incident", "task", "split", "index", "seed", "world")


def whole_number(name: str, value: Any, below: int) -> int:
    """``value`` as an index.

    Raises:
        InvalidInput: naming the field.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < below:
        shown = value if isinstance(value, int) and abs(value) < 1 << 64 else type(value).__name__
        raise InvalidInput(f"{name}: expected a whole number in [0, {below}), got {shown!r}")
    return value


def text_field(name: str, value: Any, longest: int = 200) -> str:
    """``value`` as a string of bounded length.

    Raises:
        InvalidInput: naming the field.
    """
    if not isinstance(value, str):
        raise InvalidInput(f"{name}: expected a string, got {type(value).__name__}")
    if len(value) > longest:
        raise InvalidInput(f"{name}: {len(value)} characters; at most {longest} are read")
    return value


def flag(name: str, value: Any) -> bool:
    """``value`` as true or false.

    Raises:
        InvalidInput: naming the field.
    """
    if not isinstance(value, bool):
        raise InvalidInput(f"{name}: expected true or false, got {type(value).__name__}")
    return value


@attrs.frozen
class Catalogue:
    """The ``tasks`` of one ``world``, which take turns for clients that name no task.

    With a ``seal``, split ``sealed`` is offered too. There, only tasks that can be sealed take
    turns.
    """

    tasks: tuple[str, ...]
    seal: Seal | None = None
    world: World = attrs.field(factory=default_world)

    def incident_id(self, named: Mapping[str, Any]) -> str:
        """The incident that a client asks for; with no field, any incident of split train.

        ``seed`` is another name for ``index``, since OpenEnv clients send one. ``world`` is the
        fingerprint of the world that the client expects. What is fields and cannot be used is
        refused rather than ignored.

        Raises:
            UnknownName: for an unknown task or split.
            InvalidInput: naming the field and what was expected, for another world both.
            SealError: for split ``sealed`` of a server without a key.
        """
        fields = {name: value for name, value in named.items() if value is not None}
        check_fields(fields, EPISODE_FIELDS)
        self._check_world(fields.pop("world", self.world.fingerprint))
        if "incident" in fields:
            if len(fields) > 1:
                other = next(name for name in fields if name != "incident")
                raise InvalidInput(f"{other}: an incident is named already; give one or the other")
            parsed = parse_incident_id(text_field("incident", fields["incident"]), world=self.world)
            self._check_offered(parsed.split)
            return str(parsed)
        split = text_field("split", fields.get("split", DEFAULT_SPLIT))
        task = None
        if "task" in fields:
            task = get_task(text_field("task", fields["task"]), self.world).id
            check_split(split)
        self._check_offered(split)
        if "index" in fields and fields.get("seed", fields["index"]) != fields["index"]:
            raise InvalidInput("seed: differs from index, for which it is another name")
        name = "index" if "index" in fields else "seed"
        size = self.size(task)
        index = (
            whole_number(name, fields[name], size) if name in fields else secrets.randbelow(size)
        )
        return self._numbered(task, split, index)

    def size(self, task: str | None = None) -> int:
        """How many incidents each split has, of one task or of all."""
        return MAX_INDEX * (1 if task else len(self.tasks))

    def _numbered(self, task: str | None, split: str, index: int) -> str:
        if task is None:
            index, turn = divmod(index, len(self.tasks))
            task = self.tasks[turn]
        return f"{task}/{split}/{index}"

    def _check_world(self, expected: object) -> None:
        if expected != self.world.fingerprint:
            raise InvalidInput(
                f"world: expected {expected!r:.80}; this server plays {self.world.name!r} "
                f"({self.world.fingerprint})"
            )

    def _check_offered(self, split: str) -> None:
        if split not in ALL_SPLITS:
            raise UnknownName("split", split, [offered["name"] for offered in self.splits()])
        if split == SEALED and self.seal is None:
            raise SealError(f"split {SEALED!r} is not on offer: this server has no key for it")

    # -- task discovery, as OpenEnv's TaskProvider has it ------------------------

    def splits(self) -> list[dict[str, str]]:
        """Every split with its kind."""
        offered = SPLITS if self.seal is None else ALL_SPLITS
        return [{"name": name, "type": _KINDS[name]} for name in offered]

    def spec(self, split: str, index: int) -> dict[str, Any]:
        """A task spec: the fields of its reset, and its public facts.

        The spec of a sealed incident has the fingerprint of its ``seal``.

        Raises:
            IndexError: for an index that the split does not have.
            UnknownName: for an unknown split.
        """
        self._check_offered(split)
        if not 0 <= index < self.size():
            raise IndexError(index)
        incident = self.incident_id({"split": split, "index": index})
        task = parse_incident_id(incident, world=self.world).task
        sealed = {} if self.seal is None or split != SEALED else {"seal": self.seal.fingerprint}
        return {
            **sealed,
            "id": incident,
            "incident": incident,
            "task": task.id,
            "split": split,
            "index": index,
            "horizon": task.horizon,
            "title": task.title,
        }

    def specs(self, split: str, start: int | None, stop: int | None) -> list[dict[str, Any]]:
        """The task specs of a slice of a split.

        Raises:
            InvalidInput: for a slice of more than :data:`MAX_LISTED`.
            UnknownName: for an unknown split.
        """
        self._check_offered(split)
        places = range(self.size())[start:stop]
        if places.stop - places.start > MAX_LISTED:
            raise InvalidInput(
                f"start, stop: {places.stop - places.start} task specs; "
                f"at most {MAX_LISTED} at a time"
            )
        return [self.spec(split, index) for index in places]
