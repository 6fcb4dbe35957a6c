"""Read actions from shell commands of an agent, such as ``triage escalate team=sre-team``."""

import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import takewhile
from typing import Any, Final

from logtriage.conversations.blocks import opened
from logtriage.parsing.calls import Wire, wire_from_call
from logtriage.parsing.marks import MAX_TEXT
from logtriage.parsing.tools import ARGUMENTS, SOLO_TOOLS

#: Tools that run what they are given in a shell.
SHELLS: Final = frozenset(
    {"bash", "shell", "sh", "terminal", "exec", "exec_command", "execute_bash", "run_command"}
    | {"run_terminal_cmd", "shell_command", "local_shell", "execute_command", "Bash"}
)
#: Programs whose arguments are text.
_TEXT_TOOLS: Final = frozenset({"echo", "printf", "grep", "rg", "cat", "man", "which", "sed", "#"})
_BLOCK: Final = re.compile(r"```(?:\w{0,20}bash\w{0,20}|sh|shell|console)\n")
_REDIRECTED: Final = re.compile(r"\d?[<>]")
_BETWEEN: Final = frozenset({";", "&&", "||", "|", "&", "\n"})


def has_blocks(text: str) -> bool:
    """Whether a reply has a block of shell code."""
    return _BLOCK.search(text) is not None


def wires_in_blocks(text: str) -> list[Wire]:
    """The actions of the commands in a reply's blocks of shell code."""
    if len(text) > MAX_TEXT:
        return []
    _, *blocks = _BLOCK.split(text)
    return [wire for block in blocks for wire in _wires(block.partition("```")[0])]


def wires_of_command(arguments: object) -> list[Wire]:
    """The actions of the command in the ``arguments`` of a call of a shell tool."""
    arguments = opened(arguments)
    if not isinstance(arguments, Mapping):
        return []
    code = next((arguments[key] for key in ("command", "cmd", "code") if key in arguments), None)
    if isinstance(code, list):  # ["bash", "-lc", "…"]
        is_script = code[1:2] in (["-lc"], ["-c"]) and isinstance(code[-1], str)
        code = code[-1] if is_script else shlex.join(word for word in code if isinstance(word, str))
    return list(_wires(code)) if isinstance(code, str) and len(code) <= MAX_TEXT else []


def _wires(script: str) -> Iterator[Wire]:
    """The actions of the commands in a script; a line that is no shell is skipped from there on."""
    for line in script.replace("\\\n", " ").splitlines():
        words = shlex.shlex(line, posix=True, punctuation_chars=";&|")
        words.whitespace_split = True
        command: list[str] = []
        try:
            for word in (*words, ";"):  # the last command ends, too
                if word not in _BETWEEN:
                    command.append(word)
                    continue
                yield from _action(command)
                command = []
        except ValueError:  # an open quotation mark
            continue


def _action(command: list[str]) -> Iterator[Wire]:
    """The action in a command; none in other commands.

    It is ``NAME KEY=VALUE …``, ``NAME --KEY VALUE …`` or ``NAME VALUE …``, after up to 2 words.
    """
    if not command or command[0] in _TEXT_TOOLS:
        return
    place = next((at for at, word in enumerate(command[:3]) if word in SOLO_TOOLS), None)
    if place is None:
        return
    name, *words = command[place:]
    values: dict[str, Any] = {}
    given = takewhile(lambda word: not _REDIRECTED.match(word), words)
    for word in given:
        key, equals, value = word.lstrip("-").partition("=")
        if equals:
            values[key] = value
        elif word.startswith("-") and key in ARGUMENTS[name]:
            values[key] = next(given, "")  # the loop goes on after it
        elif not word.startswith("-"):
            free = (key for key in ARGUMENTS[name] if key not in values)
            values[next(free, "value")] = word
    with suppress(KeyError, ValueError):
        values["confidence"] = float(values["confidence"])
    yield wire_from_call(name, values)
