"""Whose turn it is on a server, and that nothing is read of what came before that."""

import asyncio
import json
import math
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from logtriage.server import guard as guard_module
from logtriage.server.episode import Gate
from logtriage.server.guard import BODY, Guard
from logtriage.server.messages import read_object
from logtriage.server.pace import (
    AHEAD,
    BESIDE,
    BYTE,
    LONGEST_REST,
    MEMORY,
    REST,
    SHORTEST_REST,
    Share,
    Toll,
    Turns,
)
from logtriage.server.settings import Settings

TOKEN = "0123456789abcdef0123"
KINDS: dict[str, tuple[str, ...] | None] = {"reset": (), "step": ("text",), "state": None}


class Clock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


# -- shares --------------------------------------------------------------------------


def test_use_is_forgotten() -> None:
    share = Share()
    share.charge(("a",), 1.0, 100.0)
    assert share.lately(100.0) == 1.0
    assert share.lately(100.0 + MEMORY) == pytest.approx(0.3679, abs=1e-4)
    share.charge(("b",), 1.0, 200.0)
    assert share.ratio(("b",), 200.0) == 0.0  # nobody is beside it any more


def test_a_ratio_is_that_of_the_fair_share() -> None:
    share = Share()
    share.charge(("a",), 1.0, 100.0)
    assert share.ratio(("a",), 100.0) == 0.0
    share.charge(("b",), 3.0, 100.0)
    assert share.ratio(("a",), 100.0) == pytest.approx(0.5)
    assert share.ratio(("b",), 100.0) == pytest.approx(1.5)
    assert share.ratio(("c",), 100.0) == 0.0


def test_an_address_with_many_connections_has_one_address_share() -> None:
    share = Share()
    for number in range(90):
        share.charge(("many", number), 1.0, 100.0)
    share.charge(("one", 0), 10.0, 100.0)
    assert share.ratio(("many", 0), 100.0) == pytest.approx(1.8)
    assert share.ratio(("one", 0), 100.0) == pytest.approx(0.2)


def test_whoever_hardly_uses_anything_takes_no_share_from_others() -> None:
    share = Share()
    share.charge(("busy", 0), 1.0, 100.0)
    share.charge(("idle", 0), 0.01, 100.0)
    assert share.ratio(("busy", 0), 100.0) == 0.0
    share.charge(("idle", 0), 0.1, 100.0)
    assert share.ratio(("busy", 0), 100.0) > AHEAD


def test_within_an_address_connections_share_alike() -> None:
    share = Share()
    for number in range(9):
        share.charge(("a", number), 1.0, 100.0)
    share.charge(("a", "greedy"), 11.0, 100.0)
    assert share.ratio(("a", "greedy"), 100.0) == pytest.approx(5.5)
    assert share.ratio(("a", 0), 100.0) == pytest.approx(0.5)


# -- turns ---------------------------------------------------------------------------


def in_loop(play: Callable[[Turns, Clock], Awaitable[None]]) -> None:
    clock = Clock()

    async def main() -> None:
        await play(Turns(clock, clock), clock)

    asyncio.run(main())


async def work(turns: Turns, clock: Clock, who: str, seconds: float, **how: Any) -> None:
    leave = await turns.take((who, 0), **{"slow": False, **how})
    clock.now += seconds
    leave()
    leave()  # and nobody pays twice


def test_whoever_is_within_a_fair_share_does_not_wait() -> None:
    async def play(turns: Turns, clock: Clock) -> None:
        held = await turns.take(("stranger",), slow=True, guest=True)
        for who in ("a", "b", "c"):
            async with asyncio.timeout(5):
                await work(turns, clock, who, 0.001)
        held()

    in_loop(play)


def test_whoever_is_ahead_queues_and_whoever_used_least_goes_first() -> None:
    said: list[str] = []

    async def play(turns: Turns, clock: Clock) -> None:
        for who, seconds in (("a", 0.1), ("b", 0.02), ("c", 0.3), ("d", 0.3)):
            await work(turns, clock, who, seconds)
        assert (
            turns._short.ratio(("b", 0), clock.now)
            < AHEAD
            < turns._short.ratio(("c", 0), clock.now)
        )
        held = await turns.take(("stranger",), slow=True, guest=True)

        async def one(who: str) -> None:
            await work(turns, clock, who, 0.0)
            said.append(who)

        waiting = [asyncio.create_task(one(who)) for who in ("d", "c", "b")]
        await asyncio.sleep(0)
        assert said == ["b"]
        turns._beside = 0.0
        held()
        await asyncio.gather(*waiting)

    in_loop(play)
    assert said == ["b", "c", "d"]


def test_slow_work_has_shares_of_its_own() -> None:
    async def play(turns: Turns, clock: Clock) -> None:
        await work(turns, clock, "fast", 0.5)
        await work(turns, clock, "other", 0.1)
        await work(turns, clock, "resets", 0.5, slow=True)
        await work(turns, clock, "fast", 0.1, slow=True)
        assert turns._short.ratio(("fast", 0), clock.now) > AHEAD
        assert turns._slow.ratio(("fast", 0), clock.now) < AHEAD
        assert turns._slow.ratio(("resets", 0), clock.now) > AHEAD

    in_loop(play)


@pytest.mark.parametrize(
    ("seconds", "cost", "rest"),
    [(0.01, 0.0, 0.01 * REST), (0.01, 0.02, 0.03 * REST), (9.0, 0.0, LONGEST_REST)],
)
def test_the_lane_rests_after_a_turn_while_others_pass_beside_it(
    monkeypatch: pytest.MonkeyPatch, seconds: float, cost: float, rest: float
) -> None:
    rests: list[float] = []

    async def play(turns: Turns, clock: Clock) -> None:
        loop = asyncio.get_running_loop()

        def soon(delay: float, what: Any, *_: Any) -> Any:
            rests.append(delay)
            return loop.call_soon(what)

        monkeypatch.setattr(loop, "call_later", soon)
        await work(turns, clock, "stranger", seconds, slow=True, guest=True, cost=cost)
        assert rests == []  # nobody else was there
        await work(turns, clock, "a", 60.0)
        await work(turns, clock, "stranger", seconds, slow=True, guest=True, cost=cost)
        await work(turns, clock, "stranger", seconds, slow=True, guest=True, cost=cost)

    in_loop(play)
    assert rests == [pytest.approx(rest)]


def test_whoever_uses_little_beside_the_lane_does_not_make_it_rest_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rests: list[float] = []

    async def play(turns: Turns, clock: Clock) -> None:
        loop = asyncio.get_running_loop()

        def soon(delay: float, what: Any) -> Any:
            rests.append(delay)
            return loop.call_soon(what)

        monkeypatch.setattr(loop, "call_later", soon)
        for _ in range(20):
            await work(turns, clock, "light", 0.0001)
            await work(turns, clock, "stranger", 0.5, slow=True, guest=True)

    in_loop(play)
    assert rests
    assert sum(rests) == pytest.approx(20 * BESIDE * 0.0001, abs=SHORTEST_REST)


def test_short_turns_do_not_wait_while_the_lane_rests_for_a_long_one() -> None:
    async def play(turns: Turns, clock: Clock) -> None:
        for who in range(30):
            await work(turns, clock, str(who), 0.001)
        for _ in range(9):
            await work(turns, clock, "busy", 0.005)
        for _ in range(2):
            await work(turns, clock, "greedy", 0.1)
        assert turns._short.ratio(("busy", 0), clock.now) > AHEAD
        assert turns._resting > turns._short.dear(("busy", 0))
        async with asyncio.timeout(5):
            await work(turns, clock, "busy", 0.005)
        waiting = asyncio.create_task(work(turns, clock, "greedy", 0.001))
        await asyncio.sleep(0)
        assert len(turns._waiting) == 1
        turns._next()
        await waiting

    in_loop(play)


def test_a_long_turn_is_remembered_through_short_ones() -> None:
    share = Share()
    share.charge(("a", 0), 1.0, 100.0)
    for _ in range(5):
        share.charge(("a", 0), 0.001, 100.0)
    assert share.dear(("a", 0)) == pytest.approx(0.9**5)
    assert share.dear(("a", 1)) == math.inf


def test_time_that_others_took_meanwhile_is_theirs() -> None:
    async def play(turns: Turns, clock: Clock) -> None:
        leave = await turns.take(("a", 0), slow=False)
        clock.now += 0.1
        await work(turns, clock, "b", 0.7)
        clock.now += 0.1
        leave()
        assert turns._short._parts["a"].lately(clock.now) == pytest.approx(0.2)
        assert turns._short._parts["b"].lately(clock.now) < 0.7

    in_loop(play)


def test_whoever_stops_waiting_gives_the_turn_to_the_next() -> None:
    async def play(turns: Turns, clock: Clock) -> None:
        held = await turns.take(("a",), slow=True, guest=True)
        gone = asyncio.create_task(work(turns, clock, "b", 0.0, guest=True))
        woken = asyncio.create_task(work(turns, clock, "c", 0.0, guest=True))
        last = asyncio.create_task(work(turns, clock, "d", 0.0, guest=True))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.sleep(0)
        held()
        woken.cancel()  # its turn has come, and it does not know yet
        async with asyncio.timeout(5):
            await last
        await asyncio.gather(gone, woken, return_exceptions=True)
        assert not turns._taken

    in_loop(play)


def test_whoever_goes_and_comes_again_is_not_new() -> None:
    async def play(turns: Turns, clock: Clock) -> None:
        await work(turns, clock, "other", 0.01, slow=True)
        for number in range(5):
            turns.arrive("a", number)
            leave = await turns.take(("a", number), slow=True)
            clock.now += 0.1
            leave()
            turns.depart("a", number, 0.0)
        turns.arrive("a", 5)
        kept = turns._slow._parts["a"]
        assert kept._parts[5].lately(clock.now) == pytest.approx(kept.lately(clock.now))
        assert kept.lately(clock.now) > 0.3
        turns.arrive("a", 6)
        assert turns._slow.ratio(("a", 6), clock.now) == turns._slow.ratio(("a",), clock.now)
        assert set(kept._parts) == {5}

    in_loop(play)


def test_what_several_left_behind_is_taken_over_together() -> None:
    share = Share()
    for name in ("x", "y"):
        share.charge(("a", name), 1.0, 100.0)
    share.charge(("a", "z"), 1.0, 100.0)
    for name in ("x", "y"):
        share.rename(("a", name), "left", 100.0)
    share.rename(("nobody", "x"), "left", 100.0)
    assert share.ratio(("a", "left"), 100.0) == pytest.approx(4 / 3)
    assert share.lately(100.0) == 3.0


def test_a_toll_is_paid_once() -> None:
    toll = Toll()
    toll.add(0.5)
    toll.add(0.25)
    assert (toll.collect(), toll.collect()) == (0.75, 0.0)


# -- the guard -----------------------------------------------------------------------


class Reads:
    """Counts what is read of bodies and messages, and stands where the guard reads."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, data: str | bytes, limit: int) -> dict[str, Any]:
        self.count += 1
        return read_object(data, limit)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Reads:
    counted = Reads()
    monkeypatch.setattr(guard_module, "read_object", counted)
    return counted


class Application:
    """Answers every request, and keeps what reached it."""

    def __init__(self) -> None:
        self.bodies: list[Any] = []
        self.messages: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            self.bodies.append(scope.get("state", {}).get(BODY))
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"{}"})
            return
        await receive()
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] == "websocket.receive":
            self.messages.append(message["text"])
            await send({"type": "websocket.send", "text": "{}"})


DEEP = b'{"a": [' + b"[]," * 20_000 + b"[]]}"


CONNECT = {"type": "websocket.connect"}


class Wire:
    """One request or connection, with what comes and what is sent."""

    def __init__(self, *messages: dict[str, Any]) -> None:
        self.sent: list[dict[str, Any]] = []
        self.received = 0
        self._messages = list(messages)

    async def receive(self) -> dict[str, Any]:
        self.received += 1
        if not self._messages:
            await asyncio.sleep(3600)
        return self._messages.pop(0)

    async def send(self, message: Any) -> None:
        self.sent.append(message)

    @property
    def status(self) -> int:
        status: int = self.sent[0]["status"]
        return status


def scope(path: str, *, kind: str = "http", address: str = "192.0.2.1", **more: Any) -> Any:
    headers = [(name.encode(), value.encode()) for name, value in more.items()]
    return {
        "type": kind,
        "path": path,
        "client": (address, 1),
        "headers": [(name.replace(b"_", b"-"), value) for name, value in headers],
        "extensions": {"websocket.http.response": {}},
        "state": {},
    }


def body(content: bytes) -> Wire:
    return Wire({"type": "http.request", "body": content, "more_body": False})


def talk(*texts: str) -> Wire:
    said = [{"type": "websocket.receive", "text": text} for text in texts]
    return Wire({"type": "websocket.connect"}, *said, {"type": "websocket.disconnect"})


def guarded(**settings: Any) -> tuple[Guard, Application]:
    application = Application()
    return Guard(application, Settings(**settings), Gate(), KINDS), application


def test_without_a_token_nothing_is_read(reads: Reads) -> None:
    guard, application = guarded(token=TOKEN)

    async def main() -> None:
        for path in ("/reset", "/step", "/grader", "/mcp", "/nope"):
            wire = body(DEEP)
            await guard(scope(path, content_length=str(len(DEEP))), wire.receive, wire.send)
            assert (wire.status, wire.received) == (401, 0)
        wire = talk(DEEP.decode())
        await guard(scope("/ws", kind="websocket"), wire.receive, wire.send)
        assert (wire.status, wire.received) == (401, 0)

    asyncio.run(main())
    assert reads.count == 0
    assert not application.bodies


@pytest.mark.parametrize("header", [{"content_length": "60000"}, {"transfer_encoding": "chunked"}])
@pytest.mark.parametrize("token", [None, TOKEN])
def test_open_paths_take_no_body(reads: Reads, token: str | None, header: dict[str, str]) -> None:
    guard, application = guarded(token=token)

    async def main() -> None:
        wire = body(DEEP)
        await guard(scope("/health", **header), wire.receive, wire.send)
        assert (wire.status, wire.received) == (413, 0)
        assert (b"connection", b"close") in wire.sent[0]["headers"]
        for plain in ({}, {"content_length": "0"}):
            wire = body(b"")
            await guard(scope("/health", **plain), wire.receive, wire.send)
            assert wire.status == 200

    asyncio.run(main())
    assert reads.count == 0
    assert len(application.bodies) == 2


def test_nothing_is_read_of_a_request_before_its_turn(reads: Reads) -> None:
    guard, application = guarded()

    async def main() -> None:
        # Whoever used too much queues behind the one that has the lane.
        guard._turns._slow.charge(("192.0.2.9", "requests"), 1.0, guard._turns._clock())
        guard._turns._slow.charge(("192.0.2.1", "requests"), 9.0, guard._turns._clock())
        held = await guard._turns.take(("stranger",), slow=True, guest=True)
        wires = [body(b'{"a": 1}') for _ in range(5)]
        asked = [asyncio.create_task(guard(scope("/step"), one.receive, one.send)) for one in wires]
        for _ in range(5):
            await asyncio.sleep(0)
        assert reads.count == 0
        other = body(b'{"b": 1}')
        await guard(scope("/step", address="192.0.2.9"), other.receive, other.send)
        assert (reads.count, application.bodies) == (1, [{"b": 1}])
        guard._turns._beside = 0.0
        held()
        await asyncio.gather(*asked)

    asyncio.run(main())
    assert reads.count == 6
    assert application.bodies == [{"b": 1}, *[{"a": 1}] * 5]


def test_nothing_is_read_of_a_message_before_its_turn(reads: Reads) -> None:
    guard, application = guarded()
    step = json.dumps({"type": "step", "data": {"text": "x"}})

    async def main() -> None:
        now = guard._turns._clock()
        guard._turns._short.charge(("192.0.2.9", 0), 1.0, now)
        guard._turns._short.charge(("192.0.2.1", 0), 9.0, now)
        wire = talk(step)
        held = await guard._turns.take(("stranger",), slow=True, guest=True)
        playing = asyncio.create_task(
            guard(scope("/ws", kind="websocket"), wire.receive, wire.send)
        )
        for _ in range(9):
            await asyncio.sleep(0)
        assert wire.sent[0]["type"] == "websocket.accept"
        assert (reads.count, application.messages) == (0, [])
        guard._turns._beside = 0.0
        held()
        await playing

    asyncio.run(main())
    assert (reads.count, application.messages) == (1, [step])


def test_what_was_read_before_is_charged() -> None:
    guard, _ = guarded()

    async def main() -> None:
        toll = Toll()
        toll.add(5.0)
        wire = body(b"{}")
        asked = scope("/step")
        asked["state"]["toll"] = toll
        await guard(asked, wire.receive, wire.send)
        assert guard._turns._slow.lately(guard._turns._clock()) > 3.0

    asyncio.run(main())


def test_what_a_connection_cost_without_a_message_the_next_one_pays() -> None:
    guard, _ = guarded()

    async def main() -> None:
        asked, toll = scope("/ws", kind="websocket"), Toll()
        asked["state"]["toll"] = toll
        begun = asyncio.create_task(guard(asked, (first := Wire(CONNECT)).receive, first.send))
        while first.received < 2:
            await asyncio.sleep(0)
        toll.add(5.0)  # pings, say
        begun.cancel()
        await asyncio.gather(begun, return_exceptions=True)
        assert guard._turns._slow.lately(guard._turns._clock()) < 1.0
        second = Wire(CONNECT, {"type": "websocket.disconnect"})
        await guard(scope("/ws", kind="websocket"), second.receive, second.send)
        assert guard._turns._slow.lately(guard._turns._clock()) > 3.0

    asyncio.run(main())


def test_bytes_are_charged() -> None:
    def charged(size: int) -> float:
        guard, _ = guarded()

        async def main() -> float:
            text = json.dumps({"type": "step", "data": {"text": "x" * size}})
            clock = Clock()
            guard._turns = Turns(clock, clock)  # no time passes: only bytes cost
            wire = talk(text)
            await guard(scope("/ws", kind="websocket"), wire.receive, wire.send)
            return guard._turns._slow.lately(clock.now)

        return asyncio.run(main())

    assert charged(60_000) - charged(30_000) == pytest.approx(30_000 * BYTE)


def test_an_address_has_a_part_of_the_sessions(reads: Reads) -> None:
    guard, _ = guarded(max_sessions=4)

    async def main() -> None:
        async def begin(address: str) -> tuple[Wire, asyncio.Task[None]]:
            wire = Wire({"type": "websocket.connect"})
            asked = scope("/ws", kind="websocket", address=address)
            task = asyncio.create_task(guard(asked, wire.receive, wire.send))
            while not wire.sent:
                await asyncio.sleep(0)
            return wire, task

        held = [await begin("192.0.2.1") for _ in range(2)]
        refused, done = await begin("192.0.2.1")
        assert refused.status == 503
        assert b"this address has 2 sessions already" in refused.sent[1]["body"]
        other, theirs = await begin("192.0.2.2")
        assert other.sent[0]["type"] == "websocket.accept"
        for _, task in held:
            task.cancel()
        await asyncio.gather(*(task for _, task in held), done, return_exceptions=True)
        again, task = await begin("192.0.2.1")
        assert again.sent[0]["type"] == "websocket.accept"
        for one in (theirs, task):
            one.cancel()
        await asyncio.gather(theirs, task, return_exceptions=True)
        assert not guard._sessions

    asyncio.run(main())
    assert reads.count == 0


def test_requests_of_an_address_do_not_use_up_the_rate_of_its_sessions() -> None:
    guard, _ = guarded(rate=1.0)

    async def main() -> None:
        statuses = []
        for _ in range(3):
            wire = body(b"{}")
            await guard(scope("/step"), wire.receive, wire.send)
            statuses.append(wire.status)
        assert statuses == [200, 429, 429]
        talking = talk()
        await guard(scope("/ws", kind="websocket"), talking.receive, talking.send)
        assert talking.sent[0]["type"] == "websocket.accept"
        refused = talk()
        await guard(scope("/ws", kind="websocket"), refused.receive, refused.send)
        assert refused.status == 429

    asyncio.run(main())


def test_refused_messages_get_a_short_answer_and_do_not_reach_the_application() -> None:
    guard, application = guarded()
    keys = {f"{number:05}": number for number in range(1_500)}
    texts = [
        json.dumps({"type": "step", "data": keys}),
        json.dumps({"type": "step", "data": {f"{n:05}": n for n in range(4_000)}}),
        json.dumps({"type": "x" * 60_000}),
        json.dumps({"type": "step", "x" * 60_000: 1}),
        DEEP.decode(),
    ]

    async def main() -> list[str]:
        wire = talk(*texts)
        await guard(scope("/ws", kind="websocket"), wire.receive, wire.send)
        return [one["text"] for one in wire.sent if one["type"] == "websocket.send"]

    answers = asyncio.run(main())
    assert len(answers) == len(texts)
    assert max(map(len, answers)) < 300
    assert [json.loads(one)["data"]["code"] for one in answers] == [
        *("VALIDATION_ERROR", "INVALID_JSON", "UNKNOWN_TYPE", "VALIDATION_ERROR", "INVALID_JSON")
    ]
    assert application.messages == []
