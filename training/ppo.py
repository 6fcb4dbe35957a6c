"""PPO on one task: a network plays batches of incidents, and learns from their grades.

    pip install -e '.[train-rl]' -c constraints.txt
    python -m training.ppo --task single_crash-v4 --out runs/ppo

The engine is :class:`logtriage.vector.BatchedTriage`; loss, advantages and masked categorical
are TorchRL's. The run directory gets ``checkpoint.pt`` (weights), ``curve.csv`` (evaluations on
split ``val``), ``episodes.csv`` (held-out incidents of ``val`` and ``test``), ``transcripts.jsonl``
(those of ``test``, for ``logtriage grade``) and ``run.json``.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final

import attrs
import numpy as np
import torch
from numpy.typing import NDArray
from tensordict import TensorDict
from torch import Tensor, nn
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator

from logtriage.actions import (
    Escalate,
    RequestMetrics,
    RequestMoreLogs,
    RequestTraces,
    action_id,
    all_actions,
)
from logtriage.adapters.sources import is_own_task
from logtriage.grading.steps import letters_of
from logtriage.incident import Incident
from logtriage.playing import play
from logtriage.state import State
from logtriage.tasks import TaskSpec
from logtriage.vector import BatchedTriage, BeliefScreens, Step, TokenLayout, token_layout_of
from logtriage.vector.layout import Floats
from logtriage.world.setting import Setting
from logtriage.world.tables import alphabet, places
from training.common.figures import (
    CURVE,
    EPISODES,
    TRANSCRIPTS,
    Row,
    figures,
    row_of,
    save_table,
    tell_end,
    write_rows,
    write_transcripts,
)
from training.common.files import RUN, replace, save_json
from training.common.options import option, recipe_parser, run_recipe
from training.common.ppo import (
    MEASURED,
    POLICY,
    VALUE,
    Learner,
    PPOSettings,
    advantages,
    begin,
    learning,
    likeliest_severities,
    masked_actor,
    next_with_seed,
    perceptrons,
    tell_point,
)
from training.common.tasks import (
    CHOICE_SPLIT,
    EVAL_SPLIT,
    TRAIN_SPLIT,
    ids_of,
    incident_of,
    sheet_of,
    world_words,
)

Numbers = NDArray[np.int64]
CHECKPOINT: Final = "checkpoint.pt"
#: What the agent is given: a screen alone, every token so far counted, or the exact belief.
KINDS: Final = ("belief", "counts", "screen")


@attrs.frozen
class Settings(PPOSettings):
    """A run. The same settings give the same weights."""

    inputs: str = option("belief", "what the agent is given", *KINDS)


# -- what the network sees -------------------------------------------------------------------

#: Blocks that number what they show; the counts say the same in columns of their own.
_NUMBERED: Final = ("window_service", "window_token", "asked", "asked_service", "answer")


class CountInputs:
    """``counts``: since when each token is known, by service and sort, and the panels.

    These are sufficient statistics of the evidence, in the columns of a token layout that mean
    the same at every level of fog.
    """

    def __init__(self, layout: TokenLayout, setting: Setting, horizon: int) -> None:
        # The topics of lines depend on the level of fog. Every level has those of the plainest.
        named = [level.named for level in setting.world.rules.fog]
        plainest = attrs.evolve(setting, fog=named.index(min(named)))
        plain = token_layout_of(plainest, layout.topology, horizon)
        columns, blocks, at = [], {}, 0
        for name, here in layout.blocks.items():
            if name in _NUMBERED:
                continue
            wanted = plain[name].stop - plain[name].start
            chosen = np.arange(here.start, here.stop)
            if len(chosen) != wanted:
                chosen = here.start + _shared(layout, name.removeprefix("seen:"), setting, plainest)
            assert len(chosen) == wanted
            columns.append(chosen)
            blocks[name] = slice(at, at + wanted)
            at += wanted
        self._columns, self.blocks, self.size = np.concatenate(columns), blocks, at
        names = [name for name in blocks if name.startswith("owner:")]
        #: The columns that flag the owning team of each service.
        self.owners: slice | None = slice(blocks[names[0]].start, blocks[names[-1]].stop)

    def begin(self, screen: Step) -> Tensor:
        """The input (N, D) at first screens."""
        return torch.from_numpy(self._of(screen))

    def read(self, screen: Step, actions: Numbers, fresh: Numbers) -> Tensor:  # noqa: ARG002
        """The input (N, D) after ``actions`` (N,); rows ``fresh`` have begun anew since."""
        return torch.from_numpy(self._of(screen))

    def _of(self, screen: Step) -> Floats:
        columns: Floats = screen.observation[:, self._columns]
        return columns


class ScreenInputs(CountInputs):
    """``screen``: as ``counts``, without the tokens that the screen before had: no memory."""

    def begin(self, screen: Step) -> Tensor:
        """As :meth:`CountInputs.begin`."""
        self._counts = slice(0, self.blocks["seen:edge"].stop)  # they come first
        row = self._of(screen)
        self._before = row[:, self._counts].copy()
        return torch.from_numpy(row)

    def read(self, screen: Step, actions: Numbers, fresh: Numbers) -> Tensor:  # noqa: ARG002
        """As :meth:`CountInputs.read`."""
        row = self._of(screen)
        now = row[:, self._counts].copy()
        self._before[fresh] = 0
        row[:, self._counts] -= self._before
        self._before = now
        return torch.from_numpy(row)


class BeliefInputs:
    """``belief``: the exact posterior's marginals, what was done, and who was asked."""

    owners: slice | None = None

    def __init__(self, batch: BatchedTriage) -> None:
        self._screens = BeliefScreens(batch)
        self.size = self._screens.layout.size

    def begin(self, screen: Step) -> Tensor:
        """As :meth:`CountInputs.begin`."""
        return torch.from_numpy(self._screens.begin(screen))

    def read(self, screen: Step, actions: Numbers, fresh: Numbers) -> Tensor:
        """As :meth:`CountInputs.read`."""
        return torch.from_numpy(self._screens.read(screen, actions, fresh))


Inputs = CountInputs | BeliefInputs


def inputs_of(kind: str, batch: BatchedTriage) -> Inputs:
    """The reader of a batch's screens; ``kind`` is one of :data:`KINDS`."""
    if kind == "belief":
        return BeliefInputs(batch)
    layout = batch.layout
    assert isinstance(layout, TokenLayout)
    reader = CountInputs if kind == "counts" else ScreenInputs
    return reader(layout, batch.task.setting, batch.task.horizon)


def _shared(layout: TokenLayout, sort: str, setting: Setting, plainest: Setting) -> Numbers:
    """The counts of a sort whose tokens the plainest level of fog has, too."""
    flags = [
        token in alphabet(plainest, sort, place)
        for place in places(layout.topology)
        for token in alphabet(setting, sort, place)[1:]  # the ordinary one has a block of its own
    ]
    return np.flatnonzero(flags)


# -- networks --------------------------------------------------------------------------------


class PagesOwners(nn.Module):
    """Logits of a perceptron, with a score for each service added to the page of its owner.

    Owners are drawn in every incident, so "page the owner of that service" is a product of two
    inputs, which a perceptron finds late. The first outputs of ``body`` are scores (n,), the
    others logits of the actions.
    """

    def __init__(self, body: nn.Module, owners: slice, layout: TokenLayout) -> None:
        super().__init__()
        self.body = body
        topology = layout.topology
        self._owners, self._services = owners, len(topology)
        teams = layout.world.owning_teams(topology)
        pages = [action_id(Escalate(team), topology) for team in teams]
        self.register_buffer("pages", torch.tensor(pages), persistent=False)

    def forward(self, observation: Tensor) -> Tensor:
        """Logits (…, A) at observations (…, D)."""
        out = self.body(observation)
        scores, logits = out[..., : self._services], out[..., self._services :]
        flags = observation[..., self._owners].unflatten(-1, (-1, self._services))
        owned = (flags * scores.unsqueeze(-2)).sum(-1)
        pages: Tensor = self.get_buffer("pages")
        return logits.index_add(-1, pages, owned)


@attrs.frozen(eq=False)
class Agent:
    """Actor and critic; ``networks`` holds their bare modules ``logits`` and ``value``."""

    networks: nn.ModuleDict
    actor: ProbabilisticActor
    critic: ValueOperator

    def distribution(self, observation: Tensor, mask: Tensor) -> MaskedCategorical:
        """The policy (N,) at observations (N, D) under masks (N, A) of booleans."""
        return MaskedCategorical(logits=self.networks["logits"](observation), mask=mask)

    @torch.no_grad()
    def act(self, observation: Tensor, mask: Tensor, *, sampled: bool = False) -> Tensor:
        """An action (N,): the likeliest, or a sampled one."""
        policy = self.distribution(observation, mask)
        action: Tensor = policy.sample() if sampled else policy.mode
        return action


def make_agent(settings: Settings) -> Agent:
    """Fresh networks, drawn from torch's generator; the first policy is nearly uniform."""
    batch = BatchedTriage(settings.sheet)
    inputs = inputs_of(settings.inputs, batch)
    scores = 0 if inputs.owners is None else len(batch.topology)
    shapes = [(inputs.size, scores + batch.action_count, POLICY), (inputs.size, 1, VALUE)]
    body, value = perceptrons(shapes, settings)
    logits = body if inputs.owners is None else PagesOwners(body, inputs.owners, batch.layout)
    return Agent(
        nn.ModuleDict({"logits": logits, "value": value}),
        masked_actor(logits),
        ValueOperator(value, in_keys=["observation"]),
    )


def mask_of(screen: Step) -> Tensor:
    """The mask (N, A), as booleans."""
    return torch.from_numpy(screen.mask).bool()


# -- the teacher -----------------------------------------------------------------------------

#: Ticks in which the teacher asks, and the probability of a team, or of no fault, that suffices.
QUESTIONS, SURE = 5, 0.97
#: It tries so many remedies.
TRIES: Final = 2


class Teacher:
    """Labels the screens of one batch, each read once, in order.

    It decides by the exact belief: it asks the likeliest root cause for metrics, traces and
    logs, hands over where acting is worth less, dismisses what is likely benign, and else pages,
    declares, and tries the likeliest remedies until one helps.
    """

    def __init__(self, batch: BatchedTriage) -> None:
        self._batch, self._screens = batch, BeliefScreens(batch)
        self._letters = letters_of(batch.topology)
        first = batch.topology.names[0]
        asks = RequestMetrics(first), RequestTraces(first), RequestMoreLogs(first)
        self._asks = np.array([action_id(ask, batch.topology) for ask in asks])

    def begin(self, screen: Step) -> Numbers:
        """The teacher's actions (N,) on first screens."""
        return self._label(screen, self._screens.begin(screen))

    def read(self, screen: Step, actions: Numbers, fresh: Numbers) -> Numbers:
        """The teacher's actions (N,) after ``actions`` (N,); rows ``fresh`` have begun anew."""
        return self._label(screen, self._screens.read(screen, actions, fresh))

    def _label(self, screen: Step, seen: Floats) -> Numbers:
        blocks, letters = self._screens.layout.blocks, self._letters

        def of(name: str) -> Floats:
            columns: Floats = seen[:, blocks[name]]
            return columns

        root, team, benign = of("root"), of("team"), of("benign")[:, 0]
        paged, declared = of("paged").any(axis=1), of("declared").any(axis=1)
        classified, tried = of("severity").any(axis=1), of("applied").sum(axis=1)
        left = self._batch.task.horizon - screen.tick
        weights = self._screens.beliefs.weights
        fixed = np.where(self._screens.beliefs.fixed, weights, 0).sum(axis=1) > weights.sum(1) / 2
        unsure = np.maximum(team.max(axis=1), benign) < SURE
        asks = self._asks[screen.tick % len(self._asks)] + root.argmax(axis=1)
        by_case = [
            (~paged & unsure & (screen.tick < QUESTIONS), asks),
            (~paged & (of("acting")[:, 0] < of("worth")[:, 0]), letters.hand_over),
            (
                ~classified & (paged | (benign > 0.5)) & (left > 1),
                likeliest_severities(self._screens.beliefs),
            ),
            (~paged & (benign > 0.5), letters.ignore),
            (~paged, letters.page + team.argmax(axis=1)),
            (fixed | (tried >= TRIES) | (left <= 1), letters.resolve),
            (~declared, letters.root + root.argmax(axis=1)),
        ]
        otherwise = letters.remedy + of("remedy").argmax(axis=1)
        return np.select([case for case, _ in by_case], [do for _, do in by_case], otherwise)


# -- playing ---------------------------------------------------------------------------------


class Collector:
    """Plays incidents of split ``train`` in order, none of them twice.

    ``steps`` and ``incidents`` count what was played so far; ``grades`` are those of the
    incidents that ended in the last round.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.batch = BatchedTriage(settings.sheet)
        self.inputs = inputs_of(settings.inputs, self.batch)
        self.steps = 0
        self.incidents = 0
        self.grades = np.zeros(0)
        self._next = settings.num_envs
        self._screen = self.batch.reset(TRAIN_SPLIT, self.batch.nth(np.arange(settings.num_envs)))
        self._seen = self.inputs.begin(self._screen)
        self._teacher = Teacher(self.batch) if settings.imitation else None
        self._label = np.zeros(settings.num_envs, np.int64)
        if self._teacher is not None:
            self._label = self._teacher.begin(self._screen)

    def dismiss_teacher(self) -> None:
        """Compute no more labels: the rounds of imitation are over."""
        self._teacher = None

    @torch.no_grad()
    def collect(self, agent: Agent, taught: float = 0.0) -> list[TensorDict]:
        """A round, flattened to (rollout * num_envs,), with advantages and value targets.

        The share ``taught`` of the actions, drawn at random, are the teacher's.
        """
        settings = self.settings
        shape = (settings.rollout, settings.num_envs)
        observation = torch.empty((*shape, self.inputs.size))
        mask = torch.empty((*shape, self.batch.action_count), dtype=torch.bool)
        action, label = torch.empty((2, *shape), dtype=torch.long)
        log_prob, reward = torch.empty((2, *shape))
        done = torch.empty(shape, dtype=torch.bool)
        grades = []
        for t in range(settings.rollout):
            observation[t], mask[t] = self._seen, mask_of(self._screen)
            policy = agent.distribution(observation[t], mask[t])
            label[t] = torch.from_numpy(self._label)
            follows = torch.rand(settings.num_envs) < taught
            action[t] = torch.where(follows, label[t], policy.sample())
            log_prob[t] = policy.log_prob(action[t])
            chosen = action[t].numpy()
            after = self.batch.step(chosen)
            closed = after.closing >= 0
            reward[t], done[t] = torch.from_numpy(after.reward), torch.from_numpy(closed)
            grades.append(after.score[closed])
            fresh = np.flatnonzero(closed)
            self._screen = self._restart(after, fresh)
            self._seen = self.inputs.read(self._screen, chosen, fresh)
            if self._teacher is not None:
                self._label = self._teacher.read(self._screen, chosen, fresh)
        self.steps += settings.batch
        self.grades = np.concatenate(grades)
        self.incidents += len(self.grades)
        critic = agent.networks["value"]
        value = critic(observation)
        advantage, target = advantages(settings, value, critic(self._seen), reward, done)
        experience = TensorDict(
            {
                "observation": observation,
                "mask": mask,
                "action": action,
                "action_log_prob": log_prob,
                "label": label,
                "state_value": value,
                "advantage": advantage,
                "value_target": target,
            },
            batch_size=shape,
        )
        return [experience.flatten()]

    def _restart(self, after: Step, rows: Numbers) -> Step:
        if not len(rows):
            return after
        numbers = np.arange(self._next, self._next + len(rows))
        self.batch.restart(rows, self.batch.nth(numbers))
        self._next += len(rows)
        return self.batch.look()


@attrs.frozen(eq=False)
class Played:
    """N played incidents of a task: ids, ``actions`` (T, N), ``ticks`` and ``scores`` (N,)."""

    task: TaskSpec
    ids: tuple[str, ...]
    actions: Numbers
    ticks: Numbers
    scores: NDArray[np.float64]

    def states(self) -> Iterator[State]:
        """The episodes, as the scalar core plays them."""
        incidents = _drawn(self.task, self.ids)
        for incident, ticks, taken in zip(incidents, self.ticks, self.actions.T, strict=True):
            actions = all_actions(incident.topology, hand_over=True)
            yield play(incident, [actions[one] for one in taken[:ticks]])

    def rows(self) -> list[Row]:
        """The episodes in figures."""
        return [row_of(state) for state in self.states()]


@lru_cache(maxsize=4)
def _drawn(task: TaskSpec, ids: tuple[str, ...]) -> tuple[Incident, ...]:
    return tuple(incident_of(task, name) for name in ids)


def play_held_out(
    agent: Agent | None,
    settings: Settings,
    split: str = EVAL_SPLIT,
    *,
    incidents: int | None = None,
    sampled: bool = False,
) -> Played:
    """Play the first incidents of a split; without an agent the teacher plays.

    Leaves torch's generator unchanged.
    """
    sheet, number = sheet_of(settings.task), incidents or settings.eval_incidents
    batch = BatchedTriage(sheet)
    screen, none = batch.reset(split, np.arange(number)), np.zeros(0, np.int64)
    reader = Teacher(batch) if agent is None else inputs_of(settings.inputs, batch)
    seen, taken = reader.begin(screen), []
    with torch.random.fork_rng():
        while (screen.closing < 0).any():
            if agent is None:
                action = seen
            else:
                action = agent.act(seen, mask_of(screen), sampled=sampled).numpy()
            taken.append(action)
            screen = batch.step(action)
            seen = reader.read(screen, action, none)
    ids = ids_of(settings.task, split, number)
    return Played(batch.task, ids, np.stack(taken), screen.tick, screen.score)


# -- learning --------------------------------------------------------------------------------

#: Called at each evaluation, with its figures and the agent.
Report = Callable[[dict[str, Any], Agent], None]


def train(settings: Settings, report: Report) -> Agent:
    """Train as ``settings`` say; ``report`` is called at the start and at every evaluation."""
    start, began_cpu = time.perf_counter(), time.process_time()
    torch.set_num_threads(settings.threads)
    torch.manual_seed(settings.seed)
    collector = Collector(settings)
    agent = make_agent(settings)
    learner = learner_of(agent, settings)

    def note(measured: Mapping[str, float]) -> None:
        held_out = figures(play_held_out(agent, settings, CHOICE_SPLIT).rows())
        point = {
            "seconds": round(time.perf_counter() - start, 1),
            "cpu": round(time.process_time() - began_cpu, 1),
            "steps": collector.steps,
            "episodes": collector.incidents,
            "train": float(collector.grades.mean()) if len(collector.grades) else None,
            **{name: measured.get(name) for name in MEASURED},
            **{f"val_{name}": value for name, value in held_out.items()},
        }
        report(point, agent)

    note({})
    rounds = learning(
        settings, partial(collector.collect, agent), collector.dismiss_teacher, learner
    )
    for number, (measured,) in enumerate(rounds, 1):
        if number % settings.eval_every == 0 or number == settings.rounds:
            note(measured)
    return agent


def learner_of(agent: Agent, settings: Settings) -> Learner:
    """What trains an agent."""
    logits = agent.networks["logits"]
    return Learner([logits], [agent.actor], [agent.critic], [agent.networks], settings)


# -- the program -----------------------------------------------------------------------------


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, train, and leave everything in the output directory."""
    run_recipe(recipe_parser("training.ppo", __doc__, Settings), arguments, Settings, run)


def run(settings: Settings, out: Path, command: str) -> None:
    """Train and write a run into ``out``, over an unfinished one; Refused if it holds another."""
    about, console = begin(settings, out, command)
    points: list[dict[str, Any]] = []
    before: list[Row] = []

    def report(point: dict[str, Any], agent: Agent) -> None:
        if not points:
            before.extend(play_held_out(agent, settings).rows())
        points.append(point)
        replace(out / CHECKPOINT, lambda where: torch.save(agent.networks.state_dict(), where))
        save_table(out / CURVE, points, list(points[-1]))
        save_json(out / RUN, about)
        tell_point(console, point, "steps")

    began = time.perf_counter(), time.process_time()
    agent = train(settings, report)
    played = {split: play_held_out(agent, settings, split) for split in (CHOICE_SPLIT, EVAL_SPLIT)}
    rows: dict[tuple[str, ...], list[Row]] = {(name,): each.rows() for name, each in played.items()}
    write_rows(out / EPISODES, ["split"], rows | {(f"{EVAL_SPLIT}, before",): before})
    write_transcripts(out / TRANSCRIPTS, played[EVAL_SPLIT].states(), agent="ppo")
    facts = {
        "finished": True,
        "seconds": time.perf_counter() - began[0],
        "cpu_seconds": time.process_time() - began[1],
        "steps": points[-1]["steps"],
        "episodes": points[-1]["episodes"],
        "before": figures(before),
        "after": {split: figures(rows[split,]) for split in played},
    }
    save_json(out / RUN, {**about, **facts})
    following = next_with_seed(command, out, settings.seed)
    if not is_own_task(settings.task):
        at_world = world_words(settings.task)
        following = f"logtriage grade {out / TRANSCRIPTS}{at_world} --out {out}-graded"
    tell_end(console, out, {"before": before, "after": rows[EVAL_SPLIT,]}, following)


if __name__ == "__main__":
    main()
