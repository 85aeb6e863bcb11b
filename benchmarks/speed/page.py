"""benchmarks/RESULTS.md: what was measured, on what, how much the repeats differ."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import plots
from folders import pages, results
from machine import describe
from markdown import grid
from sizes import Size

PAGE = "RESULTS.md"
COMMANDS = {"full": "make bench", "quick": "make bench-quick", "smoke": "python benchmarks/speed"}
_BUSY = 0.1  # of the machine: others that take more spoil absolute times
HEAD = """\
# Speed and memory, measured

`{command}` measures this and writes the page, or parts of it. Each part is listed with the commit
that it was measured at. Figures are the median of the repeats, with the minimum and the maximum in
brackets. Figures without brackets were measured once. Each repeat goes through all cases, so that
ratios hold even if the machine slows down.
[docs/explanation/speed.md](../docs/explanation/speed.md) explains what is measured, and why.
"""


def keep(part: str, size: Size, measured: dict[str, Any]) -> None:
    """Keep what a part found, with the machine that it was found on."""
    results(size.name).mkdir(parents=True, exist_ok=True)
    whole = {**measured, "machine": describe()}
    text = json.dumps(whole, indent=1, ensure_ascii=False)
    (results(size.name) / f"{part}.json").write_text(text + "\n", encoding="utf-8")


def kept(part: str, size: Size) -> dict[str, Any] | None:
    """What a part found in an earlier run of the same size, if it did."""
    path = results(size.name) / f"{part}.json"
    found: dict[str, Any] | None
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    return found


def write(parts: Mapping[str, Any], size: Size) -> Path:
    """Write the page and draw the plots from all that was kept."""
    runs = {name: run for name in parts if (run := kept(name, size))}
    found = {name: run["rows"] for name, run in runs.items()}
    folder = pages(size.name)
    folder.mkdir(parents=True, exist_ok=True)
    plots.draw(found, folder)
    sections = [
        f"## {parts[name].TITLE}\n\n{parts[name].table(rows, found)}"
        for name, rows in found.items()
    ]
    if missing := [f"- {parts[name].TITLE}\n" for name in parts if name not in runs]:
        sections.append(f"## Not measured\n\n{''.join(missing)}")
    head = [HEAD.format(command=COMMANDS[size.name]), _machines(runs), _load(runs)]
    path = folder / PAGE
    path.write_text("\n".join([*head, *sections]), encoding="utf-8")
    return path


def _machines(runs: Mapping[str, Any]) -> str:
    """The machine; twice where parts were measured on different ones, or at different commits."""
    parts: dict[str, list[str]] = {}
    for name, run in runs.items():
        parts.setdefault(json.dumps(run["machine"], ensure_ascii=False), []).append(name)
    blocks = []
    for text, names in parts.items():
        described = list(json.loads(text).items())
        which = f"Parts: {', '.join(names)}.\n\n" if len(parts) > 1 else ""
        blocks.append(which + grid(("machine", ""), described, left=2))
    return "\n".join(blocks)


def _load(runs: Mapping[str, Any]) -> str:
    """What else ran meanwhile."""
    busy = [
        f"{name} {run['others']:.0%}"
        for name, run in runs.items()
        if run["others"] is not None and run["others"] > _BUSY
    ]
    if not busy:
        return "Other work took less than a tenth of the machine in every part.\n"
    return (
        "**The machine was shared**, so that absolute times are too long. Other work took so much "
        f"of it: {', '.join(busy)}.\n"
    )
