"""The Agentic Benchmark Checklist (Zhu et al., 2025), by the ids of its assessment sheets.

Each item has a ``check``, a ``score`` (1: shown, 0: found wanting, null: neither) and a
``reason``, as those sheets have.
"""

from typing import Any, Final

from logtriage.audit.formats.answers import Answer, Audited, said_of

_MATCHED: Final = "no answer is matched as text: actions name services, teams and remedies"
_JUDGE: Final = "no model judges: a grade is a function of the recorded actions"
_UNITS: Final = "the agent writes no code that tests could run"
_OUTSIDE: Final = "not checked: it cannot be seen from outside"

#: Items that checks answer: what is asked, and by which checks.
_ANSWERED: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "I.b.2": ("Listing all answers does not pay", ("enumeration", "cycles")),
    "I.b.3": ("The truth cannot be guessed", ("blind", "chance", "variety", "constant")),
    "I.f.3": ("Results do not change from run to run", ("determinism", "replay", "seed")),
    "I.g.1": ("Every state that is a success counts as one", ("oracle", "exact-maximum")),
    "I.g.2": ("What matters and what does not are both looked at",
              ("measures", "fields", "blindness")),
    "I.g.3": ("Trivial changes of state are no success", ("idle", "unread", "null")),
    "I.h.2": ("Success by chance is rare", ("chance", "blind", "constant")),
    "I.I.1": ("The measure of quality cannot be exploited",
              ("exact-maximum", "monotonicity", "undeserved", "looks", "blame", "probing", "risk")),
    "II.4": ("Nothing is left over between runs", ("replay", "determinism")),
    "II.5": ("The agent reaches no truth", ("leaks", "screens", "seeds", "fairness", "truth")),
    "II.7": ("Each task can be solved", ("oracle", "symptom")),
    "II.8": ("An oracle solves every task", ("oracle",)),
    "II.9": ("No way around the task is paid", ("canaries", "cycles", "mis-page", "null")),
    "III.13": ("What trivial agents earn is reported", ("idle", "blind", "chance", "null")),
}  # fmt: skip
#: Items that do not apply, because…
_NOT_APPLICABLE: Final[dict[str, tuple[str, str]]] = {
    "I.a.1": ("Equivalent expressions count as equal", _MATCHED),
    "I.a.2": ("Redundant words do no harm", _MATCHED),
    "I.b.1": ("Negations are understood", _MATCHED),
    "I.c.1": ("The judge is accurate and consistent", _JUDGE),
    "I.c.2": ("The judge resists attacks", _JUDGE),
    "I.d.1": ("Test cases are verified", _UNITS),
    "I.d.2": ("The quality of test cases is measured", _UNITS),
    "I.e.1": ("Fuzzing reaches edge cases", _UNITS),
    "I.e.2": ("Fuzzing covers all kinds of input", _UNITS),
    "I.e.3": ("Fuzzing uses inputs that matter", _UNITS),
    "I.f.2": ("Tests exercise all relevant code", _UNITS),
}
#: Items that pages of the documentation answer, and no check can: page and question.
_PAGES: Final[dict[str, tuple[str, str]]] = {
    "I.h.1": ("The format of answers is said", "transcripts.md"),
    "II.1": ("Versions of all tools are said", "adapters.md"),
    "II.2": ("All tools can be reached throughout", "adapters.md"),
    "II.3": ("A tool that cannot be reached is handled", "grading.md"),
    "II.6": ("The annotated truth is verified", "tasks.md"),
    "III.1": ("It is open source", "index.md"),
    "III.2": ("It has an open harness", "adapters.md"),
    "III.3": ("Contamination is prevented", "sealed.md"),
    "III.4": ("Tasks are renewed", "sealed.md"),
    "III.5": ("What is measured, and by what, is said", "grading.md"),
    "III.6": ("What is evaluated, a model or an agent, is said", "evaluating-llms.md"),
    "III.7": ("How flaws are prevented and found is said", "audit.md"),
    "III.8": ("The impact of flaws is discussed", "audit.md"),
    "III.9": ("The impact of flaws is measured", "results/mutants.md"),
    "III.10": ("Statistical significance is reported", "cli.md"),
    "III.11": ("How to read results despite flaws is said", "audit.md"),
    "III.12": ("Baselines that are no AI are reported", "results/oncall.md"),
}
_SCORE: Final = {Answer.YES: 1, Answer.NO: 0, Answer.OPEN: None}


def abc(audited: Audited) -> dict[str, Any]:
    """The checklist as an assessment sheet of one subject."""
    made = audited.made
    items: dict[str, dict[str, Any]] = {}
    for item, (question, checks) in _ANSWERED.items():
        said = said_of(checks, made)
        items[item] = _row(question, _SCORE[said.answer], "; ".join(said.evidence))
    for item, (question, why) in _NOT_APPLICABLE.items():
        told = f"not applicable, because {why}"
        items[item] = _row(question, None, _OUTSIDE if audited.is_black_box else told)
    for item, (question, page) in _PAGES.items():
        told = f"not checked: a page says it, docs/{page}"
        items[item] = _row(question, None, _OUTSIDE if audited.is_black_box else told)
    ordered = {item: items[item] for item in sorted(items, key=_place)}
    return {"subject": audited.subject, "digest": audited.digest, **ordered}


def _row(question: str, score: int | None, reason: str) -> dict[str, Any]:
    return {"check": question, "score": score, "reason": reason}


def _place(item: str) -> tuple[int, str, int]:
    """Chapters in order, then parts by their letters, then numbers."""
    chapter, *part, number = item.split(".")
    return len(chapter), "".join(part).lower(), int(number)
