"""SkyRL: the environment ``logtriage`` of SkyRL-gym, and the rows that it plays.

Importing this module registers the environment under an importable name, so that every Ray worker
can make it.

>>> import logtriage.adapters.skyrl  # doctest: +SKIP
>>> env = skyrl_gym.make("logtriage", extras={"incident": "single_crash-v4/train/0"})
... # doctest: +SKIP
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from logtriage._lib.extras import imports_of
from logtriage.adapters.episode import Episode, incidents_of, opening, row_of
from logtriage.adapters.rewards import metrics_of
from logtriage.errors import InvalidInput, UnknownName
from logtriage.evaluation import Incidents
from logtriage.grading import Resolver
from logtriage.rendering import Reply

with imports_of("skyrl", "logtriage.adapters.skyrl", "skyrl_gym"):
    from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput
    from skyrl_gym.envs.registration import register, registry

#: The value of the rows' column ``env_class``.
ENV_CLASS: Final = "logtriage"
INCIDENTS: Final = Incidents()
_REPLIES: Final = ("json", "tools", "plan")


def skyrl_rows(
    incident_ids: Iterable[str], reply: Reply = "json", *, resolve: Resolver = INCIDENTS
) -> list[dict[str, Any]]:
    """Rows of a parquet file for SkyRL: the prompt, the environment's name, the incident's id.

    ``reply`` is the form of the model's answers, for the rules and for the environment.
    """
    if reply not in _REPLIES:
        raise UnknownName("reply", reply, _REPLIES)
    return [
        {
            "data_source": ENV_CLASS,
            "prompt": opening(drawn, reply),
            "env_class": ENV_CLASS,
            "reply": reply,
            **row_of(drawn),
        }
        for drawn in incidents_of(incident_ids, resolve)
    ]


class TriageTextEnv(BaseTextEnv):
    """One incident as an environment of SkyRL-gym: text in, text out.

    A reply is one action in JSON, unless ``reply`` of the row says ``tools`` or ``plan``. Rewards
    of an episode add up to its grade, and ``metadata`` has each criterion's share so far.

    Args:
        env_config: none is needed.
        extras: the row's other columns: ``incident``; ``seal``, ``reply``, ``max_turns`` if any.

    Raises:
        UnknownName, InvalidInput: if the row names no incident that exists.
        SealError: for a sealed incident without its key, or with another key.
    """

    def __init__(self, env_config: object = None, extras: Mapping[str, Any] | None = None) -> None:  # noqa: ARG002
        super().__init__()
        row = dict(extras or {})
        reply = row.get("reply") or "json"
        turns = None if row.get("max_turns") is None else int(row["max_turns"])
        if reply not in _REPLIES:
            raise InvalidInput(f"the row's 'reply': one of {', '.join(_REPLIES)}; got {reply!r}")
        self.episode = Episode.of_row(row, cast(Reply, reply), turns=turns, resolve=INCIDENTS)
        self.max_turns = turns or self.episode.incident.horizon

    def init(self, prompt: list[dict[str, str]]) -> tuple[list[dict[str, str]], dict[str, Any]]:
        """The row's prompt; the rules and the first screen if it is empty."""
        return (list(prompt) if len(prompt) else list(self.episode.prompt)), {}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Play what the model wrote."""
        turn = self.episode.step(action)
        self.turns += 1
        return BaseTextEnvStepOutput(
            observations=[] if turn.done else [{"role": "user", "content": turn.text}],
            reward=turn.reward,
            done=turn.done,
            metadata={"by_criterion": self.episode.by_criterion, "stop": self.episode.stop},
            postprocessed_action=None,
        )

    def get_metrics(self) -> dict[str, float]:
        """The grade, every criterion, whether a gate held, ticks used."""
        grade = self.episode.grade
        return {} if grade.score is None else {"grade": grade.score, **metrics_of(grade)}


if ENV_CLASS not in registry:
    register(id=ENV_CLASS, entry_point=f"{__name__}:{TriageTextEnv.__name__}")
