# The Python of a version, or of a patch release and later ones, for scripts that source this:
# on PATH, or among pyenv's.
# A command on PATH may be a shim that knows nothing of the version, so each is tried.
find_python() {
    local version=$1 minor candidate
    minor=$(cut -d . -f 1,2 <<<"$version")
    for candidate in "$(command -v "python$minor" || true)" \
        "${PYENV_ROOT:-${HOME:-}/.pyenv}/versions/$minor".*/bin/python; do
        if [[ -x $candidate ]] && "$candidate" -c "
import sys
wanted = tuple(map(int, '$version'.split('.')))
sys.exit(sys.version_info[:2] != wanted[:2] or sys.version_info[:3] < wanted)" 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    return 1
}
