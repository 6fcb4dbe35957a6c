#!/usr/bin/env bash
# Golden transcripts under other Pythons: scripts/test_versions.sh 3.12 3.13
# A version is looked for on PATH, then among pyenv's; one that is not found is skipped,
# and said to be.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# A command on PATH may be a shim that knows nothing of the version, so each is tried.
find_python() {
    local version=$1 candidate
    for candidate in "$(command -v "python$version" || true)" \
        "${PYENV_ROOT:-$HOME/.pyenv}/versions/$version"*/bin/python; do
        if [[ -x $candidate ]] && "$candidate" -c \
            "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$version')" 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    return 1
}

checked=() skipped=()
for version in "$@"; do
    if ! python=$(find_python "$version"); then
        skipped+=("$version")
        continue
    fi
    venv=.venv-$version
    stamp=$venv/.installed
    if [[ ! -e $stamp || pyproject.toml -nt $stamp || constraints.txt -nt $stamp ]]; then
        rm -rf "$venv"
        "$python" -m venv "$venv"
        "$venv/bin/python" -m pip install -q -c constraints.txt -e '.[cli,env,multi,openai,report,test]'
        touch "$stamp"
    fi
    echo "golden transcripts under $("$venv/bin/python" --version)"
    "$venv/bin/python" -m pytest -q -p no:cacheprovider -m golden tests
    checked+=("$version")
done

echo "golden transcripts agree under: ${checked[*]:-none}"
if ((${#skipped[@]})); then
    echo "SKIPPED, no such Python found: ${skipped[*]}"
fi
