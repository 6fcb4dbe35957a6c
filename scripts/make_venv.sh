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
    "$python" -m venv "$venv"
    "$venv/bin/python" -m pip install -q --no-compile -c "$pins" -e ".[$extras]"
    touch "$stamp"
fi
