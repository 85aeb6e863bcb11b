"""The density-aware Gaussian mechanism that its paper calls Jaccard."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from malaprop.lexicon.lexicon import nearest_words
from malaprop.mechanisms.decoders import Bound, VectorMechanism
from malaprop.privacy.arrays import Floats, Ids, blocks
from malaprop.privacy.errors import LexiconError, require_choice, require_whole
from malaprop.privacy.gaussian_noise import (
    WordGaussian,
    classical_scale,
    gaussian_scale,
    spherical_delta,
)
from malaprop.privacy.guarantee import Guarantee, Kind, proved
from malaprop.privacy.mechanism import option
from malaprop.privacy.metrics import MetricSpace

_ALPHAS = (1.835, 1.276)  # the paper's factors of σ for words in dense and in sparse regions


@dataclass(frozen=True, kw_only=True)
class Jaccard(VectorMechanism, name="jaccard"):
    """Adds Gaussian noise scaled to how far a word's nearest neighbours are.

    Distribution: y = x + z, z ~ N(0, σ²I), σ = u*(ε, δ)·Δ, Δ the largest distance from any word to
    the m-th nearest other one. With `categories="public"` words are dense or sparse, by their mean
    distance to those m words, and either category has its own Δ and σ.

    Guarantee: (ε, δ) between any two words at most Δ apart; with public categories, between two
    words of one category, and nothing between the two. As published: none.

    Why: words that are protected from each other share one σ; then it is the Gaussian mechanism.
    The paper gives σ = α·Δ·√(2 ln(1.25/δ))/ε with α = 1.835 or 1.276, Δ an average: in 300
    dimensions the width of the noise alone tells the category. See docs/proofs/jaccard.md.

    Parameters: `epsilon`, `delta`: ε and δ of a protected pair. `neighbours`, m. `categories`:
    hidden, or public. `published`: the paper's. `decoder`, as for Laplace.

    >>> from malaprop import Jaccard, Lexicon
    >>> line = Lexicon(["cold", "cool", "hot", "warm"], [[0.0], [1.0], [9.0], [7.0]])
    >>> guarantee = Jaccard(epsilon=1.0, neighbours=1).on(line).guarantee
    >>> str(guarantee.kind), round(guarantee.radius, 6)
    ('bounded-dp', 2.0)

    Reference: Bollegala, Otake, Machide, Kawarabayashi 2023, §5 and appendix C.3.
    """

    epsilon: float = field(metadata={"help": "ε, the privacy loss of a protected pair"})
    delta: float = option(1e-5, "δ, what may be added to a chance beyond the factor e^ε")
    neighbours: int = option(10, "m, how many nearest words count")
    categories: str = option("hidden", "whether a word is in a dense region: hidden or public")
    published: bool = option(False, "the paper's, without guarantee")

    promise = "bounded-dp: (ε, δ) within Δ, Euclidean; as published: none"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require("delta", "a number between 0 and 1, both excluded", lambda x: 0 < x < 1)
        require_whole(self, "neighbours", least=1)
        require_choice(self, "categories", ("hidden", "public"))
        require_choice(self, "published", (True, False))

    def _for_words(self, lexicon: MetricSpace) -> Bound:
        distances = _nearest_distances(lexicon, self.neighbours)
        reach, mean = distances.max(axis=1), distances.mean(axis=1)
        reach *= 1.0 + 1e-9  # more than the rounding of distances
        dense = mean < np.median(mean)
        categories = DensityCategories(dense)
        widths = np.full(len(lexicon), reach.max())  # each word's Δ
        within = {"delta": self.delta, "radius": float(reach.max())}
        guarantee = self._promise(categories, "euclidean", Kind.BOUNDED, **within)
        if self.categories == "public" and not self.published:
            of_dense, of_sparse = (reach[members].max(initial=0.0) for members in (dense, ~dense))
            widths = np.where(dense, of_dense, of_sparse)
            guarantee = replace(
                guarantee,
                kind=Kind.NEIGHBOURHOOD,
                radius=float(widths.min()),
                pairs=categories.pairs,
                public=(*guarantee.public, "whether a word is in a dense or a sparse region"),
            )
        if not widths.all():
            raise LexiconError(
                "Jaccard needs neighbours with different vectors: remove words that share a vector."
            )
        sigmas = gaussian_scale(self.epsilon, self.delta) * widths
        if self.published:
            sigmas, guarantee = _published(float(reach.mean()), dense, guarantee, lexicon)
        return WordGaussian(space=lexicon, sigmas=sigmas), guarantee, categories


@proved("docs/proofs/jaccard.md")
@dataclass(frozen=True, eq=False)
class DensityCategories:
    """Dense and sparse regions: words of one category are protected from each other."""

    dense: NDArray[np.bool_]

    @property
    def pairs(self) -> str:
        return "any two words of one density category, with no protection across the two,"

    def covers(self, ids: Ids) -> NDArray[np.bool_]:
        return np.asarray(self.dense[ids, None] == self.dense)


def _published(
    average: float, dense: NDArray[np.bool_], plain: Guarantee, lexicon: MetricSpace
) -> tuple[Floats, Guarantee]:
    """Return the paper's two σ, and what is wrong with them on this lexicon."""
    wide, narrow = (a * classical_scale(plain.epsilon, plain.delta, average) for a in _ALPHAS)
    exact = spherical_delta(plain.epsilon, wide, narrow, average, lexicon.vectors.shape[1])
    reason = (
        "the width of the noise tells words in dense regions from others: between one of each, "
        f"{average:.4g} apart, the exact δ is {exact:.7g}, where the paper claims "
        f"{plain.delta:.3g}; and its Δ = {average:.4g} is an average, which many pairs exceed"
    )
    nothing = replace(plain, kind=Kind.NONE, radius=average, reason=reason)
    return np.where(dense, wide, narrow), nothing


def _nearest_distances(lexicon: MetricSpace, count: int) -> Floats:
    """Return the distances from each word to the `count` nearest others; 0 if there are none."""
    count = min(count, len(lexicon) - 1)
    listed = nearest_words(lexicon, count + 1)
    vectors = lexicon.vectors.astype(np.float64)
    distances = np.empty(listed.shape)
    for block in blocks(len(lexicon), row_cells=listed.shape[1] * vectors.shape[1]):
        apart = vectors[listed[block]] - vectors[block, None]
        distances[block] = np.sort(np.linalg.norm(apart, axis=2), axis=1)
    # The word itself is at distance 0: the first, also where another one has its vector.
    return distances[:, min(count, 1) :]
