"""The wide search, on the most frequent words: one line of figures for each graph tried."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from pathlib import Path

from ground import Ground
from laws import GRID, Curve
from tem import METRICS, Tem
from variants import Variant, build
from wordlists import WordLists

WORDS = 8_000


def variants() -> Iterator[Variant]:
    """All that is tried; one thing at a time is changed from the start, then a few together."""
    yield Variant()
    yield from (Variant(weight=weight) for weight in (2.0, 2.5, 3.0, 3.5, 5.0, 6.0))
    yield from (Variant(cap=cap) for cap in (2, 3, 5, 6, 8))
    yield from (Variant(cap=3, weight=weight) for weight in (2.0, 2.5, 3.0))
    yield from (Variant(order=order) for order in ("rank-cos", "cos"))
    yield Variant(capping="greedy")
    yield Variant(mutual=True)
    yield Variant(inflections="exclude")
    yield Variant(inflections="join")
    yield Variant(pos=True)
    yield Variant(function="apart")
    yield from (Variant(cutoff=cutoff) for cutoff in (6.0, 8.0, 12.0, 14.0, math.inf))
    yield from (Variant(anchors=anchors) for anchors in (0, 1, 3, 8, 11))
    yield from (Variant(second=second) for second in (1.25, 1.5, 2.0))
    yield from (Variant(candidates=count) for count in (16, 32))
    yield from (Variant(order="shared", capping="greedy", cap=cap) for cap in (3, 4, 5))
    yield Variant(cap=6, weight=3.0, order="shared", capping="greedy")
    yield from (Variant(cap=3, hubs=hubs) for hubs in (5, 8))
    yield from (Variant(cap=3, first=first) for first in (4, 5))
    yield Variant(cap=3, weight=3.5, first=4)
    yield Variant(cap=3, weight=4.5)
    yield from (Variant(components=count) for count in (0, 1, 2, 5, 7, 10))


def explore(ground: Ground, lists: WordLists, path: Path) -> None:
    """Measure what is not in the file yet."""
    done = {json.loads(line)["name"] for line in path.open()} if path.exists() else set()
    for metric in METRICS:
        if f"TEM {metric}" not in done:
            _write(path, f"TEM {metric}", {"metric": metric}, Tem(ground, metric).points())
    for variant in variants():
        if str(variant) in done:
            continue
        started = time.process_time()
        graph = build(ground, variant, lists)
        points = Curve(ground, graph).points(GRID)
        _write(path, str(variant), variant.to_dict(), points)
        done.add(str(variant))
        print(f"{variant}: {time.process_time() - started:.0f} s", flush=True)


def _write(path: Path, name: str, made: dict[str, object], points: list[dict[str, object]]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"name": name, "made": made, "points": points}) + "\n")
