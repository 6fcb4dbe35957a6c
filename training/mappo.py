"""PPO for teams: the roles of a split learn together, or each by itself.

    pip install -e '.[train-rl]' -c constraints.txt
    python -m training.mappo --split trio --task cascading_failure-v4 --out runs/trained

The engine is :class:`logtriage.vector.BatchedTeam`; loss, advantages and masked categorical are
TorchRL's. With ``--critic central`` one critic sees the inputs of all roles (MAPPO), with
``independent`` each role has its own (IPPO). The run directory gets ``team.json``, ``team.npz``
(the policies, which ``net:DIR`` plays), ``curve.csv``, ``run.json``, ``transcripts.jsonl`` (of
held-out play) and ``episodes.csv`` (in figures; if the team talks, once more with scrambled words).
"""

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
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
    SEVERITIES,
    Action,
    ClassifySeverity,
    Escalate,
    HandOver,
    IdentifyRootCause,
    Ignore,
    Remediate,
    Report,
    RequestMetrics,
    RequestMoreLogs,
    RequestTraces,
    Resolve,
    Wait,
)
from logtriage.adapters.sources import is_own_task
from logtriage.codec import role_split_to_json
from logtriage.dynamics import transition_jointly
from logtriage.roles import RoleSplit, role_actions
from logtriage.roles.splits import ROLE_SPLITS
from logtriage.roles.words import NO_FAULT
from logtriage.state import State, initial_state
from logtriage.tasks import check_one_world
from logtriage.trained import networks
from logtriage.vector import CREDITS, BatchedTeam, TeamBeliefs, TeamStep
from logtriage.vector.marginals import Marginals, kinds_of
from logtriage.vector.role_inputs import Pointers, RoleInput
from logtriage.vector.tokens.episodes import NEVER
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
    role_split_of,
    words_for,
)

Numbers = NDArray[np.int64]
#: A critic that sees what any role sees (MAPPO), or one a role on what it sees (IPPO).
CRITICS: Final = ("central", "independent")


def _is_role_split(_: object, __: "attrs.Attribute[Any]", split: str) -> None:
    role_split_of(split)


@attrs.frozen
class Settings(PPOSettings):
    """A training run of one split on one task: ``rounds`` of ``batch`` ticks of a team.

    The same settings give the same weights.

    The logit of a word begins ``quiet`` below those of other actions, times the doubt that
    its role has in what it says. Words outnumber other actions, and words stay on the board:
    a team that draws evenly drowns what it knows in noise before anybody has learnt to listen.
    """

    quiet: float = option(5.0, "how far the logit of a word begins below those of other actions")
    split: str = attrs.field(
        default="trio",
        validator=_is_role_split,
        metadata={"help": f"{', '.join(ROLE_SPLITS)}, or a JSON file"},
    )
    credit: str = option("team", "whose reward a role learns from", *CREDITS)
    critic: str = option("central", "of all that any role sees, or one a role", *CRITICS)

    @property
    def roles(self) -> RoleSplit:
        """The role split, in full."""
        return role_split_of(self.split)


# -- what the roles see ----------------------------------------------------------------------


class Inputs:
    """Reads the screens of a batch of teams for its roles, each once, in order.

    Where words are ``scrambled``, each board shows what was said in the incident of the row before.
    """

    def __init__(self, batch: BatchedTeam, *, scrambled: bool = False) -> None:
        self._batch, self._scrambled = batch, scrambled
        #: The columns of each role's observation that hold what the others said.
        self._words = [
            [at for name, block in layout.blocks.items() if name.startswith("report:")
             for at in range(block.start, block.stop)]
            for layout in batch.layouts
        ]  # fmt: skip
        self._beliefs = TeamBeliefs(batch)
        self.roles: tuple[RoleInput, ...] = ()
        check_one_world(batch.task)  # reports are words of one world
        (model,) = batch.engine.setting.models
        self._marginals = Marginals(model)
        self.roles = tuple(
            RoleInput(role, layout, model.hypotheses)
            for role, layout in zip(batch.split.roles, batch.layouts, strict=True)
        )

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of columns of each role's input."""
        return tuple(role.size for role in self.roles)

    def begin(self, screen: TeamStep) -> list[Tensor]:
        """The inputs (N, D_r) of all roles on the first screens after a reset."""
        self._beliefs.begin()
        engine = self._batch.engine
        every = np.arange(len(engine))
        self._owners = engine.owners(every)
        return self._look(screen)

    def read(
        self, screen: TeamStep, played: NDArray[np.int64], fresh: NDArray[np.int64]
    ) -> list[Tensor]:
        """The inputs after a step of rows ``played``; rows ``fresh`` have begun anew since."""
        engine = self._batch.engine
        self._beliefs.follow(np.setdiff1d(played, fresh))
        if len(fresh):
            self._beliefs.begin(fresh)
            self._owners[fresh] = engine.owners(fresh)
        return self._look(screen)

    def _look(self, screen: TeamStep) -> list[Tensor]:
        inputs = []
        for role, shown, belief, words in zip(
            self.roles, screen.observations, self._beliefs.of, self._words, strict=True
        ):
            seen = shown
            if self._scrambled:
                seen = shown.copy()
                seen[:, words] = np.roll(shown[:, words], 1, axis=0)
            row = role.read(seen, belief.weights, self._marginals, self._owners)
            inputs.append(torch.from_numpy(row))
        return inputs


def masks_of(screen: TeamStep) -> list[Tensor]:
    """The mask (N, A_r) of each role, as booleans."""
    return [torch.from_numpy(mask).bool() for mask in screen.masks]


# -- networks --------------------------------------------------------------------------------

#: By how much a certainty raises the logit of the action that names it, to begin with.
TRUST = 4.0


class Pointing(nn.Module):
    """Logits of a perceptron, with the probability of what it names added to each action.

    Which root cause to declare, which team to page, which kind to report: that the input
    says, and a perceptron would find each product late. The first columns that ``body``
    puts out are the weights of such groups of actions, above :data:`TRUST`; the others
    are logits of the actions.
    """

    def __init__(self, body: nn.Module, pointers: Pointers) -> None:
        super().__init__()
        self.body, self._groups = body, pointers.groups
        for name in ("action", "column", "group"):
            self.register_buffer(name, torch.from_numpy(getattr(pointers, name)), persistent=False)

    def forward(self, observation: Tensor) -> Tensor:
        """Logits (…, A) at observations (…, D)."""
        out = self.body(observation)
        weights, logits = out[..., : self._groups] + TRUST, out[..., self._groups :]
        column, group = self.get_buffer("column"), self.get_buffer("group")
        pointed = observation[..., column] * weights[..., group]
        action: Tensor = self.get_buffer("action")
        return logits.index_add(-1, action, pointed)


@torch.no_grad()
def _hush(body: nn.Module, words: Sequence[bool], pointers: Pointers, quiet: float) -> None:
    """Let the logits of words begin lower by ``quiet`` times the doubt in what they say."""
    last = [module for module in body.modules() if isinstance(module, nn.Linear)][-1]
    last.bias[pointers.groups :] -= quiet * torch.tensor(words, dtype=last.bias.dtype)
    said = {group for action, group in zip(pointers.action, pointers.group, strict=True)
            if words[action]}  # fmt: skip
    last.bias[sorted(said)] += quiet


@attrs.frozen(eq=False)
class Team:
    """The policies of R roles, and their critics.

    ``policies`` (R,) and ``values`` are bare modules inside of ``actors`` and ``critics``.
    Critics are R, each with its role's reward to foretell, or one if all of them would be
    the same: on the same input (``central``) with the same reward (credit ``team``).
    """

    policies: tuple[nn.Module, ...]
    values: tuple[nn.Module, ...]
    actors: tuple[ProbabilisticActor, ...]
    critics: tuple[ValueOperator, ...]
    central: bool

    def distribution(self, role: int, observation: Tensor, mask: Tensor) -> MaskedCategorical:
        """The policy (N,) of a role at observations (N, D_r) under masks (N, A_r) of booleans."""
        return MaskedCategorical(logits=self.policies[role](observation), mask=mask)

    @torch.no_grad()
    def act(self, observations: Sequence[Tensor], masks: Sequence[Tensor]) -> list[Tensor]:
        """The likeliest action (N,) of each role."""
        return [
            self.distribution(role, observation, mask).mode
            for role, (observation, mask) in enumerate(zip(observations, masks, strict=True))
        ]

    def modules(self) -> nn.ModuleDict:
        """All networks, as one module, for saving and loading."""
        return nn.ModuleDict(
            {"policy": nn.ModuleList(self.policies), "value": nn.ModuleList(self.values)}
        )


def make_team(batch: BatchedTeam, settings: Settings) -> Team:
    """Fresh networks for the roles of a batch, drawn from torch's generator.

    A central critic (MAPPO) has the inputs of all roles side by side.
    """
    inputs = Inputs(batch)
    seen, pointers = inputs.sizes, [role.pointers for role in inputs.roles]
    central = settings.critic == "central"
    judged = [sum(seen)] * len(seen) if central else list(seen)
    if central and settings.credit == "team":
        judged = judged[:1]
    shapes = [
        (columns, actions + pointer.groups, POLICY)
        for columns, actions, pointer in zip(seen, batch.action_counts, pointers, strict=True)
    ]
    begun = perceptrons([*shapes, *((columns, 1, VALUE) for columns in judged)], settings)
    bodies, values = begun[: len(seen)], begun[len(seen) :]
    policies: tuple[nn.Module, ...] = tuple(
        Pointing(body, pointer) for body, pointer in zip(bodies, pointers, strict=True)
    )
    for role, body, pointer in zip(batch.split.roles, bodies, pointers, strict=True):
        said = [
            isinstance(each, Report) for each in role_actions(role, batch.topology, hand_over=True)
        ]
        _hush(body, said, pointer, settings.quiet)
    key = "state" if central else "observation"
    return Team(
        policies,
        values,
        tuple(masked_actor(policy) for policy in policies),
        tuple(ValueOperator(value, in_keys=[key]) for value in values),
        central,
    )


# -- the teacher -----------------------------------------------------------------------------

#: The first tick in which it may decide, and the ticks in which roles say a service and a kind.
DECIDES: Final = 4
SAYS_SERVICE, SAYS_KIND = 2, 3
#: So many remedies are tried.
TRIES: Final = 2


class Teacher:
    """Labels the screens of a batch of teams, each read once, in order."""

    def __init__(self, batch: BatchedTeam) -> None:
        self._batch = batch
        self._beliefs = TeamBeliefs(batch, [batch.split, *batch.split.roles])
        (model,) = batch.engine.setting.models
        self._marginals = Marginals(model)
        self._kinds = kinds_of(model.world)
        self._actions = [
            {action: place for place, action in enumerate(role_actions(role, batch.topology,
                                                                       hand_over=True))}
            for role in batch.split.roles
        ]  # fmt: skip

    def begin(self, screen: TeamStep) -> list[Numbers]:
        """The teacher's action (N,) for each role on first screens."""
        self._beliefs.begin()
        return self._label(screen)

    def read(self, screen: TeamStep, played: Numbers, fresh: Numbers) -> list[Numbers]:
        """The teacher's actions after a step of rows ``played``; ``fresh`` have begun anew."""
        self._beliefs.follow(np.setdiff1d(played, fresh))
        if len(fresh):
            self._beliefs.begin(fresh)
        return self._label(screen)

    def _label(self, screen: TeamStep) -> list[Numbers]:
        engine, union = self._batch.engine, self._beliefs.of[0]
        episodes, topology = engine.episodes, self._batch.topology
        marginals = self._marginals.of(union.weights)
        team = marginals.team(engine.owners(np.arange(len(engine))))
        benign, root = marginals.benign[:, 0] > 0.5, marginals.root.argmax(axis=1)
        best = -np.sort(-marginals.remedy, axis=1)[:, :TRIES]
        acting = np.maximum(
            0.9 * marginals.benign[:, 0],
            0.45 * team.max(axis=1) + 0.25 * marginals.root.max(axis=1)
            + 0.25 * np.minimum(best @ np.array([1.0, 0.6]), 1.0),
        )  # fmt: skip
        worth = engine.incidents.worth / 10
        paged, tried = episodes.paged_at != NEVER, episodes.remedies.astype(np.int64)
        weights = union.weights
        fixed = np.where(union.fixed, weights, 0).sum(axis=1) > weights.sum(axis=1) / 2
        last = screen.tick >= self._batch.task.horizon - 1
        decides = screen.tick >= DECIDES
        gives_up = decides & ~paged & (tried == 0) & (acting < worth)
        acts = decides & ~gives_up
        classified, declared = episodes.severity >= 0, episodes.root_cause >= 0
        remedies = [
            Remediate(remedy, name) for remedy in topology.remedies for name in topology.names
        ]
        by_case: list[tuple[NDArray[np.bool_], Sequence[Action], Numbers]] = [
            (gives_up, [HandOver()], np.zeros_like(root)),
            (acts & ~paged & ~benign, [Escalate(team) for team in topology.teams],
             team.argmax(axis=1)),
            (acts & ~classified, [ClassifySeverity(severity) for severity in SEVERITIES],
             likeliest_severities(union)),
            (acts & ~paged & benign, [Ignore()], np.zeros_like(root)),
            (acts & ~declared & ~benign, [IdentifyRootCause(name) for name in topology.names],
             root),
            (paged & (fixed | (tried >= TRIES) | last), [Resolve()], np.zeros_like(root)),
            (paged & declared, remedies, marginals.remedy.argmax(axis=1)),
        ]  # fmt: skip
        taken = [np.zeros(len(root), bool) for _ in by_case]
        return [
            self._of_role(number, screen, marginals.root, by_case, taken)
            for number in range(len(self._actions))
        ]

    def _of_role(
        self,
        number: int,
        screen: TeamStep,
        root: NDArray[np.float32],
        by_case: Sequence[tuple[NDArray[np.bool_], Sequence[Action], Numbers]],
        taken: list[NDArray[np.bool_]],
    ) -> Numbers:
        """The actions (N,) of a role; ``taken`` marks where an earlier role acts in each case."""
        places, names = self._actions[number], self._batch.topology.names
        label = np.full(len(root), places.get(Wait(), 0))
        early = screen.tick < DECIDES
        kinds = (RequestMetrics, RequestTraces, RequestMoreLogs)
        watched = [
            (kind, rows)
            for kind in kinds
            if (rows := [row for row, name in enumerate(names) if kind(name) in places])
        ]
        for turn, (kind, rows) in enumerate(watched):
            mine = early & (screen.tick % len(watched) == turn)
            asks = self._placed(places, [kind(names[row]) for row in rows])
            label = np.where(mine, asks[root[:, rows].argmax(axis=1)], label)
        role = self._batch.split.roles[number]
        own = self._marginals.of(self._beliefs.of[1 + number].weights)
        if Report(names[0], role.name) in places:
            services = self._placed(places, [Report(name, role.name) for name in names])
            label = np.where(screen.tick == SAYS_SERVICE, services[own.root.argmax(axis=1)], label)
        if (calm := places.get(Report(NO_FAULT, role.name))) is not None:
            words = [Report(kind, role.name) for kind in self._kinds]
            kinds_said = np.array([places.get(word, calm) for word in words])
            label = np.where(screen.tick == SAYS_KIND, kinds_said[own.kind.argmax(axis=1)], label)
        open_still = np.ones(len(root), bool)
        for (holds, actions, which), already in zip(by_case, taken, strict=True):
            if actions[0] in places:
                mine = holds & open_still & ~early & ~already
                label = np.where(mine, self._placed(places, actions)[which], label)
                open_still &= ~mine
                already |= mine
        return label

    @staticmethod
    def _placed(places: dict[Action, int], actions: Sequence[Action]) -> Numbers:
        return np.array([places[action] for action in actions])


# -- playing ---------------------------------------------------------------------------------


def make_batch(settings: Settings) -> BatchedTeam:
    """The engine of a run."""
    return BatchedTeam(settings.sheet, settings.roles, credit=settings.credit)


class Collector:
    """Plays incidents of split ``train`` in order, none of them twice.

    ``ticks`` and ``incidents`` count what was played, ``grades`` holds those of the
    incidents that ended in the last round.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.batch = make_batch(settings)
        self.ticks = 0
        self.incidents = 0
        self.grades = np.zeros(0)
        rows = settings.num_envs
        self._next = rows
        self.inputs = Inputs(self.batch)
        self._screen = self.batch.reset(TRAIN_SPLIT, np.arange(rows))
        self._seen = self.inputs.begin(self._screen)
        self._teacher = Teacher(self.batch) if settings.imitation else None
        self._labels = self._teacher.begin(self._screen) if self._teacher else []

    def dismiss_teacher(self) -> None:
        """Compute no more labels: the rounds of imitation are over."""
        self._teacher, self._labels = None, []

    @torch.no_grad()
    def collect(self, team: Team, taught: float = 0.0) -> list[TensorDict]:
        """A round for each role, flattened to (rollout * num_envs,), with advantages.

        In the share ``taught`` of the ticks, drawn at random, a team does what its teacher does.
        The value targets, and for a central critic what it sees, stand with the roles
        whose critics there are.
        """
        settings, batch = self.settings, self.batch
        shape = (settings.rollout, settings.num_envs)
        state = torch.empty((*shape, sum(self.inputs.sizes)))
        rounds = [
            TensorDict(
                {
                    "observation": torch.empty((*shape, columns)),
                    "mask": torch.empty((*shape, actions), dtype=torch.bool),
                    "action": torch.empty(shape, dtype=torch.long),
                    "label": torch.empty(shape, dtype=torch.long),
                    "action_log_prob": torch.empty(shape),
                },
                batch_size=shape,
            )
            for columns, actions in zip(self.inputs.sizes, batch.action_counts, strict=True)
        ]
        reward = torch.empty((len(rounds), *shape))
        done = torch.empty(shape, dtype=torch.bool)
        grades = []
        for t in range(settings.rollout):
            state[t] = torch.cat(self._seen, dim=-1)
            masks = masks_of(self._screen)
            follows = torch.rand(settings.num_envs) < taught
            for role, (seen, mask) in enumerate(zip(self._seen, masks, strict=True)):
                policy = team.distribution(role, seen, mask)
                action = policy.sample()
                label = torch.from_numpy(self._labels[role]) if self._labels else action
                action = torch.where(follows, label, action)
                for name, value in (
                    ("label", label),
                    ("observation", seen),
                    ("mask", mask),
                    ("action", action),
                    ("action_log_prob", policy.log_prob(action)),
                ):
                    rounds[role][name][t] = value
            after = self.batch.step([each["action"][t].numpy() for each in rounds])
            closed = after.closing >= 0
            reward[:, t], done[t] = torch.from_numpy(after.rewards), torch.from_numpy(closed)
            grades.append(after.score[closed])
            fresh = np.flatnonzero(closed)
            self._screen = self._restart(after, fresh)
            every = np.arange(settings.num_envs)
            self._seen = self.inputs.read(self._screen, every, fresh)
            if self._teacher is not None:
                self._labels = self._teacher.read(self._screen, every, fresh)
        self.ticks += settings.batch
        self.grades = np.concatenate(grades)
        self.incidents += len(self.grades)

        last = self._seen
        if team.central:
            inputs, last = [state] * len(rounds), [torch.cat(last, dim=-1)] * len(last)
        else:
            inputs = [each["observation"] for each in rounds]
        for role, each in enumerate(rounds):
            if role < len(team.values):
                value = team.values[role]
                each["advantage"], target = advantages(
                    settings, value(inputs[role]), value(last[role]), reward[role], done
                )
                each["value_target"] = target
                if team.central:
                    each["state"] = state
            else:
                each["advantage"] = rounds[0]["advantage"]
        return [each.flatten() for each in rounds]

    def _restart(self, after: TeamStep, rows: np.ndarray) -> TeamStep:
        if not len(rows):
            return after
        self.batch.restart(rows, np.arange(self._next, self._next + len(rows)))
        self._next += len(rows)
        return self.batch.look()


@attrs.frozen(eq=False)
class Played:
    """N played incidents of a team of R.

    ``ids`` (N,), ``actions`` (T, R, N) as each role counts them, ``ticks`` and ``scores`` (N,).
    """

    ids: tuple[str, ...]
    actions: Numbers
    ticks: Numbers
    scores: NDArray[np.float64]

    def states(self, settings: Settings) -> Iterator[State]:
        """The last state of every incident, played by the scalar core."""
        split = settings.roles
        for row, (incident, ticks) in enumerate(zip(self.ids, self.ticks, strict=True)):
            state = initial_state(incident_of(settings.task, incident))
            topology = state.incident.topology
            choices = [role_actions(role, topology, hand_over=True) for role in split.roles]
            for chosen in self.actions[:ticks, :, row]:
                state = transition_jointly(
                    state, [mine[place] for mine, place in zip(choices, chosen, strict=True)]
                )
            yield state


def play_held_out(
    team: Team,
    settings: Settings,
    split: str = EVAL_SPLIT,
    *,
    incidents: int | None = None,
    scrambled: bool = False,
) -> Played:
    """Play the first incidents of a split, greedily. Draws nothing at random.

    With ``scrambled`` words each team hears what is said in another incident.
    """
    batch, number = make_batch(settings), incidents or settings.eval_incidents
    inputs = Inputs(batch, scrambled=scrambled)
    screen = batch.reset(split, np.arange(number))
    seen, none = inputs.begin(screen), np.zeros(0, np.int64)
    taken = []
    while (screen.closing < 0).any():
        going = np.flatnonzero(screen.closing < 0)
        actions = [action.numpy() for action in team.act(seen, masks_of(screen))]
        taken.append(np.stack(actions))
        screen = batch.step(actions)
        seen = inputs.read(screen, going, none)
    return Played(ids_of(settings.task, split, number), np.stack(taken), screen.tick, screen.score)


# -- learning --------------------------------------------------------------------------------


class Training:
    """A run under way: networks, optimiser, open incidents, and the curve so far.

    ``points`` are the evaluations on split ``val``: counts and seconds so far, the mean
    grade of the last round, the entropy of each role's policy, and the held-out figures.
    """

    def __init__(self, settings: Settings) -> None:
        torch.set_num_threads(settings.threads)
        torch.manual_seed(settings.seed)
        self.settings = settings
        self.collector = Collector(settings)
        self.team = make_team(self.collector.batch, settings)
        team = self.team
        # A critic that all roles share is trained once, with the first.
        critics = [*team.critics, *[None] * (len(team.actors) - len(team.critics))]
        networks = [*team.policies, *team.values]
        self.learner = Learner(team.policies, team.actors, critics, networks, settings)
        self.rounds = 0
        self.points: list[dict[str, Any]] = []
        self._entropy: list[float] | None = None
        self._since = time.perf_counter()

    def run(self, report: Callable[["Training"], None]) -> None:
        """Train to the end; call ``report`` at each point of the curve."""
        settings = self.settings
        self._note(report)
        collector = self.collector
        collect = partial(collector.collect, self.team)
        for measured in learning(settings, collect, collector.dismiss_teacher, self.learner):
            self._entropy = [part["entropy"] for part in measured]
            self.rounds += 1
            if self.rounds % settings.eval_every == 0 or self.rounds == settings.rounds:
                self._note(report)

    def _note(self, report: Callable[["Training"], None]) -> None:
        collector, settings = self.collector, self.settings
        played = play_held_out(self.team, settings, CHOICE_SPLIT)
        held_out = figures([row_of(state) for state in played.states(settings)])
        names = collector.batch.split.names
        entropy: Sequence[float | None] = self._entropy or [None] * len(names)
        self.points.append(
            {
                "rounds": self.rounds,
                "seconds": round(time.perf_counter() - self._since, 1),
                "ticks": collector.ticks,
                "episodes": collector.incidents,
                "train": float(collector.grades.mean()) if len(collector.grades) else None,
                **{f"entropy_{name}": each for name, each in zip(names, entropy, strict=True)},
                **{f"val_{name}": value for name, value in held_out.items()},
            }
        )
        report(self)


# -- the program -----------------------------------------------------------------------------


def save_team(out: Path, team: Team, settings: Settings) -> None:
    """Save what :mod:`logtriage.trained` plays with: the policies alone, for any program."""
    arrays: dict[str, np.ndarray] = {}
    for place, policy in enumerate(team.policies):
        assert isinstance(policy, Pointing)
        layers = [module for module in policy.body.modules() if isinstance(module, nn.Linear)]
        for number, layer in enumerate(layers):
            arrays[f"{place}.{number}.weight"] = layer.weight.detach().numpy()
            arrays[f"{place}.{number}.bias"] = layer.bias.detach().numpy()
        for name in ("action", "column", "group"):
            arrays[f"{place}.{name}"] = policy.get_buffer(name).numpy()

    def write(where: Path) -> None:
        with where.open("wb") as file:  # of a path NumPy changes the ending
            np.savez(file, **arrays)  # type: ignore[arg-type] # named arrays

    replace(out / networks.WEIGHTS, write)
    about = {
        "schema": networks.SCHEMA,
        "task": settings.task,
        "split": role_split_to_json(settings.roles),
        "trust": TRUST,
        "activation": settings.activation,
    }
    save_json(out / networks.TEAM, about)


#: Whose words a team heard in the last evaluation: its own, or those of another incident.
OWN, SCRAMBLED = "own", "scrambled"
HEARD: Final = "after, with the words of other incidents"


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, train, and leave everything in the output directory."""
    run_recipe(recipe_parser("training.mappo", __doc__, Settings), arguments, Settings, run)


def run(settings: Settings, out: Path, command: str) -> None:
    """Train and write a run into ``out``, over an unfinished one; Refused if it holds another."""
    split = settings.roles
    about, console = begin(settings, out, command, role_split=role_split_to_json(split))
    began = time.perf_counter(), time.process_time()
    training = Training(settings)
    save_json(out / RUN, about)

    before: list[Row] = []

    def report(training: Training) -> None:
        if not before:
            played = play_held_out(training.team, settings)
            before.extend(row_of(state) for state in played.states(settings))
        save_team(out, training.team, settings)
        save_table(out / CURVE, training.points)
        tell_point(console, training.points[-1], "ticks")

    training.run(report)
    played = play_held_out(training.team, settings)
    states = list(played.states(settings))
    rows: dict[tuple[str, ...], list[Row]] = {(OWN,): [row_of(state) for state in states]}
    write_transcripts(out / TRANSCRIPTS, states, agent=split.name, role_split=split)
    if any("report" in role.may for role in split.roles):
        others = play_held_out(training.team, settings, scrambled=True)
        rows[SCRAMBLED,] = [row_of(state) for state in others.states(settings)]
    write_rows(out / EPISODES, ["words"], rows | {("own, before",): before})
    facts = {
        "finished": True,
        "seconds": time.perf_counter() - began[0],
        "cpu_seconds": time.process_time() - began[1],
        "ticks": training.points[-1]["ticks"],
        "episodes": training.points[-1]["episodes"],
        "before": figures(before),
        "after": {words: figures(rows[words,]) for (words,) in rows},
    }
    save_json(out / RUN, {**about, **facts})
    following = next_with_seed(command, out, settings.seed)
    if not is_own_task(settings.task):
        following = (
            f"logtriage eval net:{out} expert observer --split-roles {settings.split} "
            f"{words_for(settings.task)} --episodes 300 --out {out}-eval"
        )
    last = {"before": before, "after": rows[OWN,], HEARD: rows.get((SCRAMBLED,), [])}
    if last[HEARD] and not any(state.facts.reports for state in states):
        console.print("nobody said a word: the words of other incidents change nothing")
    tell_end(console, out, last, following)


if __name__ == "__main__":
    main()
