"""Private vectors in a scikit-learn pipeline: needs the extra `sklearn`.

>>> import numpy as np
>>> from malaprop.integrations.sklearn import PrivateEmbedding
>>> documents = np.ones((4, 30))
>>> private = PrivateEmbedding(epsilon=5.0, n_components=10)
>>> private.fit_transform(documents).shape
(4, 10)
>>> private.guarantee_.epsilon, private.guarantee_.delta
(5.0, 0.0)
"""

from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from malaprop.mechanisms.priv_emb import PrivEmb
from malaprop.privacy.arrays import Floats
from malaprop.privacy.errors import MissingExtraError, ParameterError
from malaprop.privacy.guarantee import Kind
from malaprop.privacy.noise import ProjectedLaplace
from malaprop.privacy.randomness import SECURE, label, secure_rng, seeded_rng

try:
    from sklearn.base import (  # type: ignore[import-untyped]
        BaseEstimator,
        ClassNamePrefixFeaturesOutMixin,
        TransformerMixin,
    )
    from sklearn.utils.validation import (  # type: ignore[import-untyped]
        check_array,
        check_is_fitted,
        validate_data,
    )
except ImportError:
    raise MissingExtraError("scikit-learn", "sklearn", "A transformer for scikit-learn") from None


class PrivateEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Replaces each row by a private vector of fewer dimensions, as `PrivEmb` does.

    Guarantee: ε·‖x − x'‖₂ metric differential privacy for each row by itself, between any two
    vectors whatever; `guarantee_` states it. It covers the rows, once: transforming the same row
    n times costs n·ε, and labels, row order and the number of rows are not hidden.

    `fit` learns nothing from X but its number of columns, so that private data may be fitted. With
    `projection="pca"` the principal directions come from `public_vectors`, never from X.

    Parameters: `epsilon`, ε, loss per unit of Euclidean distance. `n_components`, m, by default a
    third of the columns. `projection`: `orthonormal`, `pca` or `gaussian`; `projection_seed`
    draws it, and is public. `public_vectors`: for `pca`, rows that everybody may know.
    `random_state`: None for cryptographic noise; a seed repeats the same noise in every call and
    is *not private*: for tests.

    Attributes: `components_`, Φ, (m, columns). `guarantee_`. `randomness_`: `secure` or
    `seeded: not private`. `n_features_in_`, `feature_names_in_`.
    """

    def __init__(
        self,
        epsilon: float,
        *,
        n_components: int | None = None,
        projection: str = "orthonormal",
        projection_seed: int = 0,
        public_vectors: ArrayLike | None = None,
        random_state: int | Generator | np.random.RandomState | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.n_components = n_components
        self.projection = projection
        self.projection_seed = projection_seed
        self.public_vectors = public_vectors
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None) -> "PrivateEmbedding":  # noqa: N803
        """Draw the projection for the number of columns of X; nothing else is learnt from X."""
        validate_data(self, X, dtype=np.float64)
        mechanism = PrivEmb(
            epsilon=self.epsilon,
            dimension=self.n_components,
            projection=self.projection,
            projection_seed=self.projection_seed,
        )
        self._free = mechanism.for_vectors(self.n_features_in_, self._public())
        self.components_ = cast(ProjectedLaplace, self._free.noise).matrix
        self.guarantee_ = self._free.guarantee
        self.randomness_ = label(self._rng())
        if self.randomness_ != SECURE:
            self.guarantee_ = replace(
                self.guarantee_,
                kind=Kind.NONE,
                reason="random_state makes the noise repeatable: leave it out for private vectors",
            )
        return self

    def transform(self, X: ArrayLike) -> Floats:  # noqa: N803
        """Return a private vector for each row of X, each with its own noise."""
        check_is_fitted(self)
        rows: Floats = validate_data(self, X, dtype=np.float64, reset=False)
        return self._free.release(rows, self._rng())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True  # each row has noise of its own, wherever it stands
        return tags

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _public(self) -> Any:
        """Return the vectors that a projection may use: the public ones, if there are any."""
        if self.public_vectors is None:
            if self.projection == "pca":
                raise ParameterError(
                    "PrivateEmbedding takes principal directions from public data only, as they "
                    "would give away what they come from: give it public_vectors."
                )
            return None
        public = check_array(self.public_vectors, dtype=np.float64)
        if public.shape[1] != self.n_features_in_:
            raise ParameterError(
                f"The 'public_vectors' parameter of PrivateEmbedding must have "
                f"{self.n_features_in_} columns, as X has. Got {public.shape[1]}."
            )
        return public

    def _rng(self) -> Generator:
        """Return secure noise, or the noise of the seed, which starts over in every call."""
        match self.random_state:
            case None:
                return secure_rng()
            case Generator() as rng:
                return rng
            case np.random.RandomState() as state:
                return seeded_rng(int(state.randint(2**31)))
            case int() | np.integer() as seed if seed >= 0:
                return seeded_rng(int(seed))
        raise ParameterError(
            "The 'random_state' parameter of PrivateEmbedding must be None, for noise that is "
            "private, or a seed or a generator of numpy, for tests."
        )
