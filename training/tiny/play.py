"""Episodes in words, played by the teacher or the model, with what the teacher would do."""

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np
from transformers import PreTrainedTokenizerBase

from logtriage.actions import Action
from logtriage.dynamics import transition
from logtriage.incident import Incident
from logtriage.observation import Observation, observe
from logtriage.parsing import parse_action, render_action
from logtriage.policies import Memory, Policy
from logtriage.registry import make_policy
from logtriage.rendering import check_style, render_observation
from logtriage.rng import hash_name
from logtriage.state import State, initial_state
from training.language.generation import Batch
from training.tiny.words import Grammar, style_of

#: The label of a token after which nothing is said.
SCREEN = -1


@attrs.define(eq=False)
class Played:
    """An episode as far as it was played.

    Attributes:
        ids: the tokens of screens and actions.
        labels: behind each ``<|act|>`` the token of what the teacher does there; else
            :data:`SCREEN`.
    """

    state: State
    teacher: Policy | None
    ids: list[int] = attrs.field(factory=list)
    labels: list[int] = attrs.field(factory=list)
    _seen: Observation | None = None
    _memory: Memory = None

    def show(self, tokenizer: PreTrainedTokenizerBase, grammar: Grammar) -> list[int]:
        """Show the next screen, and ask the teacher if there is one; the new tokens."""
        seen = observe(self.state)
        screen = render_observation(seen, check_style(style_of(tokenizer)), before=self._seen)
        self._seen = seen
        shown = [*tokenizer.encode(screen, add_special_tokens=False), grammar.act]
        label = SCREEN
        if self.teacher is not None:
            right, self._memory = self.teacher.act(seen, self._memory)
            label = int(tokenizer.convert_tokens_to_ids(render_action(plain(right), "word")))
        self.ids += shown
        self.labels += [SCREEN] * (len(shown) - 1) + [label]
        return shown

    def take(self, token: int, word: str, grammar: Grammar) -> None:
        """Play an action."""
        self.ids += [token, grammar.end]
        self.labels += [SCREEN, SCREEN]
        topology = self.state.incident.topology
        self.state = transition(self.state, parse_action(word, topology, form="word"))


def plain(action: Action) -> Action:
    """Without a confidence, for which there is no word."""
    changes: dict[str, Any] = {"confidence": None} if hasattr(action, "confidence") else {}
    return attrs.evolve(action, **changes)


def taught(
    incidents: Sequence[Incident],
    teacher: str,
    tokenizer: PreTrainedTokenizerBase,
    on_episode: Callable[[int], None],
) -> list[Played]:
    """Episodes of the teacher."""
    grammar, done = Grammar(tokenizer), []
    for incident in incidents:
        episode = Played(initial_state(incident), make_policy(teacher)(incident))
        while not episode.state.is_closed:
            episode.show(tokenizer, grammar)
            label = episode.labels[-1]
            episode.take(label, str(tokenizer.convert_ids_to_tokens(label)), grammar)
        done.append(episode)
        on_episode(len(done))
    return done


def own(
    model: Any,
    incidents: Sequence[Incident],
    teacher: str | None,
    tokenizer: PreTrainedTokenizerBase,
    on_episode: Callable[[int], None],
    *,
    temperature: float,
    seed: int,
    batch: int = 100,
    barred: Sequence[bool] | None = None,
) -> list[Played]:
    """Episodes of the model; a teacher, if there is one, says at every turn what it would do.

    Attempts at one incident differ by their place in ``incidents``. ``barred`` says who may
    not hand over; by default everybody may.
    """
    grammar = Grammar(tokenizer)
    played: list[Played] = []
    policy = None if teacher is None else make_policy(teacher)
    model.eval()
    for start in range(0, len(incidents), batch):
        chosen = incidents[start : start + batch]
        rows = [Played(initial_state(incident), policy and policy(incident)) for incident in chosen]
        played += rows
        table = Batch(model, len(rows), frozenset({grammar.end}), grammar=grammar)
        if barred is not None:
            table.barred = np.array(barred[start : start + batch])
        draws = [
            np.random.default_rng(hash_name(f"{seed} {incident.id} {start + row}"))
            for row, incident in enumerate(chosen)
        ]
        while rows:
            for row, episode in enumerate(rows):
                table.append(row, episode.show(tokenizer, grammar))
            drawn = np.stack([stream.random(2) for stream in draws])
            replies = table.reply(drawn, limits=[2] * len(rows), temperature=temperature)
            for episode, (token, _) in zip(rows, replies, strict=True):
                episode.take(token, str(tokenizer.convert_ids_to_tokens(token)), grammar)
            going = [row for row, episode in enumerate(rows) if not episode.state.is_closed]
            rows = [rows[row] for row in going]
            draws = [draws[row] for row in going]
            table.select(going)
        on_episode(len(played))
    return played
