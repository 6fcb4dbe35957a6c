#!/usr/bin/env bash
# Adapters against their frameworks: scripts/test_adapters.sh PYTHON NAME:EXTRAS:TESTS[:VERSION]…
# Each NAME is an environment .venv-NAME with the pins in constraints/NAME.txt: of one framework, or
# of those whose requirements agree. EXTRAS and TESTS may be several, with commas between: extras of the
# package, and the paths of the tests that need them. VERSION is the oldest Python of a framework
# that needs a newer one than PYTHON may be: then that one is looked for, as test_versions.sh does,
# and where it is not found the framework is skipped, and said to be.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/find_python.sh
python=$1
shift
# Their models are tiny: threads of torch wait for each other far longer than they compute, and
# waiting burns the processor.
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}

for adapter in "$@"; do
    IFS=: read -r name extras tests version <<<"$adapter"
    IFS=, read -r -a paths <<<"$tests"
    venv=.venv-$name interpreter=$python
    if [[ -n $version ]] && ! "$python" -c \
        "import sys; sys.exit(sys.version_info[:3] < tuple(map(int, '$version'.split('.'))))"; then
        if ! interpreter=$(find_python "$version"); then
            echo "SKIPPED $name: it needs Python $version or later, and none was found"
            continue
        fi
    fi
    scripts/make_venv.sh "$venv" "$interpreter" "constraints/$name.txt" "$extras,test"
    echo "$name: ${paths[*]}"
    # Warnings are errors where they are ours; the frameworks have their own.
    "$venv/bin/python" -m pytest -q -p no:cacheprovider -o filterwarnings="error:::logtriage" \
        --disable-warnings "${paths[@]}"
done
