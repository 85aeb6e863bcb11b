"""What a channel does to words, and what an observer learns, computed from public data alone.

>>> import malaprop
>>> from malaprop import measure
>>> line = malaprop.Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [3.0]])
>>> measure.statistics(malaprop.TEM(epsilon=2.0).on(line)).summary()["kept"].max < 0.99
True
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from malaprop.measure.audit_by_draws import SampledAudit, sampled_audit
    from malaprop.measure.bayes import BayesSuccess, bayes_success
    from malaprop.measure.calibration import Calibration, calibrate
    from malaprop.measure.figures import skewness
    from malaprop.measure.neighbourhoods import density, overlap
    from malaprop.measure.words import WordStatistics, statistics

__all__ = [
    "BayesSuccess",
    "Calibration",
    "SampledAudit",
    "WordStatistics",
    "bayes_success",
    "calibrate",
    "density",
    "overlap",
    "sampled_audit",
    "skewness",
    "statistics",
]

# Where the names are: a module is imported when one of its names is asked for.
_HOMES = {
    "bayes": "BayesSuccess bayes_success",
    "calibration": "Calibration calibrate",
    "figures": "skewness",
    "neighbourhoods": "density overlap",
    "audit_by_draws": "SampledAudit sampled_audit",
    "words": "WordStatistics statistics",
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names.split():
            value = getattr(importlib.import_module(f"malaprop.measure.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'malaprop.measure' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
