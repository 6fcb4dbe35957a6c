"""What a scenario is drawn from: ranges, shares, and the slots of its draws.

Addressed by name, so that whoever draws scenarios (:mod:`logtriage.scenarios` one by
one, :mod:`logtriage.vector` many at once) reads the same figures. Error rates are in
basis points, latencies in milliseconds, times in ticks.
"""

from enum import IntEnum
from typing import Final

from logtriage.actions import Severity
from logtriage.propagation import Mode
from logtriage.rng import hash_name

#: Ranges (low, high) of the edge peak by severity, for the figure that the fault drives.
#: With 70 % of the peak at tick 0 and 3 % noise, every reading stays clear of the
#: thresholds in :data:`logtriage.runbook.SEVERITY_RULE`.
EDGE_ERROR: Final = {Severity.P1: (900, 3000), Severity.P2: (185, 350), Severity.P3: (25, 55)}
EDGE_P99: Final = {Severity.P1: (3200, 6000), Severity.P2: (1300, 1550), Severity.P3: (300, 520)}
#: The other figure, which must not lift the severity.
EDGE_ERROR_ASIDE: Final = {Severity.P1: (40, 300), Severity.P2: (20, 60), Severity.P3: (20, 40)}
EDGE_P99_ASIDE: Final = {Severity.P1: (400, 1200), Severity.P2: (300, 600), Severity.P3: (260, 420)}
#: What a hop leaves of the impact below it, per mille.
ATTENUATION: Final = {Severity.P1: 800, Severity.P2: 650, Severity.P3: 400}

#: Of the root's own peak, by whether the fault fails requests (True) or slows them (False).
ROOT_ERROR: Final = {True: (1500, 5000), False: (100, 400)}
ROOT_P99: Final = {True: (300, 700), False: (1500, 4000)}
BENIGN_P99: Final = (700, 2200)
#: The edge at rest.
EDGE_BASE_ERROR: Final = (5, 20)
EDGE_BASE_P99: Final = (160, 240)
#: Ticks: by how many the onset varies; ramps, and first tick of the root's voice, by mode.
EXTRA_TICKS: Final = 3
LOUD_LEAD: Final = 3
RAMP: Final = {Mode.LOUD: (2, 2), Mode.CASCADE: (2, 4), Mode.DRIFT: (24, 40)}
VOICE: Final = {Mode.LOUD: (0, 0), Mode.CASCADE: (3, 6), Mode.DRIFT: (2, 5)}
PEAK_TICK: Final = (-1, 2)
#: How far a fault has come by tick 0 wherever it shows, in tenths of its ramp.
SHOWN: Final = {Mode.CASCADE: 10, Mode.DRIFT: 7}
#: Callers besides the first that alert, per mille; and on average no more than this many.
CALLER_ALERTS: Final = 600
MEAN_CALLER_ALERTS: Final = 2
#: Distractors that have an alert fire it, per mille.
DISTRACTOR_ALERT: Final = 500
DISTRACTOR_COUNT: Final = {Mode.LOUD: 1, Mode.CASCADE: 2, Mode.DRIFT: 3, Mode.BENIGN: 3}
INNOCENT_CHANGES: Final = 2
#: Most, but not all, faults with a change behind them show that change.
RELATED_SHOWN: Final = 850
CHANGE_KINDS: Final = ("deploy", "config", "traffic", "advisory")
RELATED_CHANGE: Final = {
    "bad_deploy": "deploy",
    "compromised_release": "deploy",
    "config_drift": "config",
    "saturation": "traffic",
    "traffic_flood": "traffic",
    "session_abuse": "advisory",
    "malicious_query": "advisory",
}
SCENARIO_STREAM: Final = hash_name("scenario")


class Slot(IntEnum):
    """The draws of a scenario; those marked so have an index."""

    EXTRA_TICKS = 0
    RAMP = 1
    VOICE = 2
    PEAK_TICK = 3
    EDGE_BASE_ERROR = 4
    EDGE_BASE_P99 = 5
    EDGE_PEAK_ERROR = 6
    EDGE_PEAK_P99 = 7
    ROOT_ERROR = 8
    ROOT_P99 = 9
    FIRST_ALERT = 10
    ALERT = 11  # by service
    DISTRACTOR_RANK = 12  # by service
    DISTRACTOR_ROW = 13  # by service
    DISTRACTOR_ALERT = 14  # by service
    CHANGE_KIND = 15  # by change
    CHANGE_SERVICE = 16  # by change
    CHANGE_AGE = 17  # by change
    CHANGE_DETAIL = 18  # by change
    RELATED_SHOWN = 19
    BENIGN_ROW = 20
