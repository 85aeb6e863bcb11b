"""The laws that the package ships, measured through its public interface: what an ε means."""

from __future__ import annotations

from typing import Any

import numpy as np
from ground import Ground
from laws import odds
from leaks import topics

from malaprop import TEM, Balanced, Mechanism

BALANCED = (0.3, 0.8, 1.0, 1.35, 1.5, 1.85, 2.5, 3.0)
AUDITED = (0.3, 1.25, 1.3, 1.42, 1.5)
"""ε of TEM: where it keeps about as many words as Balanced does, and a small one."""
_BLOCK = 128


def laws(ground: Ground) -> dict[str, list[dict[str, Any]]]:
    """Figures of Balanced on the word graph and of TEM with its audited exponent."""
    plain, graph = ground.lexicon, ground.lexicon.with_graph()
    topic = topics(ground)
    tem = (TEM(epsilon=e, exponent="audited") for e in AUDITED)
    return {
        "Balanced": [figures(ground, topic, Balanced(epsilon=e), graph) for e in BALANCED],
        "TEM": [figures(ground, topic, one, plain) for one in tem],
    }


def figures(ground: Ground, topic: Any, mechanism: Mechanism, lexicon: Any) -> dict[str, Any]:
    """What one law gives, over the sample; the odds are what its guarantee states."""
    channel: Any = mechanism.on(lexicon)
    allowed = np.vectorize(channel.guarantee.loss, otypes=[float])
    names = ("kept", "cos", "top", "topic", "one", "five", "random")
    found: dict[str, list[Any]] = {name: [] for name in names}
    for ids, pairs in _blocks(ground):
        chances, distances = np.exp(channel.log_probabilities(ids)), lexicon.distances(ids)
        own, near = np.arange(len(ids)), ground.near[ids]
        similar = ground.units[ids] @ ground.units.T
        found["kept"].append(chances[own, ids])
        found["cos"].append(np.einsum("ij,ij->i", chances, similar))
        found["top"].append(np.take_along_axis(chances, near, axis=1).sum(axis=1))
        same = np.where(topic[ids][:, None] == topic, chances, 0.0).sum(axis=1)
        found["topic"].append((same - chances[own, ids]) / (1.0 - chances[own, ids]))
        nearest = allowed(np.take_along_axis(distances, near[:, :5], axis=1))
        found["one"].append(nearest[:, 0])
        found["five"].append(nearest.ravel())
        found["random"].append(allowed(distances[own, pairs]))
    whole = {name: np.concatenate(parts) for name, parts in found.items()}
    means = {name: float(whole[name].mean()) for name in names[:4]}
    nats = {k: v for name in names[4:] for k, v in odds(name, whole[name]).items()}
    made = {"epsilon": mechanism.epsilon, "form": _form(channel)}
    return made | means | nats


def _form(channel: Any) -> str:
    """Of Balanced, its own; TEM's exponent may be ε/2 below what was audited."""
    if hasattr(channel.law, "balance"):
        return str(channel.law.balance.form)
    return "audited" if channel.law.exponent > channel.guarantee.epsilon / 2.0 else "half"


def _blocks(ground: Ground) -> list[tuple[Any, Any]]:
    cuts = range(_BLOCK, len(ground.sample), _BLOCK)
    return list(zip(np.split(ground.sample, cuts), np.split(ground.pairs, cuts), strict=True))


def table(found: dict[str, list[dict[str, Any]]]) -> str:
    """One line for each law, as in docs/mechanisms/balanced.md."""
    lines = [
        "| law | ε | form | kept | cos | top | topic | 1-NN | 5-NN | random |",
        "|---|--:|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name, points in found.items():
        for p in points:
            nats = (f"{p[k + '_mean']:.1f} / {p[k + '_95']:.1f}" for k in ("one", "five", "random"))
            shares = (f"{p[k]:.3f}" for k in ("kept", "cos", "top", "topic"))
            cells = (name, f"{p['epsilon']:g}", p["form"], *shares, *nats)
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
