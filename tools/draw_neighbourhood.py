"""Draw the neighbourhood of a word in the word graph as SVG.

    python tools/draw_neighbourhood.py [WORD [EPSILON [FILE]]]

Writes docs/mechanisms/balanced-WORD.svg: the words within two steps, with their chances.
"""

import math
import random
import sys
from html import escape
from itertools import combinations
from pathlib import Path

import numpy as np

from malaprop import Balanced, Lexicon
from malaprop.privacy.word_graph import WordGraph, graph_of

WIDTH, HEIGHT = 860, 560
RADII = {1: (205, 130), 2: (355, 240)}
STARTS = 40  # random orders to improve on
Point = tuple[float, float]
Line = tuple[int, int, float]


def main(word: str = "aspirin", epsilon: str = "1.5", file: str = "") -> None:
    """Draw one word's neighbourhood."""
    lexicon = Lexicon.open("english").with_graph()
    graph = graph_of(lexicon.metric)
    if graph is None:
        raise SystemExit("this lexicon has no word graph")
    own = lexicon.index[word]
    steps = graph.distances(np.array([own]))[0]
    rings = [np.flatnonzero(steps == ring).tolist() for ring in (1, 2)]
    lines = _lines(graph, {own, *rings[0], *rings[1]})
    places = _places(own, rings, lines)
    chance = np.exp(Balanced(epsilon=float(epsilon)).on(lexicon).log_probabilities([own])[0])
    drawn = [_line(places[a], places[b], weight) for a, b, weight in lines]
    drawn += [_word(lexicon.words[i], chance[i], at, i == own) for i, at in places.items()]
    target = Path(file or f"docs/mechanisms/balanced-{word}.svg")
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
    style = 'font-family="sans-serif" font-size="15" text-anchor="middle">'
    back = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>'
    circles = [_circle(ring) for ring in RADII]
    target.write_text("\n".join([head + style, back, *circles, *drawn, "</svg>\n"]))
    print(f"{target}: {len(places)} words")


def _lines(graph: WordGraph, shown: set[int]) -> list[Line]:
    """Return the edges between shown words, long ones first, so that they are drawn below."""
    weighted = zip(graph.edges.tolist(), graph.weights.tolist(), strict=True)
    lines = [(a, b, weight) for (a, b), weight in weighted if a in shown and b in shown]
    return sorted(lines, key=lambda line: -line[2])


def _places(own: int, rings: list[list[int]], lines: list[Line]) -> dict[int, Point]:
    """Place the word in the middle and rings around it, in the best order found."""
    chooser = random.Random(0)  # noqa: S311 - the same picture each time
    tried = []
    for _ in range(STARTS):
        orders = [chooser.sample(ring, len(ring)) for ring in rings]
        tried.append(_improved(own, orders, lines))
    return min(tried, key=lambda found: found[0])[1]


def _improved(
    own: int, orders: list[list[int]], lines: list[Line]
) -> tuple[float, dict[int, Point]]:
    """Swap words of a ring as long as that lowers the cost."""
    places = _at(own, orders)
    least, better = _cost(places, lines), True
    while better:
        better = False
        for ring in orders:
            for i, j in combinations(ring, 2):
                swapped = places | {i: places[j], j: places[i]}
                cost = _cost(swapped, lines)
                if cost < least - 1e-9:
                    places, least, better = swapped, cost, True
    return least, places


def _at(own: int, orders: list[list[int]]) -> dict[int, Point]:
    places: dict[int, Point] = {own: (WIDTH / 2, HEIGHT / 2)}
    for order, (across, down) in zip(orders, RADII.values(), strict=True):
        for k, word in enumerate(order):
            angle = 2.0 * math.pi * (k + 0.5) / len(order)
            x, y = across * math.cos(angle), down * math.sin(angle)
            places[word] = (WIDTH / 2 + x, HEIGHT / 2 + y)
    return places


def _cost(places: dict[int, Point], lines: list[Line]) -> float:
    """Return the length of all lines, plus penalties for crossings and hidden lines."""
    ends = [(places[a], places[b], weight) for a, b, weight in lines]
    cost = sum(math.dist(a, b) / weight for a, b, weight in ends)
    for (*one, first), (*other, second) in combinations(ends, 2):
        cost += 300.0 * _crosses(one, other) / (first * second)
    return cost + 500.0 * sum(_covers(at, both) for *both, _ in ends for at in places.values())


def _crosses(one: list[Point], other: list[Point]) -> bool:
    if set(one) & set(other):
        return False
    (a, b), (c, d) = one, other
    return _side(a, b, c) * _side(a, b, d) < 0 and _side(c, d, a) * _side(c, d, b) < 0


def _side(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _covers(at: Point, line: list[Point]) -> bool:
    """Return whether a word lies on a line that does not end there."""
    if at in line:
        return False
    # Words are some two and a half times as wide as high.
    (x, y), (u, v), (p, q) = ((a / 2.5, b) for a, b in (*line, at))
    along = ((p - x) * (u - x) + (q - y) * (v - y)) / ((u - x) ** 2 + (v - y) ** 2)
    along = min(1.0, max(0.0, along))
    return math.dist((p, q), (x + along * (u - x), y + along * (v - y))) < 26.0


def _circle(ring: int) -> str:
    across, down = RADII[ring]
    middle = f'cx="{WIDTH // 2}" cy="{HEIGHT // 2}" rx="{across}" ry="{down}"'
    return f'<ellipse {middle} fill="none" stroke="#eef1f1" stroke-width="14"/>'


def _line(start: Point, end: Point, weight: float) -> str:
    dashes = "" if weight == 1 else ' stroke-dasharray="4 5"'
    colour, width = ("#4f8080", 1.6) if weight == 1 else ("#9ab", 1.1)
    path = f"M{start[0]:.0f} {start[1]:.0f}L{end[0]:.0f} {end[1]:.0f}"
    return f'<path d="{path}" stroke="{colour}" stroke-width="{width}"{dashes}/>'


def _word(word: str, chance: float, at: Point, own: bool) -> str:
    x, y = at
    half = 14 + 4.3 * len(word)
    fill, weight = ("#d9ecec", ' font-weight="bold"') if own else ("white", "")
    box = (
        f'<rect x="{x - half:.0f}" y="{y - 21:.0f}" width="{2 * half:.0f}" height="42" rx="12" '
        f'fill="{fill}" stroke="#4f8080"/>'
    )
    text = f'<text x="{x:.0f}" y="{y - 2:.0f}"{weight}>{escape(word)}</text>'
    share = f'<text x="{x:.0f}" y="{y + 14:.0f}" font-size="12" fill="#556">{chance:.1%}</text>'
    return box + text + share


if __name__ == "__main__":
    main(*sys.argv[1:])
