"""The place of a model: a directory, an adapter's base, or a hub name. Loads no torch."""

import json
from pathlib import Path
from typing import Final

from logtriage.errors import InvalidInput

ADAPTER: Final = "adapter_config.json"
#: Seconds that the hub has to say whether it has a model.
PATIENCE: Final = 10.0


def is_adapter(path: str) -> bool:
    """Whether a directory holds a LoRA adapter and no model."""
    return (Path(path) / ADAPTER).is_file()


def base_of(path: str) -> str:
    """The model that the LoRA adapter in a directory is for.

    Raises:
        InvalidInput: if the adapter does not say.
    """
    file = Path(path) / ADAPTER
    try:
        base = json.loads(file.read_text("utf-8"))["base_model_name_or_path"]
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"{file}: cannot be read: {error!r}") from None
    if not isinstance(base, str) or not base:
        raise InvalidInput(f"{file}: base_model_name_or_path must name a model, got {base!r}")
    return base


def check_place(path: str) -> None:
    """Refuse what is neither a directory with a model nor a name on the hub.

    Raises:
        InvalidInput: saying which of both it fails to be.
    """
    where = Path(path)
    if where.is_dir():
        if not (where / "config.json").is_file() and not is_adapter(path):
            raise InvalidInput(f"model {path!r}: no config.json in this directory")
    elif where.exists():
        raise InvalidInput(f"model {path!r}: expected a directory, this is a file")
    elif path.startswith((".", "/", "~")) or path.count("/") > 1:
        raise InvalidInput(f"model {path!r}: no such directory")


def check_there(path: str) -> None:
    """As :func:`check_place`, and ask the hub once whether it has a name.

    Libraries that load a model ask several times, and wait between: two minutes for a
    misspelt directory.

    Raises:
        InvalidInput: if there is no such directory, and no such model in the cache or on
            the hub.
    """
    check_place(path)
    if Path(path).is_dir():
        if is_adapter(path):
            check_there(base_of(path))
        return
    from huggingface_hub import try_to_load_from_cache

    if isinstance(try_to_load_from_cache(path, "config.json"), str):
        return
    why = _missing_on_hub(path)
    if why is not None:
        raise InvalidInput(f"model {path!r}: no such directory here, and {why}")


def _missing_on_hub(name: str) -> str | None:
    """Why the hub does not give a model; None if it does."""
    from huggingface_hub import constants, get_session
    from huggingface_hub.errors import HTTPError  # of its client, another one in each version
    from huggingface_hub.utils import build_hf_headers

    if constants.is_offline_mode():
        return "it is not in the hub's cache (HF_HUB_OFFLINE is set)"
    url = f"{constants.ENDPOINT}/{name}/resolve/main/config.json"
    try:
        answer = get_session().head(url, headers=build_hf_headers(), timeout=PATIENCE)
    except (HTTPError, OSError) as error:
        return f"the hub cannot be reached ({type(error).__name__})"
    if answer.status_code >= 400:
        return f"the hub has none of that name for you (HTTP {answer.status_code})"
    return None
