#!/usr/bin/env bash
# An environment with extras of the package: scripts/make_venv.sh VENV PYTHON PINS EXTRAS
# Made anew unless it was finished by this Python, from these pins, for this checkout: the
# package is installed from the place where it stands, and commands name that place, so that in
# a checkout that was moved or copied they would run another one.
# Packages are compiled when they are imported, since a test imports few files of a framework.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
venv=$1 python=$2 pins=$3 extras=$4

tag=$("$python" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])')
stamp=$venv/.installed-$tag-$(pwd -P | cksum | cut -d ' ' -f 1)
if [[ ! -e $stamp || pyproject.toml -nt $stamp || $pins -nt $stamp ]]; then
    rm -rf "$venv"
    # Installed by the pip of the development environment or of PYTHON, if it can: one more pip in
    # every environment takes longer than the package.
    with=
    for one in "${VENV:-.venv}/bin/python" "$python"; do
        if "$one" -c 'import pip, sys
sys.exit(tuple(map(int, pip.__version__.split(".")[:2])) < (22, 3))' 2>/dev/null; then
            with=$one
            break
        fi
    done
    if [[ -n $with ]]; then
        "$python" -m venv --without-pip "$venv"
        pip=("$with" -m pip --python "$venv/bin/python")
    else
        "$python" -m venv "$venv"
        pip=("$venv/bin/python" -m pip)
    fi
    "${pip[@]}" install -q --no-compile -c "$pins" -e ".[$extras]"
    touch "$stamp"
fi
