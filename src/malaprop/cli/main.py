"""The `malaprop` command: its subcommands, and how it ends.

Every failure ends in one line on stderr and an exit code: 2 for arguments that are wrong, or name
what is not there; 1 for data or a system that fails; 128 + n for signal n. There is never a
traceback, and never a word of the user's text: other libraries' messages may quote it, so they
are not shown. Where nobody reads the output any more (`| head`), it ends with 1 and says nothing.
"""

import gc
import io
import os
import sys
import traceback
from typing import Annotated

import typer

from malaprop._version import __version__
from malaprop.cli import (
    attack,
    audit,
    bench,
    calibrate,
    data,
    evaluate,
    explain,
    lexicons,
    lm,
    mechanisms,
    privatize,
    reproduce,
    stats,
    vectors,
)
from malaprop.cli.flags import in_flags
from malaprop.cli.help import App
from malaprop.cli.signals import StoppedError, ignore_until_the_end, listen, turn_deaf
from malaprop.jobs import KEPT, UNWRITTEN

app = App(
    name="malaprop",
    help="Private text under metric differential privacy, with guarantees that can be checked.",
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("privatize", short_help="Privatize files of text, or standard input.")(
    privatize.privatize
)
app.command("explain", short_help="Show what a word may become, and what that gives away.")(
    explain.explain
)
app.command("audit", short_help="Check a guarantee on all pairs of words, exactly.")(audit.audit)
app.command("stats", short_help="Show statistics of single words under a mechanism.")(stats.stats)
app.command("calibrate", short_help="Find the ε that keeps to a target.")(calibrate.calibrate)
app.command("attack", short_help="Measure how many words an observer recovers.")(attack.attack)
app.command("evaluate", short_help="Measure privacy beside utility on your own texts.")(
    evaluate.evaluate
)
app.command("reproduce", short_help="Run the experiments of five papers again.")(
    reproduce.reproduce
)
app.command("release", short_help="Release vectors from a file, with noise.")(vectors.release)
app.command("embed", short_help="Turn texts into private vectors.")(vectors.embed)
app.command("mechanisms")(mechanisms.mechanisms)
app.add_typer(lexicons.app, name="lexicon")
app.add_typer(lm.app, name="lm")
app.add_typer(data.app, name="data")
app.add_typer(bench.app, name="bench")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"malaprop {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line and exit."""
    # A command leaves little garbage in cycles. Looking for it as often as usual takes a
    # twentieth of the time of a small file.
    gc.set_threshold(50_000)
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
    except BrokenPipeError:
        return 1
    except (Exception, KeyboardInterrupt, StoppedError) as error:
        message, code = _last_words(error)
        if KEPT in getattr(error, "__notes__", ()):
            message += f"; {KEPT}"
        typer.echo(f"malaprop: {_one_line(in_flags(message))}", err=True)
        return code
    return 0


def _last_words(error: BaseException) -> tuple[str, int]:
    """Return the message and the exit code for an error."""
    from malaprop.core.errors import MalapropError, MetricError, ParameterError

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


def _usage(error: typer.TyperException) -> str:
    """Say what is wrong with the arguments, and where the help is."""
    context = getattr(error, "ctx", None)
    message = error.format_message().replace("Value error, ", "")
    end = "" if message.endswith((".", "?")) else "."
    return f"{message}{end} See  {context.command_path} --help" if context else message


def _one_line(message: str) -> str:
    """Remove line ends and control characters, which names of files may contain."""
    return "".join(sign if sign.isprintable() else " " for sign in message)


def _internal(error: BaseException) -> str:
    """Say where it happened, without the message, which may hold the user's text."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(frame.filename)}:{frame.lineno}"
    return f"internal error: {type(error).__name__} at {place}; please report it"
