"""Which law kills which broken grader, and which checks of the audit notice it.

    python scripts/mutant_table.py          # Markdown, more than an hour; needs the test extra

For each mutant the first law that fails (there may be more), in the order in which
``tests/audit/test_mutants.py`` tries them; and every check that fails in an audit of two
tasks with small samples. Graders that are broken in code have no rubric to audit.
"""

import sys
from pathlib import Path

import attrs

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from logtriage.audit import QUICK, audit
from tests.audit import test_mutants
from tests.audit.broken import NAMES
from tests.audit.planted.mutants import MUTANTS, Mutant

SIZES = attrs.evolve(QUICK, kinds=2, same=2, slow=2, panel=20)
AUDITED = {
    "single_crash-v3": ("fields", "monotone", "floor"),
    "silent_degradation-v3": ("fields", "ceiling", "farming", "monotone", "stability"),
}


def noticed(mutant: Mutant) -> set[str]:
    reports = (
        audit(task, mutant.rubric, sizes=SIZES, families=families)
        for task, families in AUDITED.items()
    )
    return {check for report in reports for check in report.failed}


def main() -> None:
    rubrics = {one.name: one for one in MUTANTS}
    print("| mutant | what is wrong | first law that kills it | checks that notice it |")
    print("| --- | --- | --- | --- |")
    for name in NAMES:
        killers = (
            law
            for law, (check, module) in test_mutants.all_laws(test_mutants.MORE).items()
            if test_mutants.killed(name, check, module)
        )
        wrong, checks = "broken in code", "–"
        if name in rubrics:
            wrong = rubrics[name].wrong
            checks = ", ".join(f"`{one}`" for one in sorted(noticed(rubrics[name]))) or "none"
        law = next(killers, "none").removeprefix("test_")
        print(f"| `{name}` | {wrong} | `{law}` | {checks} |", flush=True)


if __name__ == "__main__":
    main()
