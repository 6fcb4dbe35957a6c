"""Models behind an endpoint as players of a run: ``openai:MODEL``, alone or in roles of a team.

>>> from logtriage.adapters.served import Endpoint, served_player
>>> endpoint = Endpoint(base_url="http://127.0.0.1:8000/v1", reply="json")
>>> player = served_player("openai:my-model", endpoint)  # doctest: +SKIP

Asking a model needs the extra ``openai``; naming and checking it does not.
"""

import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

import attrs

from logtriage.adapters.episode import Episode
from logtriage.adapters.request_limits import MAX_TOKENS, RETRIES, TIMEOUT, EndpointError
from logtriage.adapters.turns import Message, TextEpisode
from logtriage.conversations.teams import joint_words
from logtriage.conversations.words import kept, own_words
from logtriage.errors import InvalidInput
from logtriage.evaluation import record_joint_episode
from logtriage.evaluation.usage import Usage
from logtriage.incident import Incident
from logtriage.policies import ChatPolicies, Policy, RoleFactory, TeamFactory
from logtriage.registry import make_team, roles_of
from logtriage.registry.policies import ENDPOINT as NAME
from logtriage.rendering import Reply, Style, check_style
from logtriage.roles import Role, RoleSplit
from logtriage.transcript import COMPLETED, Transcript

if TYPE_CHECKING:
    from logtriage.adapters.endpoint import ChatEndpoint

_Said = dict[str, list[str | None]]  # by role, its own words in each tick, or None
#: The beginning of a served model's name.
ENDPOINT: Final = f"{NAME}:"
#: How a model that plays alone answers: by tool calls, or by JSON in its text. In notation every
#: answer is one word.
REPLIES: Final = ("tools", "json")
#: The variable that holds the address if no ``base_url`` is given.
URL_VARIABLE: Final = "OPENAI_BASE_URL"


@attrs.frozen
class Endpoint:
    """Address and settings of served models; the arguments of ``ChatEndpoint``.

    Attributes:
        base_url: None for the variable ``OPENAI_BASE_URL``, or else OpenAI's own address.
        reply: one of :data:`REPLIES`; in a role of a team the answer is always JSON.
        style: how rules and screens are written; in ``notation`` the answer is one word.

    Raises:
        InvalidInput: for another ``reply``.
        UnknownName: for another ``style``.
    """

    base_url: str | None = None
    reply: str = REPLIES[0]
    max_tokens: int = MAX_TOKENS
    temperature: float | None = None
    seed: int | None = None
    extra: Mapping[str, Any] = attrs.Factory(dict)
    timeout: float = TIMEOUT
    retries: int = RETRIES
    style: Style = attrs.field(default="text", converter=check_style)

    def __attrs_post_init__(self) -> None:
        if self.reply not in REPLIES:
            raise InvalidInput(f"reply must be one of {', '.join(REPLIES)}, got {self.reply!r}")

    @property
    def _url(self) -> str | None:
        return self.base_url or os.environ.get(URL_VARIABLE) or None

    @property
    def description(self) -> str:
        """The settings that change replies, for the manifest; an option not given has no name."""
        left_out = ["timeout", "retries"]
        if self.style == "text":  # by default
            left_out.append("style")
        if self.style == "notation":  # where each reply is a word
            left_out.append("reply")
        settings = attrs.asdict(self, recurse=False) | {"base_url": self._url}
        return ", ".join(
            f"{name} {value}"
            for name, value in settings.items()
            if name not in left_out and value not in (None, {})
        )

    def ask(self, policy: str) -> "ChatEndpoint":
        """The endpoint of ``openai:MODEL``; MissingExtra, or InvalidInput without key or name."""
        from logtriage.adapters.endpoint import ChatEndpoint

        model = policy.removeprefix(ENDPOINT)
        if not model:
            raise InvalidInput(f"policy {policy!r}: expected the name of a model after {ENDPOINT}")
        ours = ("base_url", "reply", "style")
        settings = attrs.asdict(self, recurse=False, filter=lambda field, _: field.name not in ours)
        return ChatEndpoint(model, base_url=self._url, **settings)


@attrs.define(eq=False)
class ServedPlayer:
    """Plays incidents by asking served models, and records the episodes with their usage.

    Several threads may share it. ``team`` plays the roles of ``split``; without a split, it is one
    model, which plays alone. ``asked`` has the endpoint of each model by its name. ``description``
    has the settings that change replies.
    """

    asked: Mapping[str, "ChatEndpoint"]
    description: str = ""
    reply: str = REPLIES[0]
    style: Style = "text"
    split: RoleSplit | None = None
    team: str = ""

    @property
    def spent(self) -> Usage:
        """The usage so far, with that of open episodes."""
        return sum((ask.spent for ask in self.asked.values()), Usage())

    def record(self, incident: Incident, agent: str) -> Transcript:
        """The transcript of an episode; unscored if a request fails after all retries.

        Raises:
            EndpointError: if a request fails before any model answered: the run cannot succeed.
        """
        models = {name: ask.counting_anew() for name, ask in self.asked.items()}
        if self.split is None:
            (ask,) = models.values()
            reply = "word" if self.style == "notation" else self.reply
            episode = Episode(incident, cast(Reply, reply), style=self.style)
            play_served(ask, episode)
            transcript = episode.transcript(agent)
        else:
            said: _Said = {}  # filled while the team plays
            factory = _team(self.team, self.split, models, self.style, said)
            transcript = record_joint_episode(incident, factory, agent, self.split)
            words = joint_words(said, self.split, len(transcript.actions))
            transcript = attrs.evolve(transcript, extra={**transcript.extra, **kept(words)})
        if transcript.status != COMPLETED:
            for ask in models.values():
                if ask.why_never_answered is not None:
                    raise EndpointError(ask.why_never_answered)
        usage = sum((ask.usage for ask in models.values()), Usage())
        return attrs.evolve(transcript, extra={**transcript.extra, **attrs.asdict(usage)})


def play_served(ask: "ChatEndpoint", episode: TextEpisode) -> None:
    """Let a model play an episode, which breaks off if a request fails."""
    while not episode.done:
        try:
            if episode.reply == "tools":
                episode.step(ask.with_tools(episode.messages, episode.tools))
            else:
                message = ask.message(episode.messages)
                episode.step({key: message[key] for key in message if key != "tool_calls"})
        except EndpointError as error:
            episode.fail(str(error))


def endpoints_in(policy: str) -> tuple[str, ...]:
    """The served models of a policy or of a team, ``triage=openai:MODEL,escalation=expert``."""
    players = (policy, *(player for _, player in roles_of(policy)))
    return tuple(dict.fromkeys(player for player in players if player.startswith(ENDPOINT)))


def served_player(policy: str, endpoint: Endpoint, split: RoleSplit | None = None) -> ServedPlayer:
    """The player of a policy with served models; with a split, of a team.

    Raises:
        MissingExtra: without the extra ``openai``.
        UnknownName, InvalidInput: for a wrong team or endpoint.
    """
    asked = {name: endpoint.ask(name) for name in endpoints_in(policy)}
    if split is not None:
        _team(policy, split, asked, endpoint.style, {})  # refuses a wrong team
    elif policy not in asked:
        raise InvalidInput(f"policy {policy!r} is a team: expected a role split beside it")
    return ServedPlayer(asked, endpoint.description, endpoint.reply, endpoint.style, split, policy)


def json_object(option: str, text: str) -> dict[str, Any]:
    """The JSON object of an option, empty for no text; InvalidInput names the ``option``."""
    if not text:
        return {}
    try:
        fields = json.loads(text)
    except ValueError as error:
        raise InvalidInput(f"--{option}: expected a JSON object: {error}") from None
    if not isinstance(fields, dict):
        raise InvalidInput(f"--{option}: expected a JSON object, got {text!r}")
    return fields


def _team(
    team: str, split: RoleSplit, models: Mapping[str, "ChatEndpoint"], style: Style, said: _Said
) -> TeamFactory:
    """The factory of a team; ``said`` collects the words of each role, a text or None a tick."""

    def role_of(ask: "ChatEndpoint") -> RoleFactory:
        def player(incident: Incident, split: RoleSplit, role: Role) -> Policy:
            def complete(messages: Sequence[Message]) -> str:
                message = ask.message(messages)
                said.setdefault(role.name, []).append(own_words([message]))
                return str(message["content"])

            return ChatPolicies(complete, split, role.name, style=style)(incident)

        return player

    return make_team(team, split, roles={name: role_of(ask) for name, ask in models.items()})
