"""``play``: one incident in the terminal, by a person or watched."""

from typing import Annotated

import typer
from rich.console import Console

from logtriage.actions import describe
from logtriage.cli.console import emit, messages, put, results, say
from logtriage.cli.group import SOME_BAD
from logtriage.cli.human import HumanPolicy, Quit
from logtriage.cli.options import HUMAN, Bundle, Json, SplitRoles, check_human, role_split
from logtriage.cli.screens import debrief, screen
from logtriage.grading import grade, grade_to_json, unscored
from logtriage.incident import Incident
from logtriage.observation import observe
from logtriage.registry import make_policy, make_team
from logtriage.rendering import render_observation
from logtriage.roles import RoleSplit
from logtriage.state import State, initial_state


def play(
    incident_id: Annotated[str, typer.Argument(metavar="ID", help="The incident.")],
    policy: Annotated[
        str,
        typer.Option(metavar="POLICY", help="human, or a policy to watch, such as expert."),
    ] = HUMAN,
    brief: Annotated[
        bool, typer.Option("--brief", help="Of a watched policy: no screens, the debrief alone.")
    ] = False,
    split_roles: SplitRoles = None,
    bundle: Bundle = None,
    as_json: Json = False,
) -> None:
    """Triage an incident yourself, or watch a policy do it; then see how it was graded.

    Type help for what can be typed. Commands may come from a pipe, one a line. Stopping
    early gives the grade of what was earned so far. With --json, stdout has the grade
    alone and the screens go to stderr. With --split-roles a team is watched, role by role.
    """
    from logtriage.evaluation import Incidents, PolicyFailure

    roles = role_split(split_roles)
    check_human((policy,), roles)
    incident = Incidents.of(bundle)(incident_id)
    console = messages() if as_json else results()
    cause = None
    try:
        state = (
            _play(incident, policy, console, brief=brief)
            if roles is None
            else _watch(incident, policy, roles, console, brief=brief)
        )
    except PolicyFailure as failure:
        state, cause = failure.state, failure.cause
    graded = unscored(incident, cause, actions=state.actions) if cause else grade(state)
    say(console, f"{policy} on {incident.id}" if brief else "", "bold")
    put(console, debrief(state, graded, roles))
    if as_json:
        emit(grade_to_json(graded))
    if cause is not None:
        raise typer.Exit(SOME_BAD)


def _play(incident: Incident, policy: str, console: Console, *, brief: bool) -> State:
    from logtriage.evaluation import steps

    human = policy == HUMAN
    player = HumanPolicy(console, incident) if human else make_policy(policy)(incident)
    state = initial_state(incident)
    try:
        for state in steps(incident, player):
            if brief and not human:
                continue
            if state.actions and not human:
                say(console, f"\n{policy}: {describe(state.actions[-1])}", "bold green")
            if not human or state.is_closed:
                say(console)
                say(console, screen(render_observation(observe(state))))
    except Quit:
        say(console, "stopped", "yellow")
    return state


def _watch(
    incident: Incident, policy: str, split: RoleSplit, console: Console, *, brief: bool
) -> State:
    from logtriage.evaluation import joint_steps

    before = initial_state(incident)
    for state in joint_steps(incident, make_team(policy, split)(incident), split):
        if not brief:
            done = state.actions[len(before.actions) :]
            if done:
                say(console)
            for name, action in zip(split.names, done, strict=False):
                say(console, f"{name}: {describe(action)}", "bold green")
            for role in split.roles:
                say(console, f"\n{role.name} sees", "bold magenta")
                say(console, screen(render_observation(observe(state, role))))
        before = state
    return before
