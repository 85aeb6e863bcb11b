"""What the operator sees: a line of JSON for each request, and metrics. Neither holds text.

A log line names the endpoint by its template, never by the path that was asked for, and no query,
header or body. So it cannot hold what a caller wrote.
"""

import json
import logging
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime
from threading import Lock
from types import TracebackType
from typing import IO, Any, Final

from malaprop.privacy.errors import LedgerError

_BOUNDS: Final = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)
UNKNOWN: Final = "(none)"
"""The endpoint of a request that leads to none."""
METHODS: Final = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))


class Log:
    """Writes lines of JSON to a stream, from any thread."""

    def __init__(self, stream: IO[str] | None = None) -> None:
        self._stream, self._lock = stream, Lock()

    def write(self, event: str, *, level: str = "info", **facts: Any) -> None:
        """Write one event; the facts must not hold anything that a caller wrote."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = json.dumps({"time": now, "level": level, "event": event, **facts})
        stream = self._stream or sys.stderr
        with self._lock:
            try:
                stream.write(f"{line}\n")
                stream.flush()
            except (OSError, ValueError):  # nobody reads the log any more: the service goes on
                return

    def failure(self, error: BaseException, **facts: Any) -> None:
        """Write where an error happened, without its message, which may hold the caller's text.

        Those of the ledger hold none, and tell the operator what to do.
        """
        if isinstance(error, LedgerError):
            facts["reason"] = str(error)
        self.write("failure", level="error", error=type(error).__name__, at=place(error), **facts)


def place(error: BaseException) -> str:
    """Return file and line of the frames nearest to an error, ours first."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if f"{os.sep}malaprop{os.sep}" in frame.filename]
    last = [f"{os.path.basename(at.filename)}:{at.lineno}" for at in (*ours[-1:], *frames[-1:])]
    return ", ".join(dict.fromkeys(last))


class Handler(logging.Handler):
    """Passes on what uvicorn and other libraries log: their fixed texts, without arguments."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write the template of a message; what would be filled in may be the caller's."""
        facts: dict[str, Any] = {"logger": record.name}
        if record.exc_info and isinstance(record.exc_info[1], BaseException):
            self._log.failure(record.exc_info[1], **facts)
            return
        template = record.msg if isinstance(record.msg, str) else type(record.msg).__name__
        self._log.write("message", level=record.levelname.lower(), message=template, **facts)


Labels = tuple[tuple[str, str], ...]


class Metrics:
    """Counts of this process, in Prometheus' text format."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: dict[tuple[str, Labels], float] = defaultdict(float)
        self._times: dict[str, list[int]] = defaultdict(lambda: [0] * (len(_BOUNDS) + 1))
        self._sums: dict[str, float] = defaultdict(float)
        self._gauges: dict[str, tuple[str, Callable[[], float]]] = {}
        self._began = time.time()

    def count(self, name: str, number: float = 1, **labels: str) -> None:
        """Add to a counter; labels are endpoints, methods and other names of ours."""
        with self._lock:
            self._counts[name, tuple(sorted(labels.items()))] += number

    def observe(self, route: str, seconds: float) -> None:
        """Add a request's time to the histogram of its endpoint."""
        place = next((i for i, bound in enumerate(_BOUNDS) if seconds <= bound), len(_BOUNDS))
        with self._lock:
            self._times[route][place] += 1
            self._sums[route] += seconds

    def gauge(self, name: str, text: str, value: Callable[[], float]) -> None:
        """Have a value asked for whenever the metrics are read."""
        self._gauges[name] = text, value

    def render(self) -> str:
        """Return all metrics as text."""
        with self._lock:
            lines = [*self._counters(), *self._histograms()]
        gauges = {
            **self._gauges,
            "process_cpu_seconds_total": ("CPU time of this process.", time.process_time),
            "process_resident_memory_bytes": ("Memory of this process.", _resident),
            "process_start_time_seconds": ("When it started.", lambda: self._began),
        }
        for name, (text, value) in gauges.items():
            kind = "counter" if name.endswith("_total") else "gauge"
            lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}", f"{name} {value():.10g}"]
        return "\n".join(lines) + "\n"

    def _counters(self) -> list[str]:
        lines: list[str] = []
        for name in sorted({name for name, _ in self._counts}):
            lines += [f"# HELP {name} {_HELP[name]}", f"# TYPE {name} counter"]
            for (other, labels), number in sorted(self._counts.items()):
                if other == name:
                    lines.append(f"{name}{_labels(labels)} {number:.10g}")
        return lines

    def _histograms(self) -> list[str]:
        name = "malaprop_request_seconds"
        lines = [f"# HELP {name} Time from request to answer.", f"# TYPE {name} histogram"]
        for route, counts in sorted(self._times.items()):
            total = 0
            for bound, number in zip((*_BOUNDS, None), counts, strict=True):
                total += number
                le = "+Inf" if bound is None else f"{bound:g}"
                lines.append(f'{name}_bucket{{route="{route}",le="{le}"}} {total}')
            lines.append(f'{name}_sum{{route="{route}"}} {self._sums[route]:.10g}')
            lines.append(f'{name}_count{{route="{route}"}} {total}')
        return lines


_HELP: Final = {
    "malaprop_requests_total": "Requests that were answered.",
    "malaprop_refused_total": "Requests that were refused, by the name of the problem.",
    "malaprop_texts_total": "Texts that were privatized.",
    "malaprop_file_jobs_total": "File jobs that ended, by how.",
}


def _labels(labels: Labels) -> str:
    inside = ",".join(f'{name}="{value}"' for name, value in labels)
    return f"{{{inside}}}" if inside else ""


def _resident() -> float:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return float(int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
    except (OSError, ValueError, IndexError):  # no Linux
        return float("nan")


def quiet(log: Log) -> None:
    """Have other libraries' loggers write through ours, and warnings and tracebacks not at all."""

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        log.failure(error)

    handler = Handler(log)
    root = logging.getLogger()
    root.handlers, root.level = [handler], logging.WARNING
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi", "fastapi"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [], True
    logging.captureWarnings(capture=True)
    sys.excepthook = hook
