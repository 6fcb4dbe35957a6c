"""Lists of actions as arrays of canonical integers."""

import numpy as np
import pytest

import logtriage as lt
from logtriage.errors import UnknownName
from logtriage.grading import action_array
from logtriage.grading.batch import MALFORMED, PADDING
from logtriage.grading.steps import letters_of
from logtriage.world.topologies import random_topology
from tests.builders import SEVEN_SERVICES


def test_action_lists_become_integers() -> None:
    array = action_array(
        SEVEN_SERVICES,
        [[lt.ClassifySeverity("P2"), lt.Malformed("", "")], [lt.Ignore()]],
        hand_over=False,
    )
    assert array.tolist() == [[1, MALFORMED], [72, PADDING]]
    assert array.dtype == np.int8
    assert action_array(random_topology(1, 60), [[lt.Resolve()]], hand_over=True).dtype == np.int16
    with pytest.raises(UnknownName, match="unknown team 'pay-team'"):
        action_array(SEVEN_SERVICES, [[lt.Escalate("pay-team")]], hand_over=True)


def test_what_does_nothing_is_malformed() -> None:
    nothing: list[lt.Action] = [
        lt.Malformed("", ""), lt.Report("slow_query"), lt.Wait(), lt.HandOver(),
    ]  # fmt: skip
    worthless, worth = (action_array(SEVEN_SERVICES, [nothing], hand_over=w) for w in (False, True))
    assert worthless.tolist() == [[MALFORMED] * 4]
    assert worth.tolist() == [[*[MALFORMED] * 3, 73]]
    assert action_array(SEVEN_SERVICES, [], hand_over=True).shape == (0, 0)
    assert action_array(SEVEN_SERVICES, [[], []], hand_over=True).shape == (2, 0)


@pytest.mark.parametrize("size", [5, 14, 15, 16, 40])
def test_the_ranges_partition_the_actions(size: int) -> None:
    """Each action lies in the range of its kind, and every range is used up."""
    topology = random_topology(3, size)
    letters, every = letters_of(topology), lt.all_actions(topology)
    assert letters.hand_over == len(every)
    for kind, first, end in (
        (lt.ClassifySeverity, 0, letters.severities),
        (lt.IdentifyRootCause, letters.root, letters.root_end),
        (lt.Escalate, letters.page, letters.page_end),
        (lt.Remediate, letters.remedy, letters.remedy_end),
        (lt.Resolve, letters.resolve, letters.ignore),
        (lt.Ignore, letters.ignore, letters.hand_over),
    ):
        assert [at for at, one in enumerate(every) if isinstance(one, kind)] == list(
            range(first, end)
        )
