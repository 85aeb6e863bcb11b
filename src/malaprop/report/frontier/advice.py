"""What a newcomer takes from the frontier: which mechanism, which ε, and what speaks against it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from malaprop.report.frontier.curves import (
    BETTER,
    LEVELS,
    LOSS,
    NAMES,
    Curve,
    Point,
    Verdict,
    verdicts,
)
from malaprop.studies import Line
from malaprop.studies.frontier.mechanisms import RECOMMENDED

_START = 0.4  # the share recovered that a newcomer starts with


class Tally(NamedTuple):
    """How many comparisons say that the recommended mechanism is better, worse, or neither."""

    better: int
    worse: int
    undecided: int

    @property
    def lead(self) -> int:
        """How much more often it is better than worse."""
        return self.better - self.worse


def tallies(all_curves: Sequence[Curve]) -> dict[str, Tally]:
    """Return the tally of each measure."""
    judged: dict[str, list[bool | None]] = {measure: [] for measure in BETTER}
    for verdict in verdicts(all_curves):
        judged[verdict.measure].append(verdict.better)  # the other one, that is
    return {
        measure: Tally(values.count(False), values.count(True), values.count(None))
        for measure, values in judged.items()
    }


def missing(lines: Iterable[Line]) -> Iterator[str]:
    """Name the commands that get missing data, and the figures that are left out without them."""
    absent: dict[str, dict[str, None]] = {}
    for line in lines:
        if line.command:
            absent.setdefault(line.command, {})[line.measure.replace("_", " ")] = None
    for command, measures in absent.items():
        yield f"**Data are missing:** run `{command}`. Left out: {', '.join(measures)}."


def advice(all_curves: Sequence[Curve]) -> Iterator[str]:
    """Say what speaks for the recommended mechanism, what against it, and which ε to take.

    There is none if nothing was measured.
    """
    best = next((curve for curve in all_curves if curve.mechanism == RECOMMENDED), None)
    if best is None or not best.points:
        return
    yield f"**Take `{RECOMMENDED}`, unless your task is one where it is worse.**"
    yield from _guaranteed(best, [curve for curve in all_curves if curve is not best])
    counts = tallies(all_curves)
    for verb, sign in (("better", 1), ("worse", -1)):
        leads = {name: each for name, each in counts.items() if each.lead * sign > 0}
        if leads:
            shown = "; ".join(f"{NAMES[name]} ({_counted(each)})" for name, each in leads.items())
            yield f"At an equal share recovered it is more often {verb} in {shown}."
    even = [name for name, each in counts.items() if each.lead == 0 and any(each)]
    if even:
        shown = "; ".join(f"{NAMES[name]} ({_counted(counts[name])})" for name in even)
        yield f"No difference is established in {shown}."
    yield from _instead(all_curves)
    yield (
        f"**Which ε:** choose the share of words that an observer may recover, and take the ε of "
        f"`{RECOMMENDED}` in its row. The other columns say what is left."
    )
    if start := best.at(_START):
        yield (
            f"To begin with, try ε = {start.epsilon:.3g}, where {_START:.0%} are recovered. Then "
            f"attack your own texts: `malaprop attack context FILE --epsilon {start.epsilon:.3g}`."
        )


def _counted(tally: Tally) -> str:
    return f"better {tally.better}, worse {tally.worse}, not decided {tally.undecided}"


def _guaranteed(best: Curve, others: Sequence[Curve]) -> Iterator[str]:
    """Compare the guarantees between near words, wherever both are known."""
    pairs = [
        (own.figures[LOSS].value, point.figures[LOSS].value)
        for level in LEVELS
        if (own := best.at(level))
        for other in others
        if (point := other.at(level)) and LOSS in point.figures and LOSS in own.figures
    ]
    if pairs:
        stronger = sum(own < theirs for own, theirs in pairs)
        yield (
            f"At an equal share of words recovered, `{RECOMMENDED}` has the stronger guarantee "
            f"between a word and its nearest word in {stronger} of {len(pairs)} comparisons: "
            f"{min(own for own, _ in pairs):.1f} to {max(own for own, _ in pairs):.1f} nats, the "
            f"others {min(theirs for _, theirs in pairs):.1f} and more."
        )


def _instead(all_curves: Sequence[Curve]) -> Iterator[str]:
    """Name the best mechanism where the recommended one loses more often than it wins.

    Of those that bound the loss between any two words, it is the one that wins at most levels.
    """
    bounded = [curve for curve in all_curves if any(LOSS in p.figures for p in curve.points)]
    for measure, tally in tallies(all_curves).items():
        winners = [row for row in champions(bounded, measure) if row.decided]
        if tally.lead >= 0 or not winners:
            continue
        names = [row.mechanism for row in winners]
        chosen = max(dict.fromkeys(names), key=names.count)
        own = [row for row in winners if row.mechanism == chosen]
        losses = [row.point.figures[LOSS].value for row in own]
        yield (
            f"If {NAMES[measure]} is what you need, take `{chosen}`: it has the best figure at "
            f"{', '.join(f'{row.level:.0%}' for row in own)} recovered, of the mechanisms that "
            f"bound the loss between any two words. (Its lead over `{RECOMMENDED}` is decided; "
            f"that over the others may be luck.) Its guarantee is far weaker there: "
            f"{min(losses):.0f} to {max(losses):.0f} nats to the nearest word."
        )


class Champion(NamedTuple):
    """The mechanism that is best in a measure where the same share of words is recovered."""

    level: float
    mechanism: str
    point: Point
    recommended: Point
    decided: bool
    """Whether it differs from the recommended one by more than the errors."""


def champions(all_curves: Sequence[Curve], measure: str) -> Iterator[Champion]:
    """Yield the best mechanism of a measure at each level."""
    by_name = {curve.mechanism: curve for curve in all_curves}
    decided = {(v.success, v.mechanism): v for v in verdicts(all_curves) if v.measure == measure}
    for level in LEVELS:
        there = {
            name: point
            for name, curve in by_name.items()
            if (point := curve.at(level)) and measure in point.figures
        }
        if RECOMMENDED not in there:
            continue
        sign = BETTER[measure]
        name = max(there, key=lambda each: sign * there[each].figures[measure].value)
        verdict: Verdict | None = decided.get((level, name))
        is_ahead = verdict is not None and verdict.better is True
        yield Champion(level, name, there[name], there[RECOMMENDED], is_ahead)
