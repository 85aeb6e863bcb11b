"""The page of the frontier."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Final, NamedTuple

from malaprop.lab.studies.figures import SPLITS
from malaprop.lab.studies.frontier import (
    KEPT_RUNS,
    LEFT_OUT,
    NEAREST_OF,
    RECOMMENDED,
    lexicon_words,
    noise_draws,
    rows_of,
)
from malaprop.lab.studies.frontier.curves import (
    BETTER,
    LEVELS,
    LOSS,
    MORE_HEAD,
    NAMES,
    Curve,
    Point,
    Value,
    advice,
    champions,
    curves,
    figure,
    floors,
    measured_rows,
    missing,
    more_rows,
    share,
    tallies,
    verdicts,
)
from malaprop.lab.studies.frontier.curves import HEAD as MEASURED
from malaprop.lab.studies.reproduction import Run
from malaprop.lab.studies.study import Line
from malaprop.privacy.errors import printable
from malaprop.report.page import document, grid, html_bullets, html_text, link
from malaprop.report.page import table as html_table
from malaprop.report.plots import drawn

# The plot of the frontier: utility against ε, and against what attacks recover.


SHOWN: Final = {
    "similarity": "similarity of words",
    "accuracy": "accuracy (film reviews)",
    "sts": "STS benchmark (Pearson)",
    "attribution": "authors identified",
}
_UNSEEN = (
    (re.compile(r"(\d\.\d\d)\d+"), r"\1"),
    (re.compile(r"\n\s+"), "\n"),
    (re.compile(r"font-family: [^;\"]*"), "font-family: sans-serif"),
)
_SIZE = (8.4, 12.4)  # inches
_TICKS = (1, 2, 5, 10, 20, 50, 100, 200)
_INK = "#111111"
# Shapes, dashes and lightness differ, so that grey paper tells the mechanisms apart.
_LOOKS = (
    ("s", "-", "#b3541e"),
    ("^", "--", "#4a7c59"),
    ("D", "-.", "#7b4b94"),
    ("v", ":", "#8a8f98"),
    ("P", "-", "#c9a227"),
    ("X", "--", "#2a9d8f"),
    ("*", "-.", "#d1495b"),
    ("<", ":", "#5c677d"),
)


def plot(all_curves: Sequence[Curve], floors: Mapping[str, Mapping[str, Value]]) -> str:
    """Return ten panels as one SVG: against ε on the left, against success on the right."""

    def paint(axes: Any) -> None:
        figure = axes.figure
        axes.remove()
        figure.set_size_inches(*_SIZE)
        panels = figure.subplots(len(SHOWN) + 1, 2, sharex="col")
        _privacy(panels[0], all_curves)
        for row, (measure, title) in zip(panels[1:], SHOWN.items(), strict=True):
            for panel, x in zip(row, (_epsilon, _success), strict=True):
                _lines(panel, all_curves, x, measure)
                _bounds(panel, measure, floors)
                panel.set_ylabel(title)
        panels[-1][0].set(xlabel="ε, each in its own unit (logarithmic)", xscale="log")
        panels[-1][0].set_xticks(_TICKS, [f"{tick:g}" for tick in _TICKS], minor=False)
        panels[-1][0].minorticks_off()
        panels[-1][1].set(xlabel="share of words recovered")
        legend: dict[str, Any] = {}
        for panel in panels.ravel():
            marks, names = panel.get_legend_handles_labels()
            legend |= dict(zip(names, marks, strict=True))
        figure.legend(legend.values(), legend, loc="outside lower center", ncols=5, fontsize=8)

    svg = drawn(paint)
    for pattern, shown in _UNSEEN:
        svg = pattern.sub(shown, svg)
    return svg


def _privacy(panels: Sequence[Any], all_curves: Sequence[Curve]) -> None:
    """Plot what attacks recover by ε, and what is guaranteed where they recover it."""
    _lines(panels[0], all_curves, _epsilon, "success_context")
    _lines(panels[0], all_curves, _epsilon, "success_alone", mfc="white", lw=0.5)
    panels[0].set(ylabel="words recovered")
    panels[0].set_title("filled: with context; hollow: word alone", fontsize=8)
    _lines(panels[1], all_curves, _success, LOSS)
    panels[1].set(ylabel="nats to the nearest word", yscale="log")
    panels[1].set_yticks(_TICKS[:-1], [f"{tick:g}" for tick in _TICKS[:-1]])
    panels[1].minorticks_off()
    panels[1].set_title("guarantee: lower is stronger", fontsize=8)


def _epsilon(point: Point) -> float:
    return point.epsilon


def _success(point: Point) -> float:
    return point.success.value


def _lines(
    panel: Any, all_curves: Sequence[Curve], x: Callable[[Point], float], measure: str, **more: Any
) -> None:
    for place, curve in enumerate(all_curves):
        own = [point for point in curve.points if measure in point.figures]
        if not own:
            continue
        first = curve.mechanism == RECOMMENDED
        mark, dashes, colour = ("o", "-", _INK) if first else _LOOKS[(place - 1) % len(_LOOKS)]
        look = {"lw": 2.4 if first else 1.1, "zorder": 3 if first else 2, **more}
        panel.errorbar(
            [x(point) for point in own],
            [point.figures[measure].value for point in own],
            yerr=[2.0 * (point.figures[measure].error or 0.0) for point in own],
            label=curve.mechanism,
            color=colour,
            marker=mark,
            ls=dashes,
            ms=4.5,
            capsize=2,
            **look,
        )


def _bounds(panel: Any, measure: str, floors: Mapping[str, Mapping[str, Value]]) -> None:
    """Mark what there is without noise, and with random words."""
    for name, dashes in (("no noise", (0, (1, 1))), ("random words", (0, (4, 4)))):
        value = floors.get(name, {}).get(measure)
        if value is not None:
            panel.axhline(value.value, color="#666666", lw=0.9, ls=dashes, label=name, zorder=1)


# What the page of the frontier explains in words: how to read it, and its limits.


TITLE: Final = "The frontier: which mechanism, and which ε"
UNDECIDED: Final = (
    "Comparisons with every other mechanism at every share recovered. What Welch's test cannot "
    "tell apart at 5 % is not decided. Errors over noise draws and over splits both count."
)
BY_EPSILON: Final = (
    "The figures as they were measured, at each mechanism's own ε. Do not compare mechanisms by "
    "these: their ε are of different metrics. Euclidean ε is the guarantee per unit of Euclidean "
    "distance between vectors, where there is one."
)
QUICK: Final = (
    "**A quick run is another, smaller experiment:** fewer ε, texts and draws of the noise. It "
    "reaches no verdict, and recommends nothing."
)
BEST: Final = (
    "The mechanism with the best figure at each share recovered, with its guarantee, beside the "
    "recommended one. “Decided” says whether Welch's test tells the two apart at 5 %."
)
CAPTION: Final = (
    "Left: against ε, on a logarithmic axis, each mechanism in the unit of its own metric. Right: "
    "against the share of words that the better attack recovers, where mechanisms can be compared. "
    "Bars are two standard errors over noise draws. For authors identified, lower is better. "
    "Dotted: no noise; dashed grey: random words."
)


def reading(quick: bool) -> list[str]:
    """Explain the columns, and what errors are over."""
    run = Run(quick=quick)
    return _paragraphs(f"""
**Recovered** is the share of words that an observer gets right. The observer knows the mechanism,
how frequent words are, and which words follow which. The share is that of the better of two
attacks: `bayes` (each **word alone**) and `context` (**with context**: bigrams). Both
know the same counts of words and bigrams, those of the web that ship for `english`. All mechanisms
are compared at the same share recovered, not at the same ε: an ε of one metric says nothing about
an ε of another.

**Nats to the nearest word** is the guarantee in one unit: the most that an output can tell a word
from its nearest word in the vectors, as a log-ratio. It is the median over {NEAREST_OF} words
spread evenly over the lexicon. Empty where a mechanism promises (ε, δ).

**Similarity** is the mean similarity of a word and its replacement; **word similarity** Spearman's
correlation on MEN; **accuracy** that of logistic regression on private film reviews (MR); **STS**
Pearson's correlation on the STS benchmark. **Attribution** is the share of presidents' addresses
whose author Koppel's method names from their first words. A mechanism should lower it. The attacker
learns from clean texts, or (adaptive) from private ones.

**±** is one standard error over {noise_draws(run)} draws of the noise, on the same texts, pairs and
{SPLITS} splits for all mechanisms. Figures at a level are interpolated between two measured ε. An
error counts for no less than the root mean square of its measure's errors over all points: few
draws that happen to agree prove nothing. The lines beside this page also have the errors over
splits.
""")


def marks(quick: bool) -> str:
    """Explain the figures without punctuation, and N_w."""
    return (
        "Attribution as above, by an attacker who reads punctuation, and by one who does not; and "
        "N_w, the chance that a word stays: mean, 95th percentile and maximum over "
        f"{lexicon_words(Run(quick=quick))} words spread evenly over the lexicon, exact for "
        f"balanced and tem, from {KEPT_RUNS} runs of each word for the others."
    )


def limits(quick: bool) -> list[str]:
    """Say what the comparison cannot tell, and which mechanisms are not in it."""
    run = Run(quick=quick)
    sizes = {name: rows_of(run, name) for name in ("mr", "attacked", "stsb", "men")}
    known = _paragraphs(f"""
The law of words under noise on vectors (laplace, mahalanobis, priv-emb, coordinate-laplace,
gaussian, nadp) is not known, so attacks on them use estimates from draws, and recover hardly more
than the words that are kept: a lower bound. Their curves may lie further to the right, and their
lead over balanced in STS and word similarity may be smaller than it looks. Attacks on balanced and
tem use the exact law.

STS and word similarity reward words that stay as they are: on the STS benchmark, a random table
with no embedding does about as well as the true vectors (see the floors above). A mechanism that
keeps a word or replaces it by a far one does well there, and one that takes near words instead does
not.

Nats to the nearest word say nothing about words that are far apart: there, a metric guarantee
grows with its own distance, which for balanced is that in its graph of words, up to its cutoff.

A better model of language than bigrams recovers more from every mechanism.

Tasks are small: about {sizes["attacked"]:,} reviews are attacked and {sizes["mr"]:,} classified,
with {sizes["stsb"]:,} pairs of sentences and {sizes["men"]:,} pairs of words. Differences in
accuracy of a few hundredths may be luck.

The figures are those of English film reviews, captions and addresses. Measure your own:
`malaprop evaluate FILE`.
""")
    return [*known, *(f"`{name}` is left out: {why}." for name, why in LEFT_OUT.items())]


def _paragraphs(text: str) -> list[str]:
    return text.strip().split("\n\n")


# The tables of the frontier's page: mechanisms at equal success, and who is best.


ALONE, CONTEXT = "success_alone", "success_context"
HEAD: Final = (
    "recovered",
    "mechanism",
    "ε",
    "word alone",
    "with context",
    "nats to the nearest word",
    "kept",
    *NAMES.values(),
)
CHOICE: Final = ("recovered", "ε", "word alone", "with context", "words that stay", *NAMES.values())
COMPARED: Final = (
    *("measure", "better", "worse", "not decided", "who is better, at which share recovered"),
)
BEST_HEAD: Final = (
    *("measure", "recovered", "best", "its figure", "its nats", RECOMMENDED, "decided"),
)

Rows = list[tuple[str, ...]]


def choices(all_curves: Sequence[Curve], lines: Sequence[Line]) -> Rows:
    """Return the recommended mechanism's ε for each share recovered, with what remains.

    The first row is the text without noise, and the last one random words.
    """
    points = [
        point
        for curve in all_curves
        if curve.mechanism == RECOMMENDED
        for point in map(curve.at, reversed(LEVELS))
        if point
    ]
    rows = [
        (
            f"{point.success.value:.0%}",
            f"{point.epsilon:.2f}",
            *(share(point.figures.get(name)) for name in (ALONE, CONTEXT, "kept")),
            *(_plain(point.figures.get(name)) for name in BETTER),
        )
        for point in points
    ]
    bounds = floors(lines)
    top, bottom = (
        [(name, "", "", "", "", *(_plain(bounds[name].get(measure)) for measure in BETTER))]
        if name in bounds
        else []
        for name in ("no noise", "random words")
    )
    return [*top, *rows, *bottom]


def _plain(value: Value | None) -> str:
    return "" if value is None else f"{value.value:.2f}"


def unreached(all_curves: Sequence[Curve]) -> Iterator[str]:
    """Name the mechanisms that were not measured up to a level, so that nobody misses their row."""
    for level in LEVELS:
        absent = [f"`{curve.mechanism}`" for curve in all_curves if curve.at(level) is None]
        if absent:
            yield f"Not measured at {level:.0%} recovered: {', '.join(absent)}."


def compared(all_curves: Sequence[Curve]) -> Rows:
    """Return, for each measure, how often the recommended one is better, and where it is not."""
    rivals: dict[str, dict[str, list[str]]] = {}
    for verdict in verdicts(all_curves):
        if verdict.better:
            own = rivals.setdefault(verdict.measure, {})
            own.setdefault(verdict.mechanism, []).append(f"{verdict.success:.0%}")
    return [
        (
            NAMES[measure],
            *map(str, tally),
            "; ".join(f"{name} at {', '.join(at)}" for name, at in rivals.get(measure, {}).items()),
        )
        for measure, tally in tallies(all_curves).items()
    ]


def best_rows(all_curves: Sequence[Curve]) -> Rows:
    """Return the best mechanism of each measure at each level, beside the recommended one."""
    return [
        (
            NAMES[measure],
            f"{row.level:.0%}",
            row.mechanism,
            figure(row.point.figures[measure]),
            nats(row.point.figures.get(LOSS)),
            figure(row.recommended.figures[measure]),
            "" if row.mechanism == RECOMMENDED else ("yes" if row.decided else "no"),
        )
        for measure in BETTER
        for row in champions(all_curves, measure)
    ]


def level_rows(all_curves: Sequence[Curve]) -> Rows:
    """Return all mechanisms at equal shares recovered."""
    return [
        (
            f"{level:.0%}",
            curve.mechanism,
            f"{point.epsilon:.3g}",
            share(point.figures.get(ALONE)),
            share(point.figures.get(CONTEXT)),
            nats(point.figures.get(LOSS)),
            share(point.figures.get("kept")),
            *(figure(point.figures.get(name)) for name in BETTER),
        )
        for level in LEVELS
        for curve in all_curves
        if (point := curve.at(level))
    ]


def nats(value: Value | None) -> str:
    """Return a bound on a log-ratio."""
    return "" if value is None else f"{value.value:.1f}"


def bounds_rows(lines: Sequence[Line]) -> Rows:
    """Return what is reached without noise, and without any meaning."""
    return [
        (name, *(figure(own.get(measure)) for measure in BETTER))
        for name, own in floors(lines).items()
    ]


# The page of the frontier, as Markdown or HTML, and what the terminal shows.


def readable(lines: Sequence[Line]) -> str:
    """Return the frontier as text: mechanisms at equal success, and where others are better."""
    all_curves = curves(lines)
    better = (f"{row[0]}: better are {row[-1]}" for row in compared(all_curves) if row[-1])
    shown = [
        *_columns([HEAD, *level_rows(all_curves)]),
        "",
        *better,
        "",
        *(each.replace("*", "") for each in _advice(lines)),
        *_columns([CHOICE, *choices(all_curves, lines)]),
    ]
    return "".join(f"{printable(line)}\n" for line in shown)


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def page_files(lines: Sequence[Line], path: Path) -> dict[Path, str]:
    """Return the page as files: HTML that holds everything, or Markdown with the plot beside."""
    picture = plot(curves(lines), floors(lines))
    if path.name.lower().endswith(".html"):
        parts = [f"<h1>{TITLE}</h1>"]
        parts += [_html(piece, picture) for piece in _pieces(lines)]
        return {path: document(TITLE, parts)}
    name = f"{path.stem}.svg"
    parts = [f"# {TITLE}", *(_markdown(piece, name) for piece in _pieces(lines))]
    return {path: "\n\n".join(parts) + "\n", path.with_name(name): picture}


class _Table(NamedTuple):
    """A table; one with a title is folded where that can be done."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""


_PICTURE: Final = "the plot"
_HEADING: Final = "## "
_Piece = str | list[str] | _Table
"""A heading, a paragraph, a list or a table. Texts are Markdown."""


def _pieces(lines: Sequence[Line]) -> Iterator[_Piece]:
    """Yield what is on the page, whatever it is written in."""
    all_curves, quick = curves(lines), lines[0].quick
    yield _how(lines[0])
    yield f"{_HEADING}What to choose"
    yield _advice(lines)
    yield _Table(CHOICE, choices(all_curves, lines))
    yield _PICTURE
    yield CAPTION
    yield f"{_HEADING}How to read it"
    yield reading(quick)
    yield f"{_HEADING}At equal measured privacy"
    yield _Table(HEAD, level_rows(all_curves))
    yield from unreached(all_curves)
    yield f"{_HEADING}Where `{RECOMMENDED}` is not the best"
    yield UNDECIDED
    yield _Table(COMPARED, compared(all_curves))
    yield BEST
    yield _Table(BEST_HEAD, best_rows(all_curves), "Who is best")
    yield f"{_HEADING}By ε"
    yield BY_EPSILON
    yield _Table(MEASURED, measured_rows(all_curves), "All points")
    yield marks(quick)
    yield _Table(MORE_HEAD, more_rows(all_curves), "With and without punctuation, and N_w")
    yield f"{_HEADING}Floors and ceiling"
    yield _Table(("", *NAMES.values()), bounds_rows(lines))
    yield f"{_HEADING}Guarantees"
    yield [f"`{curve.mechanism}`: {html_text(curve.guarantee)}" for curve in all_curves]
    yield f"{_HEADING}Limits"
    yield limits(quick)


def _advice(lines: Sequence[Line]) -> list[str]:
    """Say what data are missing, and what to choose, unless the run was a quick one."""
    return [*missing(lines), *([QUICK] if lines[0].quick else advice(curves(lines)))]


def _how(line: Line) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in line.versions.items())
    command = "malaprop bench frontier --quick" if line.quick else "malaprop bench frontier"
    return f"Made by `{command} --seed {line.seed}` with {versions}."


def _markdown(piece: _Piece, picture: str) -> str:
    if isinstance(piece, list):
        return html_bullets(piece)
    if isinstance(piece, str):
        shown = f"![utility against ε and against the share of words recovered]({link(picture)})"
        return shown if piece == _PICTURE else piece
    table = grid(piece.head, piece.rows).replace("_", r"\_")
    if not piece.title:
        return table
    summary = f"<summary>{piece.title}: {len(piece.rows)} rows</summary>"
    return f"<details>\n{summary}\n\n{table}\n\n</details>"


def _html(piece: _Piece, picture: str) -> str:
    if isinstance(piece, list):
        return f"<ul>{''.join(f'<li>{_inline(row)}</li>' for row in piece)}</ul>"
    if not isinstance(piece, str):
        return html_table(piece.head, piece.rows)
    if piece == _PICTURE:
        return f"<figure>{picture}</figure>"
    if piece.startswith(_HEADING):
        return f"<h2>{_inline(piece.removeprefix(_HEADING))}</h2>"
    return f"<p>{_inline(piece)}</p>"


def _inline(sentence: str) -> str:
    """Escape a sentence, and turn its Markdown for bold, code and plain signs into HTML."""
    bold = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(sentence), flags=re.DOTALL)
    return re.sub(r"\\(\W|_)", r"\1", re.sub(r"`(.+?)`", r"<code>\1</code>", bold))
