"""Notice runs that can learn nothing after a few steps, and name the cause."""

from collections import deque
from collections.abc import Container, Iterable, Sequence
from typing import Final

from logtriage.drawing.incidents import PRICES_OF_HAND_OVER
from logtriage.errors import LogTriageError
from training.grpo.played import Episode

#: Above this share, something is the likely cause.
MOST: Final = 0.5
#: Hand-overs are counted over this many attempts.
LATEST: Final = 200


class NothingToLearn(LogTriageError):
    """All attempts at every incident were rewarded alike, step after step."""


class HandsOver(NothingToLearn):
    """The model hands over what it would be paid best for playing."""


class HandOvers:
    """The share of the attempts that are handed over at the lowest price of a hand-over."""

    def __init__(self) -> None:
        self._latest: deque[bool] = deque(maxlen=LATEST)

    def played(self, episodes: Iterable[Episode]) -> None:
        """Count played episodes whose model was free to hand over.

        Raises:
            HandsOver: if more than half of the :data:`LATEST` attempts were handed over.
        """
        lowest = min(PRICES_OF_HAND_OVER)
        self._latest.extend(episode.handed_over for episode in episodes if episode.price == lowest)
        share = sum(self._latest) / LATEST
        if len(self._latest) == LATEST and share > MOST:
            raise HandsOver(
                f"of the last {LATEST} attempts at incidents whose hand-over is worth {lowest:g}, "
                f"{share:.0%} were handed over: the model learns to act no more. Bar the hand-over "
                "in more groups (--barred), or begin with a model that acts better"
            )


class Watch:
    """Counts steps whose advantages are all zero.

    Args:
        most: so many of them in a row end the run; 0 for none.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._row = 0
        self._replies = self._cut = 0
        self._played: Sequence[Episode] = ()

    def replied(self, replies: Sequence[Sequence[int]], stops: Container[int]) -> None:
        """The model wrote these."""
        self._replies += len(replies)
        self._cut += sum(not reply or reply[-1] not in stops for reply in replies)

    def played(self, episodes: Sequence[Episode]) -> None:
        """These were played in the step."""
        self._played = episodes

    def learns(self, something: bool) -> None:
        """Note whether the step has anything to learn from.

        Raises:
            NothingToLearn: with the likely cause, after too many steps that have not.
        """
        self._row = 0 if something else self._row + 1
        if self._most and self._row >= self._most:
            raise NothingToLearn(
                f"in {self._row} steps, all attempts at each incident were rewarded alike: "
                f"nothing can be learnt from that. {self._cause()}"
            )
        self._replies = self._cut = 0

    def _cause(self) -> str:
        episodes = self._played
        if self._replies and self._cut / self._replies > MOST:
            return (
                f"{self._cut} of {self._replies} replies of the last step were cut off: raise "
                "--turn-tokens (and --completion-tokens), or set --thinking off"
            )
        count = max(len(episodes), 1)
        if sum(not episode.actions for episode in episodes) / count > MOST:
            return (
                "most episodes have no action: the model makes no tool calls that its chat "
                "template's response template reads; try a model that was taught to"
            )
        malformed = sum(episode.ticks == _malformed(episode) for episode in episodes)
        if malformed / count > MOST:
            return "most episodes have malformed actions alone: the model does not know the tools"
        rewards = sorted({episode.reward for episode in episodes})
        values = ", ".join(f"{reward:.3f}" for reward in rewards[:3])
        return (
            f"Rewards of the last step: {values}{', ...' if len(rewards) > 3 else ''}. The model "
            "does the same in every attempt: raise --temperature, or begin with a model that is "
            "less sure, or at another --fog"
        )


def _malformed(episode: Episode) -> int:
    return sum(action.get("action_type") == "malformed" for action in episode.actions)
