"""Inspect: whole shifts to play, each a sample."""

from collections.abc import Sequence

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessage, get_model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolInfo

from logtriage.adapters.inspect_ai.agent import answers, as_input, as_json, parameters_of
from logtriage.adapters.shift_episode import ShiftEpisode
from logtriage.adapters.turns import LEFT_OUT, too_old
from logtriage.conversations.tools import SHIFT_TOOLS
from logtriage.errors import InvalidInput
from logtriage.shift import make_shift, shift_ids

_TOOLS = [
    ToolInfo(name=tool.name, description=tool.description, parameters=parameters_of(tool))
    for tool in SHIFT_TOOLS.values()
]


@solver
def shift_solver(screens: int | None = None) -> Solver:
    """Play each call as a tick of the shift that the metadata names, until it is over.

    ``screens`` is how many of the latest screens the model is sent; None for all. The log has
    all of them.
    """

    async def solve(state: TaskState, _: Generate) -> TaskState:
        episode = ShiftEpisode.of_row(state.metadata)
        while not episode.done:
            state.output = await get_model().generate(_sent(state.messages, screens), _TOOLS)
            state.messages.append(state.output.message)
            state.messages += answers(episode.step(as_json(state.output.message)))
        return state

    return solve


def _sent(messages: Sequence[ChatMessage], screens: int | None) -> list[ChatMessage]:
    sent = list(messages)
    for place in too_old([message.role for message in sent], screens):
        sent[place] = sent[place].model_copy(update={"content": LEFT_OUT})
    return sent


@scorer(metrics=[mean(), stderr()])
def shift_scorer() -> Scorer:
    """Grade a shift by ``shift/1``, from the messages alone; the explanation has each incident."""

    async def score(state: TaskState, _: Target) -> Score:
        graded = ShiftEpisode.of_row(state.metadata).play(map(as_json, state.messages)).grade
        rows = [f"{row.system} (counts {row.weight}): {row.reason}" for row in graded.incidents]
        figures = {name: getattr(graded, name) for name in ("mtta", "mttr", "missed")}
        return Score(value=graded.score, explanation="\n".join(rows), metadata=figures)

    return score


@task
def shift(
    task: str = "quiet_shift-v1",
    split: str = "test",
    episodes: int = 10,
    start: int = 0,
    screens: int | None = 8,
) -> Task:
    """Play whole shifts; the model is sent the latest ``screens`` screens, or all for None.

    Raises:
        UnknownName: for a task or a split that does not exist.
        InvalidInput: for fewer than 1 screen.
    """
    if screens is not None and screens < 1:
        raise InvalidInput(f"screens must be at least 1, got {screens}")
    samples = []
    for shift_id in shift_ids(task, split, episodes, start):
        opening = as_input(ShiftEpisode(make_shift(shift_id)).prompt)
        samples.append(Sample(id=shift_id, input=opening, metadata={"shift": shift_id}))
    return Task(
        dataset=MemoryDataset(samples, name=task),
        solver=shift_solver(screens),
        scorer=shift_scorer(),
    )
