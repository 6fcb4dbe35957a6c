"""The strategy that draws worlds: small ones that are valid, whatever else they are.

A world is drawn as the document of its folder, with each share, name, order and number free
within what the checks allow.
"""

from functools import lru_cache
from typing import Any, Final

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from logtriage.world.drawn import draw_world
from logtriage.world.histories import MAX_ONSET
from logtriage.world.loading import build, load_world, shipped_worlds
from logtriage.world.model import World
from logtriage.world.schema.canonical import Document, document_of
from logtriage.world.schema.parts import GROUPS
from logtriage.world.telemetry import LEVELS

_TEAMS: Final = ("red-team", "green-team", "blue-team", "sre-team")
_REMEDIES: Final = ("restart", "fail-over", "rollback", "patch")
_CLASSES: Final = ("code", "data", "capacity")
_INNER: Final = ("service", "datastore", "queue")
_GAUGES: Final = ("cpu", "memory", "own")


@st.composite
def world_documents(draw: st.DrawFn) -> Document:
    """The folder of a world as data."""
    inner = draw(st.lists(st.sampled_from(_INNER), min_size=1, unique=True))
    tiers = ["edge", *inner]
    gauges = {name: draw(st.integers(1, 2)) for name in _subset(draw, _GAUGES)}
    topics = {f"topic_{n}": _subset(draw, tiers) for n in range(draw(st.integers(0, 3)))}
    topics["anywhere"] = tiers
    rules, kinds = draw(_rules(tiers, gauges, topics))
    technologies = _technologies(draw, tiers)
    return {
        "world.toml": rules, "tokens.toml": _tokens(draw, gauges),
        **{f"kinds/{name}.toml": kind for name, kind in kinds.items()},
        **_benign(draw, tiers, gauges, topics), **_topics(draw, tiers, topics), **technologies,
        "topologies/drawn.toml": _layout(draw, tiers, rules["owners"]),
    }  # fmt: skip


def drawn_worlds() -> st.SearchStrategy[World]:
    """Worlds that nobody ships."""
    return world_documents().map(lambda document: build(document, "drawn"))


@lru_cache(maxsize=1)
def kept_worlds() -> tuple[World, ...]:
    """Drawn worlds for laws about something else: drawn once, since a world takes 50 ms."""
    found: list[World] = []

    @settings(
        max_examples=24, derandomize=True, database=None, deadline=None, phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(drawn_worlds())
    def keep(world: World) -> None:
        found.append(world)

    keep()
    return tuple(dict.fromkeys(found))


def worlds() -> st.SearchStrategy[World]:
    """Any shipped world, one around a shipped one, or one that nobody ships."""
    shipped = st.sampled_from(shipped_worlds()).map(load_world)
    around = st.builds(draw_world, shipped, st.integers(0, (1 << 64) - 1))
    return shipped | around | drawn_worlds()


def documents() -> st.SearchStrategy[Document]:
    """The documents of :func:`worlds`."""
    return worlds().map(document_of)


def _subset(draw: st.DrawFn, names: Any) -> list[str]:
    chosen = draw(st.sets(st.sampled_from(list(names)), min_size=1))
    return [name for name in names if name in chosen]


def _parts(draw: st.DrawFn, count: int, whole: int) -> list[int]:
    """Shares from 0 that fit a whole."""
    shares = []
    for _ in range(count):
        shares.append(draw(st.integers(0, whole)))
        whole -= shares[-1]
    return shares


@st.composite
def _rules(
    draw: st.DrawFn, tiers: list[str], gauges: dict[str, int], topics: dict[str, list[str]]
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """``world.toml``, and the kinds that fit its classes."""
    teams = draw(st.permutations(_TEAMS))[: draw(st.integers(1, len(_TEAMS)))]
    classes = _subset(draw, _CLASSES)
    weights = [1 + share for share in _parts(draw, len(classes) - 1, 90)]
    weights.append(100 - sum(weights))
    pages = [draw(st.sampled_from(["owner", *teams])) for _ in classes]
    unpaged = [team for team in teams if team not in pages]
    owners = [team for team in teams if team in unpaged or draw(st.booleans())] or teams[:1]
    names = [f"kind_{number}" for number in range(max(len(classes), draw(st.integers(1, 4))))]
    orders = draw(
        st.lists(st.integers(0, 999), min_size=len(names), max_size=len(names), unique=True)
    )
    kinds: dict[str, dict[str, Any]] = {}
    for number, name in enumerate(names):
        kinds[name] = {
            "order": orders[number],
            "class": classes[number % len(classes)],
            # The first can strike anywhere, so that no tier is without a kind.
            "tiers": tiers if number == 0 else _subset(draw, tiers),
            "remedies": _subset(draw, _REMEDIES),
            "errors_first": draw(st.booleans()),
            "drifts": number == 0 or draw(st.booleans()),
            "pours_load": draw(st.booleans()),
            "summary": f"what {name} does",
            "signature": _signature(draw, gauges, topics, root=True),
            "names": _phrasings(f"cause {name}", "{n}"),
            "past": {group: [f"a {name} of {group}"] for group in GROUPS},
            # The first of each class goes by the class, so that every team is paged.
            **(_pages(draw, teams) if number >= len(classes) else {}),
        }
    kinds = {name: kind | {"signature": _fitting(kind, topics)} for name, kind in kinds.items()}
    sick = {"timeout": draw(st.integers(0, 50))}
    rules: dict[str, Any] = {
        "name": "drawn", "title": "A drawn world",
        "tiers": [
            {"name": tier, "entry": tier == "edge", "calls": tier in ("edge", tiers[1])}
            for tier in tiers
        ],
        "teams": teams, "owners": owners, "remedies": list(_REMEDIES),
        "classes": [
            {"name": name, "weight": weight, "pages": page}
            for name, weight, page in zip(classes, weights, pages, strict=True)
        ],
        "fog": [
            {"background": draw(st.integers(1, 60)), "named": draw(st.integers(0, 60))}
            for _ in range(4)
        ],
        "severity_rule": [
            {"severity": "P1", "errors": 500, "p99": 2000},
            {"severity": "P2", "errors": 100, "p99": 800},
        ],
        "minor_faults": draw(st.integers(0, 400)), "edge": _edge(draw),
        "common": {"change": {"release": draw(st.integers(0, 30))}}, "healthy": {},
        "affected": {
            "waiting": {"log": sick, "time": {"calls": draw(st.integers(0, 100))}},
            "loaded": _signature(draw, gauges, topics),
        },
        "background": {"log": sick},
        "distractions": [
            {
                "name": f"distraction_{number}", "words": f"things {number}",
                "share": draw(st.integers(0, 300)), "signature": _signature(draw, gauges, topics),
            }
            for number in range(draw(st.integers(0, 2)))
        ],
        "tasks": [_task(draw, f"task_{number}") for number in range(draw(st.integers(1, 2)))],
    }  # fmt: skip
    rules["tasks"][0]["counts"] = [1]
    rules |= _signs(draw, rules, gauges, topics)
    if draw(st.booleans()):
        rules["secondary_fault"] = {
            "kind": draw(st.sampled_from(names)), "tiers": _subset(draw, tiers),
            "words": "drag down who calls it", "weight": draw(st.integers(1, 20)),
        }  # fmt: skip
    return rules, kinds


def _signs(
    draw: st.DrawFn, rules: dict[str, Any], gauges: dict[str, int], topics: dict[str, list[str]]
) -> dict[str, Any]:
    """Alert rules, and coincidences, which hold every token."""
    shares = st.integers(1, 9)
    named = any(level["named"] for level in rules["fog"])
    tokens = ["timeout", *topics, *(["names"] if named else [])]
    return {
        "alerts": {"missed": draw(st.integers(0, 50)), "noisy": draw(st.integers(1, 49))},
        "fog": [{**level, "blind": draw(st.integers(0, 100))} for level in rules["fog"]],
        "background": {
            "change": {"release": draw(shares)},
            "log": {token: draw(shares) for token in tokens},
            "time": {"itself": draw(shares), "calls": draw(shares)},
            "errors": {"itself": draw(shares), "calls": draw(shares)},
            **{
                name: {f"odd_{number}": draw(shares) for number in range(count)}
                for name, count in gauges.items()
            },
        },
    }


def _pages(draw: st.DrawFn, teams: Any) -> dict[str, Any]:
    """Whom a kind pages, whatever its class says; or nothing."""
    team = draw(st.sampled_from([None, "owner", *teams]))
    return {} if team is None else {"pages": team}


def _fitting(kind: dict[str, Any], topics: dict[str, list[str]]) -> dict[str, Any]:
    """A kind's signature without topics that make no sense where it strikes."""
    signature: dict[str, Any] = kind["signature"]
    log = {
        name: share
        for name, share in signature["log"].items()
        if set(topics[name]) & set(kind["tiers"])
    }
    return {**signature, "log": log}


def _edge(draw: st.DrawFn) -> dict[str, Any]:
    calm = [{"errors": "usual", "p99": "usual", "weight": draw(st.integers(1, 9))}]
    return {
        "bands": [
            {"name": "usual", "errors": [4, 18]},
            {"name": "slight", "errors": [35, 80], "p99": [250, 620]},
            {"name": "P2", "errors": [130, 420], "p99": [900, 1850]},
            {"name": "P1", "errors": [600, 2900], "p99": [2150, 6800]},
        ],
        "leads": [draw(st.integers(1, 9)) for _ in range(3)], "unmoved": draw(st.integers(0, 15)),
        "early_milder": draw(st.integers(0, 100)), "early_calm": draw(st.integers(0, 100)),
        "calm": [*calm, {"errors": "slight", "p99": "usual", "weight": draw(st.integers(0, 9))}],
        "recovered": calm,
    }  # fmt: skip


def _task(draw: st.DrawFn, name: str) -> dict[str, Any]:
    horizon = draw(st.integers(6, 20))
    return {
        "name": name, "title": f"The task {name}", "hard": "whatever was drawn",
        "topology": "drawn", "horizon": horizon, "par": draw(st.integers(5, horizon)),
        "par_benign": draw(st.integers(3, horizon)), "onset": draw(st.integers(1, MAX_ONSET)),
        "benign": draw(st.integers(0, 500)),
        "severities": [1, draw(st.integers(0, 5)), draw(st.integers(0, 5))],
        "severity_from": draw(st.integers(0, 4)), "root_silent": draw(st.integers(0, 4)),
        "grows_for": draw(st.integers(0, 9)), "called_only": draw(st.booleans()),
        "creeping": draw(st.booleans()),
        "counts": draw(st.sampled_from(([1], [1, 1], [30, 50, 20]))),
    }  # fmt: skip


def _tokens(draw: st.DrawFn, gauges: dict[str, int]) -> dict[str, Any]:
    calls: dict[str, Any] = {"name": "calls", "dependency": True}
    return {
        "failing": 60, "latency": {"usual": 30, "slow": 900, "step": draw(st.integers(1, 40))},
        "line_figures": {"n": [2, 40], "ms": [1, 9], "pct": [5, 90], "mb": [40, 900]},
        "runbook_order": draw(st.permutations(["change", "log", "time", "errors", *gauges])),
        "alert": {
            "ordinary": "none",
            "tokens": [
                {"name": "errors", "watches": "errors", "title": "HighErrorRate"},
                {"name": "latency", "watches": "time", "title": "HighLatency"},
            ],
        },
        "change": {
            "ordinary": "none",
            "tokens": [
                {
                    "name": "release", "word": "release", "kind": "release",
                    "says": "release {version}",
                    "about": {group: [f"work of {group}"] for group in GROUPS},
                }
            ],
            "authors": {group: [f"somebody in {group}"] for group in GROUPS},
            "figures": {"version": {"version": True}},
        },
        "gauges": [_gauge(draw, name, count) for name, count in gauges.items()],
        "spans": [
            {
                "name": "time", "ordinary": "nowhere",
                "tokens": [{"name": "itself", "word": "own time"}, {**calls, "word": "call"}],
            },
            {
                "name": "errors", "ordinary": "nowhere",
                "tokens": [{"name": "itself", "word": "own errors"}, {**calls, "word": "theirs"}],
            },
        ],
    }  # fmt: skip


def _gauge(draw: st.DrawFn, name: str, count: int) -> dict[str, Any]:
    tokens = [f"odd_{number}" for number in range(count)]
    low = draw(st.integers(0, 50))
    figures: dict[str, Any] = {"usual": {"range": [low, low + 9], "key": f"{name} usual"}}
    for number, token in enumerate(tokens):
        form: dict[str, Any] = draw(
            st.sampled_from(
                (
                    {"range": [100 + number, 200]},
                    {"scaled_range": {"of": "usual", "percent": [150, 250]}},
                )
            )
        )
        figures[token] = {**form, "key": f"{name} {token}"}
    return {
        "name": name, "ordinary": "usual",
        "tokens": [{"name": token, "word": f"{name} {token}"} for token in tokens],
        "readings": [
            {
                "label": f"{name} %", "shows": {one: one for one in ("usual", *tokens)},
                "metric": {"name": name, "unit": "%"},
            }
        ],
        "explained": draw(st.booleans()), "figures": figures,
    }  # fmt: skip


def _signature(
    draw: st.DrawFn, gauges: dict[str, int], topics: dict[str, list[str]], root: bool = False
) -> dict[str, Any]:
    """Shares of any tokens; a ``root`` speaks of what can be said anywhere."""
    anywhere = draw(st.integers(int(root), 40))
    shares = _parts(draw, len(topics) - 1, 60)
    others = [name for name in topics if name != "anywhere"]
    return {
        "time": {"itself": draw(st.integers(0, 100))},
        "change": {"release": draw(st.integers(0, 60))},
        "log": {"anywhere": anywhere, **dict(zip(others, shares, strict=True))},
        **{
            name: dict(
                zip((f"odd_{n}" for n in range(count)), _parts(draw, count, 100), strict=True)
            )
            for name, count in gauges.items()
        },
    }


def _phrasings(what: str, figure: str) -> dict[str, list[list[str]]]:
    return {
        group: [["INFO", f"{what} in {group}"], ["WARN", f"{what} in {group}: {figure}"]]
        for group in GROUPS
    }


def _topics(
    draw: st.DrawFn, tiers: list[str], topics: dict[str, list[str]]
) -> dict[str, dict[str, Any]]:
    names = ["everyday", *topics, "timeout"]
    orders = draw(st.permutations(range(len(names))))
    rows: dict[str, dict[str, Any]] = {
        name: {"order": order, "tiers": topics.get(name, tiers), "word": f"~{name}"}
        for name, order in zip(names, orders, strict=True)
    }
    del rows["everyday"]["word"]
    rows["everyday"] |= {"ordinary": True, "phrasings": _phrasings("nothing", "{ms}")}
    for name in topics:
        rows[name]["phrasings"] = _phrasings(
            name, draw(st.sampled_from(("{pct}", "{v}", "{cause}")))
        )
    rows["timeout"] |= {
        "dependency": True,
        "phrasings": {group: [["ERROR", f"{{dep}} failed in {group}"]] for group in GROUPS},
    }
    return {f"topics/{name}.toml": row for name, row in rows.items()}


def _technologies(draw: st.DrawFn, tiers: list[str]) -> dict[str, dict[str, Any]]:
    """None, or up to two technologies that word some topics of some tiers."""
    rows: dict[str, dict[str, Any]] = {}
    for number in range(draw(st.integers(0, 2))):
        words = _phrasings(f"tech {number}", "{id} {host}")
        topics = {"everyday": words} if draw(st.booleans()) else {}
        rows[f"technologies/tech-{number}.toml"] = {
            "order": number, "tiers": _subset(draw, tiers), "held_out": draw(st.booleans()),
            "line": draw(st.sampled_from(("{text}", "{level} {pod} {trace} {text} {host}"))),
            "levels": {level: level.lower() for level in LEVELS}, "words": {"host": ["h1", "h2"]},
            "topics": topics,
        }  # fmt: skip
    return rows


def _benign(
    draw: st.DrawFn, tiers: list[str], gauges: dict[str, int], topics: dict[str, list[str]]
) -> dict[str, dict[str, Any]]:
    count = draw(st.integers(1, 2))
    return {
        f"benign/benign_{number}.toml": {
            "order": number,
            "tiers": tiers if number == 0 else ["edge"],
            "signature": {
                **(row := _signature(draw, gauges, topics)),
                "log": {"anywhere": row["log"]["anywhere"]},
            },
        }
        for number in range(count)
    }


def _layout(draw: st.DrawFn, tiers: list[str], owners: list[str]) -> dict[str, Any]:
    """An edge that calls a service; each further one is called by one that may call.

    All of them name an owner, some of them, or none.
    """
    count = draw(st.integers(1, 5))
    rows: list[dict[str, Any]] = [{"name": "s-0", "tier": "edge", "calls": []}]
    for number in range(1, count + 1):
        tier = tiers[1] if number == 1 else draw(st.sampled_from(tiers[1:]))
        calling = [row for row in rows if row["tier"] in ("edge", tiers[1])]
        for caller in draw(st.sets(st.sampled_from(range(len(calling))), min_size=1, max_size=2)):
            calling[caller]["calls"].append(f"s-{number}")
        rows.append({"name": f"s-{number}", "tier": tier, "calls": []})
    choices: list[list[str | None]] = [[*owners], [None, *owners], [None]]
    named = draw(st.sampled_from(choices))
    for row in rows:
        owner = draw(st.sampled_from(named))
        row |= {} if owner is None else {"owner": owner}
    return {"services": rows}
