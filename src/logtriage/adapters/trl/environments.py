"""TRL's environments: incidents and shifts that a model plays by tools, over many turns."""

from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar

from logtriage._lib.jsonvalues import present
from logtriage.actions import ALL_SERVICES
from logtriage.adapters.episode import Episode, incidents_of
from logtriage.adapters.shift_episode import ShiftEpisode
from logtriage.adapters.turns import TextEpisode
from logtriage.conversations.wires import wire_of
from logtriage.drawing.sealing import incident_of
from logtriage.errors import InvalidInput
from logtriage.grading import Graded, Resolver, Rubric
from logtriage.grading.offered import RECORDED_KINDS, useful_actions
from logtriage.grading.rubric import check_rubric
from logtriage.incident import Incident
from logtriage.parsing.calls import Wire
from logtriage.parsing.tools import ALL_TOOLS, SHIFT_TOOLS, TOOLS, Tool
from logtriage.parsing.tools import Parameter as Argument
from logtriage.rendering import Reply, Style

#: Types of arguments by the JSON types of the schema.
_TYPES: Final = {"string": str, "number": float, "integer": int}
#: Arguments that a call may leave out, with their default in the signature.
_DEFAULTS: Final = {"service": ALL_SERVICES, "confidence": None, "ticks": 1}
Environment = TypeVar("Environment")
Played = TypeVar("Played", bound=TextEpisode)


def tool_method(tool: Tool) -> Callable[..., str]:
    """A method that plays a tool's action, with the signature and docstring of its schema.

    The method accepts any named arguments: a wrong call costs its tick, as in other adapters.
    """

    def call(self: Any, /, *unnamed: Any, **arguments: Any) -> str:
        if unnamed:
            raise TypeError(f"{tool.name}() takes arguments by name only")
        called: str = self._call({"name": tool.name, "arguments": arguments})
        return called

    arguments = [_argument(argument) for argument in tool.parameters]
    call.__name__, call.__doc__ = tool.name, tool.docstring()
    call.__signature__ = Signature(  # type: ignore[attr-defined]
        [Parameter("self", Parameter.POSITIONAL_ONLY), *arguments]
    )
    # Without a return type, which would stand in every prompt.
    call.__annotations__ = {argument.name: argument.annotation for argument in arguments}
    return call


def _argument(argument: Argument) -> Parameter:
    kind: Any = _TYPES[argument.kind]
    default = Parameter.empty if argument.required else _DEFAULTS[argument.name]
    if default is None:
        kind = kind | None
    return Parameter(argument.name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def offers(
    *names: str, tools: Mapping[str, Tool] = ALL_TOOLS
) -> Callable[[type[Environment]], type[Environment]]:
    """A decorator that gives an environment the methods of these tools."""

    def with_tools(environment: type[Environment]) -> type[Environment]:
        for name in names:
            setattr(environment, name, tool_method(tools[name]))
        return environment

    return with_tools


class Tooled(Generic[Played]):
    """An environment whose tools are methods that :func:`offers` adds."""

    #: The column of a row that names what is played.
    _column: ClassVar[str] = "incident"
    _episode: Played | None = None

    if TYPE_CHECKING:

        def __getattr__(self, tool: str) -> Callable[..., str]: ...

    @property
    def episode(self) -> Played:
        """The episode, with its grade and its rewards by turn; InvalidInput before a reset."""
        if self._episode is None:
            raise InvalidInput(f"no {self._column} yet: call reset({self._column}=…) first")
        return self._episode

    def _opening(self) -> tuple[str, str]:
        """The rules and the first screen."""
        rules, screen = (message["content"] for message in self.episode.prompt)
        return rules, screen


class Playing(Tooled[Episode]):
    """One incident, played by the tools of a subclass; :func:`environment_for` finds the subclass.

    Args:
        rubric: another rubric than that of the incident's task.
        resolve: finds incidents by id, if they are not drawn.
    """

    style: ClassVar[Style] = "text"
    reply: ClassVar[Reply] = "tools"

    def __init__(self, rubric: Rubric | None = None, resolve: Resolver = incident_of) -> None:
        if rubric is not None:
            check_rubric(rubric)
        self._rubric = rubric
        self._resolve = resolve

    def reset(self, **row: Any) -> str:
        """Start the incident that the dataset row names in its column ``incident``.

        Returns the first screen, with the rules before it unless the row's ``prompt`` has a system
        message: a group reads the same.

        Raises:
            UnknownName, InvalidInput: if the row names no incident that exists, its rules are of
                another style, or its incident asks for tools that this environment lacks.
            SealError: for a sealed incident without its key, or with another key.
        """
        if present(row, "style") not in (None, self.style):
            raise InvalidInput(
                f"style: the row's rules are in {row['style']}, and {type(self).__name__} plays "
                f"in {self.style}"
            )
        episode = Episode.of_row(
            row, self.reply, style=self.style, rubric=self._rubric, resolve=self._resolve
        )
        tools = tools_offered(type(self))
        missing = [name for name in useful_actions(episode.incident) if name not in tools]
        if missing and not isinstance(self, NotationEnv):  # in notation any action is a word
            raise InvalidInput(
                f"{episode.incident.id}: {type(self).__name__} does not offer "
                f"{', '.join(missing)}, which {episode.incident.rubric} asks for; take "
                "environment_for(incident_ids)"
            )
        self._episode = episode
        rules, screen = self._opening()
        prompt = row.get("prompt")
        messages = prompt if isinstance(prompt, list | tuple) else ()
        roles = [message.get("role") for message in messages if isinstance(message, Mapping)]
        return screen if "system" in roles else f"{rules}\n\n{screen}"

    @property
    def grade(self) -> Graded:
        """The grade with its reasons."""
        return self.episode.grade

    @property
    def actions(self) -> tuple[Wire, ...]:
        """The wire actions so far, including those after the closing action."""
        return self.episode.actions

    def _call(self, called: Mapping[str, Any]) -> str:
        """Play a tool call; returns what the model reads next."""
        return self.episode.act(wire_of(called)).text


@offers(*TOOLS)
class TriageTools(Playing):
    """:class:`TriageEnv` without a reward of its own, for :func:`criterion_rewards`."""


class _Rewarded(Playing):
    def get_reward(self) -> float:
        """The grade so far, in [0, 1]."""
        score = self.grade.score
        assert score is not None  # what is played is always scored
        return score


class TriageEnv(TriageTools, _Rewarded):
    """One simulated incident as an environment of ``GRPOTrainer(environment_factory=…)``.

    TRL makes a tool of every public method but ``reset`` and ``get_reward``, and reuses instances.
    It stops at a reply without a tool call, or at ``max_tool_calling_iterations``: set that to the
    task's horizon. A call after the end earns nothing, and its answer says so.
    """


@offers(*RECORDED_KINDS)
class RecordedEnv(_Rewarded):
    """:class:`TriageEnv` for a recorded incident, where the class of the fault is declared."""


class NotationEnv(_Rewarded):
    """Simulated incidents in notation: one tool, whose argument is an action in one word.

    The rows are those of ``triage_rows(ids, style="notation")``.
    """

    style: ClassVar[Style] = "notation"
    reply: ClassVar[Reply] = "act"

    def act(self, *, action: str) -> str:
        """Take one action.

        Args:
            action: The action in one word, such as resolve or escalate:sre-team.
        """
        return self._call({"name": "act", "arguments": {"action": action}})


def environment_for(
    incident_ids: Iterable[str], *, resolve: Resolver = incident_of
) -> type[Playing]:
    """The environment that offers exactly the tools of these incidents.

    Raises:
        UnknownName, InvalidInput: for an incident that does not exist, and for incidents with
            different tools: train on them apart.
    """
    wanted: dict[frozenset[str], str] = {}  # each set of tools, with the first incident of it
    for incident in incidents_of(incident_ids, resolve):
        wanted.setdefault(frozenset(useful_actions(incident)), incident.id)
    for environment in (TriageEnv, RecordedEnv):
        if wanted.keys() == {tools_offered(environment)}:
            return environment
    raise InvalidInput(
        f"no environment has the tools of {', '.join(wanted.values()) or 'no incident'}: TRL "
        "offers the same tools for every row; train on incidents of different tools apart"
    )


def environment_of(incident: Incident, style: Style = "text") -> type[Playing]:
    """The environment of one incident: with exactly its tools, or :class:`NotationEnv`."""
    if style == "notation":
        return NotationEnv
    return environment_for([incident.id], resolve=lambda _: incident)


def tools_offered(environment: type[Playing]) -> frozenset[str]:
    """The names of the tools that TRL makes of an environment's methods."""
    return frozenset(name for name in ALL_TOOLS if hasattr(environment, name))


@offers(*SHIFT_TOOLS, tools=SHIFT_TOOLS)
class ShiftEnv(Tooled[ShiftEpisode]):
    """One shift as an environment of ``GRPOTrainer(environment_factory=ShiftEnv)``.

    A dataset row names the shift in its column ``shift``. Every tool but two names the system that
    it is for. TRL makes a tool of every public method but ``reset`` and ``get_reward``.
    """

    _column = "shift"

    def reset(self, **row: Any) -> str:
        """Start the shift of a row (or UnknownName); returns the rules and the first screen."""
        self._episode = ShiftEpisode.of_row(row)
        return "\n\n".join(self._opening())

    def get_reward(self) -> float:
        """The score of what was played so far, in [0, 1]."""
        return self.episode.grade.score

    def _call(self, called: Mapping[str, Any]) -> str:
        return self.episode.step({"role": "assistant", "tool_calls": [called]}).text
