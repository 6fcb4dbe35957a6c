"""Drills: notes on screens, of which nothing can be copied from the note before.

In an episode a suspect stays for several turns, so that its owner is copied, and most readings
are usual. A model of random weights learns that, and neither looks up nor reads. A drill asks
for the readings of the service at fault, and for the owner, the alert and the change of a
service drawn at random.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import cycle, islice
from typing import Final

import attrs
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence
from transformers import PreTrainedTokenizerFast, Qwen2ForCausalLM

from logtriage.actions import RequestMetrics, RequestTraces
from logtriage.errors import InvalidInput
from logtriage.incident import Incident
from logtriage.observation import observe
from logtriage.policies.noisy import WHOLE
from logtriage.policies.notebook import Notebook, write_down
from logtriage.rendering import render_observation
from logtriage.rng import Stream, hash_name
from logtriage.state import initial_state
from logtriage.transition import transition
from logtriage.world.loading import load_world
from training.evaluate.phases import Phases
from training.language.chat import Message
from training.language.sources import Source
from training.tiny.demonstrations import Conversation, spoken, teachers_reply, without_logs
from training.tiny.notes import SUSPECT, looked_up, read_out
from training.tiny.reading import NOTHING, read_loss, readings
from training.tiny.settings import Settings
from training.tiny.tokenizer import CALL, tokens_said

FIVE_TEAMS = load_world("oncall").topologies["seven-services-five-teams"]

STREAM: Final = hash_name("drills")
REHEARSAL_STREAM: Final = hash_name("rehearsal of drills")
#: A line of the log window, or its head.
_LOGS: Final = re.compile(r"LOGS:|[+-]\d+s ")
#: Requests in a drill.
ROUNDS: Final = 5
#: Drills in a step.
BATCH: Final = 4
LR: Final = 1e-3
BETAS: Final = (0.9, 0.98)
#: Steps in which the learning rate rises.
WARM_UP: Final = 50
#: The weight of a token that is no answer: a model that foretells screens learns to copy.
FORM: Final = 0.02


@attrs.frozen
class Drill:
    """One row: tokens, where an answer stands, and what the first layer reads.

    Args:
        ids: the tokens.
        asked: which of them are answers: words of notes, but for the suspect.
        read: for each token, a word that the output of the first layer is to tell, or
            :data:`NOTHING` (:mod:`training.tiny.reading`).
        said: 1 where the notes and requests stand.
        replies: what the teacher would have said in place of each of them.
    """

    ids: list[int]
    asked: list[bool]
    read: list[int]
    said: list[int]
    replies: Sequence[Message]


def conversation(
    incident: Incident, stream: Stream, whole: bool
) -> tuple[Conversation, list[Message]]:
    """A first screen, then :data:`ROUNDS` requests, each with a note on the screen before it.

    With it comes what the teacher would have said in place of each.

    Every second request is for the service at fault, if any, since most readings of others are
    usual. The suspects are drawn at random. With ``whole`` the screens have log lines, too, in
    which every service is named.
    """
    state, book = initial_state(incident), Notebook()
    names = incident.topology.names
    said: Conversation = []
    replies: list[Message] = []
    for _ in range(ROUNDS + 1):
        observation = without_logs(observe(state))
        replies.append(teachers_reply(observation, book))
        book = write_down(observation, book)
        screen = render_observation(observe(state))
        said.append({"role": "tool" if said else "user", "content": screen})
        if not whole:
            said[-1]["content"] = _without_logs(screen)
        asked, suspect = (names[stream.below(len(names))] for _ in range(2))
        if stream.chance(WHOLE // 2):
            asked = next(iter(sorted(incident.truth.root_causes)), asked)
        request = (RequestMetrics if stream.chance(WHOLE // 2) else RequestTraces)(asked)
        words = [*read_out(observation, book), *looked_up(observation, book, suspect)]
        said.append(spoken(" ".join(words), request))
        state = transition(state, request)
    return said, replies


def _without_logs(screen: str) -> str:
    return "\n".join(line for line in screen.splitlines() if not _LOGS.match(line))


def drill(
    tokenizer: PreTrainedTokenizerFast, incident: Incident, stream: Stream, whole: bool = False
) -> Drill:
    """A conversation as one row, with what is asked and what the first layer reads.

    Raises:
        InvalidInput: for an incident of another topology than the default one.
    """
    if incident.topology != FIVE_TEAMS:
        raise InvalidInput(f"{incident.id}: drills need a task on the default topology")
    walked, replies = conversation(incident, stream, whole)
    ids, said = tokens_said(tokenizer, walked)
    read = readings(tokenizer, ids, said)
    (suspect,) = tokenizer.encode(f" {SUSPECT}")
    (call,) = tokenizer.encode(CALL)
    asked, silent = [], True
    for place, token in enumerate(ids):
        silent = not said[place] or (silent and bool(said[place - 1])) or token == call
        # Who is suspected is drawn, and a blank comes before the name.
        asked.append(not silent and suspect not in ids[place - 2 : place])
    return Drill(ids, asked, read, said, replies)


def drilled(model: Qwen2ForCausalLM, tokenizer: PreTrainedTokenizerFast, source: Source,
            ids: Sequence[str], settings: Settings, phases: Phases) -> list[float]:  # fmt: skip
    """Train ``model`` in place on drills; the share of right answers in each step.

    First come those without log lines, then those of whole screens. The incidents are ``ids``,
    in turn.
    """
    short, whole = settings.drills, settings.whole_drills
    if not short + whole:
        return []
    stream, incidents = Stream(settings.seed, STREAM), cycle(ids)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LR, betas=BETAS, weight_decay=0.0)
    model.train()
    phases.begin("drills", short + whole)
    right: list[float] = []
    for step in range(1, short + whole + 1):
        for group in optimizer.param_groups:
            group["lr"] = LR * min(1.0, step / WARM_UP)
        rows = [
            drill(tokenizer, source(one), stream, step > short) for one in islice(incidents, BATCH)
        ]
        loss, share = _loss(model, rows, tokenizer.pad_token_id)
        loss.backward()  # type: ignore[no-untyped-call, unused-ignore]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        right.append(share)
        phases.advance(step, f"{share:.0%} right")
    return right


def rehearsed(
    tokenizer: PreTrainedTokenizerFast, source: Source, ids: Sequence[str], settings: Settings
) -> list[Drill]:
    """Drills of whole screens to stand among the episodes, one for each; none without drills.

    They keep up the look-ups while all the rest is learnt, and name the teacher's suspect where
    no note before it does.
    """
    if not settings.drills + settings.whole_drills:
        return []
    stream = Stream(settings.seed, REHEARSAL_STREAM)
    return [drill(tokenizer, source(one), stream, True) for one in ids]


def _loss(model: Qwen2ForCausalLM, rows: Sequence[Drill], pad: int) -> tuple[Tensor, float]:
    """The loss of a batch, in nats, and the share of answers that are right."""
    ids, asked, read = _padded(rows, pad)
    output = model(input_ids=ids, output_hidden_states=True)
    logits, wanted, answers = output.logits[:, :-1], ids[:, 1:], asked[:, 1:]
    losses = cross_entropy(logits.flatten(0, 1), wanted.flatten(), reduction="none")
    weights = torch.where(answers, 1.0, FORM) * (wanted != pad)
    loss = (losses.view_as(wanted) * weights).sum() / weights.sum()
    right = (logits.argmax(-1) == wanted)[answers]
    return loss + read_loss(model, output.hidden_states[1], read), float(right.float().mean())


def _padded(rows: Sequence[Drill], pad: int) -> tuple[Tensor, Tensor, Tensor]:
    """Rows of equal length: tokens, what is asked, what is read."""

    def column(values: Iterable[list[int]], fill: int) -> Tensor:
        return pad_sequence([torch.tensor(one) for one in values], True, fill)

    return (
        column((row.ids for row in rows), pad),
        column((row.asked for row in rows), False),
        column((row.read for row in rows), NOTHING),
    )
