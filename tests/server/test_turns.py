"""Fair turns: who gets how much of a server's time, in a simulation of what turns cost."""

import asyncio
from collections.abc import Callable

from logtriage.server.turns import AT_ONCE, PATIENCE, Share, Turns


def player() -> Share:
    share = Share(is_session=True)
    share.answered(step=True)
    return share


async def spent(shares: dict[Share, float], total: float, steps: bool) -> dict[Share, float]:
    """What each share has had once all together had so many seconds; a turn costs as given."""
    turns, had = Turns(), dict.fromkeys(shares, 0.0)

    async def claim(share: Share, cost: float) -> None:
        while sum(had.values()) < total:
            granted = asyncio.get_running_loop().create_future()

            def grant(granted: "asyncio.Future[None]" = granted) -> bool:
                if not granted.cancelled():
                    granted.set_result(None)
                return True

            turns.ask(share, grant)
            await granted
            had[share] += cost
            share.answered(step=steps and share.has_played)
            turns.end(share, cost)
            # The client answers a little later, as one beyond a network does.
            await asyncio.sleep(0)
            await asyncio.sleep(0)

    tasks = [asyncio.create_task(claim(*one)) for one in shares.items()]
    while sum(had.values()) < total:
        await asyncio.sleep(0.001)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return had


def test_newcomers_get_a_tenth_however_many_and_however_costly() -> None:
    players = {player(): 0.0005 for _ in range(32)}
    newcomers = {Share(is_session=True): 0.02 for _ in range(40)}
    had = asyncio.run(spent({**players, **newcomers}, 4.0, steps=True))
    part = sum(had[share] for share in newcomers) / sum(had.values())
    assert 0.05 < part < 0.25


def test_costly_turns_of_a_player_do_not_take_more_than_its_share() -> None:
    cheap = {player(): 0.0005 for _ in range(8)}
    costly = {player(): 0.02 for _ in range(2)}
    had = asyncio.run(spent({**cheap, **costly}, 2.0, steps=True))
    assert sum(had[share] for share in costly) / sum(had.values()) < 0.4


def test_a_newcomer_with_little_to_do_does_not_wait_for_all_the_others() -> None:
    costly, cheap = [Share(is_session=True) for _ in range(100)], Share(is_session=True)
    had = asyncio.run(spent({**dict.fromkeys(costly, 0.02), cheap: 0.001}, 40.0, steps=False))
    turns_of_others = sum(had[share] for share in costly) / 0.02 / len(costly)
    assert had[cheap] / 0.001 > 3 * turns_of_others


def test_who_leaves_after_a_costly_turn_has_newcomers_pay_for_it() -> None:
    async def part_of_newcomers() -> float:
        turns, others, taken = Turns(), [player() for _ in range(4)], 0
        for share in others:
            await turns.wait(share)
            turns.charge(share, 0.001)
        guest = player()
        await turns.wait(guest)
        turns.charge(guest, 1.0)
        turns.leave(guest)
        newcomer = asyncio.create_task(turns.wait(Share(is_session=True)))
        while not newcomer.done() and taken < 100:
            await asyncio.gather(*map(turns.wait, others))
            for share in others:
                turns.charge(share, 0.01)
            taken += 1
        return 1.0 / (1.0 + 0.04 * taken)

    # A second of a newcomer's work lets the players have a few.
    assert asyncio.run(part_of_newcomers()) < 0.4


def test_where_nobody_plays_nobody_waits() -> None:
    async def waits() -> bool:
        turns, idle = Turns(), False
        stranger, newcomer = Share(is_session=False), Share(is_session=True)
        for _ in range(50):
            await turns.wait(stranger)
            turns.charge(stranger, 0.001)
            await turns.wait(newcomer)
            turns.charge(newcomer, 0.1)
            idle = idle or turns._timer is not None
        return idle

    assert not asyncio.run(waits())


def test_who_leads_nowhere_is_no_player() -> None:
    share = Share(is_session=True)
    assert not share.plays
    share.answered(step=True)
    for _ in range(PATIENCE):
        share.answered(step=False)
        assert share.plays
    share.answered(step=False)
    assert not share.plays
    share.answered(step=True)
    assert share.plays


def test_so_many_turns_go_on_at_once_and_the_next_follow() -> None:
    async def grants() -> list[int]:
        turns, shares = Turns(), [Share(is_session=True) for _ in range(3 * AT_ONCE)]
        granted: list[Share] = []

        def note(share: Share) -> Callable[[], bool]:
            def work() -> bool:
                granted.append(share)
                return True

            return work

        for share in shares:
            turns.ask(share, note(share))
        counts = []
        for _ in range(3):
            await asyncio.sleep(0.01)
            counts.append(len(granted))
            for share in granted:
                turns.end(share, 0.0)
        return counts

    assert asyncio.run(grants()) == [AT_ONCE, 2 * AT_ONCE, 3 * AT_ONCE]


def test_whoever_is_ahead_goes_on_if_nobody_else_wants_to() -> None:
    async def alone() -> int:
        turns, share, other = Turns(), player(), player()
        turns.charge(other, 0.0)
        turns.charge(share, 1.0)
        await turns.wait(share)
        return 1

    assert asyncio.run(asyncio.wait_for(alone(), 30)) == 1
