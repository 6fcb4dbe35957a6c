#!/usr/bin/env bash
# Golden transcripts under other Pythons: scripts/test_versions.sh [--first] 3.13 3.12
# With --first, only under the first that is found.
# A version is looked for on PATH, then among pyenv's; one that is not found is skipped,
# and said to be.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

source scripts/find_python.sh

first=
if [[ $1 == --first ]]; then
    first=yes
    shift
fi
mapfile -t golden < <(grep -rl --include='test_*.py' 'mark\.golden' tests)
checked=() skipped=()
for version in "$@"; do
    if ! python=$(find_python "$version"); then
        skipped+=("$version")
        continue
    fi
    venv=.venv-$version
    scripts/make_venv.sh "$venv" "$python" constraints.txt test
    echo "golden transcripts under $("$venv/bin/python" --version)"
    "$venv/bin/python" -m pytest -q -p no:cacheprovider -m golden "${golden[@]}"
    checked+=("$version")
    [[ -z $first ]] || break
done

echo "golden transcripts agree under: ${checked[*]:-none}"
if ((${#skipped[@]})); then
    echo "SKIPPED, no such Python found: ${skipped[*]}"
fi
