"""All points of the frontier as they were measured, by mechanism and ε: nothing interpolated."""

from collections.abc import Sequence
from typing import Final

from malaprop.report.frontier.curves import BETTER, NAMES, Curve, Point, Value

HEAD: Final = (
    *("mechanism", "ε", "Euclidean ε", "word alone", "with context", "kept"),
    *NAMES.values(),
)
_SHARES = ("success_alone", "success_context", "kept")
_AUTHORS = {
    "attribution": "attribution",
    "attribution_no_marks": "without punctuation",
    "attribution_adaptive": "adaptive attribution",
    "attribution_adaptive_no_marks": "adaptive, without punctuation",
}
_WORDS = ("kept_of_lexicon", "kept_of_lexicon_p95", "kept_of_lexicon_max")
MORE_HEAD: Final = ("mechanism", "ε", *_AUTHORS.values(), "N_w", "N_w p95", "N_w max")


def measured_rows(all_curves: Sequence[Curve]) -> list[tuple[str, ...]]:
    """Return a row for each mechanism and ε: what attacks recover, what is kept, and utility."""
    return [
        (
            name,
            f"{point.epsilon:.3g}",
            _short(point.figures.get("euclidean_epsilon")),
            *(share(point.figures.get(each)) for each in _SHARES),
            *(figure(point.figures.get(each)) for each in BETTER),
        )
        for name, point in _points(all_curves)
    ]


def more_rows(all_curves: Sequence[Curve]) -> list[tuple[str, ...]]:
    """Return attribution with and without punctuation, and N_w, for each mechanism and ε."""
    return [
        (
            name,
            f"{point.epsilon:.3g}",
            *(figure(point.figures.get(each)) for each in _AUTHORS),
            *(share(point.figures.get(each)) for each in _WORDS),
        )
        for name, point in _points(all_curves)
    ]


def _points(all_curves: Sequence[Curve]) -> list[tuple[str, Point]]:
    return [
        (curve.mechanism, point)
        for curve in all_curves
        for point in sorted(curve.points, key=lambda each: each.epsilon)
    ]


def _short(value: Value | None) -> str:
    return "" if value is None else f"{value.value:.3g}"


def share(value: Value | None) -> str:
    """Return a share in per cent, and nothing for none."""
    return "" if value is None else f"{value.value:.0%}"


def figure(value: Value | None) -> str:
    """Return a figure with its error, and nothing for none."""
    return "" if value is None else str(value)
