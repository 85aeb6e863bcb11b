"""Malaprop: private text and word embeddings under metric differential privacy.

>>> import malaprop
>>> tiny = malaprop.Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [9.0]])
>>> privatizer = malaprop.Privatizer(tiny, malaprop.TEM(epsilon=2.0))
>>> release = privatizer("Cold, very COLD!")
>>> release.guarantee.loss(1.0)
2.0
"""

from malaprop._version import __version__
from malaprop.core.accounting import Loss, compose, loss_of
from malaprop.core.channel import Channel, Decoder, LawChannel, VectorChannel
from malaprop.core.errors import (
    DataError,
    LexiconError,
    MalapropError,
    MetricError,
    MissingExtraError,
    OutputError,
    ParameterError,
)
from malaprop.core.gaussian import gaussian_scale
from malaprop.core.guarantee import Guarantee, Kind
from malaprop.core.mechanism import Mechanism, registry
from malaprop.core.metric import Metric
from malaprop.core.randomness import secure_rng, seeded_rng
from malaprop.lexicon.graph.edges import GraphOptions
from malaprop.lexicon.lexicon import Lexicon
from malaprop.measure.audit import audit
from malaprop.measure.finding import Audit
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
from malaprop.pipeline.privatizer import Privatizer
from malaprop.pipeline.release import Release

__all__ = [
    "NADP",
    "TEM",
    "Audit",
    "Balanced",
    "Channel",
    "CoordinateLaplace",
    "DataError",
    "Decoder",
    "Gaussian",
    "GraphOptions",
    "Guarantee",
    "HyperbolicLaplace",
    "Jaccard",
    "Kind",
    "Laplace",
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
    "OutputError",
    "ParameterError",
    "PermuteAndFlip",
    "PoincareMetropolis",
    "PrivEmb",
    "Privatizer",
    "Release",
    "TangentLaplace",
    "VectorChannel",
    "__version__",
    "audit",
    "compose",
    "gaussian_scale",
    "loss_of",
    "registry",
    "secure_rng",
    "seeded_rng",
]
