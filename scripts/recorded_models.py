"""The section on ``recorded/2`` of the results on recorded incidents, from a bundle of Nezha.

python scripts/recorded_models.py NEZHA_BUNDLE
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from types import ModuleType

import attrs

import logtriage as lt
from logtriage.evaluation import play_episode
from logtriage.evaluation.statistics import mean_interval
from logtriage.policies import (
    METHODS,
    ConstantPolicy,
    InquiryPolicy,
    Policy,
    RankingPolicy,
    inquiry,
)
from logtriage.recorded import RecordedIncident, as_incident, load_records, on_request
from logtriage.registry import make_policy

TEXT = """\
## Figures on request: `recorded/2`

This section plays the same {incidents} incidents of TrainTicket, but a look costs a tick and the
class of the fault counts 0.3 ([the task](../recorded.md#for-models-recorded2)). Choices were made
on every second incident of each kind of fault, by time ({choice}); the others ({result}) were
played once, afterwards. These commands play both halves together:

    logtriage import nezha NEZHA_DIR --models --out models.jsonl.gz
    logtriage eval inquiry random constant:classify_fault=code,resolve --bundle models.jsonl.gz

{table}

Grades are means with their interval (bootstrap, 95 %). `root` and `class` are the shares of right
declarations.

- [`inquiry`](../policies.md#where-figures-are-shown-on-request) asks five services for metrics.
- *commonest answer* declares the commonest root cause and class of the half for choices:
  `{root}` and {category}.
- *commonest class* declares only the class.
- *any constant answer* is the mean over all services and classes, which is chance.
- *with the dashboard* is `combined_v2` under `recorded/1`, which shows the
  signals of every service at no cost. It declares no class.

The next table has the half for choices, with a single choice of `inquiry` undone at a time:

{ablations}

Three facts limit these figures.

- `inquiry` uses the scores of `combined_v2`, which was made with all of these
  incidents at hand. The half for results is held back only from the new choices of `inquiry`: whom
  to ask, how many, which class, and when to see no fault.
- {result} incidents are few: an incident is worth {share:.1f} points.
- All have a fault. The [last section](#stretches-without-a-fault) has stretches without a fault.
"""

Factory = Callable[[lt.Incident], Policy]


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in lines)


def halves(records: Sequence[RecordedIncident]) -> list[list[lt.Incident]]:
    """Every second record of each kind of fault, by time, and the others."""
    kinds: dict[str, list[RecordedIncident]] = defaultdict(list)
    for one in sorted(records, key=lambda one: one.id):
        kinds[one.truth.kind].append(on_request(one))
    return [[as_incident(one) for mine in kinds.values() for one in mine[odd::2]] for odd in (0, 1)]


def played(incidents: Sequence[lt.Incident], factory: Factory) -> list[tuple[float, bool, bool]]:
    """For each incident the grade, and whether root cause and class were right."""
    rows = []
    for one in incidents:
        state = play_episode(one, factory(one))
        score = lt.grade(state).score
        assert score is not None
        root = state.facts.root_cause in one.truth.root_causes
        rows.append((score, root, state.facts.fault_category is one.truth.fault_category))
    return rows


def figures(rows: Sequence[tuple[float, bool, bool]]) -> list[str]:
    scores, roots, classes = zip(*rows, strict=True)
    interval = mean_interval(scores)
    assert interval is not None
    return [
        f"{fmean(scores):.3f}",
        f"[{interval.low:.3f}, {interval.high:.3f}]",
        f"{fmean(roots):.3f}",
        f"{fmean(classes):.3f}",
    ]


def any_constant(incidents: Sequence[lt.Incident]) -> list[str]:
    """The mean over the constant answers: each service, and each class."""
    root = fmean(len(one.truth.root_causes) / len(one.topology) for one in incidents)
    category = 1 / len(lt.actions.FAULT_CATEGORIES)
    weights = lt.grading.recordings.WEIGHTS
    mean = weights["root_cause"] * root + weights["fault_class"] * category
    return [f"{mean:.3f}", "", f"{root:.3f}", f"{category:.3f}"]


def with_dashboard(records: Sequence[RecordedIncident], half: Sequence[lt.Incident]) -> list[str]:
    """The share of root causes that `combined_v2` finds where every signal is shown."""
    ids = {one.id for one in half}
    old = [as_incident(one) for one in records if on_request(one).id in ids]
    rows = played(old, lambda _: RankingPolicy(METHODS["combined_v2"]))
    return ["", "", f"{fmean(root for _, root, _ in rows):.3f}", ""]


@contextmanager
def undone(module: ModuleType, name: str, value: object) -> Iterator[None]:
    """A choice that was made otherwise, for as long as it is measured."""
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)


def ablations(choice: Sequence[lt.Incident]) -> str:
    rows = [("as it is", *figures(played(choice, lambda _: InquiryPolicy())))]
    for title, name, value in (
        ("alerts make nobody suspect", "ALERT", 0.0),
        ("the end of a chain of alerts does not", "CHAIN_END", 0.0),
        ("new error lines do not", "NEW_ERROR", 0.0),
        ("being called by a suspect does not", "CALLED", 0.0),
    ):
        with undone(inquiry, name, value):
            rows.append((title, *figures(played(choice, lambda _: InquiryPolicy()))))
    for questions in (1, 3):
        shorter = [attrs.evolve(one, horizon=inquiry.RESERVE + questions) for one in choice]
        title = f"{questions} {'question' if questions == 1 else 'questions'}, not five"
        rows.append((title, *figures(played(shorter, lambda _: InquiryPolicy()))))
    return table(("", "grade", "interval", "root", "class"), rows)


def models_part(records: Sequence[RecordedIncident]) -> str:
    """The section about ``recorded/2``, of the records of Nezha as ``recorded/1`` plays them."""
    choice, result = halves(records)
    roots = Counter(root for one in choice for root in one.truth.root_causes)
    categories = Counter(one.truth.fault_category for one in choice)
    ((root, _),), ((category, _),) = roots.most_common(1), categories.most_common(1)
    assert category is not None
    declared = (lt.IdentifyRootCause(root), lt.ClassifyFault(category), lt.Resolve())
    factories: dict[str, Factory] = {
        "`inquiry`": make_policy("inquiry"),
        "commonest answer": lambda _: ConstantPolicy(declared),
        "commonest class": lambda _: ConstantPolicy(declared[1:]),
        "`random`": make_policy("random"),
    }
    rows = [
        (title, *figures(played(choice, factory)), *figures(played(result, factory)))
        for title, factory in factories.items()
    ]
    rows.append(("any constant answer", *any_constant(choice), *any_constant(result)))
    looks = (with_dashboard(records, choice), with_dashboard(records, result))
    rows.append(("with the dashboard", *looks[0], *looks[1]))
    half = ("grade", "interval", "root", "class")
    head = ("", *(f"choices {half[0]}", *half[1:]), *(f"results {half[0]}", *half[1:]))
    return TEXT.format(
        incidents=len(records),
        choice=len(choice),
        result=len(result),
        share=100 / len(result),
        root=root,
        category=category,
        table=table(head, rows),
        ablations=ablations(choice),
    )


if __name__ == "__main__":
    print(models_part(load_records(Path(sys.argv[1]))))
