# The Python of a version, for scripts that source this: on PATH, or among pyenv's.
# A command on PATH may be a shim that knows nothing of the version, so each is tried.
find_python() {
    local version=$1 candidate
    for candidate in "$(command -v "python$version" || true)" \
        "${PYENV_ROOT:-${HOME:-}/.pyenv}/versions/$version".*/bin/python; do
        if [[ -x $candidate ]] && "$candidate" -c \
            "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$version')" 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    return 1
}
