"""The model card: ``README.md`` of a trained model, in the hub's format."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from huggingface_hub import EvalResult, ModelCardData

from training.evaluate.tables import markdown

TAGS: Final = ("logtriage", "incident-triage", "tool-use", "reinforcement-learning")
_HUB_NAME: Final = re.compile(r"[\w.-]+/[\w.-]+")
#: What holds of every model that is trained and measured here.
LIMITS: Final = (
    "Incidents are simulated, from the same generator as those in training; the split keeps seeds "
    "apart, not the kind of world. Nothing is said of real systems.",
    "Intervals are bootstrap intervals over incidents: they tell of the luck of the draw of "
    "incidents, not of that of training (one seed).",
    "The model acts by tool calls of logtriage alone. Let nothing that it proposes act on a real "
    "system without a person.",
)


def card(
    results: Mapping[str, Any],
    *,
    name: str,
    base_model: str,
    data: str,
    settings: Mapping[str, Any],
    limits: Sequence[str] = (),
    library: str = "transformers",
    license_id: str | None = None,
) -> str:
    """The text of a model card.

    Args:
        results: what :func:`compare` returned, for the trained model.
        name: of the model.
        base_model: what was trained: a name on the hub, or a directory, of which only the
            last part is told.
        data: what it was trained on, in a sentence or more.
        settings: the hyper-parameters.
        limits: more limits than :data:`LIMITS`.
        library: that loads the model, ``transformers`` or ``peft``.
        license_id: of the weights, as the hub names it; None says nothing.
    """
    hub = _HUB_NAME.fullmatch(base_model) is not None and not Path(base_model).exists()
    base = base_model if hub else base_model.rstrip("/").rpartition("/")[2]
    front = ModelCardData(
        model_name=name,
        base_model=base_model if hub else None,
        library_name=library,
        license=license_id,
        pipeline_tag="text-generation",
        tags=list(TAGS),
        metrics=["logtriage grade"],
        eval_results=_eval_results(results),
    )
    return "\n".join(
        (
            f"---\n{front.to_yaml()}\n---",
            f"\n# {name}\n",
            f"`{base}`, trained to triage incidents of "
            f"logtriage {results['logtriage']} by tool calls.",
            f"\n## Data\n\n{data}",
            "\n## Hyper-parameters\n\n| setting | value |\n| --- | --- |",
            *(f"| `{key}` | `{value}` |" for key, value in settings.items() if key != "model"),
            f"\n## Results\n\nHeld-out incidents of split `{results['split']}`, which "
            "training never draws. Mean grade in [0, 1] with its 95 % bootstrap interval over "
            "incidents; the same incidents for every agent. Unscored episodes are counted, and "
            "enter nothing else.\n",
            markdown(results),
            "## Limits\n",
            *(f"- {limit}" for limit in (*LIMITS, *limits)),
            f"\n## Use\n\n{_use(name)}",
        )
    )


def _eval_results(results: Mapping[str, Any]) -> list[EvalResult]:
    """The mean grade by task, for the hub's own tables."""
    agent = next(row for row in results["agents"] if row["agent"] == results["agent"])
    return [
        EvalResult(
            task_type="text-generation",
            dataset_type="logtriage",
            dataset_name=f"logtriage {task}",
            dataset_split=results["split"],
            metric_type="grade",
            metric_name="mean grade",
            metric_value=round(figures["grade"]["mean"], 4),
        )
        for task, figures in agent["tasks"].items()
        if figures["grade"] is not None
    ]


def _use(name: str) -> str:
    return (
        "From a checkout of logtriage with the extra `train`; the model is a directory or a "
        "name on the hub.\n\n"
        "```bash\n"
        f"python -m training.triage --model {name} --logs app.log\n"
        f"python -m training.evaluate --policy hf:{name} --task all --episodes 300 "
        "--output-dir OUT\n"
        "```\n"
    )
