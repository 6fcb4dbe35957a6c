"""verl: rows for its parquet files, and the rewards by criterion that GDPO normalises.

Nothing here imports verl. Episodes are played by
:class:`logtriage.adapters.verl.agent_loop.TriageAgentLoop`; :func:`compute_score` grades rows
of plans, for the reward managers ``gdpo`` and ``naive``.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from logtriage.adapters.episode import Episode, incidents_of, opening, row_of
from logtriage.adapters.rewards import reward_names
from logtriage.errors import InvalidInput, UnknownName
from logtriage.evaluation import Incidents
from logtriage.grading import Resolver, Rubric, get_rubric, rubric_named
from logtriage.rendering import Reply

#: The value of ``agent_name`` and ``data_source`` in rows, and the beginning of rewards' names.
AGENT_NAME: Final = "logtriage"
PREFIX: Final = "triage"
#: verl's own loop for one reply.
SINGLE_TURN: Final = "single_turn_agent"
INCIDENTS: Final = Incidents()
_REPLIES: Final = ("tools", "json", "plan")


def verl_rows(
    incident_ids: Iterable[str], reply: Reply = "tools", *, resolve: Resolver = INCIDENTS
) -> list[dict[str, Any]]:
    """Rows of a parquet file for verl.

    ``reply`` is how the model answers. Rows of ``plan`` name verl's own loop for one reply,
    whose reward :func:`compute_score` computes; the others name :data:`AGENT_NAME`.
    """
    if reply not in _REPLIES:
        raise UnknownName("reply", reply, _REPLIES)
    return [
        {
            "data_source": AGENT_NAME,
            "agent_name": SINGLE_TURN if reply == "plan" else AGENT_NAME,
            "prompt": opening(drawn, reply),
            "ability": "incident triage",
            "reward_model": {"style": "rule", "ground_truth": drawn.id},
            "extra_info": {"index": index, "reply": reply, **row_of(drawn)},
        }
        for index, drawn in enumerate(incidents_of(incident_ids, resolve))
    ]


def episode_of(extra_info: Mapping[str, Any]) -> Episode:
    """The episode of a row, from its column ``extra_info``.

    Raises:
        UnknownName, InvalidInput, SealError: if the row names no usable incident, or no reply.
    """
    reply = extra_info.get("reply")
    if reply not in _REPLIES:
        raise InvalidInput(f"extra_info.reply: one of {', '.join(_REPLIES)}; got {reply!r}")
    return Episode.of_row(extra_info, cast(Reply, reply), resolve=INCIDENTS)


def gdpo_reward_keys(rubric: Rubric | str) -> list[str]:
    """The value of verl's ``algorithm.gdpo_reward_keys`` for incidents of a rubric.

    ``rubric`` is a rubric, a built-in id, or ``module:name``, which imports and runs that module.
    UnknownName or InvalidInput for what is no rubric, or if a criterion is called ``rest``.
    """
    chosen = rubric_named(rubric) if isinstance(rubric, str) else rubric
    return [f"{PREFIX}_{name}" for name in reward_names(chosen)]


def rewards_of(episode: Episode) -> dict[str, float]:
    """``score``, and each criterion's share of it: the same keys for every incident of a rubric.

    verl makes columns of these keys; a criterion that an incident lacks is 0. InvalidInput for an
    episode that broke off, since verl cannot leave a reward out.
    """
    grade = episode.grade
    if grade.score is None:
        raise InvalidInput(f"an episode without a grade has no reward ({episode.error})")
    zeros = dict.fromkeys(gdpo_reward_keys(get_rubric(grade.rubric)), 0.0)
    shares = {f"{PREFIX}_{name}": share for name, share in episode.by_criterion.items()}
    return {"score": grade.score, **zeros, **shares}


def compute_score(
    data_source: str,  # noqa: ARG001 (verl's signature)
    solution_str: str,
    ground_truth: str,  # noqa: ARG001
    extra_info: Mapping[str, Any] | None = None,
    **_: Any,
) -> dict[str, float]:
    """Rewards of a reply that holds a whole plan; verl's reward managers call this.

    Raises:
        InvalidInput: if the row is not a plan: verl joins the turns of other rows into one text.
        UnknownName, SealError: as :func:`episode_of`.
    """
    row = extra_info or {}
    episode = episode_of(row)
    if row["reply"] != "plan":
        raise InvalidInput(
            f"extra_info.reply is {row['reply']!r}: the agent loop {AGENT_NAME!r} grades such "
            "rows; compute_score grades those of 'plan'"
        )
    episode.step(solution_str)
    return rewards_of(episode)
