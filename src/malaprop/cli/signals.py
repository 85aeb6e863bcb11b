"""Signals that stop a command: the first one counts, and cleaning up is not disturbed."""

import signal
from types import FrameType
from typing import Final, NoReturn

# Windows has no SIGHUP.
_SIGNALS: Final = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


class StoppedError(BaseException):
    """A signal asked the command to stop; unfinished outputs are removed as it propagates."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number


def listen() -> None:
    """Have the signals raise `StoppedError`."""
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as `nohup` has it
            signal.signal(number, _stop)


def turn_deaf() -> None:
    """Ignore the signals from now on."""
    for number in _SIGNALS:
        if signal.getsignal(number) is _stop:
            # Not SIG_IGN: Python complains of a signal that has come but is not handled yet.
            signal.signal(number, _pass)


def ignore_until_the_end() -> None:
    """Have the system ignore the signals: Python drops its own handlers before it ends.

    Call it when the process is deaf, and has nothing left to do.
    """
    for number in _SIGNALS:
        if signal.getsignal(number) is _pass:
            signal.signal(number, signal.SIG_IGN)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    turn_deaf()  # a second one must not stop the cleaning up
    raise StoppedError(number)


def _pass(number: int, frame: FrameType | None) -> None:
    pass
