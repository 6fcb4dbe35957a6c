"""How commands handle errors and interrupts, by their exit codes."""

from collections.abc import Callable
from inspect import Parameter, Signature, signature
from typing import Any, Final

import attrs
import typer
from typer.core import TyperCommand, TyperGroup

from logtriage.cli.console import fail, mute_stdout, note
from logtriage.errors import LogTriageError

#: Done, but some input lines could not be used, episodes are unscored, a check of an audit failed,
#: or a gate was not passed.
SOME_BAD: Final = 1
#: Wrong usage, or input that cannot be used at all.
UNUSABLE: Final = 2
#: No check of an audit failed, but a check that found nothing could not look everywhere.
NOT_EXACT: Final = 3
INTERRUPTED: Final = 130
#: Nobody reads the output any more; it is the exit code of a program that SIGPIPE ends.
BROKEN_PIPE: Final = 141


def expanded(command: Callable[..., None]) -> Callable[..., None]:
    """A command that has a parameter for each field of its groups of options, in their place.

    A group is an attrs class; the command gets an instance of it.
    """
    parameters: list[Parameter] = []
    groups: dict[str, Any] = {}
    for each in signature(command).parameters.values():
        if attrs.has(each.annotation):
            groups[each.name] = each.annotation
            parameters += signature(each.annotation).parameters.values()
        else:
            parameters.append(each)

    def run(**given: Any) -> None:
        for name, group in groups.items():
            fields = signature(group).parameters
            given[name] = group(**{field: given.pop(field) for field in fields})
        command(**given)

    run.__signature__ = Signature(  # type: ignore[attr-defined]
        [each.replace(kind=Parameter.KEYWORD_ONLY) for each in parameters]
    )
    run.__annotations__ = {}  # those of the signature count
    return run


class _Helps:
    """A mixin for help that a pager may close early, and that shows no type for flags."""

    def get_params(self, ctx: Any) -> Any:
        """The parameters; flags have no metavar."""
        params = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = ""
        return params

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help. Typer would exit with 1 if nobody reads it to the end."""
        try:
            super().format_help(ctx, formatter)  # type: ignore[misc]
        except (BrokenPipeError, SystemExit):
            mute_stdout()


class Command(_Helps, TyperCommand):
    """A command that refuses a repeated option, unless the option may be repeated."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments, and refuse an option that would silently lose its first value."""
        typed = list(args)
        rest: list[str] = super().parse_args(ctx, args)
        if ctx.resilient_parsing:  # a shell completes the line
            return rest
        _, _, order = self.make_parser(ctx).parse_args(typed)
        for param in {param for param in order if order.count(param) > 1}:
            if param.param_type_name == "option" and not getattr(param, "multiple", False):
                raise typer.BadParameter("it may be given once", param_hint=param.opts[0])
        return rest


class Commands(_Helps, TyperGroup):
    """A group of commands, with the help of :class:`_Helps`."""


class Group(Commands):
    """The group of all commands: it turns errors in the input into a message and an exit code.

    Any other exception is a bug of ours, and keeps its traceback.
    """

    def invoke(self, ctx: Any) -> Any:
        """Run the command; exit with a message if its input, a file or a pipe fails."""
        try:
            return super().invoke(ctx)
        except LogTriageError as error:
            fail(error)
            raise typer.Exit(UNUSABLE) from None
        except BrokenPipeError:
            mute_stdout()
            raise typer.Exit(BROKEN_PIPE) from None
        except OSError as error:
            fail(f"{error.filename}: {error.strerror}" if error.filename else error)
            raise typer.Exit(UNUSABLE) from None
        except KeyboardInterrupt:
            note("interrupted")
            raise typer.Exit(INTERRUPTED) from None
