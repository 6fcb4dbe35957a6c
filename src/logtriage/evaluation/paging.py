"""Whether an agent heeds the price of silence: how often it pages, and wrongly, by c."""

from collections.abc import Iterable

import attrs

from logtriage.state import State


@attrs.frozen
class Paging:
    """The incidents of one price of silence.

    ``paged`` is the share in which anybody was paged, ``mis_paged`` the share of all in
    which a wrong team was.
    """

    price: float
    incidents: int
    paged: float
    mis_paged: float


def paging_by_price(states: Iterable[State]) -> tuple[Paging, ...]:
    """Pages and mis-pages for each price of silence, lowest first.

    Incidents without a price are left out.
    """
    groups: dict[float, list[State]] = {}
    for state in states:
        if state.incident.price_of_silence is not None:
            groups.setdefault(state.incident.price_of_silence, []).append(state)
    return tuple(
        Paging(
            price,
            len(mine),
            sum(bool(one.facts.pages) for one in mine) / len(mine),
            sum(one.facts.wrong_pages > 0 for one in mine) / len(mine),
        )
        for price, mine in sorted(groups.items())
    )
