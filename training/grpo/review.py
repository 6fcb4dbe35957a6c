"""The evaluation on held-out incidents before and after training, and its report.

All of it is :mod:`training.evaluate`'s; here it is called at the right time.
"""

from pathlib import Path
from typing import Any, Final

import attrs

from logtriage.codec import decode_transcript
from logtriage.errors import LogTriageError
from training.common.files import save_json, save_text
from training.common.settings import EVAL_SPLIT
from training.evaluate.cuts import share_of, warn_of_cut, warn_of_cuts
from training.evaluate.phases import EXPLAINING, FIGURES, Phases
from training.evaluate.results import RESULTS, TABLE
from training.grpo.beforehand import played_before
from training.grpo.record import EPISODES, read_episodes
from training.grpo.settings import Settings
from training.grpo.store import AFTER, BEFORE
from training.language.places import base_of, is_adapter

CARD: Final = "README.md"
#: The option that bounds a reply.
LIMIT: Final = "--turn-tokens"
BASELINES: Final = ("random", "first_error", "expert")


class NotUploaded(LogTriageError):
    """The hub did not take a model."""


def before(model: Any, tokenizer: Any, settings: Settings, out: Path, phases: Phases) -> None:
    """Play the held-out incidents with the model as it came; once in a run.

    Raises:
        InvalidInput: if those of ``eval_before`` are others than this run's.
    """
    if not settings.eval_episodes or (out / BEFORE).exists():
        return
    if settings.eval_before:
        save_text(out / BEFORE, played_before(settings))
    else:
        played = _play(model, tokenizer, settings, "before", phases)
        played.save(out / BEFORE)
        replies, cut = played.replies()
        warn_of_cut("before", replies, share_of(replies, cut), phases.console, LIMIT)


def after(model: Any, tokenizer: Any, settings: Settings, out: Path, phases: Phases) -> None:
    """Play them with the trained model, and write results, table and model card."""
    if not settings.eval_episodes:
        return
    from training.evaluate import card, compare, markdown, scripted

    trained = _play(model, tokenizer, settings, "after", phases)
    trained.save(out / AFTER)
    lines = (out / BEFORE).read_text("utf-8").splitlines()
    played = [decode_transcript(line) for line in lines]
    came = attrs.evolve(trained, agent="before", transcripts=played, seconds=None)
    baselines = []
    for name in BASELINES:
        baselines.append(
            scripted(
                name,
                settings.held_out_tasks,
                settings.eval_episodes,
                judge=trained.judge,
                on_progress=phases.counted(f"held-out incidents, {name}"),
            )
        )
    phases.begin(FIGURES)
    rewards = [episode.reward for episode in read_episodes(out / EPISODES)]
    results = compare(
        came,
        trained,
        baselines,
        training_scores=rewards,
        explained=settings.eval_explain,
        explain_baselines=False,
        on_progress=phases.counted(EXPLAINING),
    )
    phases.end()
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
    warn_of_cuts(results, phases.console, limit=LIMIT)


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
            f"the run in {out} is complete, but was not uploaded to {settings.hub_model_id} "
            f"(--resume tries again): {error}"
        ) from error


def _play(model: Any, tokenizer: Any, settings: Settings, agent: str, phases: Phases) -> Any:
    from training.evaluate import Judge, held_out

    tasks = settings.held_out_tasks
    name = f"held-out incidents, {agent} training"
    phases.begin(name, len(tasks) * settings.eval_episodes * settings.eval_samples)
    model.eval()
    played = held_out(
        model,
        tokenizer,
        tasks,
        settings.eval_episodes,
        seed=settings.seed,
        temperature=settings.eval_temperature,
        batch=settings.eval_batch,
        split=EVAL_SPLIT,
        samples=settings.eval_samples,
        max_new_tokens=settings.turn_tokens,
        agent=agent,
        template=settings.template_arguments,
        judge=Judge.of(settings.rubric),
        on_progress=lambda done, _: phases.advance(done),
    )
    phases.end()
    return played


def _data(settings: Settings) -> str:
    tasks = ", ".join(f"`{task}`" for task in settings.tasks)
    often = (
        "each incident in one step"
        if settings.episodes is None
        else f"{settings.episodes} incidents of each task, repeated"
    )
    return (
        f"Incidents of split `train` of {tasks} ({often}), drawn by logtriage; "
        f"{settings.max_steps} steps of {settings.rollouts} episodes."
    )
