"""Drills: a cause is named, its owner is paged, and it is repaired, whatever the incident is.

An episode asks twice for a name that stands elsewhere on the screens: the owner of the
service that was named, out of DIRECTORY, and that service again for the remedy. It asks so
once in 1,300 tokens, and a model of random weights does not find out from thousands of
episodes that the two belong together. Drills ask for nothing else.
"""

from collections.abc import Iterable, Sequence
from itertools import cycle, islice
from typing import Any, Final

import attrs
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence
from transformers import PreTrainedTokenizerFast, Qwen2ForCausalLM

from logtriage.actions import REMEDIES, IdentifyRootCause
from logtriage.adapters.episode import answer, opening
from logtriage.errors import InvalidInput
from logtriage.incident import Incident
from logtriage.parsing import action_to_wire
from logtriage.rng import Stream, hash_name
from logtriage.topology import FIVE_TEAMS
from training.evaluate.phases import Phases
from training.language.sources import Source
from training.tiny.demonstrations import Conversation
from training.tiny.reading import NOTHING, read_loss, readings
from training.tiny.settings import Settings

STREAM: Final = hash_name("drills")
REHEARSAL_STREAM: Final = hash_name("rehearsal of drills")
#: Causes named in a drill, each followed by a page and a remedy.
ROUNDS: Final = 5
#: Drills in a step.
BATCH: Final = 8
#: The same, where screens are whole.
WHOLE_BATCH: Final = 4
LR: Final = 1e-3
BETAS: Final = (0.9, 0.98)
#: Steps in which the learning rate rises.
WARM_UP: Final = 50
#: The weight of a token that is no answer, so that the form is learnt too.
FORM: Final = 0.02


@attrs.frozen
class Drill:
    """One row: tokens, where an answer stands, and what the first layer reads.

    Args:
        ids: the tokens.
        asked: which of them are answers: owners and repaired services.
        read: for each token, a name that the output of the first layer is to tell, or
            :data:`NOTHING`: at a service in DIRECTORY its team, before an answer the cause.
    """

    ids: list[int]
    asked: list[bool]
    read: list[int]


def _lines(screen: str, *starts: str) -> str:
    return "\n".join(line for line in screen.splitlines() if line.startswith(starts))


def _call(name: str, **arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    call = {"type": "function", "function": function}
    return {"role": "assistant", "content": "", "tool_calls": [call]}


def conversation(incident: Incident, stream: Stream, whole: bool) -> Conversation:
    """DIRECTORY, then :data:`ROUNDS` times a cause, its owner's page, and its remedy.

    With ``whole`` the screens are those of an episode, and name every service elsewhere, too.
    """
    first = opening(incident, "tools")[-1]["content"]
    shown = first if whole else _lines(first, "DIRECTORY", "DECLARED")
    said: Conversation = [{"role": "user", "content": shown}]
    names, directory = incident.topology.names, incident.directory
    for _ in range(ROUNDS):
        place = stream.below(len(names))
        service = names[place]
        screen = answer(incident, [action_to_wire(IdentifyRootCause(service))])
        said += [
            _call("identify_root_cause", service=service),
            {"role": "tool", "content": screen if whole else _lines(screen, "DECLARED")},
            _call("escalate", team=directory[place]),
            _call("remediate", remedy=str(REMEDIES[stream.below(len(REMEDIES))]), service=service),
        ]
    return said


def drill(
    tokenizer: PreTrainedTokenizerFast, incident: Incident, stream: Stream, whole: bool = False
) -> Drill:
    """A conversation as one row, with what is asked and what the first layer reads.

    Raises:
        InvalidInput: for an incident of another topology than the default one.
    """
    if incident.topology != FIVE_TEAMS:
        raise InvalidInput(f"{incident.id}: drills need a task on the default topology")
    row = tokenizer.apply_chat_template(
        conversation(incident, stream, whole), return_assistant_tokens_mask=True, return_dict=True
    )
    ids, said = row["input_ids"], row["assistant_masks"]
    read = readings(tokenizer, ids, said)
    asked = [bool(said[place]) and read[place - 1] != NOTHING for place in range(len(ids))]
    return Drill(ids, asked, read)


def drilled(model: Qwen2ForCausalLM, tokenizer: PreTrainedTokenizerFast, source: Source,
            ids: Sequence[str], settings: Settings, phases: Phases) -> list[float]:  # fmt: skip
    """Train ``model`` in place on drills; the share of right answers in each step.

    First come those of two lines, then those of whole screens. The directories are those of
    incidents ``ids``, in turn.
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
        size = BATCH if step <= short else WHOLE_BATCH
        rows = [
            drill(tokenizer, source(one), stream, step > short) for one in islice(incidents, size)
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
    """Drills of whole screens to stand among the demonstrations, one for two; none without drills.

    They keep up the look-up of owners while all the rest is learnt.
    """
    if not settings.drills + settings.whole_drills:
        return []
    stream = Stream(settings.seed, REHEARSAL_STREAM)
    return [drill(tokenizer, source(one), stream, True) for one in ids[::2]]


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
