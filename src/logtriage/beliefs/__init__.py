"""Beliefs: the exact posterior for every screen, and what it says to do.

>>> import logtriage as lt
>>> from logtriage.beliefs import belief
>>> state = lt.initial_state(lt.make_incident("single_crash-v4/test/0"))
>>> 0.0 <= belief(state).benign <= 1.0
True
"""

from logtriage.beliefs.beliefs import Belief, belief

__all__ = ["Belief", "belief"]
