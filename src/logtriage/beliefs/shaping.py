"""Shaped rewards: a step also earns the rise of the expected grade, such as by an answer."""

from logtriage.beliefs.beliefs import belief
from logtriage.grading import score
from logtriage.state import State


def value_of(state: State) -> float:
    """W of a state: the expected grade of the best plan; of a closed state, its grade."""
    return score(state) if state.is_closed else belief(state).value()


def shaped_reward(before: State, after: State, gamma: float = 1.0) -> float:
    """The reward of a step plus the rise of what is still expected: potential-based shaping.

    reward + gamma * phi(after) - phi(before) with phi = W - grade, 0 once closed. With
    gamma = 1 a step earns W(after) - W(before), and the best policy stays the best: A. Y.
    Ng, D. Harada, S. Russell, "Policy invariance under reward transformations", ICML 1999.

    Raises:
        InvalidInput: for an incident whose probabilities are not known.
    """
    grades = score(after) - score(before)
    return grades + gamma * potential(after) - potential(before)


def potential(state: State) -> float:
    """The grade that is expected beyond the grade so far: phi = W - grade, 0 once closed."""
    return 0.0 if state.is_closed else value_of(state) - score(state)
