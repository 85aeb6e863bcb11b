"""The page of the frontier, as Markdown or HTML, and what the terminal shows."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from malaprop.report.frontier.curves import (
    BETTER,
    LEVELS,
    RECOMMENDED,
    Curve,
    curves,
    floors,
    verdicts,
)
from malaprop.report.frontier.measured import HEAD as MEASURED
from malaprop.report.frontier.measured import figure, measured_rows, share
from malaprop.report.frontier.plot import plot
from malaprop.report.markup import bullets, text
from malaprop.report.page import document
from malaprop.studies import Line

_ALONE, _CONTEXT, _LOSS = "success_alone", "success_context", "loss_of_nearest"
_HEAD = (
    "recovered",
    "mechanism",
    "ε",
    "word alone",
    "with context",
    "nats to the nearest word",
    "kept",
    *BETTER,
)
_CHOICE = ("recovered", "ε", "words that stay", "similarity")
_COMPARED = ("measure", "better", "worse", "not decided", "who is better, at which share recovered")
_UNDECIDED = (
    "Comparisons with every other mechanism at every share recovered. A difference within two "
    "standard errors is not decided."
)
_BY_EPSILON = (
    "The figures as they were measured, at each mechanism's own ε. Do not compare mechanisms by "
    "these: their ε are of different metrics."
)
_READING = tuple(
    """
**Recovered** is the share of words that an observer gets right who knows the mechanism, how
frequent words are, and which words follow which: the better of the attacks `bayes` (each **word
alone**) and `context` (**with context**: bigrams). All mechanisms are compared at the same share
recovered, not at the same ε: an ε of one metric says nothing about an ε of another.

**Nats to the nearest word** is the guarantee in one unit: the most that an output can tell a word
from its nearest word in the vectors, as a log-ratio, the median over words. Empty where a mechanism
promises (ε, δ).

**Similarity** is the mean similarity of a word and its replacement; **word similarity** Spearman's
correlation on MEN; **accuracy** that of logistic regression on private film reviews (MR); **sts**
Pearson's correlation on the STS benchmark. **Attribution** is the share of presidents identified by
Koppel's method, which a mechanism should lower; the attacker learns from clean texts, or (adaptive)
from private ones.

Figures at a level are interpolated between two measured ε, ± one standard error. There are two
draws of a task, or four splits of attribution, at each ε, so an error counts for no less than the
root mean square of its measure's errors over all points: two draws that agree prove nothing.
""".strip().split("\n\n")
)
_LIMITS = tuple(
    """
The law of words under noise on vectors (laplace, mahalanobis, priv-emb, coordinate-laplace,
gaussian, nadp) is not known, so attacks on them use estimates from draws, and recover hardly more
than the words that are kept: a lower bound. Their curves may lie further to the right, and their
lead over balanced in sts and word similarity may be smaller than it looks. Attacks on balanced and
tem use the exact law.

sts and word similarity reward words that stay as they are: on the STS benchmark a random table with
no embedding comes close to the true vectors (docs/tasks.md). A mechanism that keeps a word or
replaces it by a far one does well there, and one that takes near words instead does not.

Nats to the nearest word say nothing about words that are far apart: there, a metric guarantee
grows with its own distance, which for balanced is that in its graph of words, up to its cutoff.

A better model of language than bigrams recovers more from every mechanism.

permute-and-flip is left out: a draw takes it milliseconds on this lexicon. The hyperbolic
mechanisms are left out: their lexicon has nouns only. jaccard is left out: its sound form is
Gaussian noise.

Tasks are small: 300 reviews to attack, train on and test on, 250 pairs of sentences, 700 pairs of
words. Take differences in accuracy of a few hundredths for luck.

The figures are those of English film reviews, captions and addresses. Measure your own:
`malaprop evaluate FILE`.
""".strip().split("\n\n")
)


def readable(lines: Sequence[Line]) -> str:
    """Return the frontier as text: mechanisms at equal success, and where others are better."""
    rows, choices = [_HEAD, *_rows(curves(lines))], _choices(curves(lines))
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD))]
    shown = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    chosen = (", ".join(f"{n} {v}" for n, v in zip(_CHOICE, row, strict=True)) for row in choices)
    better = (f"{row[0]}: better are {row[-1]}" for row in _compared(curves(lines)) if row[-1])
    return "\n".join([*shown, "", *better, "", *_advice(curves(lines)), *chosen]) + "\n"


def page_files(lines: Sequence[Line], path: Path) -> dict[Path, str]:
    """Return the page as files: HTML that holds everything, or Markdown with the plot beside."""
    all_curves = curves(lines)
    picture = plot(all_curves)
    if path.name.lower().endswith(".html"):
        return {path: _html(lines, all_curves, picture)}
    name = f"{path.stem}.svg"
    return {path: _markdown(lines, all_curves, name), path.with_name(name): picture}


def _markdown(lines: Sequence[Line], all_curves: Sequence[Curve], picture: str) -> str:
    parts = [
        "# The frontier: which mechanism, and which ε",
        _how(lines[0]),
        "## What to choose",
        bullets(_advice(all_curves)),
        _table(_CHOICE, _choices(all_curves)),
        f"![utility against the share of words recovered]({picture})",
        "## How to read it",
        bullets(_READING),
        "## At equal measured privacy",
        _table(_HEAD, _rows(all_curves)),
        *_unreached(all_curves),
        f"## Where `{RECOMMENDED}` is not the best",
        _UNDECIDED,
        _table(_COMPARED, _compared(all_curves)),
        "## By ε",
        _BY_EPSILON,
        f"<details>\n<summary>All {len(measured_rows(all_curves))} points</summary>",
        _table(MEASURED, measured_rows(all_curves)),
        "</details>",
        "## Floors and ceiling",
        _table(("", *BETTER), _bounds(lines)),
        "## Guarantees",
        bullets(f"`{curve.mechanism}`: {text(curve.guarantee)}" for curve in all_curves),
        "## Limits",
        bullets(_LIMITS),
    ]
    return "\n\n".join(parts) + "\n"


def _html(lines: Sequence[Line], all_curves: Sequence[Curve], picture: str) -> str:
    title = "The frontier: which mechanism, and which ε"
    parts = [f"<h1>{title}</h1>", f"<p>{escape(_how(lines[0]))}</p>", "<h2>What to choose</h2>"]
    parts += [_list(_advice(all_curves)), _html_table(_CHOICE, _choices(all_curves))]
    parts += [f"<figure>{picture}</figure>", "<h2>How to read it</h2>", _list(_READING)]
    parts += ["<h2>At equal measured privacy</h2>", _html_table(_HEAD, _rows(all_curves))]
    parts += [f"<p>{escape(each)}</p>" for each in _unreached(all_curves)]
    parts += [f"<h2>Where {RECOMMENDED} is not the best</h2>", f"<p>{escape(_UNDECIDED)}</p>"]
    parts += [_html_table(_COMPARED, _compared(all_curves)), "<h2>By ε</h2>"]
    parts += [f"<p>{escape(_BY_EPSILON)}</p>", _html_table(MEASURED, measured_rows(all_curves))]
    parts += ["<h2>Floors and ceiling</h2>"]
    parts += [_html_table(("", *BETTER), _bounds(lines)), "<h2>Guarantees</h2>"]
    parts += [_list(f"{curve.mechanism}: {curve.guarantee}" for curve in all_curves)]
    return document(title, [*parts, "<h2>Limits</h2>", _list(_LIMITS)])


def _how(line: Line) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in line.versions.items())
    command = "malaprop bench frontier --quick" if line.quick else "malaprop bench frontier"
    return f"Made by `{command} --seed {line.seed}` with {versions}."


def _advice(all_curves: Sequence[Curve]) -> Iterator[str]:
    """Say what speaks for the recommended mechanism, what against it, and which ε to take."""
    best = next((curve for curve in all_curves if curve.mechanism == RECOMMENDED), None)
    if best is None:
        return
    yield from _guaranteed(best, [curve for curve in all_curves if curve is not best])
    for verb, sign in (("better", 1), ("worse", -1)):
        leads = {name: each for name, each in _tallies(all_curves).items() if each.lead * sign > 0}
        if leads:
            counts = "; ".join(f"{name} ({_counted(each)})" for name, each in leads.items())
            yield f"At an equal share recovered it is more often {verb} in {counts}."
    even = [name for name, each in _tallies(all_curves).items() if not each.better + each.worse]
    if even:
        yield f"No comparison is decided in {', '.join(even)}."
    yield (
        f"If your task is one where it is worse, the table “Where `{RECOMMENDED}` is not the best” "
        "names the mechanisms that do better, and what they guarantee is in the tables, too."
    )
    yield f"To use `{RECOMMENDED}`, choose the share that an observer may recover, and take its ε:"


def _counted(tally: "_Tally") -> str:
    return f"better {tally.better}, worse {tally.worse}, not decided {tally.undecided}"


def _choices(all_curves: Sequence[Curve]) -> list[tuple[str, ...]]:
    """Return the recommended mechanism's ε for each share recovered, with what remains."""
    points = [
        point
        for curve in all_curves
        if curve.mechanism == RECOMMENDED
        for point in map(curve.at, LEVELS)
        if point
    ]
    return [
        (
            f"{point.success.value:.0%}",
            f"{point.epsilon:.2f}",
            f"{point.figures['kept'].value:.0%}",
            f"{point.figures['similarity'].value:.2f}",
        )
        for point in points
    ]


def _unreached(all_curves: Sequence[Curve]) -> Iterator[str]:
    """Name the mechanisms that were not measured up to a level, so that nobody misses their row."""
    for level in LEVELS:
        absent = [f"`{curve.mechanism}`" for curve in all_curves if curve.at(level) is None]
        if absent:
            yield f"Not measured at {level:.0%} recovered: {', '.join(absent)}."


def _guaranteed(best: Curve, others: Sequence[Curve]) -> Iterator[str]:
    """Compare the guarantees between near words, wherever both are known."""
    pairs = [
        (own.figures[_LOSS].value, point.figures[_LOSS].value)
        for level in LEVELS
        if (own := best.at(level))
        for other in others
        if (point := other.at(level)) and _LOSS in point.figures and _LOSS in own.figures
    ]
    if pairs:
        stronger = sum(own < theirs for own, theirs in pairs)
        yield (
            f"At an equal share of words recovered, `{RECOMMENDED}` guarantees more between a word "
            f"and its nearest word in {stronger} of {len(pairs)} comparisons: "
            f"{min(own for own, _ in pairs):.1f} to {max(own for own, _ in pairs):.1f} nats, the "
            f"others {min(theirs for _, theirs in pairs):.1f} and more."
        )


class _Tally(NamedTuple):
    """How many comparisons say that the recommended mechanism is better, worse, or neither."""

    better: int
    worse: int
    undecided: int

    @property
    def lead(self) -> int:
        return self.better - self.worse


def _tallies(all_curves: Sequence[Curve]) -> dict[str, _Tally]:
    judged: dict[str, list[bool | None]] = {measure: [] for measure in BETTER}
    for verdict in verdicts(all_curves):
        judged[verdict.measure].append(verdict.better)  # the other one, that is
    return {
        measure: _Tally(values.count(False), values.count(True), values.count(None))
        for measure, values in judged.items()
    }


def _compared(all_curves: Sequence[Curve]) -> list[tuple[str, ...]]:
    """Return, for each measure, how often the recommended one is better, and where it is not."""
    rivals: dict[str, dict[str, list[str]]] = {}
    for verdict in verdicts(all_curves):
        if verdict.better:
            own = rivals.setdefault(verdict.measure, {})
            own.setdefault(verdict.mechanism, []).append(f"{verdict.success:.0%}")
    return [
        (
            measure,
            *map(str, tally),
            "; ".join(f"{name} at {', '.join(at)}" for name, at in rivals.get(measure, {}).items()),
        )
        for measure, tally in _tallies(all_curves).items()
    ]


def _rows(all_curves: Sequence[Curve]) -> list[tuple[str, ...]]:
    rows = []
    for level in LEVELS:
        for curve in all_curves:
            point = curve.at(level)
            if point is None:
                continue
            loss = point.figures.get(_LOSS)
            rows.append(
                (
                    f"{level:.0%}",
                    curve.mechanism,
                    f"{point.epsilon:.3g}",
                    share(point.figures.get(_ALONE)),
                    share(point.figures.get(_CONTEXT)),
                    f"{loss.value:.1f}" if loss else "",
                    share(point.figures.get("kept")),
                    *(figure(point.figures.get(name)) for name in BETTER),
                )
            )
    return rows


def _bounds(lines: Sequence[Line]) -> list[tuple[str, ...]]:
    return [
        (name, *(figure(own.get(measure)) for measure in BETTER))
        for name, own in floors(lines).items()
    ]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    shown = (head, ("---",) * len(head), *rows)
    return "\n".join(f"| {' | '.join(row)} |" for row in shown).replace("_", r"\_")


def _list(rows: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(row)}</li>' for row in rows)}</ul>"


def _html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    body = "".join(f"<tr>{''.join(f'<td>{escape(c)}</td>' for c in row)}</tr>" for row in rows)
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
