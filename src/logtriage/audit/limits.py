"""Every threshold and every sample size of an audit, in one place.

:data:`WITH_WORTH` holds the thresholds of tasks in which every hand-over has a worth: no blind
policy may be worth having on call, and the expert must be. :data:`WORLD` holds those of other
simulated tasks: evidence is in doubt, and the expert goes by rules of thumb. :data:`STANDARD` is
for all other tasks: a good reader should find the answer. For a task that is meant to be easier or
harder, hand your own thresholds to :func:`logtriage.audit.audit`.
"""

from typing import Final

import attrs


@attrs.frozen
class Thresholds:
    """The thresholds of the checks.

    ``blind`` to ``chance`` and ``expert`` are mean grades. If every hand-over has a worth,
    they are net values; handing everything over has net value 0.

    Attributes:
        blind: the most that a policy may earn, on average, that looks at nothing.
        commonest: the largest share of incidents that may have the same truth.
        shallow: the most that a reflex to the first screen may earn.
        unread: the most that a policy may earn that reads no log line, but treats
            services and watches the panel.
        chance: the most that random actions may earn.
        expert: the least that the scripted expert must earn.
        oracle: the least that an oracle of your own must earn on every incident; the
            built-in oracle must reach the rubric's upper bound.
        leak: family-wise error rate of the test for leaks.
        unseen: the most often that a fault may show neither at the edge nor in an alert.
        ignoring: the least of net value that never handing over must lose.
        fixed_bar: the least of net value that the best fixed bar for handing over must lose.
        handed_over: (worth, least, most) shares of the incidents to be handed over at a worth.
        prompt: the most characters that a world's system prompt may have,
            with ``prompt_service`` more for each service.
        tolerance: scores closer than this count as equal (tests of "never more").
    """

    blind: float = 0.25
    commonest: float = 0.25
    shallow: float = 0.60
    unread: float = 0.65
    chance: float = 0.10
    expert: float = 0.90
    oracle: float = 0.90
    leak: float = 0.01
    unseen: float = 0.05
    ignoring: float = 0.06
    fixed_bar: float = 0.03
    handed_over: tuple[tuple[float, float, float], ...] = (
        (0.3, 0.0, 0.05),
        (0.7, 0.15, 1.0),
        (0.9, 0.30, 1.0),
    )
    prompt: int = 7_000
    prompt_service: int = 40
    tolerance: float = 1e-9


@attrs.frozen
class Sizes:
    """How much is drawn and played.

    Attributes:
        search: train incidents that blind policies are optimised on.
        slow: systems that they are optimised on, and kinds of incident if ``grade_batch`` does
            not know a measure of the rubric.
        lists: their search ends after so many lists, each counted once for every system.
        panel: test incidents that the panel plays.
        oracle: test incidents for the oracle and the exact search.
        searches: the most kinds of incident that are searched exactly.
        kinds: kinds of incident for which the oracle's list is changed, where the rubric has
            measures that the search does not know.
        fuzzed: benign incidents, and half as many as real faults, of each split and range of
            numbers for random histories.
        histories: random histories of each such incident.
        leaks: train incidents for the test for leaks.
        permutations: of the truth, for its baseline, or draws of it from the posterior.
        splits: incidents of each split and range of numbers that may be in no other split.
        screens: screens whose fields are searched; an eighth where there may be several faults.
        same: incidents for determinism, replay and renaming.
        models: topologies for which the chance of an unseen fault is computed, and of each task
            of a world those whose prompts are measured.
        worths: incidents that the observer decides at each worth of a hand-over.
        twins: incidents that are shown with other truths and the same tokens.
        looks: incidents of a world that get a full look.
        net_values: incidents of a world that observer and expert play for their net value.
        bars: incidents of a world for weighing a hand-over.
    """

    search: int = 2_000
    slow: int = 40
    lists: int = 1_000_000
    panel: int = 1_000
    oracle: int = 2_000
    searches: int = 40
    kinds: int = 8
    fuzzed: int = 4
    histories: int = 500
    leaks: int = 5_000
    permutations: int = 400
    splits: int = 60
    screens: int = 600
    same: int = 20
    models: int = 20
    worths: int = 300
    twins: int = 60
    looks: int = 240
    net_values: int = 200
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
