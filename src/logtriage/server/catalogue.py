"""Which episodes a server offers, and how clients name them.

A client names an episode by its incident id, or by task, split and index. If it names no task, the
``n`` tasks on offer take turns: index ``i`` is incident ``i // n`` of task ``i % n``.
"""

import secrets
from collections.abc import Mapping
from typing import Any, Final

import attrs

from logtriage._lib.seal import Seal
from logtriage.drawing.ids import ALL_SPLITS, MAX_INDEX, SEALED, SPLITS, parse_incident_id
from logtriage.errors import InvalidInput, SealError, UnknownName
from logtriage.server.messages import check_fields
from logtriage.tasks import get_task
from logtriage.world.default import default_world
from logtriage.world.model import World

DEFAULT_SPLIT: Final = "train"
#: The fields that name an episode.
EPISODE_FIELDS: Final = ("incident", "task", "split", "index", "seed")
#: The most characters of a field.
_LONGEST: Final = 200


def whole_number(name: str, value: Any, below: int) -> int:
    """Return ``value`` if it is a whole number in [0, below); else InvalidInput names the field."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < below:
        shown = value if isinstance(value, int) and abs(value) < 1 << 64 else type(value).__name__
        raise InvalidInput(f"{name}: expected a whole number in [0, {below}), got {shown!r}")
    return value


def text_field(name: str, value: Any) -> str:
    """Return ``value`` if it is a string of bounded length; else InvalidInput names the field."""
    if not isinstance(value, str):
        raise InvalidInput(f"{name}: expected a string, got {type(value).__name__}")
    if len(value) > _LONGEST:
        raise InvalidInput(f"{name}: {len(value)} characters; at most {_LONGEST} are read")
    return value


@attrs.frozen
class Catalogue:
    """The episodes on offer: those of the ``tasks`` in one ``world``.

    With a ``seal`` (the key of split ``sealed``), that split is offered too.
    """

    tasks: tuple[str, ...]
    seal: Seal | None = None
    world: World = attrs.field(factory=default_world)

    def incident_id(self, named: Mapping[str, Any]) -> str:
        """The id of the incident that a client asks for by the fields of ``named``.

        ``seed`` is another name for ``index``: OpenEnv's clients send a seed. By default, the split
        is train and the index is drawn at random. A field that is None counts as absent.

        Raises:
            UnknownName: if the task or split is unknown.
            InvalidInput: naming the field and what was expected, and for another world.
            SealError: for split ``sealed`` of a server without a key.
        """
        fields = {name: value for name, value in named.items() if value is not None}
        check_fields(fields, EPISODE_FIELDS)
        if "incident" in fields:
            if len(fields) > 1:
                other = next(name for name in fields if name != "incident")
                raise InvalidInput(f"{other}: an incident is named already; leave out either")
            parsed = parse_incident_id(text_field("incident", fields["incident"]), world=self.world)
            self._check_offered(parsed.split)
            return str(parsed)
        split = text_field("split", fields.get("split", DEFAULT_SPLIT))
        task = None
        if "task" in fields:
            task = get_task(text_field("task", fields["task"]), self.world).id
        self._check_offered(split)
        if "index" in fields and fields.get("seed", fields["index"]) != fields["index"]:
            raise InvalidInput("seed: differs from index, for which it is another name")
        name = "index" if "index" in fields else "seed"
        size = MAX_INDEX if task else MAX_INDEX * len(self.tasks)
        if name in fields:
            index = whole_number(name, fields[name], size)
        else:
            index = secrets.randbelow(size)
        if task is None:
            index, turn = divmod(index, len(self.tasks))
            task = self.tasks[turn]
        return f"{task}/{split}/{index}"

    def _check_offered(self, split: str) -> None:
        if split not in ALL_SPLITS:
            raise UnknownName("split", split, SPLITS if self.seal is None else ALL_SPLITS)
        if split == SEALED and self.seal is None:
            raise SealError(f"split {SEALED!r} is not on offer: this server has no key for it")
