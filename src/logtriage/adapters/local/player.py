"""A loaded model as a player of a run: ``hf:DIR``."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs
from transformers.utils.logging import disable_progress_bar

from logtriage.adapters.local.chat import Chat
from logtriage.adapters.local.loading import load_model, load_tokenizer
from logtriage.adapters.local.play import Decoding, play
from logtriage.errors import InvalidInput
from logtriage.evaluation.usage import Usage
from logtriage.incident import Incident
from logtriage.transcript import Transcript

#: The beginning of a loaded model's name.
LOCAL: Final = "hf:"


@attrs.define(eq=False)
class LocalPlayer:
    """Plays incidents with a model from a directory or the hub, ``decoding.batch`` at once.

    ``description`` are the settings that change replies, ``spent`` the usage of finished episodes.
    """

    model: Any
    chat: Chat
    decoding: Decoding
    description: str = ""
    spent: Usage = attrs.field(factory=Usage)

    @classmethod
    def of(
        cls,
        policy: str,
        *,
        temperature: float = 0.0,
        seed: int = 0,
        batch: int = 16,
        max_tokens: int = 1_024,
        template: str = "own",
        told: Mapping[str, Any] | None = None,
    ) -> "LocalPlayer":
        """The player of ``hf:DIR``; the template is checked before weights load.

        ``template`` is ``own`` or ``tools`` (ours); ``told`` has more variables for the template.
        The other arguments are those of :class:`~logtriage.adapters.local.play.Decoding`.

        Raises:
            MissingExtra: without the extra ``train``.
            InvalidInput: for a model or template that cannot be used.
        """
        decoding = Decoding(temperature, seed, batch, max_tokens)
        place = policy.removeprefix(LOCAL)
        if not place:
            raise InvalidInput(f"policy {policy!r}: expected a directory or name after {LOCAL}")
        warnings.filterwarnings("ignore", module="transformers|peft|torch")
        disable_progress_bar()
        tokenizer = load_tokenizer(place, template)
        Chat(tokenizer, told)
        model = load_model(place)
        named = getattr(model.generation_config, "eos_token_id", None)
        stops = named if isinstance(named, list) else [] if named is None else [named]
        chat = Chat(tokenizer, told, stops)
        settings = {
            "temperature": decoding.temperature,
            "seed": decoding.seed,
            "max_tokens": decoding.max_tokens,
            "template": template,
            "style": chat.manner.style,
            "rules": chat.manner.rules,
            **(told or {}),
        }
        return cls(model, chat, decoding, ", ".join(f"{k} {v}" for k, v in settings.items()))

    @property
    def batch(self) -> int:
        """How many episodes are played at once."""
        return self.decoding.batch

    def record(self, incident: Incident, agent: str) -> Transcript:
        """The transcript of an episode."""
        return self.record_together([incident], agent)[0]

    def record_together(self, incidents: Sequence[Incident], agent: str) -> list[Transcript]:
        """The transcripts of episodes played side by side; unscored if the model failed."""
        attempts = play(
            self.model, self.chat, [(incident, 0) for incident in incidents], self.decoding
        )
        self.spent = sum((attempt.usage for attempt in attempts), self.spent)
        return [attempt.transcript(agent) for attempt in attempts]
