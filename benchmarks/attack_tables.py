"""The tables of docs/attacks.md, from the stored results of `benchmarks/attacks.py`."""

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
    yield sentence_table(results, content=False)
    yield sentence_table(results, content=True)
    yield review_table(results)
    yield other_review_table(results)
    yield adaptive_table(results)
    yield author_table(results, "regression")
    yield author_table(results, "koppel")
    yield sentiment_table(results)
    yield vector_table(results)


def sentence_table(results: Results, *, content: bool) -> Iterator[str]:
    """Yield the rows of the table of sentences, for all words or for content words."""
    shown = [f"{kind}, {model}" for kind, model in ATTACKS]
    yield f"| mechanism | ε | kept | {' | '.join(shown)} | similar |"
    yield f"|---|{'--:|' * (3 + len(shown))}"
    columns = [f"{kind} {model}" for kind, model in ATTACKS]
    for name, epsilon in sorted(CHANNELS):
        found = [results.get(f"sentences {name} {epsilon} {column}") for column in columns]
        alike = results.get(f"similarity {name} {epsilon}")
        if None in found or alike is None:
            continue
        picked = [one["content"] if content else one for one in found if one]
        cells = [f"{one['score']:.3f}" for one in picked]
        kept = f"{picked[0]['kept']:.3f}"
        yield f"| {' | '.join([name, f'{epsilon:g}', kept, *cells])} | {alike['sentences']:.3f} |"


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
    """Yield the rows of the table of repeated words."""
    yield "| draws | ε | attack | model | all | once | twice | 3 or 4 | 5 to 9 | 10 or more |"
    yield "|---|--:|---|---|--:|--:|--:|--:|--:|--:|"
    for key, result in results.items():
        part, *rest = key.split()
        if part != "reviews":
            continue
        mechanism, epsilon, kind, model, repeat = rest
        if mechanism != "balanced":
            continue
        cells = [f"{group['score']:.3f}" for group in result["occurrences"]]
        front = [repeat, f"{float(epsilon):g}", kind, model, f"{result['score']:.3f}"]
        yield f"| {' | '.join([*front, *cells])} |"


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
        "sentiment, static": "attribute",
        "sentiment, adaptive": "attribute adaptive=True",
        "membership, static": "membership",
        "membership, adaptive": "membership adaptive=True",
    }
    return label_table(results, ("MR", "IMDB"), forms)


def author_table(results: Results, model: str) -> Iterator[str]:
    """Yield the table of authors, for one of the two models."""
    forms = {
        f"{'adaptive' if adaptive else 'static'}{'' if marks else ', no punctuation'}": (
            f"authorship model={model} adaptive={adaptive} punctuation={marks}"
        )
        for adaptive in (False, True)
        for marks in (True, False)
    }
    return label_table(results, ("SOTU", "Gutenberg"), forms)


def label_table(results: Results, corpora: tuple[str, ...], forms: dict[str, str]) -> Iterator[str]:
    """Yield a table: a row for each corpus and channel, a column for each form of the attacks."""
    yield f"| texts | mechanism | ε | {' | '.join(forms)} |"
    yield "|---|---|--:|" + "--:|" * len(forms)
    for corpus in corpora:
        for name, epsilon in LABEL_CHANNELS:
            rows = [results.get(f"{corpus} {name} {epsilon} {form}") for form in forms.values()]
            if any(rows):
                shown = [f"{row['score']:.2f}" if row else "" for row in rows]
                yield f"| {corpus} | {name} | {epsilon:g} | {' | '.join(shown)} |"
        for bound in ("baseline", "random_words", "unprotected"):
            rows = [results.get(f"{corpus} balanced 1.35 {form}") for form in forms.values()]
            shown = [f"{row[bound]:.2f}" if row else "" for row in rows]
            yield f"| {corpus} | *{bound.replace('_', ' ')}* | | {' | '.join(shown)} |"


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
