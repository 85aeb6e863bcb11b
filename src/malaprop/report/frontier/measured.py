"""All points of the frontier as they were measured, by mechanism and ε: nothing interpolated."""

from collections.abc import Sequence
from typing import Final

from malaprop.report.frontier.curves import BETTER, Curve, Value

HEAD: Final = ("mechanism", "ε", "word alone", "with context", "kept", *BETTER)
_SHARES = ("success_alone", "success_context", "kept")


def measured_rows(all_curves: Sequence[Curve]) -> list[tuple[str, ...]]:
    """Return a row for each mechanism and ε: what attacks recover, what is kept, and utility."""
    return [
        (
            curve.mechanism,
            f"{point.epsilon:.3g}",
            *(share(point.figures.get(name)) for name in _SHARES),
            *(figure(point.figures.get(name)) for name in BETTER),
        )
        for curve in all_curves
        for point in sorted(curve.points, key=lambda each: each.epsilon)
    ]


def share(value: Value | None) -> str:
    """Return a share in per cent, and nothing for none."""
    return "" if value is None else f"{value.value:.0%}"


def figure(value: Value | None) -> str:
    """Return a figure with its error, and nothing for none."""
    return "" if value is None else str(value)
