"""A model built on the spot: ``tiny:SIZE`` in place of a directory or a name on the hub."""

from pathlib import Path
from typing import Final

import attrs
from rich.console import Console

from logtriage.errors import InvalidInput
from training.grpo.settings import Settings
from training.tiny.settings import SIZES
from training.tiny.settings import Settings as TinySettings

PREFIX: Final = "tiny:"
#: Where it is kept, in the directory of the run.
START: Final = "start"


def is_built_here(model: str) -> bool:
    """Whether a model is to be built on the spot.

    Raises:
        InvalidInput: for a size that does not exist.
    """
    if not model.startswith(PREFIX):
        return False
    size = model.removeprefix(PREFIX)
    if size not in SIZES:
        raise InvalidInput(f"model {model!r}: expected {PREFIX}SIZE, of {', '.join(SIZES)}")
    return True


def with_model(settings: Settings, out: Path, console: Console) -> Settings:
    """The settings with a model that is there, built in ``out`` if need be."""
    if not is_built_here(settings.model):
        return settings
    place = out / START
    if not place.exists():
        from training.tiny.build import build

        tiny = TinySettings(
            size=settings.model.removeprefix(PREFIX),
            task=" ".join(settings.stages[0]),
            episodes=settings.tiny_episodes,
            rounds=3,
            own_play=max(1, settings.tiny_episodes // 2),
            val=0,
            seed=settings.seed,
            threads=settings.threads or 1,
        )
        build(tiny, place, f"training.grpo, model {settings.model}", console)
    return attrs.evolve(settings, model=str(place))
