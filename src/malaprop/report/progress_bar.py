"""A bar for calls that take long, in notebooks and on terminals."""

import sys
from time import monotonic
from typing import Any, Final

from malaprop.privacy.errors import printable
from malaprop.privacy.notebook import escape
from malaprop.privacy.progress import Meter, clock_time

_AFTER: Final = 2.0  # seconds: what is over by then needs no bar
_EVERY: Final = 0.25
_CELLS: Final = 24


class ProgressBar:
    """Shows how far a call is, how fast it goes, and how long it still takes.

        malaprop.audit(channel, progress=malaprop.ProgressBar("auditing"))

    In a notebook it is a bar below the cell, and on a terminal a line on stderr. Elsewhere, and in
    the first two seconds, nothing is shown. Every call of the library that takes `progress` takes
    it, `privatize_files` and the other calls on files, too. `unit` is what the steps are, if people
    count them, such as texts.
    """

    def __init__(self, title: str = "working", unit: str = "") -> None:
        self._title, self._unit = title, unit
        self._shown = False
        self._handle: Any = None
        self._start()

    def _start(self) -> None:
        self._meter, self._began = Meter(self._unit), monotonic()
        self._next = self._began + _AFTER
        self._done, self._last = False, 0

    def __call__(self, done: Any, total: int | None = None) -> None:
        """Show that `done` of `total` steps are done; or an event of a run over files."""
        if hasattr(done, "stage"):
            if done.stage not in ("drawing", "checking") or done.total is None:
                return
            done, total = done.done, done.total
        if self._done:
            if done == self._last:  # the end of a file, all of which was read before
                return
            self._start()  # it is used again
        self._last = done
        self._meter.update(done, total)
        self._done = total is not None and done >= total
        now = monotonic()
        if now >= self._next or (self._done and self._shown):
            self._next = now + _EVERY
            self._show(done / total if total else 0.0)

    def _show(self, share: float) -> None:
        took = clock_time(monotonic() - self._began)
        told = f"done in {took}" if self._done else str(self._meter) or took
        shell = _notebook()
        if shell is not None:
            self._show_html(share, told)
        elif sys.stderr is not None and not sys.stderr.closed and sys.stderr.isatty():
            full = round(share * _CELLS)
            cells = "█" * full + "·" * (_CELLS - full)
            line = f"\r\x1b[2K{printable(self._title)} {cells} {share:4.0%} {told}"
            sys.stderr.write(line + "\n" * self._done)
            sys.stderr.flush()
        self._shown = True

    def _show_html(self, share: float, told: str) -> None:
        from IPython.display import HTML, display  # type: ignore[import-not-found,unused-ignore]

        shown = HTML(
            f'{escape(self._title)} <progress value="{share:.3f}" max="1"></progress> '
            f"{share:.0%} {escape(told)}"
        )
        if self._handle is None:
            self._handle = display(shown, display_id=True)
        else:
            self._handle.update(shown)


def _notebook() -> Any:
    """Return IPython's shell if it runs in a notebook; a program without IPython imports none."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell if hasattr(shell, "kernel") else None
