"""Compare the behaviour of this checkout with that of a wheel built before.

    python scripts/same_behaviour.py WHEEL [--histories 20000]

Each history is a random list of actions on an incident of a ``*-v2`` task. Its observations,
screens, grade with reasons, transcript, posterior and best plan are hashed, once by the
package in the wheel and once by this checkout, in two processes that share nothing. Every
difference is listed with the parts that differ, and the exit code is then 1.

This is scaffolding: it goes when the second world goes.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

#: Splits that anybody can draw, and the longest history.
SPLITS: Final = ("train", "val", "test", "ood")
LONGEST: Final = 16


def digest(text: str) -> str:
    """A short hash of a text."""
    return blake2b(text.encode(), digest_size=8).hexdigest()


def exact(value: Any) -> str:
    """A float, or a table of floats, as text without loss."""
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{exact(each)}" for key, each in value.items()) + "}"
    if isinstance(value, tuple | list):
        return "(" + ",".join(map(exact, value)) + ")"
    return str(value)


def history_of(number: int, tasks: list[str]) -> dict[str, str]:
    """The hashes of everything that history ``number`` shows."""
    from random import Random  # noqa: TID251 (a script may draw as it likes)

    import logtriage as lt
    from logtriage.belief import belief
    from logtriage.codec import encode_transcript

    draw = Random(number)
    task = tasks[number % len(tasks)]
    incident_id = f"{task}/{draw.choice(SPLITS)}/{draw.randrange(1 << draw.choice((4, 10, 40)))}"
    state = lt.initial_state(lt.make_incident(incident_id))
    every = lt.all_actions(state.incident.topology)
    looks = [
        each
        for each in every
        if isinstance(each, lt.RequestMoreLogs | lt.RequestMetrics | lt.RequestTraces)
    ]
    screens = []
    for _ in range(draw.randrange(LONGEST)):
        if state.closing is not None:
            break
        action = draw.choice(looks if draw.random() < 0.7 else every)
        state = lt.transition(state, action)
        screens.append(lt.render_observation(lt.observe(state)))
    grade = lt.grade(state)
    parts = {
        "incident": repr(state.incident.truth),
        "prompt": lt.system_prompt(state.incident),
        "observation": repr(lt.observe(state)).replace(", price_of_hand_over=None", ""),
        "screens": "\n".join(screens),
        "grade": repr(grade) + str(grade),
        "transcript": encode_transcript(lt.transcript_of(state)),
    }
    held = belief(state)
    parts["belief"] = exact(
        (
            held.weights,
            held.benign,
            held.root_causes,
            held.teams,
            held.remedies,
            held.severities,
            held.fixed,
        )
    )
    if state.closing is None:
        best = held.best()
        parts["best"] = exact(best.value) + repr(best.actions)
    return {"id": incident_id, **{name: digest(text) for name, text in parts.items()}}


def play(first: int, last: int) -> None:
    """Print the hashes of a range of histories, a line each."""
    import logtriage as lt

    tasks = sorted(sheet.id for sheet in lt.TASKS if "-v2" in sheet.id)
    print(json.dumps({"package": lt.__file__}))
    for number in range(first, last):
        print(json.dumps(history_of(number, tasks)))


def rows_of(package: Path, first: int, last: int) -> subprocess.Popen[str]:
    """The hashes of the histories, played by the package in a folder."""
    return subprocess.Popen(
        [sys.executable, __file__, "--play", str(first), str(last)],
        env=os.environ | {"PYTHONPATH": str(package), "PYTHONSAFEPATH": "1", "PYTHONHASHSEED": "0"},
        stdout=subprocess.PIPE,
        text=True,
    )


def compare(wheel: Path, histories: int) -> int:
    """Play the histories with both packages; return how many differ."""
    here = Path(__file__).parents[1] / "src"
    differing = 0
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(wheel).extractall(folder)
        processes = [rows_of(Path(folder), 0, histories), rows_of(here, 0, histories)]
        before, after = (
            [json.loads(line) for line in process.stdout or ()] for process in processes
        )
        for process, package, rows in zip(
            processes, (folder, str(here)), (before, after), strict=True
        ):
            if process.wait() or not rows[0]["package"].startswith(package):
                raise SystemExit(f"the package in {package} did not play the histories")
    for number, (was, now) in enumerate(zip(before[1:], after[1:], strict=True)):
        parts = [name for name in was if was[name] != now.get(name)]
        if parts:
            differing += 1
            print(f"history {number}, {was['id']}: {', '.join(parts)}")
    print(f"{histories} histories, {differing} differ")
    return differing


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wheel", type=Path, nargs="?")
    parser.add_argument("--histories", type=int, default=20_000)
    parser.add_argument(
        "--play", type=int, nargs=2, metavar=("FIRST", "LAST"), help=argparse.SUPPRESS
    )
    chosen = parser.parse_args()
    if chosen.play:
        play(*chosen.play)
    elif chosen.wheel is None:
        parser.error("name the wheel to compare with")
    else:
        sys.exit(compare(chosen.wheel, chosen.histories) > 0)


if __name__ == "__main__":
    main()
