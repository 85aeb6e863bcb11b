"""Malaprop: private text and word embeddings under metric differential privacy.

>>> import malaprop
>>> tiny = malaprop.Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [9.0]])
>>> privatizer = malaprop.Privatizer(tiny, malaprop.TEM(epsilon=2.0))
>>> release = privatizer("Cold, very COLD!")
>>> release.guarantee.loss(1.0)
2.0
"""

from malaprop._version import __version__
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
from malaprop.core.guarantee import Guarantee, Kind
from malaprop.core.mechanism import Mechanism, registry
from malaprop.core.metric import Metric
from malaprop.core.randomness import secure_rng, seeded_rng
from malaprop.lexicon.lexicon import Lexicon
from malaprop.mechanisms.laplace import Laplace
from malaprop.mechanisms.tem import TEM
from malaprop.pipeline.privatizer import Privatizer
from malaprop.pipeline.release import Release

__all__ = [
    "TEM",
    "Channel",
    "DataError",
    "Decoder",
    "Guarantee",
    "Kind",
    "Laplace",
    "LawChannel",
    "Lexicon",
    "LexiconError",
    "MalapropError",
    "Mechanism",
    "Metric",
    "MetricError",
    "MissingExtraError",
    "OutputError",
    "ParameterError",
    "Privatizer",
    "Release",
    "VectorChannel",
    "__version__",
    "registry",
    "secure_rng",
    "seeded_rng",
]
