"""What grading costs inside a framework, beside what the framework itself costs.

    make bench-adapters            # all of them, each in its environment, and the page

    .venv-inspect/bin/python benchmarks/adapter_overhead.py inspect build/adapters/inspect.json
    .venv/bin/python benchmarks/adapter_overhead.py --page docs/results/adapters.md build/adapters/*

In one run of the framework every sample is scored by ours and by a trivial scorer. CPU
time: that of the thread while a scorer runs, and that of the process for the whole run.
Models are scripted or tiny, so the framework's own cost is about the least it can be.
"""

import importlib.util
import json
import os
import platform
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for the scripted models of the tests

SAMPLES = 240
SPENT: dict[str, float] = defaultdict(float)
HEAD = """\
# What grading costs in other frameworks

CPU time a sample, each framework in one run with a trivial scorer of its own beside ours.
`framework` is all that the process spent besides our part. Models are tiny (TRL) or scripted
(the others), so that cost is about the least it can be; with a real model the share is smaller.
In NeMo Gym it is that of the resources server's routes alone, without its agent. An episode of
the trainers has 9.5 turns. Written by `make bench-adapters`.

Machine: {machine}.

| framework | what is scored | samples | framework | trivial scorer | ours | share |
| --- | --- | ---: | ---: | ---: | ---: | ---: |
"""


@contextmanager
def spent(name: str) -> Iterator[None]:
    start = time.thread_time()
    try:
        yield
    finally:
        SPENT[name] += time.thread_time() - start


def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        with spent(name):
            return function(*arguments, **named)

    call.__name__ = name
    return call


def row(framework: str, what: str, samples: int, total: float, ours: str) -> dict[str, Any]:
    return {
        "framework": framework,
        "what": what,
        "samples": samples,
        "own": (total - SPENT[ours]) / samples,
        "trivial": SPENT["trivial"] / samples if "trivial" in SPENT else None,
        "ours": SPENT[ours] / samples,
    }


def inspect_rows() -> list[dict[str, Any]]:
    import inspect_ai
    from inspect_ai import task_with
    from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
    from inspect_ai.solver import TaskState

    from logtriage.adapters.inspect_ai import triage, triage_scorer

    @scorer(metrics=[mean()])
    def trivial() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            with spent("trivial"):
                return Score(value=float(state.output.completion == target.text))

        return score

    @scorer(metrics={"grade": [mean()]})
    def ours() -> Scorer:
        inner = triage_scorer()

        async def score(state: TaskState, target: Target) -> Score:
            with spent("ours"):
                return await inner(state, target)

        return score

    def run(episodes: int) -> float:
        task = task_with(triage(episodes=episodes), scorer=[trivial(), ours()])
        start = time.process_time()
        with tempfile.TemporaryDirectory() as folder:
            (log,) = inspect_ai.eval(task, model="logtriage/expert", log_dir=folder, display="none")
        assert log.status == "success", log.error
        return time.process_time() - start

    run(2)  # imports, caches
    SPENT.clear()
    total = run(SAMPLES // 3)
    version = f"Inspect AI {inspect_ai.__version__}"
    return [row(version, "`triage_scorer`, episodes of `expert`", SAMPLES, total, "ours")]


def trl_rows() -> list[dict[str, Any]]:
    import trl
    from datasets import Dataset

    from logtriage.adapters.plans import plan_rows
    from logtriage.adapters.trl import TriageEnv, triage_reward, triage_rows
    from logtriage.conversations.tools import TOOLS
    from logtriage.parsing import render_action
    from tests.adapters.trl.test_grpo import GROUP, IDS, config, oracle, scripts_for
    from tests.adapters.trl.tiny import Script, tiny_model, tiny_tokenizer

    def train(rows: Any, scripts: Any, steps: int, **options: Any) -> float:
        tokenizer = tiny_tokenizer()
        model = tiny_model(tokenizer)
        with tempfile.TemporaryDirectory() as folder:
            trainer = trl.GRPOTrainer(
                model=model,
                args=config(Path(folder), max_steps=steps),
                train_dataset=Dataset.from_list(rows),
                processing_class=tokenizer,
                **options,
            )
            model.generate = Script(tokenizer, scripts)
            start = time.process_time()
            trainer.train()
            return time.process_time() - start

    def constant(completions: Any, **_: Any) -> list[float]:
        return [0.0] * len(completions)

    class TimedEnv(TriageEnv):
        pass

    for name in (*TOOLS, "reset", "get_reward"):
        method = getattr(TriageEnv, name)
        call = timed("environment", method)
        call.__name__, call.__doc__, call.__wrapped__ = name, method.__doc__, method  # type: ignore[attr-defined]
        call.__annotations__ = method.__annotations__
        setattr(TimedEnv, name, call)

    steps, found = 4, []
    plan = f"[{', '.join(map(render_action, oracle(IDS[0])))}]"
    plans = [[f"{number}: {plan}"] for number in range(GROUP)]
    rewards = [timed("ours", triage_reward), timed("trivial", constant)]
    train(plan_rows(IDS[:1]), plans, 1, reward_funcs=rewards)  # imports, caches
    SPENT.clear()
    total = train(plan_rows(IDS[:1]), plans, steps, reward_funcs=rewards)
    version = f"TRL {trl.__version__}"
    found.append(row(version, "`triage_reward`, plans", steps * GROUP, total, "ours"))
    SPENT.clear()
    total = train(
        triage_rows(IDS[:1]),
        scripts_for(IDS[0]),
        steps,
        reward_funcs=[timed("trivial", constant)],
        environment_factory=TimedEnv,
    )
    what = "`TriageEnv`: screens, steps and grade"
    found.append(row(version, what, steps * GROUP, total, "environment"))
    return found


def serve(policy: str, ids: list[str], told: Any) -> None:
    from tests.adapters.verifiers.server import serving
    from tests.adapters.verifiers.test_verifiers import playing

    with serving(playing(policy, ids)) as url:
        told.put(url)
        time.sleep(3_600)


def verifiers_rows() -> list[dict[str, Any]]:
    import asyncio
    from multiprocessing import get_context

    import verifiers
    from verifiers.v1.cli.eval.runner import run_eval
    from verifiers.v1.configs.cli.eval import EvalConfig

    import logtriage as lt
    from logtriage.adapters.verifiers import rows

    os.environ["NO_KEY"] = "x"
    samples = SAMPLES // 2
    ids = list(lt.incident_ids("single_crash-v3", "train", samples))
    context = get_context("spawn")
    told = context.Queue()
    server = context.Process(target=serve, args=("expert", ids, told), daemon=True)
    server.start()
    url = told.get(timeout=300)
    rows.grade_of = timed("ours", rows.grade_of)

    async def trivial(self: Any, trace: Any) -> float:  # noqa: ARG001
        with spent("trivial"):
            return float(trace.last_reply == "")

    rows.TriageTask.trivial = rows.vf.metric(trivial)

    def run(episodes: int) -> float:
        with tempfile.TemporaryDirectory() as folder:
            config = EvalConfig.model_validate(
                {
                    "env": {
                        "taskset": {
                            "id": "logtriage-verifiers",
                            "tasks": ["single_crash-v3"],
                            "episodes": episodes,
                        }
                    },
                    "client": {"base_url": url, "api_key_var": "NO_KEY"},
                    "model": "scripted",
                    "push": False,
                    "rich": None,
                    "output_dir": folder,
                }
            )
            start = time.process_time()
            episodes_ = asyncio.run(run_eval(config))
            spent_ = time.process_time() - start
        failed = [str(one.last_error or one.traces[0].errors) for one in episodes_ if not one.ok]
        assert not failed, failed[0]
        return spent_

    try:
        run(2)  # imports, caches
        SPENT.clear()
        total = run(samples)
    finally:
        server.terminate()
    version = f"verifiers {verifiers.__version__}"
    return [row(version, "reward and metrics, episodes of `expert`", samples, total, "ours")]


def watch_episodes() -> None:
    """Count what the episode object costs, whoever calls it; a call inside another counts once."""
    from logtriage.adapters.episode import Episode

    depth = 0

    def outermost(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            nonlocal depth
            depth += 1
            try:
                if depth > 1:
                    return function(*arguments, **named)
                with spent("ours"):
                    return function(*arguments, **named)
            finally:
                depth -= 1

        return call

    Episode.of_row = classmethod(outermost(Episode.of_row.__func__))  # type: ignore[method-assign]
    Episode.step = outermost(Episode.step)  # type: ignore[method-assign]
    for name in ("grade", "reward", "by_criterion"):
        setattr(Episode, name, property(outermost(getattr(Episode, name).fget)))


def trainer_rows(name: str, framework: str, package: str) -> list[dict[str, Any]]:
    """The episodes of ``scripts/trainers.py``, played before, through one of its frameworks."""
    import logtriage as lt

    spec = importlib.util.spec_from_file_location("trainers", ROOT / "scripts/trainers.py")
    assert spec is not None
    assert spec.loader is not None
    trainers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(trainers)
    ids, states = trainers.IDS, {one: trainers.played(one) for one in trainers.IDS}
    trainers.played = states.__getitem__
    trainers.kept_digest = timed("digests", trainers.kept_digest)  # no work of a trainer's
    watch_episodes()
    if name == "nemo":
        from logtriage.adapters.nemo_gym import server
        from tests.adapters.nemo_gym import test_server as scripted

        server.verified, server.reward_of = (
            timed("ours", one) for one in (server.verified, server.reward_of)
        )
        scripted.play_episode = lambda incident, _: states[incident.id]

    def run(incidents: list[str]) -> float:
        trainers.IDS = incidents
        start = time.process_time()
        found = trainers.PLAYERS[name]()
        passed = time.process_time() - start
        grades = {one: lt.grade(states[one]) for one in incidents}
        assert found == {one: (grade.score, grade.digest) for one, grade in grades.items()}
        return passed

    run(ids[:2])  # imports, caches
    SPENT.clear()
    total = run(ids) - SPENT["digests"]
    python = ".".join(map(str, sys.version_info[:2]))
    what = f"episodes of `{trainers.POLICY}`: screens, steps and grade (Python {python})"
    return [row(f"{framework} {version(package)}", what, len(ids), total, "ours")]


def seconds(value: float | None) -> str:
    if value is None:
        return "–"
    if value >= 1:
        return f"{value:.3g} s"
    return f"{value * 1e3:.3g} ms" if value >= 1e-3 else f"{value * 1e6:.3g} µs"


def page(target: Path, sources: list[Path]) -> None:
    rows = [one for path in sources for one in json.loads(path.read_text(encoding="utf-8"))]
    machine = f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    lines = [HEAD.format(machine=machine)]
    for one in rows:
        cells = (
            one["framework"],
            one["what"],
            str(one["samples"]),
            *(seconds(one[key]) for key in ("own", "trivial", "ours")),
            f"{one['ours'] / one['own']:.2%}".replace("%", " %"),
        )
        lines.append(f"| {' | '.join(cells)} |\n")
    target.write_text("".join(lines), encoding="utf-8")


MEASURES = {
    "inspect": inspect_rows,
    "trl": trl_rows,
    "verifiers": verifiers_rows,
    "verl": lambda: trainer_rows("verl", "verl", "verl"),
    "nemo": lambda: trainer_rows("nemo", "NeMo Gym", "nemo-gym"),
}


def main(arguments: list[str]) -> None:
    if arguments[0] == "--page":
        page(Path(arguments[1]), [Path(one) for one in arguments[2:]])
        return
    rows = MEASURES[arguments[0]]()
    for one in rows:
        print(one)
    out = Path(arguments[1])
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(rows), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
