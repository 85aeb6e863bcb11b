"""mahalanobis-2020: Xu et al., text perturbation with a regularized Mahalanobis metric."""

import math
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.lab import tasks
from malaprop.lab.studies import figures
from malaprop.lab.studies.reproduction import Run
from malaprop.lab.studies.study import Measurement, Setting
from malaprop.lab.tasks.sources import subject_of
from malaprop.lexicon.lexicon import Lexicon, nearest_words
from malaprop.measure import best_lambda, density
from malaprop.privacy.arrays import Floats
from malaprop.privacy.channel import VectorChannel
from malaprop.privacy.errors import ParameterError
from malaprop.privacy.estimate import word_ids
from malaprop.privacy.randomness import seeded_rng

# The mechanism at a nominal ε, and at equal Euclidean ε or an equal share of words kept.


def channel_of(run: Run, setting: Setting) -> VectorChannel[Any]:
    """Bind the mechanism of a setting; λ = 0 is the Laplace mechanism.

    Under `equal Euclidean ε`, the nominal ε is that whose Euclidean guarantee is the setting's ε.
    Under `equal share kept`, it is that which keeps as many words as Laplace at the setting's ε.
    The square root is a guess at how the paper's noise may have been scaled.
    """
    lexicon = run.lexicon(setting.get("lexicon", "english"))
    shape, epsilon = setting["lambda"], setting["epsilon"]
    match setting.get("control"):
        case "equal Euclidean ε":
            epsilon /= run.once(
                ("euclidean", lexicon.fingerprint, shape),
                lambda: euclidean_epsilon(_bound(lexicon, shape, 1.0)),
            )
        case "noise that shrinks with √ε, the same at ε = 20":
            epsilon = math.sqrt(20.0 * epsilon)
        case "equal share kept":
            epsilon = _matched(run, lexicon, shape, epsilon)
    bound: VectorChannel[Any] = _bound(lexicon, shape, epsilon)
    return bound


def euclidean_epsilon(channel: VectorChannel[Any]) -> float:
    """Return ε per unit of Euclidean distance: ε/√λ_min(A)."""
    return channel.guarantee.in_metric("euclidean").epsilon


def _matched(run: Run, lexicon: Lexicon, shape: float, epsilon: float) -> float:
    words = run.pick(quick=100, full=400)

    def search() -> float:
        kept = figures.share_kept(_bound(lexicon, 0.0, epsilon), words, seeded_rng(20))
        around = (epsilon / 4.0, epsilon * math.sqrt(lexicon.vectors.shape[1]))
        return figures.epsilon_for_kept(partial(_bound, lexicon, shape), kept, words, around)

    return run.once(("matched", lexicon.fingerprint, shape, epsilon), search)


def _bound(lexicon: Lexicon, shape: float, epsilon: float) -> Any:
    made = figures.mechanism_of({"mechanism": "mahalanobis", "lambda": shape}, epsilon=epsilon)
    return made.on(lexicon)


# Tables 1 to 4 and Figures 2 to 5: how often words stay, and how many different words come out.

_ALL = 10**9  # texts, or words: as many as there are
_RUNS = 100


def words(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Run the mechanism 100 times on each of some words; count as the paper does."""
    channel = channel_of(run, setting)
    ids = word_ids(
        channel.lexicon, min(len(channel.lexicon), run.pick(quick=12, full=300, paper=_ALL))
    )
    drawn = channel.substitute(np.repeat(ids, _RUNS), rng).reshape(len(ids), _RUNS)
    stayed = (drawn == ids[:, None]).sum(axis=1).astype(np.float64)
    different = np.array([len(np.unique(row)) for row in drawn], dtype=np.float64)
    yield from _summary("kept", stayed)
    yield from _summary("distinct", different)
    if "control" in setting:
        yield Measurement("epsilon_used", channel.guarantee.epsilon)
    yield Measurement("euclidean_epsilon", euclidean_epsilon(channel))


def _summary(name: str, values: Floats) -> Iterator[Measurement]:
    """Measure the mean, the spread over words, percentiles, the maximum and the minimum.

    Those two have no error: resampling cannot tell how far a maximum would move.
    """
    yield figures.mean_of(name, values)
    yield Measurement(f"{name}_sd", float(values.std(ddof=1)) if len(values) > 1 else 0.0)
    rng = seeded_rng(0)  # not the cell's: resampling changes no draw
    for end in (5, 50, 95):
        yield figures.bootstrapped(f"{name}_p{end}", values, partial(np.percentile, q=end), rng)
    yield Measurement(f"{name}_max", float(values.max()))
    yield Measurement(f"{name}_min", float(values.min()))


# Table 5: the two data sets, and how unevenly their words lie.

_WORD = re.compile(r"[a-z]+")
_FEW = 50


def table5(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Count records and words, and compare distances to the nearest word of the vocabulary."""
    records = [_WORD.findall(text.lower()) for text in run.data(setting["data"]).texts]
    vocabulary = {word for record in records for word in record}
    lengths = np.array([len(record) for record in records], dtype=np.float64)
    lexicon = run.lexicon().subset(vocabulary)
    lies = density(lexicon).to_dict()
    yield Measurement("records", len(records))
    yield Measurement("words_per_record", float(lengths.mean()))
    yield Measurement("words_per_record_sd", float(lengths.std(ddof=1)))
    yield Measurement("vocabulary", len(vocabulary))
    yield Measurement("vocabulary_in_lexicon", len(lexicon))
    yield Measurement("largest_over_smallest", lies["largest_over_smallest"])
    yield Measurement("sparsest_over_densest", lies["sparsest_over_densest"])
    yield Measurement("records_with_sparse_word", _rareness(lexicon, records))


def _rareness(lexicon: Lexicon, records: Sequence[Sequence[str]]) -> float:
    """Return the mean share of records that contain one of the 50 words in sparsest regions."""
    nearest = nearest_words(lexicon, 2)
    vectors = lexicon.vectors.astype(np.float64)
    apart = np.linalg.norm(vectors[nearest[:, 0]] - vectors[nearest[:, -1]], axis=1)
    sparse = [lexicon.words[i] for i in np.argsort(-apart, kind="stable")[:_FEW]]
    sets = [set(record) for record in records]
    return float(np.mean([np.mean([word in record for record in sets]) for word in sparse]))


# Figures 6 and 7: classification of private tweets and messages.

_MEASURES = ("accuracy", "precision", "recall", "balanced_accuracy")
_TEST = 0.3


def classifying(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    data, lexicon, name = run.data(setting["data"]), run.lexicon(), setting["mechanism"]
    limit, draws = run.pick(quick=200, full=800, paper=_ALL), run.pick(quick=2, full=5)
    task = tasks.registry["classify-text"]
    problem: Any = task(data=data, limit=limit, test=_TEST).prepare(lexicon)  # type: ignore[call-arg]
    if name == figures.MAJORITY:
        yield Measurement("accuracy", problem.majority)
        yield from figures.floor_shares(name, len(lexicon))
    elif name in figures.FLOORS:
        yield from figures.classified(problem, figures.FLOORS[name](lexicon), _MEASURES, draws, rng)
        yield from figures.floor_shares(name, len(lexicon))
    else:
        channel = channel_of(run, setting)
        once = setting["noise"] == "one table"
        subject = figures.drawn_once(channel) if once else subject_of(channel, release="words")
        yield from figures.classified(problem, subject, _MEASURES, draws, rng)
        yield from figures.both_shares(channel, run.pick(quick=200, full=1000), rng)
        yield Measurement("epsilon_used", channel.guarantee.epsilon)
        yield Measurement("euclidean_epsilon", euclidean_epsilon(channel))


# §6: λ by a grid, the largest utility under a bound on privacy; with both ε.


def lambda_grid(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    lexicon = run.lexicon()
    shapes = run.pick(quick=(0.0, 1.0), full=(0.0, 0.25, 0.5, 0.75, 1.0))
    words = min(len(lexicon), run.pick(quick=8, full=200))
    bound = setting["kept_at_most"]
    try:
        choice = best_lambda(
            lexicon, setting["epsilon"], kept=bound, grid=shapes, words=words, rng=rng
        )
    except ParameterError:  # no λ keeps to the bound
        yield Measurement("chosen_lambda", None)
        return
    yield Measurement("chosen_lambda", choice.regularization)
    yield Measurement("chosen_euclidean_epsilon", choice.best.euclidean)
    for row in choice.rows:
        own = {"lambda": row.regularization}
        yield Measurement("kept", row.kept, own)
        yield Measurement("similarity", row.similarity, own)
        yield Measurement("euclidean_epsilon", row.euclidean, own)
        channel = channel_of(run, {**own, "epsilon": setting["epsilon"]})
        yield Measurement("share_in_clear", figures.share_in_clear(channel), own)
