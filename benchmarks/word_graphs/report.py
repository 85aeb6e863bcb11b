"""Tables and plots of what was measured."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from laws import at_success

SHARES = (0.05, 0.1, 0.25, 0.5)
_START, _CHOSEN = "cap 4, weight 4", "weight 3.5"
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

    figure, grid = plt.subplots(2, 3, figsize=(10, 6.2))
    *axes, last = grid.ravel()
    names = {
        "cos": "expected similarity",
        "top": "one of the 11 nearest",
        "one_95": "ε·d to the nearest word, 95 % (nats)",
        "five_95": "ε·d to the five nearest, 95 % (nats)",
        "random_mean": "ε·d to a random word, mean (nats)",
    }
    for (key, label), axis in zip(names.items(), axes, strict=True):
        for name, points in found.items():
            rows = sorted((p for p in points if key in p), key=lambda p: p["kept"])
            style = "--" if name.startswith("TEM") else "o-"
            axis.plot([p["kept"] for p in rows], [p[key] for p in rows], style, ms=3, label=name)
        axis.set(xlabel="N_w, Bayes success (uniform prior)", title=label, xlim=(0, 0.6))
        axis.grid(alpha=0.3)
    last.axis("off")
    last.legend(*axes[0].get_legend_handles_labels(), loc="center", fontsize=9)
    _save(figure, path)
    plt.close(figure)


def _variants(found: Found, path: Path) -> None:
    """All graphs tried, a line each: similarity, and what the five nearest may differ by."""
    from matplotlib import pyplot as plt

    names = _listed(found)
    figure, axes = plt.subplots(1, 4, figsize=(11, 0.175 * len(names) + 1), sharey=True)
    panels = [("cos", share, f"similarity at N_w {share:g}") for share in (0.1, 0.25, 0.5)]
    panels.append(("five_95", 0.5, "nats to the five nearest,\n95 %, at N_w 0.5"))
    for (key, share, title), axis in zip(panels, axes, strict=True):
        at = {name: at_success(found[name], share).get(key) for name in names}
        for place, name in enumerate(names):
            if at[name] is not None:
                axis.plot(at[name], place, "o", ms=4.5, color=_colour(names, name))
        axis.axvline(at[_START], color="grey", lw=0.8, zorder=1)
        axis.axhspan(*(names.index(_CHOSEN) + d for d in (-0.5, 0.5)), color="C1", alpha=0.25, lw=0)
        axis.set_title(title, fontsize=9)
        axis.tick_params(labelsize=7)
        axis.grid(alpha=0.3)
    axes[0].set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.5, -0.5))
    _save(figure, path)
    plt.close(figure)


def _listed(found: Found) -> list[str]:
    """The graphs' names: the start, then those that change the same thing, one after another."""
    graphs = [name for name in found if not name.startswith("TEM") and name != _START]
    families = list(dict.fromkeys(_family(name) for name in graphs))
    return [_START, *sorted(graphs, key=lambda name: families.index(_family(name)))]


def _colour(names: list[str], name: str) -> str:
    families = list(dict.fromkeys(_family(one) for one in names))
    return ("C0", "C2")[families.index(_family(name)) % 2]


def _family(name: str) -> str:
    """What a graph changes first; those that change several things are one family."""
    if name == _START:
        return "start"
    return "several" if "," in name else name.partition(" ")[0]


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
