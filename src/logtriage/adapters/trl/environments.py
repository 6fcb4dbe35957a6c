"""TRL's environments: incidents that a model plays by tools, over many turns."""

# mypy: disable-error-code="empty-body"

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, ClassVar, Concatenate, Final, ParamSpec, Protocol, TypeVar

from logtriage.actions import ALL_SERVICES
from logtriage.adapters.episode import Episode
from logtriage.conversations.tools import ALL_TOOLS, Tool, Wire
from logtriage.conversations.wires import wire_of
from logtriage.drawing.sealing import incident_of
from logtriage.errors import InvalidInput
from logtriage.grading import Grade, Resolver, Rubric
from logtriage.grading.offered import useful_actions
from logtriage.incident import Incident
from logtriage.rendering import Style

P = ParamSpec("P")
S = TypeVar("S", bound="_Callable")


class _Callable(Protocol):
    def _call(self, called: Mapping[str, Any]) -> str:
        """Play a tool call; what the model is told of it."""


def _tool(
    signature: Callable[Concatenate[S, P], str],
) -> Callable[Concatenate[S, P], str]:
    """A method that plays the action of its name on one incident."""
    return tool_method(ALL_TOOLS[signature.__name__], signature)


def tool_method(
    tool: Tool, signature: Callable[Concatenate[S, P], str]
) -> Callable[Concatenate[S, P], str]:
    """A method that plays a tool's action, documented by the one schema.

    It takes any arguments, so that a call with wrong ones reaches the environment and
    costs its tick, as a malformed action does everywhere.
    """

    @wraps(signature)
    def call(self: S, /, *unnamed: P.args, **arguments: P.kwargs) -> str:
        if unnamed:
            raise TypeError(f"{tool.name}() takes arguments by name only")
        return self._call({"name": tool.name, "arguments": arguments})

    call.__doc__ = tool.docstring()
    # What a tool returns would be said in every prompt, for nothing.
    call.__annotations__ = {
        name: hint for name, hint in call.__annotations__.items() if name != "return"
    }
    return call


class Playing:
    """One incident, played by the tools that a subclass has.

    TRL offers one set of tools for all rows, so each set of them is an environment of its
    own: :func:`environment_for` finds that of some incidents.

    Attributes:
        style: how rules and screens are written.

    Args:
        rubric: Another rubric than that of the incident's task.
        resolve: Finds incidents by id, if they are not drawn ones.
    """

    style: ClassVar[Style] = "text"

    def __init__(self, rubric: Rubric | None = None, resolve: Resolver = incident_of) -> None:
        self._rubric = rubric
        self._resolve = resolve
        self._episode: Episode | None = None

    def reset(self, **row: Any) -> str:
        """Start the incident that the dataset row names in its column ``incident``.

        Returns the first screen, with the rules before it unless the row's ``prompt``
        has a system message. The text follows from the row alone, so that all members of
        a group read the same.

        Raises:
            UnknownName, InvalidInput: if the row names no incident that exists, or one that
                asks for tools which this environment does not have.
            SealError: for a sealed incident without its key, or with another one.
        """
        episode = Episode.of_row(row, style=self.style, rubric=self._rubric, resolve=self._resolve)
        _check_tools(type(self), episode.incident)
        self._episode = episode
        rules, screen = self._opening()
        prompt = row.get("prompt")
        told = isinstance(prompt, list | tuple) and any(
            isinstance(message, Mapping) and message.get("role") == "system" for message in prompt
        )
        return screen if told else f"{rules}\n\n{screen}"

    @property
    def episode(self) -> Episode:
        """The episode, with its rewards by turn and by criterion.

        Raises:
            InvalidInput: before the first reset.
        """
        if self._episode is None:
            raise InvalidInput("no incident yet: call reset(incident=…) first")
        return self._episode

    @property
    def grade(self) -> Grade:
        """The grade with its reasons."""
        return self.episode.grade

    @property
    def actions(self) -> tuple[Wire, ...]:
        """The wire actions so far, those after the closing one included."""
        return self.episode.actions

    def _opening(self) -> tuple[str, str]:
        """The rules and the first screen."""
        rules, screen = (message["content"] for message in self.episode.prompt)
        return rules, screen

    def _call(self, called: Mapping[str, Any]) -> str:
        """Play a tool call; what the model is told of it."""
        return self.episode.act(wire_of(called)).text


class _Finding(Playing):
    """Tools that every incident has a use for.

    The tools are signatures alone: what they say and do comes from logtriage.conversations.tools.
    """

    @_tool
    def identify_root_cause(self, *, service: str, confidence: float | None = None) -> str: ...

    @_tool
    def request_more_logs(self, *, service: str = ALL_SERVICES) -> str: ...

    @_tool
    def request_metrics(self, *, service: str) -> str: ...

    @_tool
    def request_traces(self, *, service: str) -> str: ...

    @_tool
    def resolve(self) -> str: ...


class _Ignoring(_Finding):
    @_tool
    def ignore(self) -> str: ...


class TriageTools(_Ignoring):
    """One simulated incident as an environment of TRL whose reward ``reward_funcs`` give.

    :class:`TriageEnv` without a reward of its own, for :func:`criterion_rewards`. It plays
    recordings of ``recorded/1``, too, whose tools are some of these.
    """

    @_tool
    def classify_severity(self, *, severity: str) -> str: ...  # noqa: D102

    @_tool
    def escalate(self, *, team: str) -> str: ...  # noqa: D102

    @_tool
    def remediate(self, *, remedy: str, service: str) -> str: ...  # noqa: D102

    @_tool
    def hand_over(self) -> str: ...  # noqa: D102


class RecordedTools(_Finding):
    """The same of a recording of ``recorded/1``."""


class OnRequestTools(_Ignoring):
    """The same of a recording of ``recorded/2``, whose class of fault is declared."""

    @_tool
    def classify_fault(self, *, fault_category: str) -> str: ...  # noqa: D102


class _Rewarded(Playing):
    def get_reward(self) -> float:
        """The grade of what was played, in [0, 1]; that of an open incident if it is open."""
        score = self.grade.score
        assert score is not None  # what is played is always scored
        return score


class TriageEnv(TriageTools, _Rewarded):
    """One simulated incident as an environment of ``GRPOTrainer(environment_factory=…)``.

    TRL makes a tool of every public method but ``reset`` and ``get_reward``, reuses
    instances, and knows no end of an episode: it ends with a reply without a tool call,
    or at ``max_tool_calling_iterations`` (set it to the task's horizon). Calls after the
    closing one are told so, and earn nothing.
    """


class RecordedEnv(RecordedTools, _Rewarded):
    """The same of a recording of ``recorded/1``."""


class OnRequestEnv(OnRequestTools, _Rewarded):
    """The same of a recording of ``recorded/2``."""


class NotationEnv(_Rewarded):
    """Incidents in notation: one tool, whose argument is an action in one word.

    Of simulated incidents whose signs stay. The rows are those of
    ``triage_rows(ids, style="notation")``.
    """

    style: ClassVar[Style] = "notation"

    def act(self, *, action: str) -> str:
        """Take one action.

        Args:
            action: The action in one word, such as resolve or escalate:sre-team.
        """
        return self._call({"name": "act", "arguments": {"action": action}})


_REWARDED: Final[tuple[type[_Rewarded], ...]] = (TriageEnv, RecordedEnv, OnRequestEnv)
_BARE: Final[tuple[type[Playing], ...]] = (TriageTools, RecordedTools, OnRequestTools)


def environment_for(
    incident_ids: Iterable[str], *, rewarded: bool = True, resolve: Resolver = incident_of
) -> type[Playing]:
    """The environment that offers exactly the tools of these incidents.

    Args:
        incident_ids: those of the data set.
        rewarded: whether it gives the grade itself, or leaves it to :func:`criterion_rewards`.
        resolve: Finds incidents by id, if they are not drawn ones.

    Raises:
        UnknownName, InvalidInput: for an incident that does not exist, and if the incidents
            have no tools in common that one environment offers: train on them apart.
    """
    wanted: dict[frozenset[str], str] = {}
    for one in incident_ids:
        wanted.setdefault(frozenset(useful_actions(resolve(one))), one)
    for environment in _REWARDED if rewarded else _BARE:
        if wanted.keys() == {tools_offered(environment)}:
            return environment
    raise InvalidInput(
        f"no one environment has the tools of {', '.join(wanted.values()) or 'no incident'}: TRL "
        "offers the same ones for every row; train on incidents of different tools apart"
    )


def environment_of(incident: Incident, style: Style = "text") -> type[Playing]:
    """The environment that offers exactly the tools of one incident, and gives the grade."""
    if style == "notation":
        return NotationEnv
    return environment_for([incident.id], resolve=lambda _: incident)


def tools_offered(environment: type[Playing]) -> frozenset[str]:
    """The names of the tools that TRL makes of an environment's methods."""
    return frozenset(name for name in ALL_TOOLS if hasattr(environment, name))


def _check_tools(environment: type[Playing], incident: Incident) -> None:
    """Refuse an incident whose grade asks for a tool that is not on offer.

    Raises:
        InvalidInput: naming the tools, and what to use.
    """
    if issubclass(environment, NotationEnv):  # any action is a word
        return
    missing = [one for one in useful_actions(incident) if one not in tools_offered(environment)]
    if missing:
        raise InvalidInput(
            f"{incident.id}: {environment.__name__} does not offer {', '.join(missing)}, which "
            f"{incident.rubric} asks for; take environment_for(incident_ids)"
        )
