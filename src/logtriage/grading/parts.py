"""What was done about each fault of an incident: what scores of several are shares of.

A single fault is the case of one part; its share is all or nothing.
"""

import attrs

from logtriage.state import State


@attrs.frozen
class Response:
    """The ticks in which one fault was named, its team first paged, and it was fixed.

    None as long as it has not happened. Of k faults the first k services declared are
    counted: a later declaration names nothing.
    """

    said_at: int | None
    paged_at: int | None
    fixed_at: int | None

    @property
    def named(self) -> bool:
        """Whether its service was declared, and no later than it was fixed."""
        said, fixed = self.said_at, self.fixed_at
        return said is not None and (fixed is None or said <= fixed)


def responses(state: State) -> tuple[Response, ...]:
    """What was done about each fault, in the order of the truth; none if it is benign."""
    facts, parts = state.facts, state.incident.truth.parts
    counted = facts.root_causes[: len(parts)]
    if len(parts) == 1:
        said = counted[0][0] if counted and counted[0][1] in parts[0].root_causes else None
        return (Response(said, facts.paged_at, facts.fixed_at),)
    return tuple(
        Response(
            next((when for when, service in counted if service in part.root_causes), None),
            next((when for when, team in facts.pages if team in part.teams), None),
            next(
                (when for when, *remedy in facts.remedies if tuple(remedy) in part.remedies), None
            ),
        )
        for part in parts
    )
