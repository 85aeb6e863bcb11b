"""Figures 3 and 4: how much of a word's neighbourhood noise leaves, and the skewness of that."""

from collections.abc import Iterator

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats, Ids
from malaprop.measure import skewness
from malaprop.measure.chosen_words import word_ids
from malaprop.studies.framework.claims import Claim, Results, above, alike, below, every, exactly
from malaprop.studies.framework.items import Figure, Item, crossed
from malaprop.studies.framework.lines import Line, Setting
from malaprop.studies.framework.measuring import bootstrapped, mean_of, share_in_clear
from malaprop.studies.framework.run import Run
from malaprop.studies.nadp.channels import COMPARED, SOUND, UNSCALED, channel_of, spherical

M = 10  # nearest words that are compared, as in the authors' code
HALF = {"mechanism": "coin", "control": "half of the words in clear, the others replaced"}
_BINS = 10


def fig3_grid(run: Run) -> Iterator[Setting]:
    """Each mechanism at each ε, NADP at several τ; and a control that hides half of the words."""
    taus = ({"mechanism": "nadp", "published": True, "tau": tau} for tau in (0.2, 0.3))
    for mechanism in (*COMPARED, *taus, *SOUND):
        epsilons = run.pick(quick=(1.0, 20.0), full=(1.0, 5.0, 10.0, 20.0, 40.0))
        for epsilon in epsilons:
            yield {**mechanism, "epsilon": epsilon, "spread": "words"}
    yield {**HALF, "spread": "words"}


def fig3(run: Run, setting: Setting, rng: Generator) -> Iterator[Figure]:
    """Measure the overlap p of a word's neighbourhood and its noisy vector's, and p's skewness."""
    lexicon = run.lexicon()
    ids = word_ids(lexicon, min(len(lexicon), run.pick(quick=250, full=1000)))
    if setting["mechanism"] == HALF["mechanism"]:
        hidden = rng.integers(len(lexicon), size=len(ids))
        shown = np.where(np.arange(len(ids)) % 2 == 0, ids, hidden)
        noisy, clear = lexicon.vectors[shown].astype(np.float64), 0.5
    else:
        channel = channel_of(run, setting)
        noisy, clear = channel.release_words(ids, rng), share_in_clear(channel)
    shared, kept = _overlap(run, ids, noisy)
    yield bootstrapped("skewness", shared, skewness, rng)
    yield bootstrapped("skewness_as_in_the_code", shared, _skewness_of_code, rng)
    yield mean_of("overlap", shared)
    yield mean_of("overlap_above_half", shared > 0.5)
    yield mean_of("kept", kept)
    yield Figure("share_in_clear", clear)


def fig4(run: Run, setting: Setting, rng: Generator) -> Iterator[Figure]:
    """Measure the histogram of p for Gaussian noise of one width."""
    lexicon = run.lexicon()
    ids = word_ids(lexicon, min(len(lexicon), run.pick(quick=250, full=1000)))
    noisy, clear = lexicon.vectors[ids].astype(np.float64), 1.0
    if setting["sigma"] > 0.0:
        channel = spherical(lexicon, setting["sigma"], "the width is given, not an ε")
        noisy, clear = channel.release_words(ids, rng), share_in_clear(channel)
    shared, kept = _overlap(run, ids, noisy)
    yield bootstrapped("skewness", shared, skewness, rng)
    yield mean_of("overlap", shared)
    yield mean_of("kept", kept)
    counts, ends = np.histogram(shared, bins=_BINS, range=(0.0, 1.0))
    for count, low in zip(counts, ends, strict=False):
        yield Figure("share_of_words", count / len(ids), None, {"from": round(float(low), 2)})
    yield Figure("share_in_clear", clear)


def fig4_grid(run: Run) -> Iterator[Setting]:
    """σ from 0 to 1."""
    steps = run.pick(quick=(0, 1, 4, 8, 20), full=(0, 1, *range(2, 21, 2)))
    return crossed(
        mechanism=["gaussian noise"], sigma=[round(0.05 * n, 2) for n in steps], spread=["words"]
    )


def _overlap(run: Run, ids: Ids, noisy: Floats) -> tuple[Floats, Floats]:
    """Return |A ∩ B| / |A ∪ B| of the m nearest words, and whether a word is its own nearest."""
    lexicon = run.lexicon()
    m = min(M, len(lexicon))
    before = run.once(
        ("nearest", lexicon.fingerprint, len(ids)),
        lambda: lexicon.nearest(lexicon.vectors[ids], m),
    )
    after = lexicon.nearest(noisy, m)
    common = (before[:, :, None] == after[:, None, :]).sum(axis=(1, 2))
    return common / (2 * m - common), np.asarray(after[:, 0] == ids, dtype=np.float64)


def _skewness_of_code(values: Floats) -> float:
    """Return what the authors' code computes: the deviation with n, and 0 if all are equal."""
    n, spread = len(values), float(values.std())
    if spread == 0.0:
        return 0.0
    return float(n / ((n - 1) * (n - 2)) * (((values - values.mean()) / spread) ** 3).sum())


def _is_paper_nadp(setting: Setting) -> bool:
    return setting["mechanism"] == "nadp" and bool(setting.get("published"))


def _lowest(line: Line, results: Results) -> bool | None:
    others = [
        other
        for other in results.lines
        if other.measure == "skewness"
        and other.setting.get("published")
        and other.setting["mechanism"] not in ("nadp", UNSCALED)
        and other.setting["epsilon"] == line.setting["epsilon"]
    ]
    return every(below(line, other) for other in others)


FIG3 = Item(
    name="fig3",
    grid=fig3_grid,
    cell=fig3,
    key="fig3",
    revision=2,
    measures=(
        "skewness",
        "skewness_as_in_the_code",
        "overlap",
        "overlap_above_half",
        "kept",
        "share_in_clear",
    ),
    claims=(
        Claim(
            text="NADP has the lowest skewness of all mechanisms compared",
            measure="skewness",
            about=_is_paper_nadp,
            holds=_lowest,
        ),
        Claim(
            text="for ε below 5, NADP's skewness is near zero: within 0.5",
            whose="reading",
            measure="skewness",
            about=lambda setting: _is_paper_nadp(setting) and setting["epsilon"] < 5,
            holds=lambda line, results: alike(line, exactly(0.0, line), 0.5),
        ),
        Claim(
            text="most words are protected: fewer than half are nearest to their noisy vector",
            whose="reading",
            measure="kept",
            about=_is_paper_nadp,
            holds=lambda line, results: below(line, exactly(0.5, line)),
        ),
        Claim(
            text="skewness grows slightly with τ",
            measure="skewness",
            about=lambda setting: _is_paper_nadp(setting) and setting["tau"] == 0.5,
            holds=lambda line, results: above(line, results.like(line, tau=0.1)),
        ),
    ),
)
FIG4 = Item(
    name="fig4",
    grid=fig4_grid,
    cell=fig4,
    key="fig4",
    revision=2,
    measures=("skewness", "overlap", "kept", "share_in_clear", "share_of_words"),
    claims=(
        Claim(
            text="without noise all words are discovered: p is 1",
            measure="overlap",
            about=lambda setting: setting["sigma"] == 0.0,
            holds=lambda line, results: line.ours == 1.0,
        ),
        Claim(
            text="skewness grows with σ (but for σ = 0.05)",
            measure="skewness",
            about=lambda setting: setting["sigma"] > 0.1,
            holds=lambda line, results: above(line, _before(line, results)),
        ),
    ),
)


def _before(line: Line, results: Results) -> Line | None:
    """Return the line of the next smaller σ, beyond 0.05."""
    own = line.setting["sigma"]
    smaller = [
        other for other in results.others(line, "sigma") if 0.05 < other.setting["sigma"] < own
    ]
    return max(smaller, key=lambda other: float(other.setting["sigma"]), default=None)
