"""Compile the kernels, so that no worker of a test run compiles its own."""

from logtriage import initial_state, make_incident
from logtriage.grading import grade_batch, truths_of
from logtriage.vector import BatchedTriage, belief_batch
from logtriage.vector.shaping import BatchedShaping


def main() -> None:
    batch = BatchedTriage("cascading_failure-v2", backend="numba")
    batch.reset("test", [0])
    BatchedShaping(batch).begin()
    batch.step([0])
    incident = make_incident("cascading_failure-v2/test/0")
    belief_batch([initial_state(incident)], backend="numba").logs()
    grade_batch(truths_of([incident]), [[0]], backend="numba")


if __name__ == "__main__":
    main()
