"""A mechanism of one's own in the frontier, at the ε where attacks recover each share of words."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

from malaprop.lab.studies import study_named
from malaprop.lab.studies.frontier import Observed, own_privatizer
from malaprop.lab.studies.frontier.curves import LEVELS
from malaprop.lab.studies.reproduction import CellProgress, Cells, Run, run_study
from malaprop.lab.studies.study import Line, Study
from malaprop.privacy.arrays import Ids
from malaprop.privacy.channel import LawChannel
from malaprop.privacy.errors import ParameterError
from malaprop.privacy.likelihoods import LawLikelihoods, Likelihoods
from malaprop.privacy.mechanism import Mechanism
from malaprop.privacy.randomness import seeded_rng

_BEYOND = 0.03  # shares recovered, beyond the first and the last level, so that they lie between
_LEAST, _MOST = 1e-3, 1e4
_CLOSE = 1.05  # of two ε between which no other is tried
_TRIES = 3  # for each level
_USUAL = 2000  # words that the search for ε takes for candidates, beside the outputs
_DIGITS = 3  # of an ε, so that a run that is repeated takes what was kept


def placed(
    mechanism: Mechanism,
    run: Run,
    *,
    fresh: bool = False,
    cells: Cells | None = None,
    progress: CellProgress | None = None,
) -> list[Line]:
    """Measure a mechanism as the frontier measures all others, with its other parameters.

    Its ε are those at which the better attack recovers each level's share of the words of some
    reviews; on a quick run there are three. What was measured is kept.
    """
    title = mechanism.title({})
    levels = [LEVELS[0] - _BEYOND, *LEVELS[1:-1], LEVELS[-1] + _BEYOND]
    if progress:
        progress(0, 1, f"{title}: looking for ε")
    epsilons = epsilons_at(_success(mechanism, run), levels[:: 2 if run.quick else 1], title)
    (item,) = study_named("frontier").items
    part = {"mechanism": title, "epsilon": epsilons}
    part |= {"source": mechanism.source} if mechanism.source else {}
    common = {name: item.grid[0][name] for name in ("lexicon", "spread")}
    own = replace(item, grid=[{**part, **common}])
    study, own_run = Study(name="frontier", items=(own,)), replace(run, own={title: mechanism})
    return run_study(study, own_run, cells=cells, fresh=fresh, progress=progress)


def _success(mechanism: Mechanism, run: Run) -> Callable[[float], float]:
    """Return what tells the share that the better attack recovers of some reviews, at an ε."""
    probe = replace(run, quick=True, _made={})  # fewer reviews: the points are measured afterwards

    def recovered(epsilon: float) -> float:
        made, rng = replace(mechanism, epsilon=epsilon), seeded_rng(run.seed)
        observed = _Probe(run=probe, privatizer=own_privatizer(probe, made, rng), rng=rng)
        attacked = {each.measure: each.value for each in observed.attacked()}
        return max(float(attacked[name] or 0.0) for name in ("success_alone", "success_context"))

    return recovered


class _Probe(Observed):
    """A fast and slightly weaker observer, to look for ε with: no smoothing, and usual words."""

    @cached_property
    def likelihoods(self) -> Likelihoods:
        channel = self.privatizer.channel
        if isinstance(channel, LawChannel):
            return LawLikelihoods(channel.law, most=_USUAL)
        return super().likelihoods

    def smoothed(self, drawn: Ids, lengths: Ids) -> Ids:
        return drawn


def epsilons_at(
    success: Callable[[float], float], levels: Sequence[float], title: str
) -> list[float]:
    """Return an ε for each share recovered, in rising order, by interpolation in ln ε.

    >>> share = lambda epsilon: epsilon / (10.0 + epsilon)
    >>> epsilons_at(share, [0.2, 0.5], "example")
    [2.5, 10.0]
    """
    known = {1.0: success(1.0)}
    while min(known.values()) > levels[0] and min(known) > _LEAST:
        known[min(known) / 2.0] = success(min(known) / 2.0)
    while max(known.values()) < levels[-1] and max(known) < _MOST:
        known[2.0 * max(known)] = success(2.0 * max(known))
    least, most = min(known.values()), max(known.values())
    if least > levels[0] or most < levels[-1]:
        raise ParameterError(
            f"{title} cannot be placed: from ε = {min(known):.3g} to {max(known):.3g}, attacks "
            f"recover {least:.0%} to {most:.0%} of words, and the levels are "
            f"{levels[0]:.0%} to {levels[-1]:.0%}."
        )
    chosen = []
    for level in levels:
        for _ in range(_TRIES):
            low, high = _around(known, level)
            if high <= low * _CLOSE:
                break
            middle = _between(known, low, high, level)
            known[middle] = success(middle)
        chosen.append(_between(known, *_around(known, level), level))
    return sorted({_rounded(epsilon) for epsilon in chosen})


def _around(known: dict[float, float], level: float) -> tuple[float, float]:
    """Return the largest ε below the first one that reaches a level, and that one."""
    high = min(epsilon for epsilon, share in known.items() if share >= level)
    return max((epsilon for epsilon in known if epsilon < high), default=high), high


def _between(known: dict[float, float], low: float, high: float, level: float) -> float:
    span = known[high] - known[low]
    part = min(max((level - known[low]) / span, 0.0), 1.0) if span > 0.0 else 0.5
    return math.exp((1.0 - part) * math.log(low) + part * math.log(high))


def _rounded(epsilon: float) -> float:
    return float(f"{epsilon:.{_DIGITS}g}")
