"""Private text and private vectors in a scikit-learn pipeline: needs the extra `sklearn`.

>>> from malaprop.integrations.sklearn import PrivateText
>>> private = PrivateText(epsilon=1.5).fit(["She has a cold.", "He is fine."])
>>> [len(text.split()) for text in private.transform(["She has a cold.", "He is fine."])]
[4, 3]

>>> import numpy as np
>>> from malaprop.integrations.sklearn import PrivateEmbedding
>>> documents = np.ones((4, 30))
>>> private = PrivateEmbedding(epsilon=5.0, n_components=10)
>>> private.fit_transform(documents).shape
(4, 10)
>>> private.guarantee_.epsilon, private.guarantee_.delta
(5.0, 0.0)
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from malaprop.lexicon.lexicon import Lexicon
from malaprop.mechanisms.priv_emb import PrivEmb
from malaprop.privacy.arrays import Floats
from malaprop.privacy.errors import (
    MissingExtraError,
    ParameterError,
    several_texts,
    type_name,
)
from malaprop.privacy.guarantee import Guarantee, Kind
from malaprop.privacy.mechanism import Mechanism
from malaprop.privacy.noise import ProjectedLaplace
from malaprop.privacy.randomness import SECURE, label, secure_rng, seeded_rng
from malaprop.privatizer import Privatizer
from malaprop.text.missing import is_missing
from malaprop.text.policy import TextOptions

try:
    from sklearn.base import (  # type: ignore[import-untyped]
        BaseEstimator,
        ClassNamePrefixFeaturesOutMixin,
        OneToOneFeatureMixin,
        TransformerMixin,
    )
    from sklearn.utils.validation import (  # type: ignore[import-untyped]
        check_array,
        check_is_fitted,
        validate_data,
    )
except ImportError:
    raise MissingExtraError("scikit-learn", "sklearn", "A transformer for scikit-learn") from None


RandomState = int | Generator | np.random.RandomState | None


def _rng(random_state: RandomState, owner: object) -> Generator:
    """Return secure noise, or the noise of the seed, which starts over in every call."""
    match random_state:
        case None:
            return secure_rng()
        case Generator() as rng:
            return rng
        case np.random.RandomState() as state:
            return seeded_rng(int(state.randint(2**31)))
        case int() | np.integer() as seed if seed >= 0:
            return seeded_rng(int(seed))
    raise ParameterError(
        f"The 'random_state' parameter of {type_name(owner)} must be None, for noise that is "
        "private, or a seed or a generator of numpy, for tests."
    )


def _promised(guarantee: Guarantee, randomness: str) -> Guarantee:
    if randomness == SECURE:
        return guarantee
    reason = "random_state makes the noise repeatable: leave it out for a private result"
    return replace(guarantee, kind=Kind.NONE, reason=reason)


class PrivateText(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Replaces texts by private ones, as `Privatizer` does.

    X is a list or column of texts, or a table with one or more columns of them; the result has the
    same shape. Missing texts stay missing, as None. `fit` learns nothing from X but its number of
    columns, so that private texts may be fitted.

    Guarantee: that of `Privatizer`, for each transform: `guarantee_` states it. Texts are drawn
    anew in every call of `transform`, so that a text that is transformed n times costs n·ε for each
    word. Cross-validation and repeated predictions do that. Where others see what follows from
    several calls, privatize once, before the pipeline, with `malaprop.privatize`.

    Parameters: `epsilon`, `mechanism`, `lexicon`, as for `Privatizer`. `options`: a dictionary of
    its options for texts, such as `{"readable": True}`. `random_state`: None for cryptographic
    noise; a seed repeats the same noise in every call and is *not private*: for tests.

    Attributes: `guarantee_`. `randomness_`: `secure` or `seeded: not private`. `n_features_in_`,
    `feature_names_in_`.
    """

    def __init__(
        self,
        epsilon: float | None = None,
        *,
        mechanism: Mechanism | str = "balanced",
        lexicon: Lexicon | str = "english",
        options: Mapping[str, Any] | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.epsilon = epsilon
        self.mechanism = mechanism
        self.lexicon = lexicon
        self.options = options
        self.random_state = random_state

    def fit(self, X: Any, y: object = None) -> "PrivateText":  # noqa: N803
        """Prepare the mechanism; check X, of which nothing else is learnt."""
        self._texts(X, reset=True)
        if self.options is not None and not isinstance(self.options, Mapping):
            raise ParameterError(
                "The 'options' parameter of PrivateText must be a dictionary of options of "
                f"Privatizer. Got {type_name(self.options)}."
            )
        self._privatizer = Privatizer(
            self.lexicon,
            self.mechanism,
            epsilon=self.epsilon,
            rng=_rng(self.random_state, self),
            **cast(TextOptions, dict(self.options or {})),
        )
        self.randomness_ = self._privatizer.randomness
        self.guarantee_ = _promised(self._privatizer.guarantee, self.randomness_)
        return self

    def transform(self, X: Any) -> Any:  # noqa: N803
        """Return X with a private text for each text, each with draws of its own."""
        check_is_fitted(self)
        texts = self._texts(X, reset=False)
        privatizer = self._privatizer.drawing_from(_rng(self.random_state, self))
        private = np.empty(texts.size, dtype=object)
        drawn = privatizer.texts(texts.ravel())
        private[:] = [None if is_missing(text) else text for text in drawn]
        return private.reshape(texts.shape)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.string = tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []  # always objects
        return tags

    def _texts(self, X: Any, *, reset: bool) -> Any:  # noqa: N803
        """Return texts as an array of objects; refuse anything else in it."""
        if hasattr(X, "__array__") and not hasattr(X, "ndim"):
            X = np.asarray(X)  # noqa: N806
        if getattr(X, "ndim", None) == 2 or _has_rows(X):
            texts = validate_data(self, X, reset=reset, dtype=object, ensure_all_finite=False)
        else:  # scikit-learn's own error for one dimension would show the texts
            texts = np.empty(len(column := list(several_texts(X, "X"))), dtype=object)
            texts[:] = column
            if reset:
                self.n_features_in_ = 1
                self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
            elif self.n_features_in_ != 1:
                raise ParameterError(
                    f"PrivateText was fitted to a table of {self.n_features_in_} columns, and X is "
                    "one column. Reshape your data, or fit PrivateText to one column."
                )
        return self._only_texts(texts)

    def _only_texts(self, texts: Any) -> Any:
        for text in texts.flat:
            if not isinstance(text, str) and not is_missing(text):
                raise ParameterError(
                    "PrivateText takes texts, and None or NaN for missing ones. Got "
                    f"{type_name(text)}."
                )
        return texts


def _has_rows(X: Any) -> bool:  # noqa: N803
    if not (isinstance(X, list | tuple) and X and isinstance(X[0], list | tuple)):
        return False
    if any(not isinstance(row, list | tuple) or len(row) != len(X[0]) for row in X):
        raise ParameterError("X has rows of different lengths: each must have as many texts.")
    return True


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
        random_state: RandomState = None,
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
        self.randomness_ = label(_rng(self.random_state, self))
        self.guarantee_ = _promised(self._free.guarantee, self.randomness_)
        return self

    def transform(self, X: ArrayLike) -> Floats:  # noqa: N803
        """Return a private vector for each row of X, each with its own noise."""
        check_is_fitted(self)
        rows: Floats = validate_data(self, X, dtype=np.float64, reset=False)
        return self._free.release(rows, _rng(self.random_state, self))

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
