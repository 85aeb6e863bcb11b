"""Draw the pictures of the README and of the tutorials.

    python tools/draw_pictures.py [NAME]

One readable draw at each ε, with a fixed seed, not selected. Words that changed are coloured by how
many steps of the word graph they moved.
"""

import csv
import re
import sys
from collections.abc import Callable
from difflib import SequenceMatcher
from html import escape
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from presidio_analyzer import PatternRecognizer
from presidio_anonymizer import AnonymizerEngine

from malaprop import Balanced, Lexicon, Privatizer, PrivEmb, measure, seeded_rng
from malaprop.integrations.presidio import PresidioDetector
from malaprop.measure.profile import context_curve
from malaprop.privacy.word_graph import graph_of
from malaprop.report.plots import drawn, frontier

DOCS = Path(__file__).resolve().parent.parent / "docs"
NOTE = (
    "Patient is a 54-year-old woman from Leeds, seen on 12 March 2023 for chest pain. She takes "
    "metformin 500 mg twice a day; blood pressure 142/88."
)
EPSILONS = (2.0, 1.5, 1.0)
NAMED_NOTE = (
    "Zinhle Mthembu has HIV. Call 212-555-0142 or write to zinhle@mthembu.org. Her sister Anna "
    "found out in March and told the church in Leeds."
)
WIDTH, LINE, LETTERS = 860, 26, 84  # letters on a line, in a font of fixed width
STYLE = """\
text { font: 15px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1f2328; }
.head { font-weight: bold; } .note { font-size: 13px; }
.near { fill: #0550ae; } .far { fill: #953800; }
.back { fill: #ffffff; stroke: #d1d9e0; }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc; } .near { fill: #79c0ff; } .far { fill: #ffa657; }
  .back { fill: #0d1117; stroke: #3d444d; }
}"""
KEY = (
    'Colours: <tspan class="near">moved by one or two steps, or a value of its kind</tspan>, '
    '<tspan class="far">farther</tspan>. One draw each, seed 1, not selected.'
)
CHANGED_KEY = 'Colour: <tspan class="near">changed</tspan>. One draw, seed 1, not selected.'

Part = tuple[str, str]
"""A piece of text, and the class that colours it."""
Block = tuple[str, list[Part]]
"""A text under its title."""


def before_after() -> str:
    """Return a note before, and after at each ε."""
    blocks: list[Block] = [("Before", [(NOTE, "")])]
    for epsilon in EPSILONS:
        private = Privatizer(epsilon=epsilon, readable=True, rng=seeded_rng(1))
        blocks.append((f"After, ε = {epsilon:g}", coloured(private, NOTE, private(NOTE).text)))
    return picture(blocks, "A note before, and after at three values of epsilon", KEY)


def presidio_first() -> str:
    """Return a note, what Presidio alone leaves of it, and what both make of it."""
    patterns = PresidioDetector()
    patients = PatternRecognizer("PERSON", name="patients", deny_list=["Zinhle Mthembu"])

    def found(text: str) -> list[Any]:
        return [*patterns(text), *patients.analyze(text, ["PERSON"])]

    replaced = AnonymizerEngine().anonymize(NAMED_NOTE, found(NAMED_NOTE)).text
    private = Privatizer(
        epsilon=1.5, readable=True, detector=found, redraw="people", rng=seeded_rng(1)
    )
    both = private(NAMED_NOTE).text
    blocks: list[Block] = [
        ("The note", [(NAMED_NOTE, "")]),
        ("Presidio alone", changed(NAMED_NOTE, replaced)),
        ("Presidio first, then Malaprop, ε = 1.5", changed(NAMED_NOTE, both)),
    ]
    return picture(blocks, "A note, after Presidio alone, and after both", CHANGED_KEY)


def shares_by_epsilon() -> str:
    """Return what an observer recovers from film reviews, by ε."""
    curve = context_curve(Balanced(epsilon=1.5), Lexicon.open("english").with_graph())
    if not curve:
        raise SystemExit("there are no figures for balanced on english")

    def paint(axes: Any) -> None:
        epsilons = [figure.epsilon for figure in curve]
        for name, label, style in (
            ("context", "recovered with context", "o-"),
            ("alone", "recovered word by word", "s--"),
            ("kept", "stay as they are", "^:"),
        ):
            shares = [getattr(figure, name) for figure in curve]
            axes.plot(epsilons, shares, style, label=label, color="#1f3b57", markersize=4)
        axes.set(xlabel="ε", ylabel="share of words", xlim=(0.5, 3), ylim=(0, 1))
        axes.legend(loc="lower right")

    return drawn(paint)


def vectors_by_epsilon() -> str:
    """Return what is left of vectors, and what is found again, by ε: those of the tutorial."""
    rng = seeded_rng(1)
    topics = rng.normal(size=(20, 64))
    documents = topics[rng.integers(20, size=2000)] + rng.normal(size=(2000, 64)) / 2
    documents /= np.linalg.norm(documents, axis=1, keepdims=True)
    public = documents[:1000]
    epsilons = (5, 10, 15, 20, 30, 40, 60, 80, 100)
    figures = []
    for epsilon in epsilons:
        mechanism = PrivEmb(epsilon=epsilon, projection="pca", dimension=16)
        compared = measure.noise_and_scale(
            mechanism.for_vectors(64, public), public=public, rng=rng
        )
        if compared is None:
            raise SystemExit("the noise of priv-emb has a length")
        figures.append(compared.figures)

    def paint(axes: Any) -> None:
        for name, label, style in (
            ("correlation", "correlation of distances", "o-"),
            ("inversion", "vectors found again", "s--"),
        ):
            values = [getattr(figure, name) for figure in figures]
            axes.plot(epsilons, values, style, label=label, color="#1f3b57", markersize=4)
        axes.set(xlabel="ε", ylim=(0, 1.02))
        axes.legend(loc="lower right")

    return drawn(paint)


def training_set() -> str:
    """Return what `malaprop evaluate` draws of the example reviews."""
    with (DOCS.parent / "examples" / "reviews.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    evaluation = measure.evaluate(
        [row["text"] for row in rows],
        [row["verdict"] for row in rows],
        mechanisms=["balanced"],
        epsilons=[1.0, 1.2, 1.35],
        settings=measure.EvaluationSettings(runs=3),
        rng=seeded_rng(1),
    )
    return frontier(evaluation)


PICTURES: dict[str, Callable[[], str]] = {
    "before-after": before_after,
    "tutorials/presidio-first": presidio_first,
    "tutorials/choose-epsilon": shares_by_epsilon,
    "tutorials/training-set": training_set,
    "tutorials/private-vectors": vectors_by_epsilon,
}


def picture(blocks: list[Block], about: str, key: str) -> str:
    """Return texts under their titles, with a key below them."""
    lines: list[str] = []
    place = 34
    for title, parts in blocks:
        lines.append(f'<text class="head" x="24" y="{place}">{escape(title)}</text>')
        for line in wrapped([(piece, kind) for part, kind in parts for piece in _pieces(part)]):
            place += LINE
            spans = "".join(
                f'<tspan class="{kind}">{escape(part)}</tspan>' if kind else escape(part)
                for part, kind in line
            )
            lines.append(f'<text x="24" y="{place}" xml:space="preserve">{spans}</text>')
        place += LINE + 14
    lines.append(f'<text class="note" x="24" y="{place}">{key}</text>')
    height = place + 24
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{about}">\n<style>{STYLE}</style>\n'
        f'<rect class="back" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>\n'
        + "\n".join(lines)
        + "\n</svg>\n"
    )


def coloured(privatizer: Privatizer, text: str, private: str) -> list[Part]:
    """Return the parts of a private text, each with its class."""
    graph = graph_of(privatizer.lexicon.metric)
    if graph is None:
        raise SystemExit("this lexicon has no word graph")
    index = privatizer.lexicon.index

    def kind(before: str | None, after: str) -> str:
        if before is None or before.casefold() == after.casefold() or not after[0].isalnum():
            return ""
        if not after[0].isalpha():
            return "near"
        one, other = index.get(privatizer.mapped(before)), index.get(after.casefold())
        if one is None or other is None:
            return "far"
        return "near" if graph.distances(np.array([one]))[0][other] <= 2 else "far"

    pairs = zip_longest(_parts(text), _parts(private))
    return [(after, kind(before, after)) for before, after in pairs if after is not None]


def changed(text: str, private: str) -> list[Part]:
    """Return the pieces of a private text, coloured where they are others."""
    before, after = _pieces(text), _pieces(private)
    parts: list[Part] = []
    for same, _, _, first, last in SequenceMatcher(None, before, after, False).get_opcodes():
        parts += [
            (piece, "" if same == "equal" or piece.isspace() else "near")
            for piece in after[first:last]
        ]
    return parts


def _parts(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+(?:'[a-z]+)?|\d+|\s+|.", text)


def _pieces(text: str) -> list[str]:
    return re.findall(r"\s+|\S+", text)


def wrapped(parts: list[Part]) -> list[list[Part]]:
    """Return the parts line by line; lines break at spaces."""
    lines: list[list[Part]] = [[]]
    length = 0
    for place, (part, kind) in enumerate(parts):
        ahead = len(part)
        if part.isspace():
            for word, _ in parts[place + 1 :]:
                if word.isspace():
                    break
                ahead += len(word)
            if length + ahead > LETTERS:
                lines.append([])
                length = 0
                continue
        lines[-1].append((part, kind))
        length += len(part)
    return lines


if __name__ == "__main__":
    for name in sys.argv[1:] or PICTURES:
        (DOCS / f"{name}.svg").write_text(PICTURES[name](), "utf-8")
        print(name)
