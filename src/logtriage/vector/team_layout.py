"""What stands where in the numeric observation of a role, and what only teams have.

The team's observation is the single agent's with two blocks more: ``declared_owner``
(m), who owns the declared root cause in this incident, and ``report`` (one for each of
:data:`~logtriage.roles.REPORT_WORDS`), what was reported so far. A role has those
blocks of it that its views, and its own kinds of action, let it see.
"""

from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from logtriage.board_words import REPORT_WORDS
from logtriage.roles import Role
from logtriage.topology import Topology
from logtriage.vector.layout import Layout, layout_of

#: The sources of what lines say, as bits: a role has those of its views.
SOURCES: Final = {"window": 1, "inspection": 2}
#: A single agent reads every line.
EVERY_SOURCE: Final = sum(SOURCES.values())
#: What is read off log lines, so that it differs with the sources.
READ_BLOCKS: Final = ("blamed", "complaining", "named", "kind", "named_owner")

_LINES: Final = frozenset(SOURCES)
_DECLARED: Final = "declarations"
#: What shows a block, as views or kinds of action: one of each set must be the role's.
_SHOWN_BY: Final[dict[str, tuple[frozenset[str], ...]]] = {
    "fault_alert": (frozenset({"alerts"}),),
    "other_alert": (frozenset({"alerts"}),),
    "known": (frozenset({"health"}),),
    "error": (frozenset({"health"}),),
    "p99": (frozenset({"health"}),),
    "trend": (frozenset({"health"}),),
    "asked": (frozenset({"inspection", "request_more_logs"}),),
    "blamed": (_LINES,),
    "complaining": (_LINES,),
    "named": (_LINES,),
    "kind": (_LINES,),
    "named_owner": (_LINES, frozenset({"directory"})),
    "remedied": (frozenset({"effects", "remediate"}),),
    "applied": (frozenset({"effects", "remediate"}),),
    "declared": (frozenset({_DECLARED, "identify_root_cause"}),),
    "declared_owner": (
        frozenset({_DECLARED, "identify_root_cause"}),
        frozenset({"directory"}),
    ),
    "severity": (frozenset({_DECLARED, "classify_severity"}),),
    "paged": (frozenset({_DECLARED, "escalate"}),),
    "owner": (frozenset({"directory"}),),
    "change": (frozenset({"changes"}),),
    "slo": (frozenset({"slo"}),),
    "worst": (frozenset({"slo"}),),
    "report": (frozenset({"reports", "report"}),),
    "time": (),
    "closed": (),
}


def sources_of(role: Role) -> int:
    """The bits of :data:`SOURCES` that a role reads."""
    return sum(bit for view, bit in SOURCES.items() if view in role.views)


@lru_cache(maxsize=32)
def team_layout_of(topology: Topology) -> Layout:
    """The layout of everything that a team can see; its first columns are the single agent's."""
    alone = layout_of(topology)
    teams, words = len(topology.teams), len(REPORT_WORDS)
    reports = alone.size + teams
    blocks = {
        **alone.blocks,
        "declared_owner": slice(alone.size, reports),
        "report": slice(reports, reports + words),
    }
    return Layout(topology, blocks, reports + words)


def _shows(role: Role, block: str) -> bool:
    has = role.views | role.may
    return all(has & needed for needed in _SHOWN_BY[block.partition(":")[0]])


@lru_cache(maxsize=256)
def role_layout_of(topology: Topology, role: Role) -> Layout:
    """The layout of what one role sees, in the team's order of blocks."""
    blocks, at = {}, 0
    for name, place in team_layout_of(topology).blocks.items():
        if _shows(role, name):
            width = place.stop - place.start
            blocks[name] = slice(at, at + width)
            at += width
    return Layout(topology, blocks, at)


@lru_cache(maxsize=256)
def role_columns(topology: Topology, role: Role) -> NDArray[np.intp]:
    """The columns of the team's observation that a role sees, ascending."""
    places = team_layout_of(topology).blocks.items()
    columns = np.concatenate(
        [np.arange(at.start, at.stop) for name, at in places if _shows(role, name)]
    )
    columns.setflags(write=False)
    return columns
