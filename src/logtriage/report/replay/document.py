"""All data of a page: a list of every episode, and the episodes in compressed chunks."""

import gzip
import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final

import attrs

from logtriage._lib.progress import OnProgress, watched
from logtriage.codec import role_split_to_json
from logtriage.grading.debrief import SOLVED, rule_words, verdict_of
from logtriage.incident import Incident
from logtriage.report.episode import Episode
from logtriage.report.replay.episode import Lines, episode_data, states_of
from logtriage.report.replay.layout import layout
from logtriage.report.replay.truths import Part, parts_of
from logtriage.report.text import clean, first_declared, titled, truth_of
from logtriage.roles import RoleSplit
from logtriage.transcript import ANSWER

#: Characters of JSON in a chunk: few enough to read at once, enough to compress well.
CHUNK: Final = 1_000_000
#: The page holds screens and services tick by tick for at most this many episodes.
MAX_SCREENS: Final = 1_000
#: The page holds beliefs for at most this many episodes by default.
MAX_BELIEFS: Final = 100

_json = partial(json.dumps, separators=(",", ":"), allow_nan=False, ensure_ascii=True)


@attrs.frozen
class Document:
    """The data of a page: facts in the open, everything else compressed.

    ``index`` and each of ``chunks`` are gzip of JSON in base64. ``believed`` and
    ``shown`` count the episodes with beliefs and with screens.
    """

    facts: dict[str, Any]
    index: str
    chunks: tuple[str, ...]
    believed: int
    shown: int

    def to_json(self) -> str:
        """The document as JSON for a script element."""
        data = {**self.facts, "index": self.index, "chunks": self.chunks}
        return _json(data).replace("<", "\\u003c").replace(">", "\\u003e")


def pack(data: Any) -> str:
    """JSON data, compressed, in base64; the same bytes for the same data."""
    return b64encode(gzip.compress(_json(data).encode(), compresslevel=9, mtime=0)).decode()


def document(
    name: str,
    version: str,
    episodes: Sequence[Episode],
    *,
    headlines: Sequence[tuple[str, str]] = (),
    changes: Sequence[tuple[list[str], list[str], str]] = (),
    own: Sequence[str] | None = None,
    roles: RoleSplit | None = None,
    beliefs: int = MAX_BELIEFS,
    numpy: bool = True,
    shifts: bool = False,
    order: Sequence[int] | None = None,
    figures: dict[str, Any] | None = None,
    on_progress: OnProgress | None = None,
) -> Document:
    """The data of a page on some episodes of a run.

    ``headlines`` are pairs of a policy and its worth in words. ``changes`` are triples: policies of
    an agent, policies of its rival, their difference in words. The page counts failures of policies
    in ``own`` (None: all). ``order`` lists indices of episodes (None: as given); the first get
    screens and beliefs. Without ``numpy`` there are no beliefs, and the page says why; with
    ``shifts`` it names the options of a run of shifts. ``figures`` stand above the list of
    episodes (:func:`logtriage.report.first_page.first_page`).
    """
    first = range(len(episodes)) if order is None else order
    shown = frozenset(first[:MAX_SCREENS])
    known = [place for place in first if episodes[place].incident.setting is not None]
    believed = frozenset(known[: beliefs if numpy else 0])
    # Episodes on one incident stand together: they share its services and most of its lines.
    places = sorted(range(len(episodes)), key=lambda place: _incident_key(episodes[place]))
    chunks: list[str] = []
    rows: dict[int, list[Any]] = {}
    counting = watched(places, on_progress, len(places))
    for chunk in _chunks(episodes, counting, shown, believed, numpy=numpy):
        for place, at in chunk.pop("places"):
            rows[place] = [*_row(episodes[place], chunk["episodes"][at]), len(chunks), at]
        chunks.append(pack(chunk))
    agents = list(dict.fromkeys(episode.policy for episode in episodes))
    tasks = list(dict.fromkeys(episode.grade.task for episode in episodes))
    facts = {
        "name": clean(name),
        "title": clean(titled(agents, tasks)),
        "headlines": [[*map(clean, row)] for row in headlines],
        "changes": [
            [[*map(clean, ours)], [*map(clean, theirs)], clean(words)]
            for ours, theirs, words in changes
        ],
        "own": [*map(clean, agents if own is None else own)],
        "figures": figures,
        "version": version,
        "solved": SOLVED,
        "numpy": numpy,
        "shifts": shifts,
        "roles": None if roles is None else role_split_to_json(roles),
        "episodes": len(episodes),
        "shown": len(shown),
        "believed": len(believed),
        "beliefs": any(episode.incident.setting is not None for episode in episodes),
    }
    index = [rows[place] for place in range(len(episodes))]
    return Document(facts, pack(index), tuple(chunks), len(believed), len(shown))


def _incident_key(episode: Episode) -> tuple[str, int, str]:
    task, _, number = episode.incident.id.rpartition("/")
    return task, int(number) if number.isdecimal() else 0, number


def _chunks(
    episodes: Sequence[Episode],
    places: Iterable[int],
    shown: frozenset[int],
    believed: frozenset[int],
    *,
    numpy: bool,
) -> Iterator[dict[str, Any]]:
    """Yield chunks; the caller takes out ``places``: (index of an episode, index in the chunk)."""
    incidents: dict[str, Any] = {}
    parts: dict[str, tuple[Part, ...]] = {}
    packed: list[Any] = []
    where: list[tuple[int, int]] = []
    lines, size = Lines(), 0

    def chunk() -> dict[str, Any]:
        texts = {"incidents": incidents, "lines": lines.texts}
        return {**texts, "episodes": packed, "places": where}

    for place in places:
        episode = episodes[place]
        key = episode.incident.id
        # Never in the middle of an incident, so that two agents on it can be compared at once.
        if size > CHUNK and key not in incidents:
            yield chunk()
            incidents, parts, packed, where, lines, size = {}, {}, [], [], Lines(), 0
        if key not in incidents:
            parts[key] = parts_of(episode.incident)
            incidents[key] = _incident(episode.incident, parts[key], numpy=numpy)
        wanted = {"screens": place in shown, "believed": place in believed}
        data = episode_data(episode, parts[key], lines, **wanted)
        where.append((place, len(packed)))
        packed.append({**_graded(episode), **data})
        size += len(_json(packed[-1]))
    if packed:
        yield chunk()


def _row(episode: Episode, data: dict[str, Any]) -> list[Any]:
    """A row of the list of episodes, whose fields ``data.js`` names; ``data`` as in a chunk."""
    graded = episode.grade
    scored = graded.score is not None
    declared = first_declared(states_of(episode)[-1]) if scored else ()
    luck = [words for tick in data["belief"] or () for words in tick.get("luck", ())]
    return [
        clean(episode.policy),
        graded.task,
        clean(episode.incident.id),
        graded.score,
        None if graded.gate is None else rule_words(graded.gate),
        str(graded.closing or "open") if scored else "unscored",
        graded.ticks if scored else None,
        graded.fault_kind,
        _roots(episode.incident),
        [service for service in declared if service is not None],
        clean(verdict_of(graded, luck)),
    ]


def _roots(incident: Incident) -> list[str]:
    """The root causes by name; of several faults in the order of their kinds."""
    truth = incident.truth
    if truth.several:
        return [part.fault.service for part in truth.parts if part.fault is not None]
    return sorted(truth.root_causes)


def _graded(episode: Episode) -> dict[str, Any]:
    graded = episode.grade
    return {
        "agent": None if graded.agent is None else clean(graded.agent),
        "cause": None if graded.cause is None else clean(graded.cause),
        "gate": None if graded.gate is None else rule_words(graded.gate),
        "gateReason": graded.gate_reason,
        "unplayed": graded.unplayed,
        "answered": ANSWER in episode.transcript.extra,
        "rubric": graded.rubric,
    }


def _incident(incident: Incident, parts: Sequence[Part], *, numpy: bool) -> dict[str, Any]:
    unexplained = None
    if numpy:
        from logtriage.beliefs.explain import why_unexplained

        unexplained = why_unexplained(incident)
    topology = incident.topology
    return {
        "horizon": incident.horizon,
        "belief": incident.setting is not None,
        "recorded": incident.rubric.startswith("recorded/"),
        "services": [
            [row.name, row.tier, owner, list(calls)]
            for row, owner, calls in zip(
                topology.services, incident.directory, topology.calls, strict=True
            )
        ],
        "layout": [[round(x, 4), row] for x, row in layout(topology)],
        "parts": [[part.part, part.words, part.hops] for part in parts],
        "truth": [[name, value] for name, value in truth_of(incident).items()],
        "faults": len(incident.truth.several) or 1,
        "unexplained": unexplained,
        "roots": sorted(topology.index(name) for name in incident.truth.root_causes),
    }
