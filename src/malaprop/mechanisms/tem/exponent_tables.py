"""Audited exponents: how large TEM's exponent may be on a lexicon.

Small lexicons are audited when the mechanism is bound to them. Large ones carry tables, which
`malaprop lexicon audit` computes once: see `malaprop.lexicon.tables`.
"""

from __future__ import annotations

import math

import numpy as np

from malaprop.core.errors import LexiconError, ParameterError
from malaprop.core.metrics.named import Custom
from malaprop.core.parameters import COMPUTABLE, is_computable
from malaprop.core.progress import Progress
from malaprop.core.space import MetricSpace
from malaprop.lexicon.lexicon import Lexicon
from malaprop.lexicon.tables.values import ExponentTable, tables_of
from malaprop.mechanisms.tem.exponents import exponent_for, largest_exponent, loss_rates

_SMALL = 2_000  # words: the audit of so many takes a second
_UP = 1.0 + 1e-9  # above what rounding can take from the largest distance


def audited_exponent(
    lexicon: MetricSpace, epsilon: float, gamma: float | None
) -> tuple[float, float] | None:
    """Return the audited exponent and the threshold that it holds for, if they are at hand.

    Without a threshold (None) that is the largest distance of the lexicon.
    """
    if len(lexicon) <= _SMALL:
        distances = lexicon.distances(np.arange(len(lexicon)))
        limit = float(distances.max()) * _UP if gamma is None else gamma
        return largest_exponent(np.minimum(distances, limit), epsilon), limit
    tables = tables_of(lexicon).exponents_for(math.inf if gamma is None else gamma, epsilon)
    if not tables:
        return None
    limit = tables[0].diameter * _UP if gamma is None else gamma
    return max(table.largest(epsilon) for table in tables), limit


def build_table(
    lexicon: Lexicon, gamma: float = math.inf, progress: Progress | None = None
) -> ExponentTable:
    """Audit a lexicon with a threshold or without: two passes over all distances.

    A threshold that no distance reaches is none, and the table says so.
    """
    check_numbers(gamma)
    _check(lexicon)
    rates = loss_rates(lexicon, gamma, progress)
    return ExponentTable(
        fingerprint=lexicon.fingerprint,
        gamma=gamma if rates.diameter == gamma else math.inf,
        diameter=rates.diameter,
        exponents=tuple(rates.exponents.tolist()),
        losses=tuple(np.nextafter(rates.losses, np.inf).tolist()),
    )


def build_table_for(
    lexicon: Lexicon, epsilon: float, gamma: float = math.inf, progress: Progress | None = None
) -> ExponentTable:
    """Audit a lexicon for one ε alone, in less than half the time."""
    check_numbers(gamma, epsilon)
    _check(lexicon)
    exponent, diameter = exponent_for(lexicon, epsilon, gamma, progress)
    return ExponentTable(
        fingerprint=lexicon.fingerprint,
        gamma=gamma if diameter == gamma else math.inf,
        epsilon=float(epsilon),
        diameter=diameter,
        exponents=(exponent,),
        losses=(float(epsilon),),
    )


def check_numbers(gamma: float, epsilon: float | None = None) -> None:
    """Refuse a threshold or an ε that no lexicon can be audited for."""
    if not gamma > 0.0:
        raise ParameterError(f"The threshold γ must be a number above 0. Got {gamma}.")
    if epsilon is None:
        return
    if not 0.0 < epsilon < math.inf:
        raise ParameterError(f"ε must be a number above 0, and finite. Got {epsilon}.")
    if not is_computable(epsilon):
        raise ParameterError(f"ε must be {COMPUTABLE}. Got {epsilon}.")


def _check(lexicon: Lexicon) -> None:
    """Refuse a lexicon that cannot be audited."""
    if isinstance(lexicon.metric, Custom):
        raise LexiconError(
            "A lexicon with a function of your own for its metric has no fingerprint to keep an "
            "audit under: code can change. Use one of the named metrics, or exponent='half'."
        )


def how_to_audit(lexicon: MetricSpace, gamma: float | None) -> str:
    """Say what to do for an audited exponent on a lexicon that has none for its threshold."""
    run = _command(lexicon)
    if gamma is None or gamma == math.inf:
        return run + _audited_for(lexicon, math.inf)
    other = ", or leave 'gamma' out" if tables_of(lexicon).exponents_for(math.inf) else ""
    return f"{run} --gamma {float(gamma)!r}{_audited_for(lexicon, gamma)}{other}"


def _audited_for(lexicon: MetricSpace, gamma: float) -> str:
    """Say for which single values of ε the lexicon was audited."""
    tables = tables_of(lexicon).exponents
    audited = sorted(t.epsilon for t in tables if t.epsilon is not None and t.gamma == gamma)
    listed = ", ".join(f"{epsilon:g}" for epsilon in audited)
    return f" (add --epsilon for this ε alone; what was kept is for ε = {listed})" if listed else ""


def _command(lexicon: MetricSpace) -> str:
    if isinstance(lexicon, Lexicon) and lexicon.name and not lexicon.opened_as:
        # The name is that of the same words under another metric.
        return "save it by lexicon.save(FOLDER), and run  malaprop lexicon audit FOLDER"
    name = lexicon.opened_as if isinstance(lexicon, Lexicon) else ""
    return f"run  malaprop lexicon audit {name or 'NAME'}"
