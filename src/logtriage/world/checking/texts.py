"""Check the texts of a world: placeholders, figures, and that no phrasing stands twice."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain, product
from typing import Any, Final

from logtriage.errors import InvalidInput, UnknownName
from logtriage.world.channels import SPANS
from logtriage.world.checking.problem import Problem, known, of_file, within
from logtriage.world.model import World
from logtriage.world.schema.canonical import RULES_FILE, TOKENS_FILE
from logtriage.world.schema.forms import (
    CAUSE,
    DEPENDENCY,
    FRAME_PLACEHOLDERS,
    LINE_PLACEHOLDERS,
    TEXT,
    Figure,
    Version,
    check_figures,
    placeholders,
)
from logtriage.world.schema.parts import GROUPS, NounPhrases, Phrasings, Technology, Topic
from logtriage.world.schema.tokens import Gauge
from logtriage.world.telemetry import LEVELS
from logtriage.world.vocabulary import LOG

_NO_PLACEHOLDER: Final = "no placeholder can stand here"


def text_problems(world: World) -> Iterator[Problem]:
    """What is wrong with the texts of a world."""
    yield from _words(world)
    for topic in world.topics:
        yield from of_file(f"topics/{topic.name}.toml", _topic(world, topic))
    for technology in world.technologies:
        file = f"technologies/{technology.name}.toml"
        yield from of_file(file, _frame(technology), _wordings(world, technology))
    for kind in world.kinds:
        names = _phrasings("names", kind.names, LINE_PLACEHOLDERS)
        yield from of_file(f"kinds/{kind.name}.toml", names, _nouns("past", kind.past))
    yield from _said_twice(world)
    yield from of_file(TOKENS_FILE, _tokens(world))
    yield from _words_said_twice(world)


def _words(world: World) -> Iterator[Problem]:
    """What is wrong with short texts that the runbook prints."""
    rules, tokens = world.rules, world.tokens
    short = [(RULES_FILE, "title", rules.title)]
    short += [(f"kinds/{kind.name}.toml", "summary", kind.summary) for kind in world.kinds]
    spoken = [topic for topic in world.topics if not topic.ordinary]
    short += [(f"topics/{topic.name}.toml", "word", topic.word) for topic in spoken]
    if rules.secondary_fault is not None:
        short.append((RULES_FILE, "secondary_fault: words", rules.secondary_fault.words))
    rows: tuple[tuple[str, str, tuple[Any, ...], tuple[str, ...]], ...] = (
        (RULES_FILE, "tasks", rules.tasks, ("title", "hard")),
        (RULES_FILE, "distractions", rules.distractions, ("words",)),
        (TOKENS_FILE, "alert: tokens", tokens.alert.tokens, ("title",)),
        (TOKENS_FILE, "change: tokens", tokens.change.tokens, ("word", "kind")),
        *((TOKENS_FILE, f"{row.name}: tokens", row.tokens, ("word",)) for row in world.measured),
    )
    for file, where, parts, fields in rows:
        for part, field in product(parts, fields):
            short.append((file, f"{where}: {part.name}: {field}", getattr(part, field)))
    for file, field, text in short:
        yield from of_file(file, _text(field, text))


def _text(field: str, text: str, known: Iterable[str] = ()) -> Iterator[str]:
    """What is wrong with a text; ``known`` are the placeholders that it may have."""
    known = tuple(known)
    try:
        used = placeholders(text)
    except InvalidInput as error:
        yield f"{field}: {error}"
        return
    for name in used:
        if name not in known:
            wrong = UnknownName("placeholder", name, known) if known else _NO_PLACEHOLDER
            yield f"{field}: {text!r:.60}: {wrong}"


# --- phrasings ---------------------------------------------------------------------------


def _topic(world: World, topic: Topic) -> Iterator[str]:
    if topic.phrasings is not None:
        known = (*LINE_PLACEHOLDERS, DEPENDENCY if topic.dependency else CAUSE)
        yield from _phrasings("phrasings", topic.phrasings, known, topic.dependency)
        return
    for tier in topic.tiers:
        if not world.technologies_at(tier):
            yield f"phrasings: expected some: no technology of tier {tier!r} words it"


@lru_cache(maxsize=256)
def _frame(technology: Technology) -> tuple[str, ...]:
    """What is wrong with what a technology puts around messages."""
    return tuple(_wrong_frame(technology))


def _wrong_frame(technology: Technology) -> Iterator[str]:
    known = (*FRAME_PLACEHOLDERS, *technology.words)
    wrong = tuple(_text("line", technology.line, known))
    yield from wrong
    if not wrong and placeholders(technology.line).count(TEXT) != 1:
        yield f"line: {technology.line!r:.60}: expected {{{TEXT}}} once, where the message stands"
    if set(technology.levels) != set(LEVELS):
        yield f"levels: expected {', '.join(LEVELS)}; got {', '.join(technology.levels)}"
    texts = [("levels", level) for level in technology.levels.values()]
    reserved = (*LINE_PLACEHOLDERS, *FRAME_PLACEHOLDERS, DEPENDENCY, CAUSE)
    for name, words in technology.words.items():
        if name in reserved:
            yield f"words: {name!r} stands for something else, as do {', '.join(reserved)}"
        if not words:
            yield f"words.{name}: expected at least one text"
        texts += [(f"words.{name}", word) for word in words]
    for field, text in texts:
        yield from _text(field, text)


def _wordings(world: World, technology: Technology) -> Iterator[str]:
    """What is wrong with the wordings of a technology's lines, and which are missing."""
    yield from known("topics", "topic", technology.topics, [topic.name for topic in world.topics])
    for topic in world.topics:
        if topic.name in technology.topics:
            yield from _worded(technology, topic.name, topic.dependency)
        elif topic.phrasings is None and set(topic.tiers) & set(technology.tiers):
            yield f"topics.{topic.name}: missing: topics/{topic.name}.toml words no lines"


@lru_cache(maxsize=1024)
def _worded(technology: Technology, topic: str, dependency: bool) -> tuple[str, ...]:
    """What is wrong with the wordings of a topic; worlds drawn around one have its technologies."""
    own = DEPENDENCY if dependency else CAUSE
    known = (*LINE_PLACEHOLDERS, own, *technology.words)
    wording = technology.topics[topic]
    return tuple(_phrasings(f"topics.{topic}", wording, known, dependency))


def _phrasings(
    field: str, phrasings: Phrasings, allowed: Iterable[str], dependency: bool = False
) -> Iterator[str]:
    for group, phrases in zip(GROUPS, phrasings.groups, strict=True):
        if not phrases:
            yield f"{field}.{group}: expected at least one [level, text]"
        for level, text in phrases:
            yield from known(f"{field}.{group}", "level", [level], LEVELS)
            yield from _text(f"{field}.{group}", text, allowed)
            if dependency and f"{{{DEPENDENCY}}}" not in text:
                yield f"{field}.{group}: {text!r:.60}: lacks {{{DEPENDENCY}}}, the service called"


def _said_twice(world: World) -> Iterator[Problem]:
    """Report texts that stand for two things: nobody could tell which it is."""
    files_of_technologies, wrong = _texts_of(world.technologies)
    yield from wrong
    seen: dict[str, str] = {}
    for file, text in _other_texts(world):
        for files in (files_of_technologies, seen):
            if text in files:
                yield _twice(file, text, files[text])
        seen.setdefault(text, file)


def _twice(file: str, text: str, other: str) -> Problem:
    return file, f"{text!r:.60} stands in {other}, too: nobody could tell which it is"


@lru_cache(maxsize=64)
def _texts_of(
    technologies: tuple[Technology, ...],
) -> tuple[Mapping[str, str], tuple[Problem, ...]]:
    """(file of each text of the technologies, problems of texts that stand for two things).

    Two technologies may word a topic alike; none may say a text twice.
    """
    files: dict[str, str] = {}
    topics: dict[str, str] = {}
    wrong = []
    for technology in technologies:
        file = f"technologies/{technology.name}.toml"
        for topic, phrasings in technology.topics.items():
            for _, text in chain.from_iterable(phrasings.groups):
                if text in files and (files[text] == file or topics[text] != topic):
                    wrong.append(_twice(file, text, files[text]))
                files.setdefault(text, file)
                topics.setdefault(text, topic)
    return files, tuple(wrong)


def _other_texts(world: World) -> Iterator[tuple[str, str]]:
    """(file, text) of each phrasing of topics and kinds."""
    for topic in world.topics:
        if topic.phrasings is not None:
            for _, text in chain.from_iterable(topic.phrasings.groups):
                yield f"topics/{topic.name}.toml", text
    for kind in world.kinds:
        named = (text for _, text in chain.from_iterable(kind.names.groups))
        for text in chain(named, chain.from_iterable(kind.past.groups)):
            yield f"kinds/{kind.name}.toml", text


def _nouns(field: str, nouns: NounPhrases) -> Iterator[str]:
    """What is wrong with short texts in the three groups of phrasings."""
    for group, texts in zip(GROUPS, nouns.groups, strict=True):
        if not texts:
            yield f"{field}.{group}: expected at least one"
        for text in texts:
            yield from _text(f"{field}.{group}", text)


# --- figures -----------------------------------------------------------------------------


def _tokens(world: World) -> Iterator[str]:
    tokens = world.tokens
    change = tokens.change
    if tuple(world.spans) != SPANS:
        yield f"spans: expected {' and '.join(SPANS)}, in this order; got {', '.join(world.spans)}"
    yield from _figures("change", change.figures)
    for token in change.tokens:
        yield from _text(f"change: tokens: {token.name}: says", token.says, change.figures)
        yield from _nouns(f"change: tokens: {token.name}: about", token.about)
    yield from _nouns("change: authors", change.authors)
    for gauge in tokens.gauges:
        yield from _figures(gauge.name, gauge.figures)
        yield from (f"{gauge.name}: {what}" for what in _gauge(world, gauge))
    keys: dict[str, str] = {}
    for figures in (change.figures, *(gauge.figures for gauge in tokens.gauges)):
        for figure in figures.values():
            if figure.key in keys:
                yield f"figures.{figure.name}: key {figure.key!r} is that of {keys[figure.key]}"
            keys[figure.key] = figure.name
    yield from _runbook(world)


def _figures(where: str, figures: Mapping[str, Figure]) -> Iterator[str]:
    for name in figures:
        try:
            if placeholders(f"{{{name}}}") == (DEPENDENCY,):
                yield f"{where}: figures.{name}: stands for the service that is called"
        except InvalidInput as error:
            yield f"{where}: figures: {error}"
    try:
        check_figures(figures)
    except InvalidInput as error:
        yield f"{where}: {error}"


def _gauge(world: World, gauge: Gauge) -> Iterator[str]:
    names = (gauge.ordinary, *(token.name for token in gauge.tokens))
    naming = next((token.name for token in gauge.tokens if token.dependency), None)
    if naming is not None:
        yield f"tokens: {naming}: dependency: only traces and topics name a service that is called"
    for place, reading in enumerate(gauge.readings):
        where = f"readings[{place}]"
        yield from known(f"{where}.tiers", "tier", reading.tiers or (), world.tier_names)
        if gauge.ordinary not in reading.shows:
            yield f"{where}.shows: expected a figure for {gauge.ordinary}"
        yield from known(f"{where}.shows", "token", reading.shows, names)
        yield from known(f"{where}.marks", "token", reading.marks, names)
        for name, figure in reading.shows.items():
            if figure not in gauge.figures:
                yield f"{where}.shows.{name}: {UnknownName('figure', figure, gauge.figures)}"
            elif isinstance(gauge.figures[figure].form, Version):
                yield f"{where}.shows.{name}: {figure!r} is a version; expected a number"
        for name, mark in reading.marks.items():
            yield from _text(f"{where}.marks.{name}", mark)
        yield from _text(f"{where}.label", reading.label)
    for tier in world.tier_names:
        shown = world.readings_at(gauge.name, tier)
        if not shown:
            yield f"readings: none at tier {tier!r}"
        for token in world.tokens_at(gauge.name, tier)[1:]:
            if not any(token in reading.shows for reading in shown):
                yield f"readings: none shows {token!r} at tier {tier!r}: it would look as usual"


def _runbook(world: World) -> Iterator[str]:
    order, sorts = world.tokens.runbook_order, tuple(world.ordinary)
    if sorted(order) != sorted(sorts):
        yield f"runbook_order: expected {', '.join(sorts)} in any order; got {', '.join(order)}"
        return
    latency = world.tokens.latency
    yield from within("latency.step", latency.step, 1, 10_000)
    yield from within("latency.usual", latency.usual, 1, 100_000)
    least = 4 * (latency.usual + latency.step)
    if latency.slow < least:
        what = f"at least four times usual and step, {least}, so that slow is told from usual"
        yield f"latency.slow: expected {what}; got {latency.slow}"
    usual, failing = world.rules.edge.bands[0].errors[1], world.tokens.failing
    if failing <= usual:
        yield f"failing: expected more than the usual errors of the edge, {usual}; got {failing}"


def _words_said_twice(world: World) -> Iterator[Problem]:
    """Report each runbook word of two tokens, a log word in its topic's file."""
    if sorted(world.tokens.runbook_order) != sorted(world.ordinary):
        return  # `_runbook` reports this
    words: dict[str, str] = {}
    for sort, row in world.words.items():
        for token, word in row.items():
            if word in words:
                what = f"word: {word!r} stands for {words[word]}, too"
                if sort == LOG:
                    yield f"topics/{token}.toml", what
                else:
                    yield TOKENS_FILE, f"{sort}: {token}: {what}"
            words[word] = token
