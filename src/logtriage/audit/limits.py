"""Every threshold and every sample size of an audit, in one place.

For a task that is meant to be easier or harder, hand your own thresholds to
:func:`logtriage.audit.audit`.
"""

from typing import Final

import attrs


@attrs.frozen
class Thresholds:
    """The thresholds of the checks.

    ``blind``, ``shallow``, ``unread``, ``chance`` and ``expert`` are mean grades. If every
    hand-over has a worth, they are net values; handing everything over has net value 0.
    """

    #: The most that a policy may earn without looking at anything.
    blind: float = 0.25
    #: The largest share of incidents that may have the same truth.
    commonest: float = 0.25
    #: The most that a reflex to the first screen may earn.
    shallow: float = 0.60
    #: The most that a policy may earn by treating and watching the panel, with no log line read.
    unread: float = 0.65
    #: The most that random actions may earn.
    chance: float = 0.10
    #: The least that the scripted expert must earn.
    expert: float = 0.90
    #: The least that an oracle of your own must earn on every incident; the built-in oracle must
    #: reach the rubric's upper bound.
    oracle: float = 0.90
    #: Family-wise error rate of the tests for leaks.
    leak: float = 0.01
    #: The largest chance with which a fault may show neither at the edge nor in an alert.
    unseen: float = 0.05
    #: The least net value that never handing over must lose, and that the best fixed bar must lose.
    ignoring: float = 0.06
    fixed_bar: float = 0.03
    #: (worth, least share, most): how many of the incidents are to be handed over at a worth.
    #: Only worths in ``WORTHS_OF_HAND_OVER`` are looked at.
    handed_over: tuple[tuple[float, float, float], ...] = (
        (0.3, 0.0, 0.05),
        (0.7, 0.15, 1.0),
        (0.9, 0.30, 1.0),
    )
    #: The most characters of a world's system prompt, with this many more for each service.
    prompt: int = 7_000
    prompt_service: int = 40
    #: Scores closer than this count as equal.
    tolerance: float = 1e-9


@attrs.frozen
class Sizes:
    """How much is drawn and played."""

    #: Train incidents that blind policies are optimised on.
    search: int = 2_000
    #: Topologies that blind policies are optimised on; also kinds of incident if ``grade_batch``
    #: does not know a measure of the rubric.
    slow: int = 40
    #: The search for blind policies ends after this many lists, counted once for every topology.
    lists: int = 1_000_000
    #: Test incidents that the panel plays.
    panel: int = 500
    #: Test incidents for the oracle and the exact search.
    oracle: int = 2_000
    #: The most kinds of incident that are searched exactly.
    searches: int = 40
    #: Kinds of incident for which changes of the oracle's list are tried, if the rubric has
    #: measures that the exact search does not know.
    kinds: int = 8
    #: For random histories: the benign incidents of each split and range of numbers (with twice as
    #: many real faults), and the histories of each incident.
    fuzzed: int = 4
    histories: int = 150
    #: Train incidents for the test for leaks.
    leaks: int = 5_000
    #: Shuffles of the truth in the test for leaks; draws of it from posteriors, for screens.
    permutations: int = 400
    #: Incidents of each split and range of numbers that must be in no other split.
    splits: int = 60
    #: Screens whose fields are searched; an eighth of them if there may be several faults.
    screens: int = 600
    #: Incidents whose episodes are graded again: for measures, determinism, replay and renaming.
    same: int = 20
    #: Models for which the chance of an unseen fault is computed, and incidents of each task of a
    #: world whose prompts are measured.
    models: int = 20
    #: Incidents in which the observer decides on a hand-over, at every worth.
    worths: int = 300
    #: Incidents that are shown with other truths and the same tokens.
    twins: int = 30
    #: Incidents of a world that get a full look.
    looks: int = 240
    #: Incidents of a world that observer and expert play for their net value.
    net_values: int = 200
    #: Incidents of a world for weighing a hand-over.
    bars: int = 100


#: Thresholds for tasks without a simulated world.
STANDARD: Final = Thresholds()
WORLD: Final = Thresholds(shallow=0.45, unread=0.35, expert=0.50)
WITH_WORTH: Final = attrs.evolve(
    WORLD, blind=0.02, shallow=0.0, unread=0.0, chance=0.0, expert=0.05
)
#: Samples of a full audit.
FULL: Final = Sizes()
#: For a first look, and for tests: seconds instead of a minute.
QUICK: Final = Sizes(
    search=200,
    slow=3,
    lists=100_000,
    panel=80,
    oracle=100,
    searches=20,
    kinds=3,
    fuzzed=1,
    histories=100,
    leaks=400,
    permutations=100,
    splits=20,
    screens=160,
    same=4,
    models=2,
    worths=60,
    twins=5,
    looks=40,
    net_values=20,
    bars=12,
)
