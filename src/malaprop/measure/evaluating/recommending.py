"""Which setting to choose, by a rule that is stated beforehand.

Of the settings at which no attack on words recovers more than `most`, counting the upper end of its
interval, choose the one with the largest utility. It must be above what random words reach, by more
than the intervals of both leave open. Utility is the accuracy on clean texts of the model that is
best without protection; without labels, the similarity of texts.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from malaprop.measure.evaluating.cells import AttackFigure, Bounds, Cell
from malaprop.measure.tasks.result import Estimate

RULE = (
    "the largest utility among the settings at which every attack on words recovers at most "
    "{most:g} of the words (upper end of its interval), if it is above that of random words"
)


@dataclass(frozen=True, kw_only=True)
class Utility:
    """What counts as useful, with its bounds."""

    name: str
    """What it is, in a few words."""
    model: str
    """The model whose accuracy it is; empty for the similarity of texts."""
    floor: float
    """What random words reach; with a classifier, or the most frequent class if that is more."""
    ceiling: float
    """What clean texts reach."""
    above_floor: float = 0.0
    """From the floor to the upper end of its interval."""

    def is_clear(self, value: Estimate) -> bool:
        """Whether a utility is above the floor, counting the intervals of both."""
        noise = math.hypot(value.value - value.interval[0], self.above_floor)
        return value.value - self.floor > noise

    def of(self, cell: Cell) -> Estimate:
        """Return the utility of a cell."""
        return cell.accuracy[self.model]["clean"] if self.model else cell.text_similarity


@dataclass(frozen=True, kw_only=True)
class Recommendation:
    """The setting to choose, or None, and why."""

    cell: Cell | None
    reason: str
    rule: str
    utility: str
    most: float

    def to_dict(self) -> dict[str, Any]:
        """Return the recommendation as plain values for JSON."""
        return {
            "mechanism": None if self.cell is None else self.cell.name,
            "epsilon": None if self.cell is None else self.cell.epsilon,
            "reason": self.reason,
            "rule": self.rule,
            "utility": self.utility,
            "most": self.most,
        }


def utility_of(bounds: Bounds) -> Utility:
    """Return what counts as useful: an accuracy with labels, a similarity without."""
    if not bounds.unprotected:
        return Utility(
            name="similarity of texts", model="", floor=bounds.text_similarity, ceiling=1.0
        )
    model = max(bounds.unprotected, key=lambda name: bounds.unprotected[name].value)
    floors = [bounds.random_words[model]["clean"]]
    if bounds.majority is not None:
        floors.append(bounds.majority)
    floor = max(floors, key=lambda each: each.value)
    return Utility(
        name=f"accuracy on clean texts, by {model}",
        model=model,
        floor=floor.value,
        ceiling=bounds.unprotected[model].value,
        above_floor=floor.interval[1] - floor.value,
    )


def recommend(cells: Sequence[Cell], bounds: Bounds, most: float) -> Recommendation:
    """Return the setting that the rule chooses."""
    utility = utility_of(bounds)

    def answer(cell: Cell | None, reason: str) -> Recommendation:
        return Recommendation(
            cell=cell,
            reason=reason,
            rule=RULE.format(most=most),
            utility=utility.name,
            most=most,
        )

    attacked = [(cell, cell.strongest) for cell in cells]
    measured = [(cell, pair[0], pair[1]) for cell, pair in attacked if pair is not None]
    if not measured:
        return answer(None, "No attack on words was run, so nothing speaks for any setting.")
    safe = [each for each in measured if each[2].interval[1] <= most]
    if not safe:
        cell, name, figure = min(measured, key=lambda each: each[2].interval[1])
        return answer(None, _none_is_safe(cell, name, figure, len(cells), most))
    useful = [each for each in safe if utility.is_clear(utility.of(each[0]))]
    if not useful:
        return answer(None, _none_is_useful(len(safe), len(cells), utility, most))
    cell, name, figure = max(useful, key=lambda each: (utility.of(each[0]).value, -each[2].score))
    why = _why(cell, name, figure, len(safe), len(cells), utility, most)
    return answer(cell, why + _as_good(cell, figure, useful, utility))


def _why(
    cell: Cell,
    name: str,
    figure: AttackFigure,
    safe: int,
    all_: int,
    utility: Utility,
    most: float,
) -> str:
    value = utility.of(cell)
    low, high = value.interval
    return (
        f"{safe} of {all_} settings keep every attack on words at or under {most:g}. Of these, "
        f"{cell.title} has the largest {utility.name}: {value.value:.3f} ({low:.3f} to "
        f"{high:.3f}), where clean texts reach {utility.ceiling:.3f} and useless ones "
        f"{utility.floor:.3f}. The strongest attack, {name}, recovers {figure.score:.3f} of the "
        f"words ({figure.interval[0]:.3f} to {figure.interval[1]:.3f}); {cell.kept.value:.3f} "
        "stay as they are."
    )


def _as_good(
    chosen: Cell,
    figure: AttackFigure,
    useful: Sequence[tuple[Cell, str, AttackFigure]],
    utility: Utility,
) -> str:
    """Say which more private setting the sample cannot tell from the chosen one."""
    low = utility.of(chosen).interval[0]
    others = [
        each for each in useful if each[2].score < figure.score and utility.of(each[0]).value >= low
    ]
    if not others:
        return ""
    cell, name, least = min(others, key=lambda each: each[2].score)
    number = f"{len(others)} more private setting{' has' if len(others) == 1 else 's have'}"
    return (
        f" {number} a value within that interval, so that this sample cannot tell them apart; the "
        f"most private is {cell.title}: {utility.of(cell).value:.3f}, where {name} recovers "
        f"{least.score:.3f}."
    )


def _none_is_safe(cell: Cell, name: str, figure: AttackFigure, all_: int, most: float) -> str:
    return (
        f"No setting (of {all_}) keeps every attack on words at or under {most:g}. The nearest is "
        f"{cell.title}, where {name} recovers {figure.score:.3f} (up to "
        f"{figure.interval[1]:.3f}): try a smaller ε, or accept a larger share."
    )


def _none_is_useful(safe: int, all_: int, utility: Utility, most: float) -> str:
    return (
        f"{safe} of {all_} settings keep every attack on words at or under {most:g}, but in "
        f"{utility.name}, none is clearly above {utility.floor:.3f}, which useless texts reach: "
        "no setting measured here is both private and useful. A larger sample may tell more."
    )
