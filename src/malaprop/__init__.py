"""Malaprop: private text and word embeddings under metric differential privacy.

>>> import malaprop
>>> tiny = malaprop.Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [9.0]])
>>> privatizer = malaprop.Privatizer(tiny, malaprop.TEM(epsilon=2.0))
>>> release = privatizer("Cold, very COLD!")
>>> release.guarantee.loss(1.0)
2.0
"""

import importlib
from typing import TYPE_CHECKING, Any

from malaprop._version import __version__

if TYPE_CHECKING:
    from malaprop.core.accounting import Loss, compose, loss_of
    from malaprop.core.channel import Channel, Decoder, LawChannel, VectorChannel
    from malaprop.core.errors import (
        DataError,
        FetchError,
        LexiconError,
        MalapropError,
        MetricError,
        MissingExtraError,
        OutputError,
        ParameterError,
        SecretError,
    )
    from malaprop.core.guarantee import Guarantee, Kind
    from malaprop.core.law import Law
    from malaprop.core.mechanism import Mechanism
    from malaprop.core.metric import Metric
    from malaprop.core.noise.calibration import gaussian_scale
    from malaprop.core.noise.noise import Noise
    from malaprop.core.randomness import renew_randomness, secure_rng, seeded_rng
    from malaprop.jobs.embedding import embed_files
    from malaprop.jobs.files import privatize_files
    from malaprop.jobs.vectors import release_files
    from malaprop.lexicon.graph.edges import GraphOptions
    from malaprop.lexicon.lexicon import Lexicon
    from malaprop.measure.audit import audit
    from malaprop.measure.finding import Audit
    from malaprop.mechanisms import registry
    from malaprop.mechanisms.balanced import Balanced
    from malaprop.mechanisms.coordinate_laplace import CoordinateLaplace
    from malaprop.mechanisms.gaussian import Gaussian
    from malaprop.mechanisms.hyperbolic_laplace import HyperbolicLaplace
    from malaprop.mechanisms.jaccard import Jaccard
    from malaprop.mechanisms.laplace import Laplace
    from malaprop.mechanisms.mahalanobis import Mahalanobis
    from malaprop.mechanisms.nadp import NADP
    from malaprop.mechanisms.permute_and_flip import PermuteAndFlip
    from malaprop.mechanisms.poincare_metropolis import PoincareMetropolis
    from malaprop.mechanisms.priv_emb import PrivEmb
    from malaprop.mechanisms.tangent_laplace import TangentLaplace
    from malaprop.mechanisms.tem import TEM
    from malaprop.pipeline.outputs.digests import file_digest
    from malaprop.pipeline.privatizer import Privatizer
    from malaprop.pipeline.release import Release
    from malaprop.pipeline.report import RunReport
    from malaprop.report.explanation import Explanation, explain

__all__ = [
    "NADP",
    "TEM",
    "Audit",
    "Balanced",
    "Channel",
    "CoordinateLaplace",
    "DataError",
    "Decoder",
    "Explanation",
    "FetchError",
    "Gaussian",
    "GraphOptions",
    "Guarantee",
    "HyperbolicLaplace",
    "Jaccard",
    "Kind",
    "Laplace",
    "Law",
    "LawChannel",
    "Lexicon",
    "LexiconError",
    "Loss",
    "Mahalanobis",
    "MalapropError",
    "Mechanism",
    "Metric",
    "MetricError",
    "MissingExtraError",
    "Noise",
    "OutputError",
    "ParameterError",
    "PermuteAndFlip",
    "PoincareMetropolis",
    "PrivEmb",
    "Privatizer",
    "Release",
    "RunReport",
    "SecretError",
    "TangentLaplace",
    "VectorChannel",
    "__version__",
    "audit",
    "compose",
    "embed_files",
    "explain",
    "file_digest",
    "gaussian_scale",
    "loss_of",
    "privatize_files",
    "registry",
    "release_files",
    "renew_randomness",
    "secure_rng",
    "seeded_rng",
]

# Where the names are: a module is imported when one of its names is asked for, so that a program
# which needs a part waits for that part alone.
_HOMES = {
    "core.accounting": "Loss compose loss_of",
    "core.channel": "Channel Decoder LawChannel VectorChannel",
    "core.errors": "DataError FetchError LexiconError MalapropError MetricError "
    "MissingExtraError OutputError ParameterError SecretError",
    "core.noise.calibration": "gaussian_scale",
    "core.noise.noise": "Noise",
    "core.guarantee": "Guarantee Kind",
    "core.law": "Law",
    "core.mechanism": "Mechanism",
    "core.metric": "Metric",
    "core.randomness": "renew_randomness secure_rng seeded_rng",
    "jobs.embedding": "embed_files",
    "jobs.files": "privatize_files",
    "jobs.vectors": "release_files",
    "lexicon.graph.edges": "GraphOptions",
    "lexicon.lexicon": "Lexicon",
    "measure.audit": "audit",
    "measure.finding": "Audit",
    "mechanisms": "registry",
    "mechanisms.balanced": "Balanced",
    "mechanisms.coordinate_laplace": "CoordinateLaplace",
    "mechanisms.gaussian": "Gaussian",
    "mechanisms.hyperbolic_laplace": "HyperbolicLaplace",
    "mechanisms.jaccard": "Jaccard",
    "mechanisms.laplace": "Laplace",
    "mechanisms.mahalanobis": "Mahalanobis",
    "mechanisms.nadp": "NADP",
    "mechanisms.permute_and_flip": "PermuteAndFlip",
    "mechanisms.poincare_metropolis": "PoincareMetropolis",
    "mechanisms.priv_emb": "PrivEmb",
    "mechanisms.tangent_laplace": "TangentLaplace",
    "mechanisms.tem": "TEM",
    "pipeline.outputs.digests": "file_digest",
    "pipeline.privatizer": "Privatizer",
    "pipeline.release": "Release",
    "pipeline.report": "RunReport",
    "report.explanation": "Explanation explain",
}


def __getattr__(name: str) -> Any:
    if name == "measure":  # so that malaprop.measure.attack needs no import of its own
        return importlib.import_module("malaprop.measure")
    for module, names in _HOMES.items():
        if name in names.split():
            value = getattr(importlib.import_module(f"malaprop.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'malaprop' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
