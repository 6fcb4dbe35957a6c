"""Let a trained model triage log lines of your own, and print what it does as it comes.

The model sees the latest lines, and more of a service when it asks for them. Nothing is
executed or graded: the right answer is unknown.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from logtriage.actions import Action, Malformed, describe
from logtriage.adapters.request_limits import MAX_TOKENS
from logtriage.adapters.served import ENDPOINT, Endpoint, json_object
from logtriage.codec import load_topology
from logtriage.dynamics import transition
from logtriage.errors import InvalidInput, LogTriageError
from logtriage.incident import Incident
from logtriage.observation import observe, slice_for
from logtriage.policies import ChatPolicies, Policy
from logtriage.registry import make_policy
from logtriage.rendering import system_prompt
from logtriage.state import State, initial_state
from logtriage.world.loading import load_world
from training.evaluate.cuts import share_of, warn_of_cut
from training.evaluate.settings import LOCAL, LOCAL_TOKENS, default_tokens
from training.language.chat import Chat
from training.language.episodes import Decoding
from training.language.loading import load_model, load_tokenizer
from training.language.places import check_there
from training.language.policy import ModelPolicy
from training.language.thinking import THINKING, THOUGHT_TOKENS, template_arguments
from training.triage.incident import READER, pasted_incident
from training.triage.lines import EXPECTED, read_lines, strangers

SEVEN_SERVICES = load_world("oncall").topologies["seven-services"]

HORIZON = 12
STDIN = "-"
#: The replies that were given, and those among them that were cut off.
Counted = Callable[[], tuple[int, int]]


def main(arguments: list[str] | None = None) -> int:
    """Read the command line and the lines, and print the actions.

    Returns 0, or 1 if the model failed, or too many of its replies were cut off.
    """
    parser = argparse.ArgumentParser(prog="python -m training.triage", description=__doc__)
    who = parser.add_mutually_exclusive_group(required=True)
    who.add_argument("--model", help="a directory or a name on the hub; as --policy hf:MODEL")
    who.add_argument("--policy", help="hf:PATH, openai:MODEL or a scripted policy")
    parser.add_argument("--logs", default=STDIN, metavar="FILE", help="- (default): standard input")
    parser.add_argument("--topology", metavar="FILE", help="your services and teams (JSON)")
    parser.add_argument("--base-url", help="of the endpoint of openai:MODEL")
    parser.add_argument(
        "--extra-body", default="", metavar="JSON", help="more fields of its requests"
    )
    parser.add_argument(
        "--thinking",
        choices=THINKING,
        default=THINKING[0],
        help=f"whether the chat template of a model here lets it think; default: {THINKING[0]}",
    )
    parser.add_argument(
        "--max-new-tokens", type=int, metavar="N",
        help=f"most tokens of a reply; default: {LOCAL_TOKENS} of a model here, with --thinking on "
        f"{THOUGHT_TOKENS}, and {MAX_TOKENS} behind an endpoint",
    )  # fmt: skip
    parser.add_argument("--max-actions", type=int, default=HORIZON, help=f"default: {HORIZON}")
    options = parser.parse_args(arguments)
    try:
        text = sys.stdin.read() if options.logs == STDIN else _read(Path(options.logs))
        incident = _incident(text, options.topology, options.max_actions)
        name = options.policy or f"{LOCAL}{options.model}"
        policy, counted = make_player(
            name,
            incident,
            base_url=options.base_url,
            extra=json_object("extra-body", options.extra_body),
            thinking=options.thinking,
            max_new_tokens=options.max_new_tokens,
        )
    except LogTriageError as wrong:
        parser.error(str(wrong))
    state = initial_state(incident)
    try:
        for action, state in played(incident, policy):
            _say(f"{state.tick:2d}  {_told(action)}")
    except (LogTriageError, RuntimeError) as failure:  # torch raises the latter, out of memory too
        print(f"the model failed: {type(failure).__name__}: {failure}", file=sys.stderr)  # noqa: T201
        return 1
    _say(f"closed: {state.closing}")
    replies, cut = counted()
    share = share_of(replies, cut)
    return int(warn_of_cut(name, replies, share, Console(stderr=True), "--max-new-tokens"))


def make_player(
    policy: str,
    incident: Incident,
    *,
    base_url: str | None = None,
    extra: Mapping[str, Any] | None = None,
    thinking: str = THINKING[0],
    max_new_tokens: int | None = None,
) -> tuple[Policy, Counted]:
    """The policy behind ``hf:PATH``, ``openai:MODEL`` or a name of the registry.

    Beside it what says how many replies it gave so far, and how many were cut off.

    Raises:
        UnknownName, InvalidInput: for what cannot be used.
    """
    limit = default_tokens(policy, thinking) if max_new_tokens is None else max_new_tokens
    if policy.startswith(LOCAL):
        decoding = Decoding(max_new_tokens=limit)
        path = policy.removeprefix(LOCAL)
        check_there(path)
        chat = Chat(load_tokenizer(path), template_arguments(thinking))
        rules = system_prompt(incident, "tools")
        player = ModelPolicy(load_model(path), chat, decoding, rules, incident.id)
        return player, lambda: (player.count.replies, player.count.cut_off)
    if policy.startswith(ENDPOINT):
        endpoint = Endpoint(base_url, max_tokens=limit, temperature=0.0, extra=extra or {})
        ask = endpoint.ask(policy)
        return ChatPolicies(ask)(incident), lambda: (ask.usage.requests, ask.usage.cut_off)
    if policy == "oracle":
        raise InvalidInput("the oracle needs the truth, which is not known for these lines")
    return make_policy(policy)(incident), lambda: (0, 0)


def played(incident: Incident, policy: Policy) -> Iterator[tuple[Action, State]]:
    """Each action as it comes, with the state after it; until the incident is closed."""
    state, memory = initial_state(incident), None
    while not state.is_closed:
        action, memory = policy.act(slice_for(observe(state), READER), memory)
        state = transition(state, action)
        yield action, state


def _incident(text: str, topology_file: str | None, horizon: int) -> Incident:
    if horizon < 1:
        raise InvalidInput(f"max-actions must be at least 1, got {horizon}")
    topology = SEVEN_SERVICES if topology_file is None else load_topology(topology_file)
    lines, unread = read_lines(text)
    for line in unread:
        _note(f"line {line.number} was not read: {line.text[:80]!r}; expected {EXPECTED}")
    unknown = strangers(lines, topology.names)
    if unknown:
        _note(
            f"not in the topology, so that nothing can be done about them: {', '.join(unknown)}; "
            f"known: {', '.join(topology.names)}; give --topology FILE for your own"
        )
    return pasted_incident(lines, topology, horizon)


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path}: cannot be read: {error}") from None


def _told(action: Action) -> str:
    return f"not understood: {action.reason}" if isinstance(action, Malformed) else describe(action)


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201


def _note(text: str) -> None:
    print(text, file=sys.stderr)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
