"""How fast is Malaprop, how much memory does it take, and what do its peers?

    python benchmarks/speed                    measure all parts, write benchmarks/RESULTS.md
    python benchmarks/speed --size quick       the same with less of everything, in two minutes
    python benchmarks/speed --resume           only the parts that have no results of that size yet
    python benchmarks/speed memory growth      these parts again; the page keeps the others
    python benchmarks/speed page               write the page again

The parts are below. Each keeps its result in benchmarks/speed/results; the page shows all of one
size. It needs  pip install '.[bench]'  and installs the peers with pip into environments of
their own, in benchmarks/.venvs. The full run takes half an hour and 5 GB of disk: leave the
machine alone meanwhile.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
import traceback
from typing import Any

import auditing
import beside
import growth
import memory
import noisy
import page
import peers
import privatizing
import starting
from sizes import SIZES, Size
from timing import processor_seconds

PARTS: dict[str, Any] = {
    "privatizing": privatizing,
    "noisy": noisy,
    "growth": growth,
    "starting": starting,
    "memory": memory,
    "auditing": auditing,
    "decoding": beside.DECODING,
    "neighbours": beside.NEIGHBOURS,
    "peers": peers,
}


def measure(part: str, size: Size) -> bool:
    """Measure a part and keep what it found; whether it did."""
    print(f"{part} ...", file=sys.stderr)
    every, own, begun = *processor_seconds(), time.perf_counter()
    try:
        rows = PARTS[part].rows(size)
    except Exception:  # the other parts can do without it
        traceback.print_exc()
        return False
    taken = time.perf_counter() - begun
    every, own = (now - then for now, then in zip(processor_seconds(), (every, own), strict=True))
    others = max(0.0, every - own) / (taken * (os.cpu_count() or 1)) if every else None
    if rows:
        page.keep(part, size, {"seconds": taken, "others": others, "rows": rows})
        page.write(PARTS, size)
    print(f"{part} took {taken:.0f} s", file=sys.stderr)
    return True


def main() -> int:
    """Measure the parts named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    names = ", ".join([*PARTS, "page"])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"by default all of {names}")
    parser.add_argument("--size", choices=SIZES, default="full")
    parser.add_argument("--resume", action="store_true", help="leave out what was measured")
    chosen = parser.parse_args()
    if unknown := set(chosen.parts) - {*PARTS, "page"}:
        parser.error(f"There is no part {unknown.pop()}: the parts are {names}.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started ends, too
    size = SIZES[chosen.size]
    parts = [part for part in chosen.parts or PARTS if part != "page"]
    if chosen.resume:
        parts = [part for part in parts if page.kept(part, size) is None]
    failed = [part for part in parts if not measure(part, size)]
    print(f"Written: {page.write(PARTS, size)}", file=sys.stderr)
    if failed:
        print(f"Not measured: {', '.join(failed)}; try again with --resume", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
