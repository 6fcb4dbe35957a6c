#!/usr/bin/env bash
# Test what ships: scripts/test_wheel.sh PYTHON [EVAL_ARGUMENTS [INCIDENT]]
# Builds the source distribution and from it the wheel, installs the wheel into an empty
# environment, and uses it from an empty directory. PYTHON must have `build`.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=$1
[[ $python == */* ]] && python=$(cd "$(dirname "$python")" && pwd)/$(basename "$python")
eval_arguments=${2:-eval oracle expert --task all --split test --episodes 5}
incident=${3:-cascading_failure-v4/test/1464}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset PYTHONPATH

"$python" -m build --outdir "$work/dist" "$root" >"$work/build.log" 2>&1 || {
    cat "$work/build.log" >&2
    exit 1
}
wheel=$(echo "$work"/dist/logtriage-*.whl)
"$python" "$root/scripts/wheel_contents.py" "$wheel" "$root/src"

"$python" -m venv --without-pip "$work/venv"
pip=("$python" -m pip --python "$work/venv/bin/python" install -q --no-compile -c "$root/constraints.txt")
mkdir "$work/elsewhere"
cd "$work/elsewhere"
bin=$work/venv/bin

echo "core only: import and grade"
"${pip[@]}" "$wheel"
"$bin/python" "$root/scripts/wheel_core.py" "$incident"

echo "core only: the command names the extra that it needs"
if "$bin/logtriage" tasks >"$work/hint" 2>&1; then
    echo "logtriage ran without its cli extra" >&2
    exit 1
fi
if ! grep -qF 'logtriage[cli]' "$work/hint" || grep -q Traceback "$work/hint"; then
    cat "$work/hint" >&2
    exit 1
fi

echo "with the cli extra: the demo"
"${pip[@]}" "$wheel[cli]"
# shellcheck disable=SC2086 # the arguments are meant to be split
"$bin/logtriage" $eval_arguments --out demo
"$bin/logtriage" show "$incident"
[[ -n $(find demo -name '*.jsonl' -size +0) ]] || {
    echo "the demo left no transcripts" >&2
    exit 1
}

echo "with the env extra: Gymnasium finds the environments by name"
"${pip[@]}" "$wheel[env]"
"$bin/python" -W error -c '
import gymnasium
env = gymnasium.make("logtriage.env:logtriage/Cascading-v4")
env.reset(seed=0)
assert env.step(env.action_space.sample())[0] in env.observation_space
'
echo "with the fast extra: kernels grade as the scalar grader does, compiled here"
"${pip[@]}" "$wheel[fast]"
"$bin/python" "$root/scripts/wheel_kernels.py" "$root/src"
"$bin/python" -W error -c '
import gymnasium
import logtriage.vector.compiled.beliefs  # to be compiled
from logtriage import incident_ids, make_incident
from logtriage.grading import grade_batch, truths_of
envs = gymnasium.make_vec("logtriage.env:logtriage/Cascading-v4", num_envs=4)
envs.reset(seed=0)
assert envs.step(envs.action_space.sample())[0] in envs.observation_space
truths = truths_of([make_incident(one) for one in incident_ids("cascading_failure-v4", "test", 64)])
many = grade_batch(truths, [[number] for number in range(64)])
few = grade_batch(truths.take(slice(63)), [[number] for number in range(63)])
assert (many.scores[:63] == few.scores).all() and few.scores.any()
'
echo "with the multi extra: PettingZoo makes the environments of teams"
"${pip[@]}" "$wheel[multi]"
"$bin/python" -W error -c '
import pettingzoo
from logtriage.multi import triage_team_v1
env = pettingzoo.make("parallel", triage_team_v1.ENV_ID)
env.reset(seed=0)
env.step({agent: env.action_space(agent).sample() for agent in env.agents})
'
echo "the wheel works outside the source tree"
