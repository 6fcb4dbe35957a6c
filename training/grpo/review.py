"""The evaluation on held-out incidents, before and after training, and what is told of it.

All of it is :mod:`training.evaluate`'s; here it is called at the right time.
"""

from pathlib import Path
from typing import Any, Final

import attrs

from logtriage.codec import decode_transcript
from logtriage.errors import LogTriageError
from training.common.files import save_json, save_text
from training.common.settings import EVAL_SPLIT
from training.evaluate.results import RESULTS, TABLE
from training.grpo.record import EPISODES, read_episodes
from training.grpo.settings import Settings
from training.language.loading import base_of, is_adapter

BEFORE: Final = "before.jsonl"
AFTER: Final = "after.jsonl"
CARD: Final = "README.md"
BASELINES: Final = ("random", "first_error", "expert")


class NotUploaded(LogTriageError):
    """The hub did not take a model."""


def before(model: Any, tokenizer: Any, settings: Settings, out: Path) -> None:
    """Play the held-out incidents with the model as it came; once in a run."""
    if settings.eval_episodes and not (out / BEFORE).exists():
        _play(model, tokenizer, settings, "before").save(out / BEFORE)


def after(model: Any, tokenizer: Any, settings: Settings, out: Path) -> None:
    """Play them with the trained model, and write results, table and model card."""
    if not settings.eval_episodes:
        return
    from training.evaluate import Evaluation, card, compare, markdown, scripted

    trained = _play(model, tokenizer, settings, "after")
    trained.save(out / AFTER)
    lines = (out / BEFORE).read_text("utf-8").splitlines()
    played = [decode_transcript(one) for one in lines]
    came = Evaluation("before", EVAL_SPLIT, settings.eval_samples, played, how=trained.how)
    baselines = [scripted(one, settings.tasks, settings.eval_episodes) for one in BASELINES]
    rewards = [one.reward for one in read_episodes(out / EPISODES)]
    results = compare(came, trained, baselines, training_scores=rewards)
    save_json(out / RESULTS, results)
    save_text(out / TABLE, markdown(results))
    adapter = is_adapter(str(out))
    text = card(
        results,
        name=settings.hub_model_id or out.name,
        base_model=base_of(settings.model) if is_adapter(settings.model) else settings.model,
        data=_data(settings),
        settings=attrs.asdict(settings),
        library="peft" if adapter else "transformers",
    )
    save_text(out / CARD, text)


def push(settings: Settings, out: Path) -> None:
    """Upload model, card and results to the hub; no checkpoints.

    Raises:
        NotUploaded: with the cause; the run stays as it is.
    """
    from huggingface_hub import HfApi

    # The base of all errors of its HTTP client, which is another one in each major version.
    from huggingface_hub.errors import HTTPError

    assert settings.hub_model_id is not None  # the settings see to it
    api = HfApi()
    try:
        api.create_repo(settings.hub_model_id, exist_ok=True)
        api.upload_folder(
            repo_id=settings.hub_model_id,
            folder_path=out,
            ignore_patterns=["checkpoint-*/*", "runs/*", "*.tmp"],
        )
    except (HTTPError, OSError) as error:
        raise NotUploaded(
            f"the run in {out} is whole, but was not uploaded to {settings.hub_model_id} "
            f"(--resume tries again): {error}"
        ) from error


def _play(model: Any, tokenizer: Any, settings: Settings, agent: str) -> Any:
    from training.evaluate import held_out

    model.eval()
    return held_out(
        model,
        tokenizer,
        settings.tasks,
        settings.eval_episodes,
        seed=settings.seed,
        temperature=settings.eval_temperature,
        batch=settings.eval_batch,
        split=EVAL_SPLIT,
        samples=settings.eval_samples,
        max_new_tokens=settings.turn_tokens,
        agent=agent,
    )


def _data(settings: Settings) -> str:
    tasks = ", ".join(f"`{one}`" for one in settings.tasks)
    often = (
        "each incident in one step"
        if settings.episodes is None
        else f"{settings.episodes} incidents of each task, repeated"
    )
    return (
        f"Incidents of split `train` of {tasks} ({often}), drawn by logtriage; "
        f"{settings.max_steps} steps of {settings.rollouts} episodes."
    )
