"""Adapters load no framework until they are asked for, and name the extra that they lack."""

import subprocess
import sys

import pytest

#: Adapter, the framework it needs at import, and the extra that brings it.
NEEDY = [("inspect_ai", "inspect_ai", "inspect"), ("verifiers", "verifiers", "verifiers")]


@pytest.mark.parametrize(("adapter", "framework", "extra"), NEEDY)
def test_a_missing_framework_is_an_error_that_names_the_extra(
    adapter: str, framework: str, extra: str
) -> None:
    code = f"import sys; sys.modules[{framework!r}] = None; import logtriage.adapters.{adapter}"
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=60
    )
    assert done.stderr.strip().endswith(
        f"MissingExtra: logtriage.adapters.{adapter} needs an extra: "
        f"pip install 'logtriage[{extra}]'"
    )
