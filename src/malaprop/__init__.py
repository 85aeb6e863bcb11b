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
    from malaprop.files.privatize import privatize_files
    from malaprop.files.release_vectors import embed_files, release_files
    from malaprop.lexicon.graph import GraphOptions
    from malaprop.lexicon.lexicon import Lexicon
    from malaprop.measure.audit import Audit, audit
    from malaprop.measure.explain import Explanation, explain
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
    from malaprop.privacy.accounting import Loss, compose, loss_of
    from malaprop.privacy.channel import Channel, Decoder, LawChannel, VectorChannel
    from malaprop.privacy.errors import (
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
    from malaprop.privacy.gaussian_noise import gaussian_scale
    from malaprop.privacy.guarantee import Guarantee, Kind
    from malaprop.privacy.law import Law
    from malaprop.privacy.mechanism import Mechanism
    from malaprop.privacy.metrics import Metric
    from malaprop.privacy.noise import Noise
    from malaprop.privacy.randomness import renew_randomness, secure_rng, seeded_rng
    from malaprop.private_files import file_digest
    from malaprop.privatizer import Privatizer
    from malaprop.release import Release
    from malaprop.report.run_report import RunReport

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
    "files.privatize": "privatize_files",
    "files.release_vectors": "embed_files release_files",
    "lexicon.graph": "GraphOptions",
    "lexicon.lexicon": "Lexicon",
    "measure.audit": "Audit audit",
    "measure.explain": "Explanation explain",
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
    "privacy.accounting": "Loss compose loss_of",
    "privacy.channel": "Channel Decoder LawChannel VectorChannel",
    "privacy.errors": "DataError FetchError LexiconError MalapropError MetricError "
    "MissingExtraError OutputError ParameterError SecretError",
    "privacy.gaussian_noise": "gaussian_scale",
    "privacy.guarantee": "Guarantee Kind",
    "privacy.law": "Law",
    "privacy.mechanism": "Mechanism",
    "privacy.noise": "Noise",
    "privacy.randomness": "renew_randomness secure_rng seeded_rng",
    "privacy.metrics": "Metric",
    "private_files": "file_digest",
    "privatizer": "Privatizer",
    "release": "Release",
    "report.run_report": "RunReport",
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
