"""Tables and plots of what was measured."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from laws import at_success

SHARES = (0.05, 0.1, 0.25, 0.5)
Found = dict[str, list[dict[str, Any]]]


def read(path: Path) -> Found:
    """Name and points of each line; the last line of a name counts."""
    lines = (json.loads(line) for line in path.open(encoding="utf-8"))
    return {line["name"]: line["points"] for line in lines}


def table(found: Found) -> str:
    """At each share of words kept: ε, similarity, near words, and odds in nats."""
    head = (
        "| graph | N_w | ε | cos | top | 1-NN | 5-NN | random |\n|---|--:|--:|--:|--:|--:|--:|--:|"
    )
    return "\n".join([head, *(row for name in found for row in _rows(name, found[name]))])


def _rows(name: str, points: list[dict[str, Any]]) -> Iterable[str]:
    for share in SHARES:
        at = at_success(points, share)
        if at:
            odds = (f"{at[k + '_mean']:.1f} / {at[k + '_95']:.1f}" for k in ("one", "five"))
            yield (
                f"| {name} | {share:g} | {at['epsilon']:.2f} | {at['cos']:.3f} | {at['top']:.3f} "
                f"| {' | '.join(odds)} | {at['random_mean']:.1f} |"
            )


def wide(found: Found) -> str:
    """One line a graph: ε, similarity and the 95th percentile of odds among the five nearest."""
    head = " | ".join(f"N_w {share:g}: ε, cos, top, 5-NN 95 %" for share in SHARES)
    lines = [f"| graph | {head} |", "|---|" + "---|" * len(SHARES)]
    for name, points in found.items():
        cells = []
        for share in SHARES:
            at = at_success(points, share)
            cells.append(
                f"{at['epsilon']:.2f}, {at['cos']:.3f}, {at['top']:.3f}, {at['five_95']:.1f}"
                if at
                else ""
            )
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def more(found: Found) -> str:
    """Sentiment and Zipf's prior."""
    lines = [
        "| law | N_w | centroid | tf-idf | Zipf: success | Zipf: cos | Zipf: top |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    names = ("kept", "centroid", "terms", "zipf_success", "zipf_cos", "zipf_top")
    for name, points in found.items():
        for point in points:
            cells = (f"{point[k]:.3f}" if k in point else "" for k in names)
            lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def plots(full: Found, explored: Found, sentiment: Found, folder: Path) -> None:
    """The figures beside the report, as SVG."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "word graphs"  # the same file for the same figures
    mpl.rcParams["font.size"] = 9
    _curves(full, folder / "english.svg")
    _variants(explored, folder / "variants.svg")
    _sentiment(sentiment, folder / "sentiment.svg")


def _save(figure: Any, path: Path) -> None:
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def _curves(found: Found, path: Path) -> None:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 4, figsize=(13, 3.4))
    names = {
        "cos": "expected similarity",
        "top": "one of the 11 nearest",
        "one_95": "ε·d to the nearest word, 95 % (nats)",
        "five_95": "ε·d to the five nearest, 95 % (nats)",
    }
    for (key, label), axis in zip(names.items(), axes, strict=True):
        for name, points in found.items():
            rows = sorted((p for p in points if key in p), key=lambda p: p["kept"])
            style = "--" if name.startswith("TEM") else "o-"
            axis.plot([p["kept"] for p in rows], [p[key] for p in rows], style, ms=3, label=name)
        axis.set(xlabel="N_w, Bayes success (uniform prior)", title=label, xlim=(0, 0.6))
        axis.grid(alpha=0.3)
    axes[0].legend(fontsize=7)
    _save(figure, path)
    plt.close(figure)


def _variants(found: Found, path: Path) -> None:
    """All graphs tried: similarity against what the five nearest may differ by."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(15, 5.5))
    graphs = {name: points for name, points in found.items() if not name.startswith("TEM")}
    families = sorted({_family(name) for name in graphs})
    for share, axis in zip((0.1, 0.25, 0.5), axes, strict=True):
        for place, family in enumerate(families):
            some = [name for name in graphs if _family(name) == family]
            at = {name: at_success(graphs[name], share) for name in some}
            dots = {name: (a["five_95"], a["cos"]) for name, a in at.items() if a}
            marker = "os^v"[place % 4]
            colour = f"C{place % 10}"
            axis.scatter(*zip(*dots.values(), strict=True), marker=marker, c=colour, label=family)
            for name, dot in dots.items():
                axis.annotate(name.removeprefix(family + " "), dot, fontsize=6, alpha=0.8)
        axis.set(xlabel="ε·d to the five nearest, 95 % (nats)", ylabel="expected similarity")
        axis.set_title(f"N_w = {share:g}, 8,000 words")
        axis.grid(alpha=0.3)
    axes[2].legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    _save(figure, path)
    plt.close(figure)


def _family(name: str) -> str:
    """What a graph changes first, by which it is coloured."""
    return name.partition(",")[0].partition(" ")[0]


def _sentiment(found: Found, path: Path) -> None:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(8, 3.4))
    labels = {"centroid": "mean of vectors", "terms": "tf-idf"}
    for (key, label), axis in zip(labels.items(), axes, strict=True):
        for name, points in found.items():
            if name == "clean":
                axis.axhline(points[0][key], color="grey", lw=1, label="clean")
            else:
                style = "--" if name.startswith("TEM") else "o-"
                kept, values = [p["kept"] for p in points], [p[key] for p in points]
                axis.plot(kept, values, style, ms=3, label=name)
        axis.set(xlabel="N_w", ylabel="accuracy on clean text", title=f"MR sentiment, {label}")
        axis.grid(alpha=0.3)
    axes[0].legend(fontsize=7)
    _save(figure, path)
    plt.close(figure)


def at_odds(found: Found) -> str:
    """The same figures where neighbours have equal odds: ε·d of the nearest word, the median."""
    lines = ["| graph | nats | N_w | cos | top |", "|---|--:|--:|--:|--:|"]
    for name, points in found.items():
        for nats in (1.0, 1.5, 2.0, 3.0, 5.0):
            at = at_success(points, nats, by="one_median")
            if at:
                figures = f"{at['kept']:.3f} | {at['cos']:.3f} | {at['top']:.3f}"
                lines.append(f"| {name} | {nats:g} | {figures} |")
    return "\n".join(lines)
