"""What checks play: some incidents of every sort, and some episodes of every sort."""

from collections.abc import Iterator, Sequence

import numpy as np

from logtriage.actions import Action, Escalate, IdentifyRootCause
from logtriage.audit.limits import Sizes
from logtriage.audit.scoring import Scorer
from logtriage.audit.subject import Subject
from logtriage.audit.vocabulary import CLAIM, IDLE, likeness, vocabulary
from logtriage.evaluation import play_episode
from logtriage.incident import Incident
from logtriage.policies import ExpertPolicy, RandomPolicy
from logtriage.rng import hash_name
from logtriage.state import State
from logtriage.transition import play

_Plan = tuple[Action, ...]


def sample_of_kinds(subject: Subject, sizes: Sizes) -> list[Incident]:
    """Incidents of every severity and number of remedies, benign ones too, then any others."""
    drawn = Scorer(subject.incidents("train", sizes.search), subject.rubric).kinds
    first: dict[object, Incident] = {}
    for one in drawn:
        first.setdefault((one.truth.severity, one.truth.benign, len(one.truth.remedies)), one)
    chosen = list(first.values())
    return [*chosen, *(one for one in drawn if one not in chosen)][: max(sizes.laws, len(chosen))]


def episodes(subject: Subject, incident: Incident) -> list[State]:
    """Some very different episodes of one incident; their actions vary every field."""
    perfect = subject.perfect(incident)
    teams = incident.topology.teams
    wrong = [Escalate(team) for team in teams if team not in incident.truth.teams]
    claims = (type(IDLE)(CLAIM, CLAIM, "audit"), *map(_doubted, perfect))
    lists: list[Sequence[Action]] = [
        (),
        perfect,
        perfect[:-1],
        perfect[1:],
        (*wrong[:1], *perfect),
        claims,
    ]
    policies = (RandomPolicy(hash_name(incident.id)), RandomPolicy(1), ExpertPolicy())
    return [
        *(play(incident, actions)[0] for actions in lists),
        *(play_episode(incident, policy) for policy in policies),
    ]


def _doubted(action: Action) -> Action:
    return (
        IdentifyRootCause(action.service, 0.25) if isinstance(action, IdentifyRootCause) else action
    )


def varied_lists(subject: Subject, incident: Incident, count: int) -> Iterator[_Plan]:
    """The oracle's list with one action of each sort put in at each place; then random ones.

    Random lists go up to the horizon and are the same each time; about half of each is the
    oracle's.
    """
    perfect, words = subject.perfect(incident), vocabulary(incident.topology)
    for action in {likeness(one, incident): one for one in words}.values():
        for place in range(len(perfect) + 1):
            yield (*perfect[:place], action, *perfect[place:])
    draws = np.random.default_rng(hash_name(f"audit lists {incident.id}"))
    for _ in range(count):
        picks: list[Action] = []
        for _ in range(int(draws.integers(1, incident.horizon + 1))):
            source = perfect if perfect and draws.random() < 0.5 else words
            picks.append(source[int(draws.integers(len(source)))])
        yield tuple(picks)
