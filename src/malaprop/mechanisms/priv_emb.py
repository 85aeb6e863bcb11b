"""The projected Laplace mechanism, known as PrivEmb."""

import math
from dataclasses import dataclass

import numpy as np

from malaprop.lexicon.lexicon import Lexicon
from malaprop.mechanisms.decoders import VectorMechanism
from malaprop.privacy.arrays import Floats, Reals
from malaprop.privacy.channel import VectorChannel
from malaprop.privacy.errors import (
    COMPUTABLE,
    ParameterError,
    is_computable,
    require_choice,
    require_whole,
)
from malaprop.privacy.guarantee import PUBLIC, Guarantee, Kind
from malaprop.privacy.mechanism import FreeVectors, bound_to_vectors, option
from malaprop.privacy.metrics import MetricSpace
from malaprop.privacy.noise import (
    PROJECTIONS,
    ProjectedLaplace,
    operator_norm,
    paper_dimension,
    projection_of,
    shortfall,
)

_PAPER_BETA = 0.66  # 100 of 300 dimensions


@dataclass(frozen=True, kw_only=True)
class PrivEmb(VectorMechanism, name="priv-emb"):
    """Projects a vector to fewer dimensions and adds spherical Laplace noise there.

    Distribution: y = Φx + κ in m dimensions, κ with density ∝ exp(−ε‖κ‖₂/‖Φ‖): uniform direction,
    radius ~ Gamma(m, ‖Φ‖/ε); ‖Φ‖ is Φ's largest singular value. Vectors are rounded to a grid.

    Guarantee: ε·‖x − x'‖₂ metric differential privacy for *all* vectors of the space, words or
    not, with δ = 0; Φ is public.

    Why: ‖Φx − Φx'‖ ≤ ‖Φ‖·‖x − x'‖, and the noise is Laplace's for that distance. What is decoded
    in the projected space is post-processing. See docs/proofs/priv-emb.md.

    Parameters: `epsilon`, ε, loss per unit of Euclidean distance. `dimension`, m, by default a
    third of d; or `beta`, β, and `delta`, δ: the paper's m = (√log₂ d + √ln(1/δ))²/β².
    `projection`: `orthonormal` rows times √(d/m), `pca` (the lexicon's principal directions),
    `gaussian`, or `sparse` (⌈√m⌉ entries a column); `projection_seed` draws it, and is public.
    `published`: Gaussian, with noise for a stretch of 1 + β only. `decoder`, from vector to word,
    in the projected space.

    >>> from malaprop import Lexicon, PrivEmb, seeded_rng
    >>> tiny = Lexicon(["cold", "cool", "hot"], [[0.0, 1.0], [1.0, 1.0], [9.0, 0.0]])
    >>> channel = PrivEmb(epsilon=2.0, dimension=1, projection="pca").on(tiny)
    >>> channel.release([[0.5, 0.5], [8.0, 0.0]], seeded_rng(1)).shape
    (2, 1)

    Reference: Feyisetan, Kasiviswanathan, "Private release of text embedding vectors", 2021.
    """

    dimension: int | None = option(None, "m, how many dimensions remain")
    beta: float | None = option(None, "β, the stretch that gives m")
    delta: float = option(1e-6, "δ, for m where β is given")
    projection: str = option("orthonormal", "orthonormal, pca (of the lexicon), gaussian or sparse")
    projection_seed: int = option(0, "the projection's seed: public")
    published: bool = option(False, "the paper's: gaussian, noise for a stretch of 1 + β")

    promise = "metric-dp: ε·d, Euclidean, before the projection"
    choose_for = "vectors that are released as vectors, in many dimensions"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require("delta", "a number between 0 and 1", lambda x: 0 < x < 1)
        require_whole(self, "projection_seed", least=0)
        if self.dimension is not None:
            require_whole(self, "dimension", least=1)
        if self.beta is not None:
            self._require("beta", "a number between 0 and 1", lambda x: 0 < x < 1)
            self._require("beta", COMPUTABLE, is_computable)
            if self.dimension is not None and not self.published:
                raise ParameterError("PrivEmb takes 'dimension' or 'beta', not both: each gives m.")
        require_choice(self, "projection", PROJECTIONS)
        require_choice(self, "published", (True, False))

    def on(self, lexicon: MetricSpace) -> VectorChannel[ProjectedLaplace]:
        self._check(lexicon)
        noise, guarantee = self._bind(lexicon.vectors)
        projected = Lexicon(lexicon.words, noise.places(lexicon.vectors))
        return VectorChannel(lexicon, guarantee, noise, self.decoder_on(projected))

    def _free(self, columns: int, public: Floats | None) -> FreeVectors:
        if public is None and self._kind == "pca":
            raise ParameterError(
                "PrivEmb takes principal directions from public data only, as they would give away "
                "what they come from: give the 'public' vectors."
            )
        shape = np.zeros((1, columns)) if public is None else public
        noise, guarantee = self._bind(shape, free=True)
        source = self._source(self._kind, "the public")
        return bound_to_vectors(columns, noise, guarantee, public=(source,))

    @property
    def _kind(self) -> str:
        return "gaussian" if self.published else self.projection

    def onto(self, dimension: int) -> int:
        """Return m for vectors of d = `dimension` dimensions."""
        if self.dimension is None and not self.published and self.beta is None:
            return math.ceil(dimension / 3)
        m = self.dimension or paper_dimension(dimension, self.beta or _PAPER_BETA, self.delta)
        if self.dimension is not None and m > dimension and not self.published:
            raise ParameterError(
                f"The 'dimension' parameter of PrivEmb must be at most {dimension}, the vectors' "
                f"own. Got {self.dimension}."
            )
        return math.ceil(m) if self.published else min(math.ceil(m), dimension)

    def _source(self, kind: str, whose: str = "the lexicon's own") -> str:
        if kind == "pca":
            return f"the projection, made of {whose} vectors"
        return f"the projection, drawn with projection_seed = {self.projection_seed}"

    def _bind(self, vectors: Reals, *, free: bool = False) -> tuple[ProjectedLaplace, Guarantee]:
        m = self.onto(vectors.shape[1])
        kind = self._kind
        matrix = projection_of(kind, vectors, m, self.projection_seed)
        norm = operator_norm(matrix)
        stretch = 1.0 + (self.beta or _PAPER_BETA) if self.published else norm
        # How a projection stretches some public vectors says nothing about other ones.
        reason = shortfall(norm, stretch, 0 if free else len(vectors), m)
        noise = ProjectedLaplace(matrix=matrix, scale=stretch / self.epsilon)
        public, promised = (*PUBLIC, self._source(kind)), Kind.NONE if reason else Kind.METRIC
        return noise, self._promise(noise, "euclidean", promised, public=public, reason=reason)
