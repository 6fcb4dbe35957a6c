"""What the columns of figures mean, in a line each."""

from typing import Final

from logtriage.evaluation import SOLVED

_CALL: Final = "of the pages and root causes"

#: The meaning of each column, by its title on a line or the first word of it.
_MEANINGS: Final = {
    "mean grade [95 % interval]": "mean of the grades, with its bootstrap interval",
    "unscored as 0": "mean grade with 0 for each episode that is unscored or missing",
    "A, unscored as 0": "over what both runs planned, with 0 for what A has no score of; B alike",
    "net value [95 % interval]": "worth beyond handing everything over: 1 solves all, 0 no better",
    "the bar": "episodes that the bar hands over, without those that the agent handed over",
    "handed over": "incidents handed over before any page and any remedy",
    "paged right": "incidents in which somebody was paged, and nobody wrongly",
    "solved": f"episodes with a grade of {SOLVED:g} or more that were not handed over",
    "root cause": "real faults whose root cause was declared",
    "fault class": "real faults whose class was declared, those handed over left out",
    "severity": "incidents whose severity was right",
    "mis-paged": "incidents in which a team was paged that is not accepted",
    "ignored": "real faults closed as nothing to act on",
    "false alarms": "incidents without a fault in which a team was paged, a remedy applied or, in "
    "a recording, a cause declared",
    "ticks": "mean ticks of the episodes that were fixed and resolved",
    "Brier": "squared error of the stated confidences; 0 is best, always 0.5 gives 0.25",
    "unscored": "episodes without a grade, because the policy failed",
    "reported": "episodes that reported how the damage spread; never part of a grade",
    "node F1": "F1 of the services that the damage reached, mean of the reports",
    "edge F1": "F1 of the calls that wait or carry load, mean of the reports",
    "exact roots": "reports with all root causes declared and no other service",
    "AC@1": "faults whose root cause is ranked first; AC@3 and AC@5: among the first 3 or 5",
    "Avg@5": "mean of AC@1 to AC@5",
    "stated": "scored episodes that declared a root cause with a confidence",
    "ECE": "expected calibration error, with its bootstrap interval; 0 is best",
    "by chance": "ECE that perfect calibration exceeds in one case of twenty",
    "too sure by": "mean confidence less the exact posterior at that tick",
    "posterior": "what the exact belief gave the declared service at that tick",
    "AUGRC": "area under the generalised risk of the stated confidences; 0 is best",
    "explained": "episodes with an explanation",
    "at first": "expected grade before any action; with the next three, it makes the grade",
    "asking gained": "what requests were expected to add",
    "decisions": "what all other actions were expected to add; below 0, what they cost",
    "luck": "how much better than expected the outcomes were; below 0, worse",
    "luck adjusted": "mean grade less the luck: the same on average, and steadier; no headline",
    "hardness": "what all evidence together would leave in doubt",
    "justified": f"{_CALL}, those that the evidence supported",
    "lucky": f"{_CALL}, those that were right without support",
    "net A": "worth of A beyond handing everything over; B alike",
    "net B - A [95 % interval]": "difference of the net values, with its paired interval",
    "B - A [95 % interval]": "mean difference per incident, with its paired bootstrap interval",
    "run - base [95 % interval]": "mean difference per incident, with its paired interval",
    "worth [95 % interval]": "sum of value x (grade - worth of a hand-over) - cost; repeats: mean",
    "cost": "what the incidents cost together, repeats averaged",
    "worth nothing at": "the cost of an episode at which the worth is 0, if there is one",
    "of all": "share of all incidents",
    "bits left": "doubt about the kind, on average, where it is this one",
    "recognised": "what the belief puts on the right kind",
    "taken for [share]": "what it puts on others; * asks for another team or remedy",
    "handed over at a worth of": "the same by what a hand-over is worth, and of how many",
    "unread replies": "replies of a model in which no action was found",
    "better handed over": "incidents where a hand-over is worth more than the best plan",
    "gained": "points of grade that heeding the worth of a hand-over gains",
    "margin": "the loss that must be ruled out",
    "verdict": "no worse: that is ruled out; worse: a loss is shown; undecided: neither",
    "better": "incidents with a higher grade in B",
    "worse": "incidents with a lower grade in B",
    "same": "incidents with the same grade in both",
}


def meaning_of(title: str) -> str | None:
    """What a column means; None if its title says it."""
    return _MEANINGS.get(title, _MEANINGS.get(title.partition(" ")[0]))


def plain_title(title: str) -> str:
    """A title on one line."""
    return title.replace("\n", " ")
