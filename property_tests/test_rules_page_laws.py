"""The Rules page of the console and the prompt say the same of every kind of fault."""

import re

import pytest
from rich.console import Console

from logtriage import Incident, make_incident
from logtriage.cli.runbook import runbook
from logtriage.rendering import system_prompt
from logtriage.tasks import tasks_of
from logtriage.world.loading import load_world, shipped_worlds
from logtriage.world.model import World
from property_tests.worlds import kept_worlds

#: Of a kind: its class, whom to page, its remedies, and whether it is only minor.
Said = tuple[str, str, frozenset[str], bool]


def said_by_the_prompt(incident: Incident) -> dict[str, Said]:
    said, group = {}, ("", "")
    for line in system_prompt(incident).partition("\nRUNBOOK.")[2].splitlines()[1:]:
        if title := re.fullmatch(r"(\S+) \(page (.*)\):", line):
            group = title[1], title[2]
        elif line == "no fault:":
            break
        else:
            name, _, remedies = line.partition(": ")[0].split(" ")
            wanted = frozenset(remedies.split("/"))
            said[name.strip("!*")] = (*group, wanted, name.endswith("*"))
    return said


def said_by_the_page(incident: Incident) -> dict[str, Said]:
    with (console := Console(width=1_000)).capture() as printed:
        console.print(runbook(incident))
    said, group = {}, ("", "")
    for line in printed.get().partition("NO FAULT")[0].splitlines():
        if title := re.match(r"FAULTS OF CLASS (\S+): page (.*?) *$", line):
            group = title[1], title[2]
        elif row := re.match(r"  (\S.*?): (.*?), on (.*?) *$", line):
            wanted = frozenset(row[2].split(" or "))
            said[row[1].replace(" ", "_")] = (*group, wanted, row[3].endswith("a minor fault"))
    return said


@pytest.mark.parametrize("world", [*map(load_world, shipped_worlds()), *kept_worlds()], ids=repr)
def test_the_rules_page_says_what_the_prompt_says(world: World) -> None:
    for task in tasks_of(world):
        incident = make_incident(f"{task}/test/0", world=world)
        said = said_by_the_page(incident)
        assert said == said_by_the_prompt(incident)
        pages, owners = incident.world, ("the owner",) * len(incident.topology)
        assert pages is not None
        assert {name: page for name, (_, page, _, _) in said.items()} == {
            name: pages.team_of(incident.topology, owners, name, 0) for name in pages.kind_names
        }
