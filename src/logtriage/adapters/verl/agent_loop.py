"""verl's agent loop ``logtriage``: the model writes tokens, the incident answers in tokens."""

from typing import Any
from uuid import uuid4

from logtriage._lib.extras import imports_of
from logtriage.adapters.verl import AGENT_NAME, episode_of, rewards_of
from logtriage.conversations.wires import calls_of
from logtriage.errors import InvalidInput

with imports_of("verl", "logtriage.adapters.verl.agent_loop", "verl"):
    import verl  # noqa: F401

from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopOutput, register
from verl.utils.profiler import simple_timer


@register(AGENT_NAME)
class TriageAgentLoop(AgentLoopBase):
    """Plays the incident of a row; verl makes a loop for each rollout.

    Replies are read as text, ``<tool_call>`` included. The reply that uses up the response length
    of the rollout is not played; the episode is graded as it stands. The reward is the grade.
    ``reward_extra_info`` has each criterion's share, ``turn_scores`` the reward of each turn.
    """

    async def run(self, sampling_params: dict[str, Any], **row: Any) -> AgentLoopOutput:
        """Play one episode."""
        if self.enable_continuous_token:
            raise InvalidInput("data.continuous_token.enable: the loop does not use it; unset it")
        info = row.get("extra_info") or {}
        episode, has_calls = episode_of(info), info.get("reply") == "tools"
        limit = self.rollout_config.response_length
        tools = episode.tools if has_calls else None
        prompt = await self.apply_chat_template(list(row["raw_prompt"]), tools=tools)
        tokens: list[int] = []
        mask: list[int] = []
        logprobs: list[float] = []
        metrics: dict[str, Any] = {"num_preempted": -1}  # not known
        extra: dict[str, Any] = {}
        request, reply = uuid4().hex, None
        while not episode.done:
            with simple_timer("generate_sequences", metrics):
                reply = await self.server_manager.generate(
                    request_id=request, prompt_ids=prompt + tokens, sampling_params=sampling_params
                )
            tokens += reply.token_ids
            mask += [1] * len(reply.token_ids)
            logprobs += reply.log_probs or []
            extra = {**reply.extra_fields, **extra}  # of each field the first reply's counts,
            if reply.extra_fields.get("max_global_steps") is not None:  # of this one the last
                extra["max_global_steps"] = reply.extra_fields["max_global_steps"]
            if len(tokens) >= limit:
                break
            text = self.tokenizer.decode(reply.token_ids, skip_special_tokens=True)
            turn = episode.step(_message(text) if has_calls else text)
            if turn.done:
                break
            answer = await self.apply_chat_template(list(turn.messages), remove_system_prompt=True)
            answer = self.turn_separator + answer
            if len(tokens) + len(answer) >= limit:
                break
            tokens += answer
            mask += [0] * len(answer)
            logprobs += [0.0] * len(answer) if logprobs else []
        experts = None if reply is None else reply.routed_experts
        if experts is not None:
            experts = experts[: len(prompt) + limit]
        return AgentLoopOutput(
            prompt_ids=prompt,
            response_ids=tokens[:limit],
            response_mask=mask[:limit],
            response_logprobs=logprobs[:limit] or None,
            routed_experts=experts,
            num_turns=2 * len(episode.rewards) + 1,  # the prompt; a reply and an answer each
            metrics=metrics,
            reward_score=episode.reward,
            extra_fields={
                **extra,
                "reward_extra_info": rewards_of(episode),
                "turn_scores": list(episode.rewards),
                "tool_rewards": [],
            },
        )


def _message(text: str) -> dict[str, Any]:
    """A reply as a message; calls that stand in its text get ids, so that a tool answers each."""
    message = {"role": "assistant", "content": text}
    calls = [{"id": f"call_{n}", **dict(call)} for n, call in enumerate(calls_of(message))]
    return {**message, "tool_calls": calls} if calls else message
