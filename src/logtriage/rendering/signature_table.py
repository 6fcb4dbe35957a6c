"""The signature table as people read it: by condition and sort of cell, all shares."""

from collections.abc import Iterator, Mapping

import attrs

from logtriage.topology import Topology
from logtriage.world.model import HEALTHY, LOADED, WAITING, World
from logtriage.world.schema.parts import Kind, Signature
from logtriage.world.setting import Setting


@attrs.frozen
class FaultGroup:
    """The kinds of a class of faults that have the same page, in order of the runbook.

    ``page`` is the team to page, or ``the owner``.
    """

    fault_class: str
    page: str
    kinds: tuple[Kind, ...]


def fault_groups(world: World, topology: Topology) -> tuple[FaultGroup, ...]:
    """Every kind of fault under its class and its page, for the prompt and for people."""
    groups: dict[tuple[str, str], list[Kind]] = {}
    for kind in world.kinds:
        page = world.pages(kind.name, topology) or "the owner"
        groups.setdefault((kind.fault_class, page), []).append(kind)
    return tuple(FaultGroup(*place, tuple(kinds)) for place, kinds in groups.items())


def is_only_minor(kind: Kind, setting: Setting) -> bool:
    """Whether a kind strikes in a task as a minor fault alone."""
    return setting.creeping and not kind.drifts


def groups_of(world: World) -> dict[str, Mapping[str, Signature]]:
    """Every signature of a world, in groups with a heading."""
    rules, every = world.rules, world.signatures
    names = {
        "roots and minor faults": world.kind_names,
        "affected by a root": (WAITING, LOADED),
        "benign": tuple(condition.name for condition in world.benign),
        "unaffected": (HEALTHY, *(condition.name for condition in rules.distractions)),
    }
    return {
        **{title: {name: every[name] for name in row} for title, row in names.items()},
        "fog": {"background": world.background},
    }


def shares_of(world: World, signature: Signature) -> Iterator[tuple[str, dict[str, int]]]:
    """The shares of every token by sort, per cent; the ordinary one last, with the rest.

    Sorts of which a signature says nothing of its own are left out.
    """
    for sort, ordinary in world.ordinary.items():
        shares = dict(signature.get(sort, {}))
        if shares:
            shares[ordinary] = 100 - sum(shares.values())
            yield sort, shares
