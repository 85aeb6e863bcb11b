"""Peak memory of `malaprop privatize` on a small and on a large file, and what its processes share.

Linux only: /proc tells for each process its resident memory (RSS), its peak (VmHWM) and its share
(PSS: a page that n processes have counts 1/n in each, so that the sum is what the machine gives).
"""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any

from folders import cached
from markdown import grid
from sizes import Size
from timing import MALAPROP, say
from zipf import of_megabytes

TITLE = "Memory"
AIM = 300  # MB
WORKERS = 2
_EVERY = 0.1  # seconds
ABOUT = f"""\
`balanced` on `english`, ε = 1.5, {WORKERS} workers. *Together* is the highest sum of the processes'
PSS, in which a page that several share counts once. It is sampled ten times a second. *Largest*
and *sum* refer to their own peaks (VmHWM), in which shared pages count for each process.

"""
SHARED = """
These are the processes at the highest sum, with the larger file. RSS minus PSS is shared.

"""


def rows(size: Size) -> list[dict[str, Any]]:
    """Peaks, and the processes at the highest one, for each file."""
    if not Path("/proc/self/smaps_rollup").exists():
        raise RuntimeError("Memory is measured on Linux only: /proc/PID/smaps_rollup is not here.")
    found = []
    for megabytes in size.megabytes:
        source = of_megabytes(megabytes)
        say(f"a file of {megabytes} MB")
        found.append({"megabytes": megabytes, **_watch(source)})
    return found


def _watch(source: Path) -> dict[str, Any]:
    command = [MALAPROP, "privatize", source, "-o", cached("private.txt"), "--force", "--quiet"]
    begun = time.perf_counter()
    running = subprocess.Popen(
        [*map(str, command), "--epsilon", "1.5", "--workers", str(WORKERS)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    peaks: dict[int, int] = {}
    highest: list[dict[str, int]] = []
    try:
        while running.poll() is None:
            now = [use for pid in _family(running.pid) if (use := _use(pid))]
            for use in now:
                peaks[use["pid"]] = max(peaks.get(use["pid"], 0), use["peak"])
            highest = max(highest, now, key=_shares)
            time.sleep(_EVERY)
    finally:
        running.kill()
        running.wait()
    if running.returncode:
        raise RuntimeError(f"malaprop privatize failed with exit code {running.returncode}")
    return {
        "seconds": time.perf_counter() - begun,
        "together": _shares(highest),
        "peaks": sorted(peaks.values(), reverse=True),
        "processes": highest,
    }


def _shares(processes: list[dict[str, int]]) -> int:
    return sum(use["pss"] for use in processes)


def _family(pid: int) -> list[int]:
    """A process and all below it."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        children = [int(one) for task in tasks for one in (task / "children").read_text().split()]
    except OSError:
        return []
    return [pid, *(inner for child in children for inner in _family(child))]


def _use(pid: int) -> dict[str, int] | None:
    """A process's memory in kB; None if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
        lines += Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return None
    found = dict(line.split(":", 1) for line in lines)
    wanted = {"rss": "Rss", "pss": "Pss", "peak": "VmHWM"}
    if not all(name in found for name in wanted.values()):
        return None
    kilobytes = {name: int(found[field].split()[0]) for name, field in wanted.items()}
    return {"pid": pid, **kilobytes}


def table(rows: list[dict[str, Any]], found: dict[str, Any]) -> str:
    """Peaks, their difference, and what is shared."""
    figures = [[row["together"], row["peaks"][0], sum(row["peaks"])] for row in rows]
    lines = [
        [f"{row['megabytes']:,} MB", f"{row['seconds']:.1f}", *map(_megabytes, figure)]
        for row, figure in zip(rows, figures, strict=True)
    ]
    more = [after - before for before, after in zip(figures[0], figures[-1], strict=True)]
    lines.append([f"difference (aim: at most {AIM} MB)", "", *map(_megabytes, more)])
    headings = ("text file", "seconds", "together, MB", "largest, MB", "sum, MB")
    return ABOUT + grid(headings, lines) + SHARED + _shared(rows[-1]["processes"])


def _shared(processes: list[dict[str, int]]) -> str:
    lines = []
    for number, use in enumerate(processes):
        figures = (use["rss"], use["pss"], use["rss"] - use["pss"])
        name = f"worker {number}" if number else "the first"
        lines.append([name, *map(_megabytes, figures)])
    return grid(("process", "RSS, MB", "PSS, MB", "shared, MB"), lines)


def _megabytes(kilobytes: int) -> str:
    return f"{kilobytes * 1024 / 1e6:,.0f}"
