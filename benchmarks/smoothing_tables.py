"""The tables of docs/howto/smoothing.md, from the stored results of `benchmarks/smoothing.py`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from attack_tables import replaced_tables

from malaprop.smoother import SETTINGS

Results = Mapping[str, Any]
"""What was measured, by key."""

EPSILONS = (1.0, 1.35, 1.5, 2.0)
KINDS = ("reviews", "tweets", "news", "captions", "abstracts", "mail")
TUNED = 1.35
"""The ε at which constants are compared."""
SETS = {"mr": "MR", "trec": "TREC", "disaster-tweets": "tweets"}
GRID = (
    *SETTINGS.values(),
    (0.05, 0.02, 0.4, 16),
    (0.3, 0.02, 0.4, 16),
    (0.15, 0.02, 0.25, 16),
    (0.15, 0.02, 0.02, 16),
    (0.15, 0.04, 0.4, 16),
    (0.15, 0.02, 0.4, 24),
)
"""ρ, τ, τ of words without pairs, and candidates: the settings of this version first."""

EQUAL = {
    "balanced": (1.2, 1.35, 1.5, 1.75, 2.0, 2.5),
    "tem": (1.44, 1.5, 1.55, 1.65, 1.7),
    "laplace": (11.0, 13.0, 16.0, 19.0),
}
"""Mechanisms and their ε, between which figures at an equal share recovered are interpolated."""
LEVELS = (0.3, 0.4, 0.5, 0.6)


def constants(values: tuple[float, ...]) -> str:
    """Return the key of some constants."""
    return " ".join(map(str, ("tune", TUNED, *values)))


def entered(page: str, results: Results) -> str:
    """Return the page with its measured tables as they are now; other tables stay."""
    tables = (all_table, kind_table, classifier_table, grid_table)
    shares = ("success_context_content", "success_context")
    equal = (equal_table(results, share) for share in shares)
    return replaced_tables(page, [*(made(results) for made in tables), *equal])


def all_table(results: Results) -> Iterator[str]:
    """Yield what smoothing does at each ε, over all kinds."""
    yield (
        "| ε | setting | words recovered | cosine of words | of content words | of unknown words | "
        "sentences | perplexity |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for epsilon in EPSILONS:
        for setting in measured(results):
            raw, own = (results[f"words {epsilon} {name}"] for name in ("drawn", setting))
            cells = [
                pair(mean(raw, figure), mean(own, figure))
                for figure in ("recovered", "cosine", "content cosine", "unknown cosine")
            ]
            gain, error = pooled(own, "unknown")
            cells[3] += f" ({signed(gain)} ± {error:.3f})"
            close = (results[f"sentences {epsilon} {n}"].values() for n in ("drawn", setting))
            cells.append(pair(*(sum(kinds) / len(kinds) for kinds in close)))
            cells.append(f"{perplexity(raw):.1f} × → {perplexity(own):.2f} ×")
            yield f"| {epsilon:g} | {setting} | {' | '.join(cells)} |"


def measured(results: Results) -> list[str]:
    """Return the settings that were measured."""
    return [
        name
        for name in SETTINGS
        if all(f"{part} {EPSILONS[-1]} {name}" in results for part in ("words", "sentences"))
    ]


def kind_table(results: Results) -> Iterator[str]:
    """Yield what smoothing does to each kind of sentences."""
    yield (
        "| kind | setting | cosine of words, ε = 1.35 | sentences, ε = 1.35 | "
        "perplexity, ε = 1.35 | content words, ε = 1 | 1.35 | 1.5 | 2 |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for kind in KINDS:
        for setting in measured(results):
            raw, own = (results[f"words 1.35 {name}"][kind] for name in ("drawn", setting))
            close = (results[f"sentences 1.35 {name}"][kind] for name in ("drawn", setting))
            gains = (results[f"words {epsilon} {setting}"][kind]["content"] for epsilon in EPSILONS)
            cells = [
                pair(raw["cosine"], own["cosine"]),
                pair(*close),
                f"{raw['perplexity']:.1f} × → {own['perplexity']:.2f} ×",
                *(f"{signed(gain)} ± {error:.3f}" for gain, error, _ in gains),
            ]
            yield f"| {kind} | {setting} | {' | '.join(cells)} |"


def classifier_table(results: Results) -> Iterator[str]:
    """Yield the accuracy of classifiers that were trained on private texts."""
    yield "| trained on | setting | clean | ε = 1 | ε = 1.35 | ε = 1.5 | ε = 2 |"
    yield "|---|---|---|---|---|---|---|"
    for key, name in SETS.items():
        found = [results[f"classifiers {key} {epsilon}"] for epsilon in EPSILONS]
        for setting in SETTINGS:
            if any(setting not in scores for scores in found):
                continue
            cells = [
                pair(*(sum(scores[n]) / len(scores[n]) for n in ("drawn", setting)))
                for scores in found
            ]
            yield f"| {name} | {setting} | {found[0]['clean'][0]:.3f} | {' | '.join(cells)} |"


def grid_table(results: Results) -> Iterator[str]:
    """Yield what constants do, on the sentences for tuning."""
    yield (
        "| ρ | τ | τ without pairs | candidates | words recovered | cosine of words | "
        "least gain of content words of a kind | unknown words | perplexity |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for values in GRID:
        own = results[constants(values)]
        least = min(figures["content"][0] for figures in own.values())
        gain, error = pooled(own, "unknown")
        cells = [
            *(f"{value:g}" for value in values),
            f"{mean(own, 'recovered'):.3f}",
            f"{mean(own, 'cosine'):.3f}",
            signed(least),
            f"{signed(gain)} ± {error:.3f}",
            f"{perplexity(own):.2f} ×",
        ]
        yield f"| {' | '.join(cells)} |"


def equal_table(results: Results, share: str) -> Iterator[str]:
    """Yield how similar sentences are where attacks recover equal shares of words."""
    yield f"| recovered | {' | '.join(EQUAL)} |"
    yield "|--:|---|---|---|"
    for level in LEVELS:
        cells = []
        for name, epsilons in EQUAL.items():
            points = [results[f"equal {name} {epsilon}"] for epsilon in epsilons]
            shares = [point[share] for point in points]
            values = (
                np.interp(level, shares, [point[figure] for point in points])
                for figure in ("sentences", "sentences_smoothed")
            )
            cells.append(" → ".join(f"{value:.2f}" for value in values))
        yield f"| {level * 100:.0f} % | {' | '.join(cells)} |"


_COUNTED = {"recovered": "words", "cosine": "words", "content cosine": "content"}


def mean(kinds: Results, figure: str) -> float:
    """Return the mean of a figure over the words of all kinds."""
    counts = [_count(figures, figure) for figures in kinds.values()]
    values = [figures[figure] for figures in kinds.values()]
    return sum(c * v for c, v in zip(counts, values, strict=True)) / sum(counts)


def _count(figures: Results, figure: str) -> int:
    counted = figures[_COUNTED.get(figure, "unknown")]
    return int(counted if isinstance(counted, int) else counted[2])


def pooled(kinds: Results, figure: str) -> tuple[float, float]:
    """Return the mean of a gain over all kinds, and its standard error."""
    every = [figures[figure] for figures in kinds.values()]
    count = sum(number for _, _, number in every)
    gain = sum(value * number for value, _, number in every) / count
    return gain, math.sqrt(sum((error * number) ** 2 for _, error, number in every)) / count


def perplexity(kinds: Results) -> float:
    """Return the perplexity of all kinds as a multiple of that of the original texts."""
    words = sum(figures["words"] for figures in kinds.values())
    logs = sum(f["words"] * math.log(f["perplexity"]) for f in kinds.values())
    return math.exp(logs / words)


def pair(raw: float, smoothed: float) -> str:
    """Write a figure of drawn texts, and that of smoothed ones."""
    return f"{raw:.3f} → {smoothed:.3f}"


def signed(value: float) -> str:
    """Write a difference with its sign."""
    return f"{value:+.3f}".replace("-", "−")
