#!/usr/bin/env bash
# The tests that need a framework which cannot share an environment with the others:
# scripts/test_adapters.sh PYTHON [NAME...]
# Each has an environment .venv-NAME, made anew when pyproject.toml or its pins change.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=$1
shift

# name, extras, tests; the pins are constraints/<name>.txt
adapters=(
    "openenv openenv,cli,test tests/adapters/openenv"
)

for row in "${adapters[@]}"; do
    read -r name extras tests <<<"$row"
    if (($#)) && [[ " $* " != *" $name "* ]]; then
        continue
    fi
    venv=.venv-$name pins=constraints/$name.txt
    stamp=$venv/.installed
    if [[ ! -e $stamp || pyproject.toml -nt $stamp || $pins -nt $stamp ]]; then
        rm -rf "$venv"
        "$python" -m venv "$venv"
        "$venv/bin/python" -m pip install -q -c "$pins" -e ".[$extras]"
        touch "$stamp"
    fi
    echo "$tests"
    "$venv/bin/python" -m pytest -q -p no:cacheprovider "$tests"
done
