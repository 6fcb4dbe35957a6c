"""Histories, the signs of conditions: usual until an onset, then a token that stays.

While a condition lasts, its service has one history of each sort: each gauge, each half of a
trace, the logs, the changes. Fog is the probability that the token is a coincidence, drawn from
the background; else it is a sign, drawn from the signature of the condition. An ordinary token
never shows. For any other token an onset is drawn, by the :class:`Part` that the service has in
the trouble. No reading is wrong.

*Instants* number the scrapes: 0 is the earliest on any screen, :data:`NOW` is tick 0. Fog, token
and onset take 16 random bits each, so weights of histories have 48 bits.
"""

from enum import StrEnum
from functools import lru_cache
from typing import Final

import attrs

from logtriage.errors import InvalidInput
from logtriage.rng import draw, hash_name, subkey
from logtriage.world.channels import SCRAPE, SCRAPES_BEFORE, Channel, about_kind
from logtriage.world.conditions import Condition
from logtriage.world.model import HEALTHY, World
from logtriage.world.setting import FULL, Setting
from logtriage.world.tables import Place, Weights, alphabet, common, mix, only, picked, shares
from logtriage.world.telemetry import TICK_SECONDS
from logtriage.world.vocabulary import CHANGE, LOG

HISTORY_STREAM: Final = hash_name("history")
RULE_STREAM: Final = hash_name("alert rule")
BLIND_STREAM: Final = hash_name("blind")
#: The instant of tick 0.
NOW: Final = SCRAPES_BEFORE
#: The number of instants at which a history can begin.
INSTANTS: Final = NOW + 9
#: Stands for an onset that never comes.
NEVER: Final = 1 << 16
#: Weights of the first instants of the trouble, for histories that begin with it. Sum: FULL.
RAMP: Final = (32_768, 19_661, 13_107)
#: A silent root speaks within this many instants once its silence is over.
LATE_OVER: Final = 2
#: The weight of an onset before all screens, for histories that begin at any time.
LONG_BEFORE: Final = FULL // 2
#: The most minutes before tick 0 at which a trouble begins, so that the window shows it.
MAX_ONSET: Final = (SCRAPES_BEFORE - 2) * SCRAPE * TICK_SECONDS // 60
#: The latest ``root_silent`` and ``grows_for`` of a setting, in ticks.
LAST_SILENT: Final = (INSTANTS - NOW - 1 - LATE_OVER) * SCRAPE
#: The channels that can be down, each with the channel whose draw decides it.
_BLINDABLE: Final = {
    Channel.METRICS: Channel.METRICS,
    Channel.TRACES: Channel.TRACES,
    Channel.LOGS: Channel.LOGS,
    Channel.OVERVIEW: Channel.LOGS,
}


class Part(StrEnum):
    """How a service is involved in the trouble; this decides when its histories begin.

    ``ANY`` is for services that have nothing to do with it, and for coincidences.
    """

    WITH = "with the trouble"
    BEFORE = "shortly before the trouble"
    LATE = "once its silence is over"
    SLOWLY = "one sign after the other"
    ANY = "at any time"


def part_of(setting: Setting, sort: str, condition: Condition) -> Part:
    """The :class:`Part` that decides when a history of a sort begins under a condition."""
    if condition.beside or condition.name == HEALTHY:
        return Part.ANY
    if sort == CHANGE:
        return Part.BEFORE
    if setting.root_silent and sort == LOG and is_root(setting.world, condition):
        return Part.LATE
    return Part.SLOWLY if setting.creeping else Part.WITH


def is_root(world: World, condition: Condition) -> bool:
    """Whether a condition is a fault at the service itself, and not a minor one."""
    return not condition.beside and condition.name in world.kind_names


def instant_of(tick: int) -> int:
    """The latest instant at a tick."""
    return NOW + tick // SCRAPE


def tick_of(instant: int) -> int:
    """The tick of an instant."""
    return (instant - NOW) * SCRAPE


@lru_cache(maxsize=256)
def onsets(setting: Setting, part: Part) -> Weights:
    """The weight of each instant as the onset of a history; the weights sum to 65,536."""
    row = [0] * INSTANTS
    begin = trouble(setting)
    match part:
        case Part.ANY:
            row = _spread(FULL - LONG_BEFORE, INSTANTS)
            row[0] += LONG_BEFORE
        case Part.WITH:
            row[begin : begin + len(RAMP)] = RAMP
        case Part.BEFORE:
            row[begin - 1 : begin + 1] = _spread(FULL, 2)
        case Part.LATE:
            first = instant_of(setting.root_silent)
            row[first : first + LATE_OVER] = _spread(FULL, LATE_OVER)
        case Part.SLOWLY:
            count = instant_of(setting.grows_for) - begin + 1
            row[begin : begin + count] = _spread(FULL, count)
    return tuple(row)


def _spread(whole: int, count: int) -> list[int]:
    """``whole`` in ``count`` equal parts; the first parts take what division leaves."""
    each, rest = divmod(whole, count)
    return [each + (place < rest) for place in range(count)]


def trouble(setting: Setting) -> int:
    """The instant at which the trouble began; InvalidInput if that was before the window."""
    if setting.onset > MAX_ONSET:
        raise InvalidInput(
            f"setting: onset: expected at most {MAX_ONSET} minutes, got {setting.onset}"
        )
    return instant_of(-60 * setting.onset // TICK_SECONDS)


@lru_cache(maxsize=65_536)
def sign_weights(setting: Setting, sort: str, place: Place, condition: Condition) -> Weights:
    """The weights of a sort's tokens as signs of a condition, in the order of ``alphabet``."""
    world, name = setting.world, condition.name
    row = shares(setting, sort, place, world.signature(name).get(sort, {}), condition.sick)
    if sort == LOG and setting.naming_weight and is_root(world, condition):
        row = mix(row, only(setting, place, about_kind(name)), setting.naming_weight)
    return row


@lru_cache(maxsize=16_384)
def coincidences(setting: Setting, sort: str, place: Place) -> Weights:
    """The weights of a sort's tokens as coincidences, whatever the condition."""
    return common(setting, sort, place, calm=False)


@lru_cache(maxsize=65_536)
def lasting(setting: Setting, sort: str, place: Place, condition: Condition) -> Weights:
    """The token weights of a sort under a condition that a remedy brought: without an onset."""
    if condition.name == HEALTHY:
        return (FULL, *(0 for _ in alphabet(setting, sort, place)[1:]))
    signs = sign_weights(setting, sort, place, condition)
    return mix(signs, coincidences(setting, sort, place), setting.fog_weight)


# --- drawing -------------------------------------------------------------------------


@attrs.frozen
class History:
    """A token and the instant of its onset, :data:`NEVER` for an ordinary token."""

    token: str
    onset: int


def drawn(
    setting: Setting, seed: int, sort: str, service: int, place: Place, condition: Condition
) -> History:
    """The history of a sort at a service, under the condition that it has from the start."""
    bits = draw(history_key(seed, sort), service)
    fog = bits >> 48 < setting.fog_weight
    row = (
        coincidences(setting, sort, place) if fog else sign_weights(setting, sort, place, condition)
    )
    index = picked(row, bits >> 32 & FULL - 1)
    if not index:
        return History(alphabet(setting, sort, place)[0], NEVER)
    part = Part.ANY if fog else part_of(setting, sort, condition)
    onset = picked(onsets(setting, part), bits >> 16 & FULL - 1)
    return History(alphabet(setting, sort, place)[index], onset)


def drawn_later(
    setting: Setting,
    seed: int,
    sort: str,
    service: int,
    place: Place,
    condition: Condition,
    begin: int,
) -> str:
    """The token of a sort under a condition that a remedy brought at tick ``begin``."""
    row = lasting(setting, sort, place, condition)
    bits = draw(history_key(seed, sort), service, begin)
    return alphabet(setting, sort, place)[picked(row, bits >> 48)]


def history_key(seed: int, sort: str) -> int:
    """The key of the histories of a sort."""
    return subkey(subkey(seed, HISTORY_STREAM), hash_name(sort))


# --- alerts --------------------------------------------------------------------------


class Rule(StrEnum):
    """What an alert rule of a service does while a condition lasts."""

    WORKS = "works"
    MISSES = "never fires"
    NOISY = "noisy"


@lru_cache(maxsize=64)
def rule_weights(world: World) -> tuple[tuple[Rule, int], ...]:
    """How often a rule works, misses and is noisy; the weights sum to 65,536."""
    rules = world.rules.alerts
    missed, noisy = rules.missed * FULL // 100, rules.noisy * FULL // 100
    return (Rule.WORKS, FULL - missed - noisy), (Rule.MISSES, missed), (Rule.NOISY, noisy)


def drawn_alert(
    setting: Setting,
    seed: int,
    sort: str,
    service: int,
    condition: Condition,
    onset: int,
    begin: int = 0,
) -> int:
    """The instant from which an alert fires; :data:`NEVER` if it does not.

    The alert watches ``sort``, half of a trace, whose history has its onset at instant ``onset``.
    The condition began at tick ``begin``.
    """
    bits = draw(subkey(subkey(seed, RULE_STREAM), hash_name(sort)), service, begin)
    rules, weights = zip(*rule_weights(setting.world), strict=True)
    rule: Rule = rules[picked(weights, bits >> 48)]
    match rule:
        case Rule.WORKS:
            return fires_from(setting, condition, onset)
        case Rule.NOISY:
            return picked(onsets(setting, Part.ANY), bits >> 32 & FULL - 1)
        case Rule.MISSES:
            return NEVER


def fires_from(setting: Setting, condition: Condition, onset: int) -> int:
    """The instant from which a working rule fires: the onset, or later if the root is silent."""
    if setting.root_silent and is_root(setting.world, condition):
        return max(onset, instant_of(setting.root_silent))
    return onset


# --- blind spots ---------------------------------------------------------------------


def blinded(channel: Channel) -> Channel | None:
    """The channel whose draw decides if ``channel`` is down; None if it never is."""
    return _BLINDABLE.get(channel)


def is_down(setting: Setting, seed: int, service: int, channel: Channel) -> bool:
    """Whether a channel of a service is down for the whole incident, whatever the truth."""
    part = blinded(channel)
    if part is None:
        return False
    bits = draw(subkey(subkey(seed, BLIND_STREAM), hash_name(str(part))), service)
    return bits >> 48 < setting.blind_weight
