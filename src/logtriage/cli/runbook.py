"""The rules for people: the runbook as a list of faults, then a line for each rule."""

import re
from collections.abc import Iterator
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from logtriage.cli.screens import heading
from logtriage.incident import Incident
from logtriage.rendering import system_prompt
from logtriage.rendering.chances import LEAST, fault_groups, is_only_minor, shares_of
from logtriage.topology import Topology
from logtriage.world.model import HEALTHY, World
from logtriage.world.schema.parts import Signature
from logtriage.world.setting import Setting

#: A section of the prompt: its title in capitals, and its text.
_SECTION: Final = re.compile(r"([A-Z][A-Z ]+(?: \(.*?\))?)[.:] (.*)")
_SENTENCE: Final = re.compile(r"(?<=[.;]) (?=[A-Z0-9])")


def runbook(incident: Incident) -> RenderableType:
    """The rules and the runbook of an incident, in an order that is easy to look up."""
    lines, _, table = system_prompt(incident).partition("\nRUNBOOK.")
    parts: list[RenderableType] = []
    if table and incident.setting is not None:
        parts += _faults(incident.setting, incident.topology)
    for line in lines.split("\n"):
        first, text = line.split(" ")[0], line
        title = first if first.isupper() else "RULES"
        if section := _SECTION.match(line):
            title, text = section.groups()
        parts.append(heading(title))
        parts += [_indented(Text(sentence)) for sentence in _SENTENCE.split(text)]
    return Group(*parts)


def _faults(setting: Setting, topology: Topology) -> Iterator[RenderableType]:
    """Each kind of fault: whom to page, remedies, signs; then the conditions without a fault."""
    world = setting.world
    signatures = dict(world.signatures)
    for group in fault_groups(world, topology):
        yield heading(f"FAULTS OF CLASS {group.fault_class}: page {group.page}")
        for kind in group.kinds:
            where = f"{' or '.join(kind.remedies)}, on {', '.join(kind.tiers)}"
            minor = ", only as a minor fault" if is_only_minor(kind, setting) else ""
            signature = signatures.pop(kind.name)
            yield from _condition(world, kind.name, f"{where}{minor}", signature)
    yield heading("NO FAULT")
    benign = {kind.name for kind in world.benign}
    for name, signature in signatures.items():
        if name == HEALTHY:
            continue
        where = "benign: ignore" if name in benign else "beside a fault, or noise"
        yield from _condition(world, name, where, signature)


def _condition(
    world: World, name: str, where: str, signature: Signature
) -> Iterator[RenderableType]:
    shares: dict[str, int] = {}
    for sort, tokens in shares_of(world, signature):
        usual = world.ordinary[sort]
        shares |= {f"{sort} {token}": share for token, share in tokens.items() if token != usual}
    signs = sorted(shares.items(), key=lambda pair: -pair[1])
    shown = (f"{token.replace('_', ' ')} {share}%" for token, share in signs if share >= LEAST)
    yield _indented(Text.assemble((name.replace("_", " "), "bold"), f": {where}"))
    yield Padding(Text(", ".join(shown), "dim"), (0, 0, 0, 4))


def _indented(text: Text) -> RenderableType:
    return Padding(text, (0, 0, 0, 2))
