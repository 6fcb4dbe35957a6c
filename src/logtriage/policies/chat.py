"""A chat model as a policy: prompts and screens go in, replies come back as actions."""

from collections.abc import Callable, Mapping, Sequence

import attrs
from attrs.converters import optional

from logtriage.actions import Action, signed
from logtriage.errors import InvalidInput
from logtriage.incident import Incident
from logtriage.observation import Observation
from logtriage.parsing import SOLO_KINDS, Form, parse_action
from logtriage.policies.base import Memory
from logtriage.rendering import Style, check_style, render_observation, system_prompt
from logtriage.roles import RoleSplit
from logtriage.roles.splits import get_role_split

#: One message, ``{"role": "user", "content": "…"}``.
Message = Mapping[str, str]
#: Asks a model: takes the messages so far, returns its reply.
Complete = Callable[[Sequence[Message]], str]


def _positive(_: object, field: "attrs.Attribute[int | None]", value: int | None) -> None:
    if value is not None and value < 1:
        raise InvalidInput(f"{field.name} must be at least 1, got {value}")


@attrs.frozen
class _Talk:
    """The conversation so far, and the screen that was shown last."""

    messages: tuple[Message, ...] = ()
    before: Observation | None = None


@attrs.frozen
class ChatPolicy:
    """Lets a chat model play, alone or in a role.

    Its memory is the conversation. The policy itself keeps nothing; whether the same
    screen gets the same answer is up to the model. An exception of ``complete`` passes
    through, so that a runner marks the episode as unscored: nobody acts in its place.

    Args:
        complete: asks the model.
        rules: the system prompt (:func:`logtriage.rendering.system_prompt`).
        split: the role split, where the model plays one role of a team ...
        role: ... and which one.
        turns: how many of the latest screens the model is shown, with its replies between
            them; None for all.
        style: how screens are written. In ``notation`` the model answers in one word, and a
            screen shows changes only, so no turn may be left out.

    Raises:
        UnknownName: for a role that the split does not have, and for another style.
        InvalidInput: for a split without a role or the reverse, less than one turn, or
            ``turns`` in a style that says only what is new.
    """

    complete: Complete
    rules: str
    split: RoleSplit | None = attrs.field(default=None, converter=optional(get_role_split))
    role: str | None = None
    turns: int | None = attrs.field(default=None, validator=_positive)
    style: Style = attrs.field(default="text", converter=check_style)

    def __attrs_post_init__(self) -> None:
        if self.style != "text" and self.turns is not None:
            raise InvalidInput(f"turns = {self.turns}: in {self.style} every screen is needed")
        if (self.split is None) != (self.role is None):
            raise InvalidInput("to play in a role, give both the split and the role")
        if self.split is not None and self.role is not None:
            self.split.role(self.role)

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """Show the screen, and read the reply."""
        talk: _Talk = memory or _Talk()
        text = render_observation(observation, self.style, before=talk.before)
        sent: tuple[Message, ...] = (*talk.messages, {"role": "user", "content": text})
        # Screens and replies take turns, and a screen is last.
        shown = sent if self.turns is None else sent[1 - 2 * self.turns :]
        reply = self.complete([{"role": "system", "content": self.rules}, *shown])
        messages = (*sent, {"role": "assistant", "content": reply})
        return self._read(reply, observation), _Talk(messages, observation)

    def _read(self, reply: str, observation: Observation) -> Action:
        form: Form = "word" if self.style == "notation" else "json"
        if self.split is None or self.role is None:
            return parse_action(reply, observation.topology, SOLO_KINDS, form)
        may = self.split.role(self.role).kinds
        return signed(parse_action(reply, observation.topology, may, form), self.role)


@attrs.frozen
class ChatPolicies:
    """The factory of :class:`ChatPolicy` for incidents; picklable if ``complete`` is."""

    complete: Complete
    split: RoleSplit | None = attrs.field(default=None, converter=optional(get_role_split))
    role: str | None = None
    turns: int | None = None
    style: Style = "text"

    def __call__(self, incident: Incident) -> ChatPolicy:
        """The policy that plays one incident."""
        rules = system_prompt(incident, style=self.style, split=self.split, role=self.role)
        return ChatPolicy(self.complete, rules, self.split, self.role, self.turns, self.style)
