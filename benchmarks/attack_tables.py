"""The tables of docs/explanation/attacks.md, from the stored results of `benchmarks/attacks.py`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Results = Mapping[str, Any]
"""What was measured, by key."""

CHANNELS = (
    *[("balanced", epsilon) for epsilon in (1.0, 1.2, 1.35, 1.5, 1.75, 2.0, 2.5)],
    *[("tem", epsilon) for epsilon in (1.3, 1.42, 1.5, 1.6)],
    *[("laplace", epsilon) for epsilon in (10.0, 12.0, 15.0)],
)
NEURAL = (*[("balanced", epsilon) for epsilon in (1.0, 1.35, 1.5, 2.0)], ("tem", 1.6))
LABEL_CHANNELS = (
    *[("balanced", epsilon) for epsilon in (1.0, 1.35, 2.0)],
    *[("tem", epsilon) for epsilon in (1.42, 1.6)],
    *[("laplace", epsilon) for epsilon in (12.0, 15.0)],
)
REVIEWED = (
    *[("balanced", epsilon) for epsilon in (1.35, 1.5, 2.0)],
    *[("tem", epsilon) for epsilon in (1.42, 1.6)],
    *[("laplace", epsilon) for epsilon in (12.0, 15.0)],
)
VECTOR_EPSILONS = (1.0, 5.0, 8.0, 10.0, 12.0, 15.0, 20.0)
ATTACKS = tuple((kind, model) for kind in ("bayes", "context") for model in ("web", "MR", "IMDB"))
_TABLE = re.compile(r"^\|.*\n\|[-:|]+\|\n(?:\|.*\n)*", re.MULTILINE)


def entered(page: str, results: Results) -> str:
    """Return the page with its measured tables as they are now; other tables stay."""
    return replaced_tables(page, tables(results))


def replaced_tables(page: str, found: Iterable[Iterator[str]]) -> str:
    """Return a page with some tables in place of those that have the same heads."""
    made: dict[str, list[str]] = {}
    for table in found:
        head, *rows = table
        made.setdefault(head, []).append("".join(f"{row}\n" for row in (head, *rows)))

    def replaced(match: re.Match[str]) -> str:
        waiting = made.get(match[0].split("\n")[0])
        return waiting.pop(0) if waiting else match[0]

    text = _TABLE.sub(replaced, page)
    if any(made.values()):
        raise ValueError("a table has no place in the page: enter its head first")
    return text


def tables(results: Results) -> Iterator[Iterator[str]]:
    """Yield all tables, in the order of the page."""
    yield sentence_table(results)
    yield neural_table(results)
    yield review_table(results)
    yield other_review_table(results)
    yield adaptive_table(results)
    yield author_table(results)
    yield sentiment_table(results)
    yield vector_table(results)


def sentence_table(results: Results) -> Iterator[str]:
    """Yield the rows of the table of sentences: all words, and content words in brackets."""
    shown = [f"{kind}, {model}" for kind, model in ATTACKS]
    yield f"| mechanism | ε | kept | {' | '.join(shown)} | similar |"
    yield f"|---|{'--:|' * (3 + len(shown))}"
    columns = [f"{kind} {model}" for kind, model in ATTACKS]
    for name, epsilon in sorted(CHANNELS):
        found = [results.get(f"sentences {name} {epsilon} {column}") for column in columns]
        alike = results.get(f"similarity {name} {epsilon}")
        if None in found or alike is None:
            continue
        cells = [f"{one['score']:.3f} ({one['content']['score']:.3f})" for one in found if one]
        kept = next(f"{one['kept']:.3f} ({one['content']['kept']:.3f})" for one in found if one)
        yield f"| {' | '.join([name, f'{epsilon:g}', kept, *cells])} | {alike['sentences']:.3f} |"


def neural_table(results: Results) -> Iterator[str]:
    """Yield the rows of the table of sentences that a neural model read."""
    kinds = ("bayes", "context", "language-model")
    yield "| mechanism | ε | sentences | kept | bayes | context | language-model |"
    yield f"|---|{'--:|' * (3 + len(kinds))}"
    for name, epsilon in NEURAL:
        found = [results.get(f"read {name} {epsilon} {kind}") for kind in kinds]
        rows = [row for row in found if row]
        if len(rows) < len(kinds) or len({row["texts"] for row in rows}) > 1:
            continue
        cells = [f"{row['score']:.3f} ({row['content']['score']:.3f})" for row in rows]
        kept = f"{rows[0]['kept']:.3f} ({rows[0]['content']['kept']:.3f})"
        yield f"| {name} | {epsilon:g} | {rows[0]['texts']} | {kept} | {' | '.join(cells)} |"


def adaptive_table(results: Results) -> Iterator[str]:
    """Yield the rows of the table of attacks that adapt."""
    yield "| mechanism | ε | bayes | bayes, adaptive | context | context, adaptive |"
    yield "|---|--:|--:|--:|--:|--:|"
    for name, epsilon in sorted(CHANNELS):
        rows = [
            results.get(f"sentences {name} {epsilon} {kind} {form}")
            for kind in ("bayes", "context")
            for form in ("web", "adaptive")
        ]
        if None not in rows:
            cells = [f"{row['score']:.3f} ({row['content']['score']:.3f})" for row in rows if row]
            yield f"| {name} | {epsilon:g} | {' | '.join(cells)} |"


def review_table(results: Results) -> Iterator[str]:
    """Yield the rows of the table of repeated words: the general model's, IMDB's in brackets."""
    yield "| draws | ε | attack | all | once | twice | 3 or 4 | 5 to 9 | 10 or more |"
    yield "|---|--:|---|--:|--:|--:|--:|--:|--:|"
    for key, result in results.items():
        part, *rest = key.split()
        if part != "reviews":
            continue
        mechanism, epsilon, kind, model, repeat = rest
        if mechanism != "balanced" or model != "web":
            continue
        other = results[f"reviews {mechanism} {epsilon} {kind} IMDB {repeat}"]
        pairs = zip([result, *result["occurrences"]], [other, *other["occurrences"]], strict=True)
        cells = [f"{web['score']:.3f} ({imdb['score']:.3f})" for web, imdb in pairs]
        yield f"| {' | '.join([repeat, f'{float(epsilon):g}', kind, *cells])} |"


def other_review_table(results: Results) -> Iterator[str]:
    """Yield the table of whole reviews for all mechanisms, attacked with a model of reviews."""
    yield "| mechanism | ε | kept | bayes | context | majority | majority, 5 to 9 | context, document | frequency, document |"  # noqa: E501
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    forms = [f"{kind} IMDB fresh" for kind in ("bayes", "context", "majority")]
    forms += [f"{kind} IMDB document" for kind in ("context", "frequency")]
    for name, epsilon in REVIEWED:
        rows = [results.get(f"reviews {name} {epsilon} {form}") for form in forms]
        if None in rows[:3]:
            continue
        often = next(each for each in rows[2]["occurrences"] if each["name"] == "5 to 9 times")
        shares = [f"{row['score']:.3f}" if row else "–" for row in rows]
        shares = [f"{rows[0]['kept']:.3f}", *shares[:3], f"{often['score']:.3f}", *shares[3:]]
        yield f"| {name} | {epsilon:g} | {' | '.join(shares)} |"


def sentiment_table(results: Results) -> Iterator[str]:
    """Yield the table of sentiment and membership."""
    forms = {
        "sentiment, static": ("attribute",),
        "sentiment, adaptive": ("attribute adaptive=True",),
        "membership, static": ("membership",),
        "membership, adaptive": ("membership adaptive=True",),
    }
    return label_table(results, ("MR", "IMDB"), forms)


def author_table(results: Results) -> Iterator[str]:
    """Yield the table of authors: by regression, and by Koppel's subspaces in brackets."""
    forms = {
        f"{'adaptive' if adaptive else 'static'}{'' if marks else ', no punctuation'}": tuple(
            f"authorship model={model} adaptive={adaptive} punctuation={marks}"
            for model in ("regression", "koppel")
        )
        for adaptive in (False, True)
        for marks in (True, False)
    }
    return label_table(results, ("SOTU", "Gutenberg"), forms)


def label_table(
    results: Results, corpora: tuple[str, ...], forms: Mapping[str, tuple[str, ...]]
) -> Iterator[str]:
    """Yield a table: a row for each corpus and channel, a column for each form of the attacks.

    A form has a key, or two: the figure of the second one is in brackets.
    """
    yield f"| texts | mechanism | ε | {' | '.join(forms)} |"
    yield "|---|---|--:|" + "--:|" * len(forms)
    for corpus in corpora:
        for name, epsilon in LABEL_CHANNELS:
            cells = [_cell(results, f"{corpus} {name} {epsilon}", keys) for keys in forms.values()]
            if any(cells):
                yield f"| {corpus} | {name} | {epsilon:g} | {' | '.join(cells)} |"
        for bound in ("baseline", "random_words", "unprotected"):
            at = f"{corpus} balanced 1.35"
            cells = [_cell(results, at, keys, bound) for keys in forms.values()]
            yield f"| {corpus} | *{bound.replace('_', ' ')}* | | {' | '.join(cells)} |"


def _cell(results: Results, channel: str, keys: tuple[str, ...], figure: str = "score") -> str:
    found = [results.get(f"{channel} {key}") for key in keys]
    first, *others = [f"{row[figure]:.2f}" if row else "" for row in found]
    return f"{first} ({others[0]})" if others and others[0] else first


def vector_table(results: Results) -> Iterator[str]:
    """Yield the table of vectors."""
    yield "| ε | inversion | float, grid | float, raw | words left, grid | words left, raw |"
    yield "|--:|--:|--:|--:|--:|--:|"
    for epsilon in VECTOR_EPSILONS:
        keys = [f"vectors laplace {epsilon} {kind}" for kind in ("inversion grid", "float grid")]
        one, grid, raw = (
            results.get(key) for key in [*keys, f"vectors laplace {epsilon} float raw"]
        )
        if one and grid and raw:
            scores = " | ".join(f"{each['score']:.3f}" for each in (one, grid, raw))
            left = f"{grid['surviving']:,.0f} | {raw['surviving']:,.1f}"
            yield f"| {epsilon:g} | {scores} | {left} |"
