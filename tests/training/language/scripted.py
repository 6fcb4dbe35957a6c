"""A model that says what it is told to, one token at a time, like any other."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedTokenizerFast

from logtriage.conversations.tools import call_from_action
from logtriage.drawing.generator import make_incident
from logtriage.evaluation import play_episode
from logtriage.observation import observe
from logtriage.registry import make_policy
from logtriage.rendering import render_observation
from logtriage.state import initial_state
from tests.adapters.trl.tiny import Reply, said, tiny_model

HEADER = "<|im_start|>assistant\n"


def calls_by(policy: str, incident_id: str) -> list[Reply]:
    """The tool calls that a scripted policy makes."""
    incident = make_incident(incident_id)
    actions = play_episode(incident, make_policy(policy)(incident)).actions
    return [call_from_action(action) for action in actions]


class Scripted(nn.Module):
    """Follows the script of the incident that it is shown; then says nothing but its end.

    What it was shown it knows from the cache alone, as a transformer does. ``shown`` keeps
    every conversation at which a reply began, as text. Where a script holds an exception,
    it is raised.
    """

    def __init__(
        self, tokenizer: PreTrainedTokenizerFast, scripts: Mapping[str, Sequence[Any]]
    ) -> None:
        super().__init__()
        self.tokenizer = tokenizer
        self.config = tiny_model(tokenizer).config
        self.generation_config = SimpleNamespace(eos_token_id=tokenizer.eos_token_id)
        self.device = torch.device("cpu")
        self.scripts = {
            render_observation(observe(initial_state(make_incident(one)))): script
            for one, script in scripts.items()
        }
        self.header = tokenizer.encode(HEADER, add_special_tokens=False)
        self.shown: list[str] = []
        self.replies: dict[tuple[int, ...], list[int]] = {}

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, past_key_values: Any, **_: Any
    ) -> Any:
        new = input_ids[:, None, :, None].float()
        held = past_key_values.update(new, new, 0)[0][:, 0, :, 0].long()
        logits = torch.zeros(len(held), 1, len(self.tokenizer))
        for row, (ids, seen) in enumerate(zip(held, attention_mask.bool(), strict=True)):
            # A row that is given padding alone has said its reply.
            if attention_mask[row, -1]:
                logits[row, 0, self._next(ids[seen].tolist())] = 1e4
        return SimpleNamespace(logits=logits)

    def _next(self, ids: list[int]) -> int:
        starts = [at for at, one in enumerate(ids) if one == self.header[0]]
        begun = starts[-1] + len(self.header)
        before = tuple(ids[:begun])
        if before not in self.replies:
            self.replies[before] = self._reply(self.tokenizer.decode(before))
        return self.replies[before][len(ids) - begun]

    def _reply(self, text: str) -> list[int]:
        self.shown.append(text)
        script = next(one for screen, one in self.scripts.items() if screen in text)
        turn = text.count(HEADER) - 1
        wanted = script[turn] if turn < len(script) else ""
        if isinstance(wanted, Exception):
            raise wanted
        return self.tokenizer.encode(said(wanted), add_special_tokens=False)
