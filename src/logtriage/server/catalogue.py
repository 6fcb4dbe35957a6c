"""Which episodes a server offers, and how clients name them.

An episode is named by its incident id, or by task, split and index. In a split without
a task, the tasks on offer take turns: index ``i`` is number ``i // n`` of task ``i % n``.
"""

import secrets
from collections.abc import Mapping
from typing import Any, Final

import attrs

from logtriage.errors import InvalidInput, UnknownName
from logtriage.tasks import MAX_INDEX, SPLITS, get_task, parse_incident_id

#: At most this many task specs are listed in one answer.
MAX_LISTED: Final = 1_000
DEFAULT_SPLIT: Final = "train"
#: The splits by the kinds that the OpenEnv protocol knows.
_KINDS: Final = {"train": "train", "val": "validation", "test": "test", "ood": "test"}
#: What names an episode.
EPISODE_FIELDS: Final = ("incident", "task", "split", "index", "seed")


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
    """The tasks that are drawn from where a client names none."""

    tasks: tuple[str, ...]

    def incident_id(self, named: Mapping[str, Any]) -> str:
        """The incident that a client asks for; with nothing named, any one of split train.

        ``seed`` is another name for ``index``, since OpenEnv clients send one. What is
        given and cannot be used is refused rather than ignored.

        Raises:
            UnknownName: for an unknown task or split.
            InvalidInput: naming the field and what was expected.
        """
        given = {name: value for name, value in named.items() if value is not None}
        for name in given:
            if name not in EPISODE_FIELDS:
                raise InvalidInput(f"{name}: unknown field; known: {', '.join(EPISODE_FIELDS)}")
        if "incident" in given:
            if len(given) > 1:
                other = next(name for name in given if name != "incident")
                raise InvalidInput(f"{other}: an incident is named already; give one or the other")
            return str(parse_incident_id(text_field("incident", given["incident"])))
        split = text_field("split", given.get("split", DEFAULT_SPLIT))
        if split not in SPLITS:
            raise UnknownName("split", split, SPLITS)
        task = get_task(text_field("task", given["task"])).id if "task" in given else None
        if "index" in given and given.get("seed", given["index"]) != given["index"]:
            raise InvalidInput("seed: differs from index, for which it is another name")
        name = "index" if "index" in given else "seed"
        size = self.size(task)
        index = whole_number(name, given[name], size) if name in given else secrets.randbelow(size)
        return self._numbered(task, split, index)

    def size(self, task: str | None = None) -> int:
        """How many incidents each split has."""
        return MAX_INDEX * (1 if task else len(self.tasks))

    def _numbered(self, task: str | None, split: str, index: int) -> str:
        if task is None:
            index, turn = divmod(index, len(self.tasks))
            task = self.tasks[turn]
        return f"{task}/{split}/{index}"

    # -- task discovery, as OpenEnv's TaskProvider has it ------------------------

    def splits(self) -> list[dict[str, str]]:
        """Every split with its kind."""
        return [{"name": name, "type": _KINDS[name]} for name in SPLITS]

    def spec(self, split: str, index: int) -> dict[str, Any]:
        """One task spec: what to reset with, and what is public of it.

        Raises:
            IndexError: for an index that the split does not have.
            UnknownName: for an unknown split.
        """
        if not 0 <= index < self.size():
            raise IndexError(index)
        incident = self.incident_id({"split": split, "index": index})
        task = parse_incident_id(incident).task
        return {
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
        if split not in SPLITS:
            raise UnknownName("split", split, SPLITS)
        places = range(self.size())[start:stop]
        if places.stop - places.start > MAX_LISTED:
            raise InvalidInput(
                f"start, stop: {places.stop - places.start} task specs; "
                f"at most {MAX_LISTED} at a time"
            )
        return [self.spec(split, index) for index in places]
