#!/usr/bin/env bash
# A directory that `openenv push` takes, and `docker build`: scripts/make_space.sh PYTHON OUT
# PYTHON must have `build`.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=$1
out=$2

if [[ -e $out ]]; then
    echo "$out is there already" >&2
    exit 1
fi
"$python" -m build --wheel --outdir "$out" "$root" >/dev/null
cp -r "$root/deploy/space/." "$out/"
cp "$root/constraints/frameworks.txt" "$out/constraints.txt"
find "$out" -name __pycache__ -prune -exec rm -rf {} +
echo "$out"
