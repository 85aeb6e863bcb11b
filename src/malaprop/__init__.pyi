from . import measure as measure
from ._version import __version__ as __version__
from .files.privatize import privatize_files as privatize_files
from .files.release_vectors import embed_files as embed_files
from .files.release_vectors import release_files as release_files
from .integrations.tables import privatize as privatize
from .lexicon.graph import GraphOptions as GraphOptions
from .lexicon.lexicon import Lexicon as Lexicon
from .measure.audit import Audit as Audit
from .measure.audit import audit as audit
from .mechanisms import registry as registry
from .mechanisms.balanced import Balanced as Balanced
from .mechanisms.coordinate_laplace import CoordinateLaplace as CoordinateLaplace
from .mechanisms.gaussian import Gaussian as Gaussian
from .mechanisms.hyperbolic_laplace import HyperbolicLaplace as HyperbolicLaplace
from .mechanisms.jaccard import Jaccard as Jaccard
from .mechanisms.laplace import Laplace as Laplace
from .mechanisms.mahalanobis import Mahalanobis as Mahalanobis
from .mechanisms.nadp import NADP as NADP
from .mechanisms.permute_and_flip import PermuteAndFlip as PermuteAndFlip
from .mechanisms.poincare_metropolis import PoincareMetropolis as PoincareMetropolis
from .mechanisms.priv_emb import PrivEmb as PrivEmb
from .mechanisms.tangent_laplace import TangentLaplace as TangentLaplace
from .mechanisms.tem import TEM as TEM
from .privacy.accounting import Loss as Loss
from .privacy.accounting import compose as compose
from .privacy.accounting import loss_of as loss_of
from .privacy.channel import (
    Channel as Channel,
)
from .privacy.channel import (
    Decoder as Decoder,
)
from .privacy.channel import (
    LawChannel as LawChannel,
)
from .privacy.channel import (
    VectorChannel as VectorChannel,
)
from .privacy.errors import (
    DataError as DataError,
)
from .privacy.errors import (
    FetchError as FetchError,
)
from .privacy.errors import (
    LexiconError as LexiconError,
)
from .privacy.errors import (
    MalapropError as MalapropError,
)
from .privacy.errors import (
    MetricError as MetricError,
)
from .privacy.errors import (
    MissingExtraError as MissingExtraError,
)
from .privacy.errors import (
    OutputError as OutputError,
)
from .privacy.errors import (
    ParameterError as ParameterError,
)
from .privacy.errors import (
    SecretError as SecretError,
)
from .privacy.gaussian_noise import gaussian_scale as gaussian_scale
from .privacy.guarantee import Guarantee as Guarantee
from .privacy.guarantee import Kind as Kind
from .privacy.law import Law as Law
from .privacy.mechanism import Mechanism as Mechanism
from .privacy.metrics import Metric as Metric
from .privacy.noise import Noise as Noise
from .privacy.randomness import (
    renew_randomness as renew_randomness,
)
from .privacy.randomness import (
    secure_rng as secure_rng,
)
from .privacy.randomness import (
    seeded_rng as seeded_rng,
)
from .private_files import file_digest as file_digest
from .privatizer import Privatizer as Privatizer
from .release import Release as Release
from .report.explanation import Explanation as Explanation
from .report.explanation import explain as explain
from .report.progress_bar import ProgressBar as ProgressBar
from .report.run_report import RunReport as RunReport

__all__: list[str]
