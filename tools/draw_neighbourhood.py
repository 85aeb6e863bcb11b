"""Draw the neighbourhood of a word in the word graph as SVG.

    python tools/draw_neighbourhood.py [WORD [EPSILON [FILE]]]

Writes docs/mechanisms/balanced-WORD.svg: the words within two steps, with their chances.
"""

import math
import sys
from html import escape
from pathlib import Path

import numpy as np

from malaprop import Balanced, Lexicon
from malaprop.core.graph import graph_of

WIDTH, HEIGHT, MIDDLE = 860, 620, (430, 310)
RADII = {0: (0, 0), 1: (170, 110), 2: (345, 255)}


def main(word: str = "aspirin", epsilon: str = "1.5", file: str = "") -> None:
    """Draw one word's neighbourhood."""
    lexicon = Lexicon.open("english").with_graph()
    graph = graph_of(lexicon.metric)
    if graph is None:
        raise SystemExit("this lexicon has no word graph")
    own = lexicon.index[word]
    steps = graph.distances(np.array([own]))[0]
    chance = np.exp(Balanced(epsilon=float(epsilon)).on(lexicon).log_probabilities([own])[0])
    places = _places(own, steps, graph.edges)
    weighted = zip(graph.edges.tolist(), graph.weights.tolist(), strict=True)
    lines = [_line(places, a, b, weight) for (a, b), weight in weighted]
    shown = [_word(lexicon.words[i], chance[i], at, i == own) for i, at in places.items()]
    target = Path(file or f"docs/mechanisms/balanced-{word}.svg")
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
    style = 'font-family="sans-serif" font-size="15" text-anchor="middle">'
    back = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>'
    target.write_text("\n".join([head + style, back, *filter(None, lines), *shown, "</svg>\n"]))
    print(f"{target}: {len(places)} words")


def _places(own: int, steps: np.ndarray, edges: np.ndarray) -> dict[int, tuple[float, float]]:
    """The word in the middle, its neighbours around it, and theirs behind them."""
    places: dict[int, tuple[float, float]] = {own: MIDDLE}
    first = np.flatnonzero(steps == 1).tolist()
    fans = {i: [j for j in _joined(i, edges) if steps[j] == 2] for i in first}
    slots: list[tuple[int, int]] = []
    seen: set[int] = set()
    for i in first:
        new = [j for j in fans[i] if j not in seen]
        seen.update(new)
        slots += [(i, j) for j in new] or [(i, -1)]
    angles = {slot: 2.0 * math.pi * (k + 0.5) / len(slots) for k, slot in enumerate(slots)}
    for i in first:
        own_angles = [angle for slot, angle in angles.items() if slot[0] == i]
        places[i] = _at(sum(own_angles) / len(own_angles), 1)
    places |= {j: _at(angle, 2) for (_, j), angle in angles.items() if j >= 0}
    return places


def _joined(word: int, edges: np.ndarray) -> list[int]:
    touching = edges[(edges == word).any(axis=1)]
    return touching[touching != word].tolist()  # type: ignore[no-any-return]


def _at(angle: float, ring: int) -> tuple[float, float]:
    across, down = RADII[ring]
    return MIDDLE[0] + across * math.cos(angle), MIDDLE[1] + down * math.sin(angle)


def _line(places: dict[int, tuple[float, float]], a: int, b: int, weight: float) -> str:
    if a not in places or b not in places:
        return ""
    (x, y), (u, v) = places[a], places[b]
    dashes = "" if weight == 1 else ' stroke-dasharray="3 5"'
    colour = "#8aa" if weight == 1 else "#cdd"
    return f'<path d="M{x:.0f} {y:.0f}L{u:.0f} {v:.0f}" stroke="{colour}"{dashes}/>'


def _word(word: str, chance: float, at: tuple[float, float], own: bool) -> str:
    x, y = at
    half = 5 + 4.5 * len(word)
    weight = ' font-weight="bold"' if own else ""
    box = (
        f'<rect x="{x - half:.0f}" y="{y - 19:.0f}" width="{2 * half:.0f}" height="38" '
        'fill="white" opacity="0.85"/>'
    )
    text = f'<text x="{x:.0f}" y="{y:.0f}"{weight}>{escape(word)}</text>'
    share = f'<text x="{x:.0f}" y="{y + 15:.0f}" font-size="12" fill="#667">{chance:.1%}</text>'
    return box + text + share


if __name__ == "__main__":
    main(*sys.argv[1:])
