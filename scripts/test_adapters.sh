#!/usr/bin/env bash
# Adapters against their frameworks: scripts/test_adapters.sh PYTHON NAME:EXTRAS:TESTS…
# Frameworks do not share an environment: each has its own .venv-NAME, with the pins in
# constraints/NAME.txt. EXTRAS and TESTS may be several, with commas between: extras of the
# package, and the paths of the tests that need them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=$1
shift

for adapter in "$@"; do
    IFS=: read -r name extras tests <<<"$adapter"
    IFS=, read -r -a paths <<<"$tests"
    venv=.venv-$name
    scripts/make_venv.sh "$venv" "$python" "constraints/$name.txt" "$extras,test"
    echo "$name: ${paths[*]}"
    # Warnings are errors where they are ours; the frameworks have their own.
    "$venv/bin/python" -m pytest -q -p no:cacheprovider -o filterwarnings="error:::logtriage" \
        --disable-warnings "${paths[@]}"
done
