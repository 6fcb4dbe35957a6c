"""ART: a rollout of an incident by a model that is trained, as a trajectory.

>>> group = art.TrajectoryGroup(rollout(model, row) for _ in range(8))  # doctest: +SKIP
"""

from collections.abc import Mapping
from typing import Any, Final

from logtriage.adapters.episode import Episode
from logtriage.adapters.rewards import metrics_of
from logtriage.errors import MissingExtra
from logtriage.evaluation import Incidents

try:
    import art
except ModuleNotFoundError as error:
    if error.name != "art":
        raise
    raise MissingExtra("logtriage.adapters.art", "art") from None

INCIDENTS: Final = Incidents()


async def rollout(model: art.Model, row: Mapping[str, str], **request: Any) -> art.Trajectory:
    """Play the incident of a row to its end.

    Args:
        model: of ART; it is asked by its own client.
        row: ``incident``, and ``seal`` of a sealed one
            (:func:`logtriage.adapters.episode.row_of`).
        request: more fields of each request, such as ``max_completion_tokens``.

    Returns:
        The trajectory. Its reward is the grade; metrics are the criteria, and each
        criterion's share as ``reward/<criterion>``; the incident's id stands in the
        metadata alone.

    Raises:
        UnknownName, InvalidInput: if the row names no incident that exists.
        SealError: for a sealed incident without its key, or with another one.
        openai.APIError: if the model cannot be asked; then there is no trajectory, and no 0.
    """
    episode = Episode.of_row(row, resolve=INCIDENTS)
    client, tools = model.openai_client(), episode.tools
    said: list[Any] = list(episode.prompt)
    kept = art.Trajectory(messages_and_choices=said, tools=tools, metadata=dict(row))
    while not episode.done:
        answer = await client.chat.completions.create(
            model=model.get_inference_name(), messages=kept.messages(), tools=tools, **request
        )
        choice = answer.choices[0]
        turn = episode.step(choice.message.model_dump(exclude_none=True))
        said = [*said, choice, *turn.messages]
        kept.messages_and_choices = said
    grade = episode.grade
    assert grade.score is not None  # what is played is always scored
    shares = {f"reward/{name}": share for name, share in episode.by_criterion.items()}
    kept.reward = grade.score
    kept.metrics.update({"grade": grade.score, **metrics_of(grade), **shares})
    return kept.finish()
