"""An explanation of a word as text and as HTML."""

import math
import textwrap
from collections.abc import Iterator, Sequence
from unicodedata import east_asian_width

from malaprop.core import html
from malaprop.core.guarantee import rounded_up
from malaprop.measure.context_figures import ContextFigure
from malaprop.pipeline.keeping import Keeping
from malaprop.report.explanation import Explanation
from malaprop.report.phrases import NO_CHANCE_OF_GUESSING, UNIFORM
from malaprop.report.word import Rival

_BAR = 30  # characters of the longest bar
_EIGHTHS = " ▏▎▍▌▋▊▉"
_WIDTH = 80
OBSERVER = "What an observer can infer"

Line = tuple[str, bool]
"""A line, and whether it stands out."""


def as_lines(explained: Explanation, width: int = _WIDTH) -> Iterator[Line]:
    """Yield the lines that show an explanation in a terminal, wrapped to a width."""
    if explained.mapped or not explained.is_word:
        yield from _wrapped(f"{_mapping(explained)}\n", width)
    yield from _law(explained, width)
    if explained.rings:
        yield from _steps(explained, width)
    if explained.draws:
        yield from _wrapped(f"\n{_estimated(explained)}", width)
    yield "", False
    yield OBSERVER, True
    for sentence in inferences(explained):
        yield from _wrapped(sentence, width)
    yield from _wrapped(f"\n{explained.guarantee}", width)
    if explained.keeping is not None:
        warning = bool(explained.keeping.warning)
        yield from _wrapped(f"\n{_kept(explained, explained.keeping)}", width, bold=warning)
    if explained.context:
        yield from _wrapped(f"\n{_with_context(explained.context)}", width)


def as_html(explained: Explanation) -> str:
    """Return an explanation as HTML for a notebook."""
    longest = explained.becomes[0].probability
    rows = [
        (
            r.word,
            _distance(r.distance, explained),
            _percent(r.probability),
            _bar(r.probability / longest),
        )
        for r in explained.becomes
    ]
    if explained.others:
        rest = _percent(explained.others_probability)
        rows.append((_other_words(explained), "", rest, ""))
    told = explained.mapped or not explained.is_word
    parts = [html.paragraph(_mapping(explained))] if told else []
    parts.append(html.table(("becomes", explained.unit, "probability", ""), rows))
    if explained.rings:
        steps = [(*numbers, ", ".join(words)) for numbers, words in _ring_rows(explained)]
        parts.append(html.table(("steps", "words", "probability", "such as"), steps))
    if explained.draws:
        parts.append(html.paragraph(_estimated(explained)))
    parts.append(html.paragraph(OBSERVER, bold=True))
    parts += map(html.paragraph, inferences(explained))
    parts.append(html.paragraph(str(explained.guarantee)))
    if explained.keeping is not None:
        warning = bool(explained.keeping.warning)
        parts.append(html.paragraph(_kept(explained, explained.keeping), bold=warning))
    if explained.context:
        parts.append(html.paragraph(_with_context(explained.context)))
    return "".join(parts)


def inferences(explained: Explanation) -> list[str]:
    """Return sentences on what an observer can infer."""
    away = " steps" if explained.unit == "steps" else ""
    uncertain = (
        f"“{explained.word}” stays as it is with probability {_percent(explained.stays)}; what "
        f"comes out is as uncertain as a choice of {explained.plausible:,.3g} equally likely "
        f"{_noun(explained)}, on average {explained.expected_distance:.2f}{away} away."
    )
    ranges = [
        f"{each.share:.0%} of draws lie between {each.low} and {each.high}, both included."
        for each in explained.ranges
    ]
    return [uncertain, *ranges, *(_told_apart(explained, rival) for rival in explained.rivals)]


def _told_apart(explained: Explanation, rival: Rival) -> str:
    """Say what the guarantee promises for a word and a near one."""
    delta = explained.guarantee.delta
    pair = f"“{explained.word}” against “{rival.word}” ({_apart(rival.distance, explained)})"
    if rival.bound is None:
        return f"Nothing is promised for {pair}."
    exact = f" (in fact {_factor(rival.odds)})" if rival.odds is not None else ""
    if delta:
        return (
            f"The chances of any set of outputs, for {pair}, differ by a factor of at most "
            f"{_factor(rival.bound)}, and by a δ of {delta:.3g} beyond that."
        )
    return (
        f"Whatever comes out, the odds of {pair} change by a factor of at most "
        f"{_factor(rival.bound)}{exact}."
    )


def _noun(explained: Explanation) -> str:
    return "words" if explained.is_word else "values"


def _mapping(explained: Explanation) -> str:
    if not explained.is_word:
        steps = f"Drawn as what it is, a value of the kind {explained.kind}; a step is"
        counts = f" It counts as {explained.word}." if explained.mapped else ""
        beside = " What stands beside it is drawn on its own." if explained.beside else ""
        return f"{steps} {explained.route}.{counts}{beside}"
    return f"Not in the lexicon: it counts as {explained.word}: {explained.route}."


def _estimated(explained: Explanation) -> str:
    return f"Estimated from {explained.draws:,} draws; there is no closed form."


def _kept(explained: Explanation, keeping: Keeping) -> str:
    """Say how many words stay on average, or warn if that is too many or too few."""
    if keeping.warning:
        return f"Warning: {keeping.warning}."
    share = f"{_percent(keeping.share)} of words stay as they are"
    guessed = ""
    if explained.success is not None:
        least = "at least " if explained.success_at_least else ""
        told = f"{least}{_percent(explained.success)}"
        guessed = f", and {UNIFORM}, guesses {told} right"
    return f"On average over the lexicon, {share}{guessed}; {NO_CHANCE_OF_GUESSING}."


def _with_context(figure: ContextFigure) -> str:
    """Say what an observer recovers of a public sample, with context and without."""
    told = str(figure)
    return f"{told[:1].upper()}{told[1:]}."


def _other_words(explained: Explanation) -> str:
    return f"{explained.others:,} other {_noun(explained)}"


def _law(explained: Explanation, width: int) -> Iterator[Line]:
    """Yield the table of replacements, the word itself in bold; bars are as long as fits."""
    longest = explained.becomes[0].probability
    rows = [(("becomes", explained.unit, "probability"), 0.0)]
    for r in explained.becomes:
        numbers = _distance(r.distance, explained), _percent(r.probability)
        rows.append(((r.word, *numbers), r.probability / longest))
    if explained.others:
        rest = _percent(explained.others_probability)
        rows.append(((_other_words(explained), "", rest), 0.0))
    widths = [max(_cells(cells[column]) for cells, _ in rows) for column in range(3)]
    room = min(_BAR, max(0, width - sum(widths) - 3 * 2))
    words = ["", *(r.word for r in explained.becomes)]
    for place, ((first, *others), share) in enumerate(rows):
        padded = first + " " * (widths[0] - _cells(first))
        line = "  ".join([padded, _right(others, widths[1:]), _bar(share, room)]).rstrip()
        yield line, place == 0 or words[place : place + 1] == [explained.word]


def _steps(explained: Explanation, width: int) -> Iterator[Line]:
    """Yield the neighbourhood by steps: how many words, how likely, and examples."""
    rows = [(("steps", "words", "probability"), ("such as",)), *_ring_rows(explained)]
    widths = [max(len(numbers[column]) for numbers, _ in rows) for column in range(3)]
    yield "", False
    for numbers, words in rows:
        line = _right(numbers, widths)
        yield f"{line}  {_fitting(words, width - len(line) - 2)}", False


def _ring_rows(explained: Explanation) -> list[tuple[tuple[str, str, str], tuple[str, ...]]]:
    return [
        (
            (f"{ring.steps:g}" + "+" * ring.last, f"{ring.count:,}", _percent(ring.probability)),
            ring.likeliest,
        )
        for ring in explained.rings
    ]


def _right(numbers: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(f"{n:>{width}}" for n, width in zip(numbers, widths, strict=True))


def _fitting(words: Sequence[str], room: int) -> str:
    """Join as many whole words as fit, but at least one."""
    shown = words[0]
    for word in words[1:]:
        if _cells(shown) + _cells(word) + 2 > room:
            break
        shown += f", {word}"
    return shown


def _cells(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return sum(2 if east_asian_width(sign) in "WF" else 1 for sign in text)


def _wrapped(text: str, width: int, *, bold: bool = False) -> Iterator[Line]:
    """Yield the lines of a text that may begin or end with an empty line."""
    for paragraph in text.split("\n"):
        for line in textwrap.wrap(paragraph, width, break_on_hyphens=False) or [""]:
            yield line, bold and bool(line)


def _apart(distance: float, explained: Explanation) -> str:
    shown = _distance(distance, explained)
    if explained.unit == "distance":
        return f"distance {shown}"
    return f"{shown} {'step' if distance == 1 else 'steps'} away"


def _distance(distance: float, explained: Explanation) -> str:
    """Format a distance; steps are mostly whole numbers."""
    return f"{distance:.4g}" if explained.unit == "steps" else f"{distance:.2f}"


def _bar(share: float, longest: int = _BAR) -> str:
    """Draw a bar with this share of the longest one, to an eighth of a character."""
    full, eighths = divmod(round(8 * longest * share), 8)
    return ("█" * full + _EIGHTHS[eighths]).rstrip()


def _percent(p: float) -> str:
    return f"{100 * p:.3g}%"


def _factor(odds: float) -> str:
    """Format a factor with a few digits, rounded up."""
    if 100 <= odds < 1e7:
        return f"{math.ceil(odds):,}"
    return rounded_up(odds) if math.isfinite(odds) else "inf"
