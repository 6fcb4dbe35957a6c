#!/usr/bin/env bash
# Adapters against their frameworks: scripts/test_adapters.sh PYTHON NAME:EXTRA:TESTS…
# Frameworks do not share an environment: each has its own .venv-NAME, with the pins in
# constraints/NAME.txt. TESTS is the path of the tests that need it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=$1
shift

for adapter in "$@"; do
    IFS=: read -r name extra tests <<<"$adapter"
    venv=.venv-$name
    pins=constraints/$name.txt
    stamp=$venv/.installed
    if [[ ! -e $stamp || pyproject.toml -nt $stamp || $pins -nt $stamp ]]; then
        rm -rf "$venv"
        "$python" -m venv "$venv"
        "$venv/bin/python" -m pip install -q -c "$pins" -e ".[$extra,test]"
        touch "$stamp"
    fi
    echo "$name: $tests"
    # Warnings are errors where they are ours; the frameworks have their own.
    "$venv/bin/python" -m pytest -q -p no:cacheprovider -o filterwarnings="error:::logtriage" \
        --disable-warnings "$tests"
done
