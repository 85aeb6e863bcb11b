"""The `malaprop` command: how it starts, and how it ends.

Every failure ends in one line on stderr and an exit code: 2 for arguments that are wrong, or name
what is not there; 1 for data or a system that fails; 128 + n for signal n. There is never a
traceback, and never a word of the user's text: other libraries' messages may quote it, so they
are not shown. Where nobody reads the output any more (`| head`), it ends with 1 and says nothing.
"""

import gc
import io
import os
import re
import signal
import sys
import threading
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING, Final, NoReturn

if TYPE_CHECKING:
    import typer


# From the parameters that the library names in its messages to flags of the command line.
#
# The library writes a parameter as Python does, in backticks: `force=True`, `format="tsv"`,
# `output`.


_NAMED: Final = """
column context database dates decimals delimiter detector document encoding epsilon force format
glob host keep kept key key_delta key_epsilon key_needed kind_epsilon kinds label ledger lexicon
markup mechanism model
most occurrences on_error port prior public punctuation readable redraw repeat report resume runs
sample scale secret seed shift_dates subject subject_column subject_delta subject_epsilon success
total_delta total_epsilon unknown workers worst
"""
FLAGS: Final = {name: f"--{name.replace('_', '-')}" for name in _NAMED.split()} | {
    "columns": "--column",
    "entity_labels": "--entity-label",
    "epsilons": "--epsilon",
    "labels": "--label",
    "mechanisms": "--mechanism",
    "output": "-o",
    "steps": "--step",
}
"""The flag for each parameter of the calls on files that a message may name."""

_PARAMETER: Final = re.compile(r"`(\w+)(?:=(True|\"[^`\"]*\"))?`")


def with_flag_names(message: str) -> str:
    """Return a message of the library as the command line says it.

    >>> with_flag_names('resume with `resume=True`, or use `on_error="skip"` (or mask)')
    'resume with --resume, or use --on-error skip (or mask)'
    """
    return _PARAMETER.sub(_flag, message)


def _flag(parameter: re.Match[str]) -> str:
    name, value = parameter.groups()
    if name not in FLAGS:
        return parameter[0]
    return FLAGS[name] if value in (None, "True") else f"{FLAGS[name]} {value[1:-1]}"


# Signals that stop a command: the first one counts, and cleaning up is not disturbed.


# Windows has no SIGHUP.
_SIGNALS: Final = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


_STOPPED: Final = 128  # exit codes above that: stopped by a signal


class StoppedError(BaseException):
    """A signal asked the command to stop; unfinished outputs are removed as it propagates."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = _STOPPED + number


def install_signal_handlers() -> None:
    """Have the signals raise `StoppedError`."""
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as `nohup` has it
            signal.signal(number, _stop)


def ignore_signals() -> None:
    for number in _SIGNALS:
        if signal.getsignal(number) is _stop:
            # Not SIG_IGN: Python complains of a signal that has come but is not handled yet.
            signal.signal(number, _pass)


def ignore_signals_until_exit() -> None:
    """Have the system ignore the signals: Python drops its own handlers before it ends.

    Call it when the process is deaf, and has nothing left to do.
    """
    for number in _SIGNALS:
        if signal.getsignal(number) is _pass:
            signal.signal(number, signal.SIG_IGN)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    ignore_signals()  # a second one must not stop the cleaning up
    raise StoppedError(number)


def _pass(number: int, frame: FrameType | None) -> None:
    pass


def main() -> None:
    # A command leaves little garbage in cycles. Looking for it as often as usual, also while
    # modules are imported, takes a twentieth of the time of a small file.
    gc.set_threshold(200_000)
    _hide_tracebacks()
    install_signal_handlers()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal may know no ε and no bars
    try:
        code = run(sys.argv[1:])
        ignore_signals()
    except StoppedError as late:  # all was done but to end
        code = late.exit_code
    _end_workers()
    ignore_signals_until_exit()
    gc.freeze()  # Python would look through everything once more before it ends
    if code:
        # What could not be written is still in the buffer; Python would try again, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if code > _STOPPED and any(not each.daemon for each in threading.enumerate()[1:]):
        os._exit(code)  # a thread waits for input, and Python would wait for the thread
    sys.exit(code)


def _end_workers() -> None:
    """Kill workers that a stop at the wrong moment left: Python would wait for them forever."""
    if "multiprocessing" in sys.modules:
        from multiprocessing import active_children

        for worker in active_children():
            worker.kill()


def run(arguments: list[str]) -> int:
    try:
        return _invoked(arguments)
    except BrokenPipeError:
        return 1
    except BaseException as error:  # such as the panics of libraries in Rust
        return _told(error)


def _told(error: BaseException) -> int:
    from malaprop.cli.terminal import say
    from malaprop.files import KEPT, PARTLY

    message, code = _explained(error)
    notes = getattr(error, "__notes__", ())
    kept = "".join(f"; {note}" for note in (KEPT, PARTLY) if note in notes)
    say(f"malaprop: {with_flag_names(message + kept)}", err=True)
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


def _explained(error: BaseException) -> tuple[str, int]:
    import typer

    from malaprop.files import UNWRITTEN
    from malaprop.privacy.errors import MalapropError, MetricError, ParameterError

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
