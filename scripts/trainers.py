"""The same incidents by the same scripted model through every framework, and their grades.

    python -m scripts.trainers play NAME FILE       in the environment of that framework
    python -m scripts.trainers compare FILE…        all grades and digests are equal

``make test-trainers`` does both. TRL's episodes are played by its environment and tools, without
its trainer, whose rollouts tests/adapters/trl runs with a model of its own.
"""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import logtriage as lt
from logtriage.adapters.episode import opening
from logtriage.conversations.rows import transcript_of_row
from logtriage.conversations.tools import call_from_action
from logtriage.conversations.wires import actions_of_conversation
from logtriage.grading import grade_actions, grade_transcript
from logtriage.parsing import render_action

TASKS, SPLIT, EPISODES, POLICY = ("single_crash-v4", "cascading_failure-v4"), "val", 25, "expert"
IDS = [one for task in TASKS for one in lt.incident_ids(task, SPLIT, EPISODES)]
#: Of an incident: its score, and the digest of what was graded.
Result = tuple[float | None, str]


def played(incident_id: str) -> lt.State:
    """The episode of the scripted model, by the core."""
    incident = lt.make_incident(incident_id)
    return lt.play(incident, POLICY)


def core() -> dict[str, Result]:
    """No framework."""
    grades = [lt.grade(played(one)) for one in IDS]
    return {one.incident: (one.score, one.digest) for one in grades}


def skyrl() -> dict[str, Result]:
    """SkyRL-gym: its registry makes the environments; rewards are those of the steps."""
    import skyrl_gym

    from logtriage.adapters.skyrl import skyrl_rows

    found: dict[str, Result] = {}
    for row in skyrl_rows(IDS):
        extras = {key: row[key] for key in row if key not in ("prompt", "env_class")}
        env = skyrl_gym.make(row["env_class"], env_config={}, extras=extras)
        env.init(row["prompt"])
        texts = map(render_action, played(row["incident"]).actions)
        total = sum(env.step(text)["reward"] for text in texts)
        found[row["incident"]] = total, env.episode.grade.digest
    return found


def inspect() -> dict[str, Result]:
    """Inspect AI: an evaluation with the scripted model of the adapter."""
    from inspect_ai import eval as evaluate

    from logtriage.adapters.inspect_ai import triage

    task = triage(tasks=list(TASKS), split=SPLIT, episodes=EPISODES)
    with tempfile.TemporaryDirectory() as folder:
        (log,) = evaluate(task, model=f"logtriage/{POLICY}", log_dir=folder, display="none")
        # Samples are read from the file when they are first asked for.
        scores = {str(one.id): one.scores["triage_scorer"] for one in log.samples}
    return {key: (one.value["grade"], one.metadata["digest"]) for key, one in scores.items()}


def verifiers() -> dict[str, Result]:
    """verifiers: an evaluation over an endpoint that answers as the scripted model."""
    from tests.adapters.verifiers.test_verifiers import evaluate, playing

    os.environ["NO_KEY"] = "x"  # the endpoint wants none
    with tempfile.TemporaryDirectory() as folder:
        traces = evaluate(
            Path(folder),
            playing(POLICY, IDS),
            None,
            tasks=list(TASKS),
            split=SPLIT,
            episodes=EPISODES,
        )
    return {
        trace["task"]["key"]: (
            trace["rewards"]["grade"]["score"],
            grade_transcript(transcript_of_row(trace)).digest,
        )
        for trace in traces
    }


def openenv() -> dict[str, Result]:
    """OpenEnv: a server on a port, and its WebSocket sessions."""
    from tests.adapters.openenv.serving import Session, running

    found: dict[str, Result] = {}
    with running() as server, Session(server.http) as env:
        for one in IDS:
            served = env.reset(incident=one)
            for action in played(one).actions:
                served = env.step(action)
            assert served.grade is not None, one
            found[one] = served.grade["score"], served.grade["digest"]
    return found


def trl() -> dict[str, Result]:
    """TRL: the environment that its trainer makes, by its tools."""
    import trl  # noqa: F401

    from logtriage.adapters.trl import TriageEnv, triage_rows

    env, found = TriageEnv(), dict[str, Result]()
    for row in triage_rows(IDS):
        env.reset(**row)
        for action in played(row["incident"]).actions:
            name, arguments = call_from_action(action)
            getattr(env, name)(**arguments)
        found[row["incident"]] = env.get_reward(), env.grade.digest
    return found


def kept_digest(incident_id: str, messages: Sequence[Any]) -> str:
    """The digest of a conversation as a trainer kept it; texts are what the model said."""
    read = [
        {"role": "assistant", "content": one} if isinstance(one, str) else one for one in messages
    ]
    incident = lt.make_incident(incident_id)
    actions = actions_of_conversation(read, incident.topology, style="tools")
    return grade_actions(incident, actions).digest


def verl() -> dict[str, Result]:
    """verl: its worker plays a parquet file by our agent loop; digests are of its tokens."""
    import pandas as pd
    from verl.experimental.agent_loop.agent_loop import AgentLoopWorker

    from logtriage.adapters.verl import verl_rows
    from tests.adapters.verl.chat import said, tiny_tokenizer
    from tests.adapters.verl.worker import Server, batch_of, config_of, save_model

    tokenizer, scripts = tiny_tokenizer(), dict[str, list[list[str]]]()
    for one in IDS:
        state = played(one)
        screen = opening(state.incident, "tools")[1]["content"]
        scripts[screen] = [[said(call_from_action(action)) for action in state.actions]]
    with tempfile.TemporaryDirectory() as name:
        rows, model = Path(name) / "rows.parquet", Path(name) / "model"
        pd.DataFrame(verl_rows(IDS)).to_parquet(rows)
        save_model(model)
        config = config_of(model)
        worker = AgentLoopWorker(config, Server(tokenizer, scripts))
        out = asyncio.run(worker.generate_sequences(batch_of(config, rows, 1)))
    found: dict[str, Result] = {}
    for n, one in enumerate(out.non_tensor_batch["uid"]):
        kept = zip(out.batch["response_mask"][n], out.batch["responses"][n].tolist(), strict=True)
        turns = groupby(kept, key=lambda pair: bool(pair[0]))
        texts = [
            tokenizer.decode([token for _, token in turn], skip_special_tokens=True)
            for own, turn in turns
            if own
        ]
        found[one] = float(out.non_tensor_batch["score"][n]), kept_digest(one, texts)
    return found


PLAYERS: dict[str, Callable[[], dict[str, Result]]] = {
    one.__name__: one for one in (core, skyrl, inspect, verifiers, openenv, trl, verl)
}


def compare(files: Sequence[str]) -> None:
    """See that all files say the same of every incident.

    Raises:
        SystemExit: naming the first difference.
    """
    results: dict[str, Any] = {name: json.loads(Path(name).read_bytes()) for name in files}
    first, *others = results
    for name in others:
        for one in IDS:
            if results[name].get(one) != results[first].get(one):
                sys.exit(
                    f"{one}: {name} has {results[name].get(one)}, {first} {results[first].get(one)}"
                )
        if results[name].keys() != set(IDS):
            sys.exit(f"{name}: has other incidents than those of {first}")
    scores = [score for score, _ in results[first].values()]
    mean = sum(scores) / len(scores)
    print(
        f"{len(results)} ways, {len(IDS)} incidents: all grades and digests equal; mean {mean:.4f}"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["play"] and len(sys.argv) == 4 and sys.argv[2] in PLAYERS:
        out = Path(sys.argv[3])
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(PLAYERS[sys.argv[2]]()), encoding="utf-8")
    elif sys.argv[1:2] == ["compare"] and len(sys.argv) > 3:
        compare(sys.argv[2:])
    else:
        sys.exit(f"usage: play {'|'.join(PLAYERS)} FILE, or compare FILE FILE…")
