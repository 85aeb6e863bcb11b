"""The `malaprop` command: how it starts, and how it ends.

Every failure ends in one line on stderr and an exit code: 2 for arguments that are wrong, or name
what is not there; 1 for data or a system that fails; 128 + n for signal n. There is never a
traceback, and never a word of the user's text: other libraries' messages may quote it, so they
are not shown. Where nobody reads the output any more (`| head`), it ends with 1 and says nothing.
"""

import gc
import io
import os
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from malaprop.cli.flags import in_flags
from malaprop.cli.signals import StoppedError, ignore_until_the_end, listen, turn_deaf

if TYPE_CHECKING:
    import typer


def main() -> None:
    """Run the command line and exit."""
    # A command leaves little garbage in cycles. Looking for it as often as usual, also while
    # modules are imported, takes a twentieth of the time of a small file.
    gc.set_threshold(200_000)
    _hide_tracebacks()
    listen()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal may know no ε and no bars
    try:
        code = run(sys.argv[1:])
        turn_deaf()
    except StoppedError as late:  # all was done but to end
        code = late.exit_code
    _end_workers()
    ignore_until_the_end()
    gc.freeze()  # Python would look through everything once more before it ends
    if code:
        # What could not be written is still in the buffer; Python would try again, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.exit(code)


def _end_workers() -> None:
    """Kill workers that a stop at the wrong moment left: Python would wait for them forever."""
    if "multiprocessing" in sys.modules:
        from multiprocessing import active_children

        for worker in active_children():
            worker.kill()


def run(arguments: list[str]) -> int:
    """Run the command line on its arguments and return the exit code."""
    try:
        return _invoked(arguments)
    except BrokenPipeError:
        return 1
    except BaseException as error:  # such as the panics of libraries in Rust
        return _told(error)


def _told(error: BaseException) -> int:
    """Say what went wrong, and return the exit code."""
    from malaprop.cli.messages import say

    message, code = _last_words(error)
    say(f"malaprop: {in_flags(message)}", err=True)
    return code


def _hide_tracebacks() -> None:
    """Have what nobody catches, in threads or finalizers, end in one line, too.

    A traceback quotes the error's message, and tools that show local variables show texts.
    """

    def tell(error: BaseException | None) -> None:
        with suppress(Exception):  # Python may be ending
            _told(error or RuntimeError())

    sys.excepthook = lambda kind, error, trace: tell(error)
    threading.excepthook = lambda args: tell(args.exc_value)
    sys.unraisablehook = lambda args: tell(args.exc_value)


def _invoked(arguments: list[str]) -> int:
    """Import the commands and run one; where that takes long, it can be stopped already."""
    import typer

    from malaprop.cli.app import app

    try:
        # Not through `app()`, which has its own ways to end on a broken pipe or an interrupt.
        command = typer.main.get_command(app)
        with command.make_context(
            "malaprop", list(arguments) or ["--help"], obj=tuple(arguments)
        ) as context:
            command.invoke(context)
        if sys.stdout is not None:  # it may be closed from the start
            sys.stdout.flush()
    except typer.Exit as done:
        return done.exit_code
    return 0


def _last_words(error: BaseException) -> tuple[str, int]:
    """Return the message and the exit code for an error."""
    from malaprop.jobs import KEPT

    message, code = _explained(error)
    return f"{message}; {KEPT}" if KEPT in getattr(error, "__notes__", ()) else message, code


def _explained(error: BaseException) -> tuple[str, int]:
    """Return what to say of an error, and the exit code."""
    import typer

    from malaprop.core.errors import MalapropError, MetricError, ParameterError
    from malaprop.jobs import UNWRITTEN

    match error:
        case typer.TyperException():
            return _usage(error), error.exit_code
        case ParameterError() | MetricError():
            return str(error), 2
        case MalapropError():
            return str(error), 1
        case StoppedError() | KeyboardInterrupt():
            unwritten = UNWRITTEN in getattr(error, "__notes__", ())
            message = f"stopped: {UNWRITTEN}" if unwritten else "stopped"
            return message, getattr(error, "exit_code", 130)
        case MemoryError():
            return "out of memory: the lexicon, or a record, is too large for this machine", 1
        case OSError(strerror=str(reason)):
            return f"{error.filename}: {reason}" if error.filename else reason, 1
        case _:
            return _internal(error), 1


def _usage(error: "typer.TyperException") -> str:
    """Say what is wrong with the arguments, and where the help is."""
    context = getattr(error, "ctx", None)
    message = error.format_message().replace("Value error, ", "")
    end = "" if message.endswith((".", "?")) else "."
    return f"{message}{end} See  {context.command_path} --help" if context else message


def _internal(error: BaseException) -> str:
    """Say where it happened, without the message, which may hold the user's text."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    place = "".join(f" at {os.path.basename(each.filename)}:{each.lineno}" for each in frames[-1:])
    return f"internal error: {type(error).__name__}{place}; please report it"
