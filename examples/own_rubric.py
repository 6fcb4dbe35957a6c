"""A rubric of one's own: other weights, one more criterion, one gate less.

python examples/own_rubric.py
"""

import attrs

import logtriage as lt
from logtriage.errors import RubricError
from logtriage.grading import DEFAULT, Criterion


def thrift(state: lt.State) -> tuple[float, str]:
    """Once fixed: 1 with at most two requests for logs, 0.25 less for each further one."""
    if state.facts.fixed_at is None:
        return 0.0, "not fixed"
    asked = len(state.facts.requests)
    return max(0.0, 1.0 - 0.25 * max(0, asked - 2)), f"{asked} requests for logs"


WEIGHTS = {
    "severity": 0.10,
    "root_cause": 0.50,
    "escalation": 0.10,
    "remediation": 0.20,
}
RESEARCH = attrs.evolve(
    DEFAULT,
    id="example/research-1",
    criteria=(
        *(
            attrs.evolve(row, weight=WEIGHTS[row.name])
            for row in DEFAULT.criteria
            if row.name in WEIGHTS
        ),
        Criterion("thrift", 0.10, thrift),
    ),
    gates=tuple(gate for gate in DEFAULT.gates if gate.name != "wrong_escalation"),
)


def main() -> None:
    ids = lt.incident_ids("single_crash-v4", "val", 25)
    print(f"{'policy':12} {DEFAULT.id:>18} {RESEARCH.id:>20}")
    for spec in ("oracle", "expert", "first_error", "random"):
        states = [lt.play(lt.make_incident(incident_id), spec) for incident_id in ids]
        means = [
            sum(lt.grade(state, rubric).score for state in states) / len(states)
            for rubric in (DEFAULT, RESEARCH)
        ]
        print(f"{spec:12} {means[0]:18.3f} {means[1]:20.3f}")

    print("\nweights that do not sum to 1 are refused:")
    try:
        attrs.evolve(RESEARCH, criteria=RESEARCH.criteria[:3])
    except RubricError as error:
        print(f"  {error}")


if __name__ == "__main__":
    main()
