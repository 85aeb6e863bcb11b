"""What it costs that antonyms stay apart: the graph of english that lets them be a step apart, too.

Both graphs get balances for the same ε from the package's own builder. The similarity of words is
compared at an equal share of words recovered, on sentences of film reviews.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from malaprop import Balanced, GraphOptions, Lexicon, Privatizer, seeded_rng
from malaprop.lexicon.tables import Tables
from malaprop.measure import attack
from malaprop.mechanisms.balance import build_table
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.word_graph import graph_of

sys.path.append(str(Path(__file__).resolve().parent.parent))
from attacks import SENTENCES, cleaned, texts

GRAPHS: dict[str, tuple[tuple[str, str], ...] | None] = {"mixed": (), "apart": None}
EPSILONS = (0.95, 1.0, 1.05, 1.3, 1.35, 1.4, 1.45, 1.5, 1.55, 1.95, 2.0, 2.05)
COMPARED = (1.0, 1.35, 1.5, 2.0)
DRAWS = 4  # of the noise, each attacked
_BLOCK = 256


def curves() -> Iterator[dict[str, Any]]:
    """Yield the figures of each graph."""
    english, sample = Lexicon.open("english"), texts()[0][:SENTENCES]
    units = cleaned(english.vectors).astype(np.float32)
    pairs = GraphOptions().apart_in(english.index)
    for name, apart in GRAPHS.items():
        lexicon = english.with_graph(apart=apart)
        graph: Any = graph_of(lexicon.metric)
        table = build_table(graph, lexicon.fingerprint, EPSILONS)
        lexicon = lexicon.with_tables(Tables(balances=table))
        points = [_figures(lexicon, epsilon, units, pairs, sample) for epsilon in EPSILONS]
        yield {"name": name, "points": points}


def _figures(
    lexicon: Lexicon, epsilon: float, units: Floats, pairs: Ids, sample: list[str]
) -> dict[str, Any]:
    """Expected shares and similarity, weighted by the words of the sample; and what attacks get."""
    mechanism = Balanced(epsilon=epsilon)
    channel, privatizer = mechanism.on(lexicon), Privatizer(lexicon, mechanism)
    secret = privatizer.drawing_from(seeded_rng(1)).word_draws(sample).secret
    counts = np.bincount(secret, minlength=len(lexicon))
    kept, similar, turned = (np.zeros(len(lexicon)) for _ in range(3))
    used, opposed = np.flatnonzero(counts), np.unique(pairs)
    for start in range(0, len(used), _BLOCK):
        ids = used[start : start + _BLOCK]
        chances, own = np.exp(channel.log_probabilities(ids)), np.arange(len(ids))
        kept[ids] = chances[own, ids]
        similar[ids] = np.einsum("ij,ij->i", chances, units[ids] @ units.T)
        place = np.full(len(lexicon), -1)
        place[ids] = own
        for one, other in (pairs.T, pairs.T[::-1]):
            here = place[one] >= 0
            np.add.at(turned, one[here], chances[place[one[here]], other[here]])
    scores = {
        kind: [
            attack(
                kind, privatizer.drawing_from(seeded_rng(seed)), sample, rng=seeded_rng(seed)
            ).score
            for seed in range(DRAWS)
        ]
        for kind in ("bayes", "context")
    }
    return {
        "epsilon": epsilon,
        "form": channel.law.balance.form,
        "kept": float(np.average(kept, weights=counts)),
        "cos": float(np.average(similar, weights=counts)),
        "antonym": float(np.average(turned[opposed], weights=counts[opposed])),
        **{kind: float(np.mean(score)) for kind, score in scores.items()},
        "spread": {kind: float(np.std(score, ddof=1)) for kind, score in scores.items()},
    }


def table(found: dict[str, list[dict[str, Any]]]) -> str:
    """One line for each ε: both graphs, and the similarity at an equal share recovered."""
    lines = [
        "| ε | kept | cos | alone | context | antonym | at equal *alone* | at equal *context* |",
        "|--:|---|---|---|---|---|--:|--:|",
    ]
    mixed, apart = found["mixed"], found["apart"]
    for old, new in zip(mixed, apart, strict=True):
        if old["epsilon"] not in COMPARED:
            continue
        names = ("kept", "cos", "bayes", "context", "antonym")
        cells = [f"{old[name]:.4f}, {new[name]:.4f}" for name in names]
        equal = [_at(apart, name, old[name]) - old["cos"] for name in ("bayes", "context")]
        changes = [f"{change:+.4f}" for change in equal]
        row = [f"{old['epsilon']:g}", *cells, *changes]
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines)


def _at(points: list[dict[str, Any]], name: str, value: float) -> float:
    """The similarity where this share is recovered, between the measured ε."""
    return float(np.interp(value, [p[name] for p in points], [p["cos"] for p in points]))
