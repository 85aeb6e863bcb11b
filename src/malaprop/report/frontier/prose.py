"""What the page of the frontier explains in words: how to read it, and its limits."""

from typing import Final

from malaprop.studies import Run
from malaprop.studies.framework.splitting import SPLITS
from malaprop.studies.frontier.mechanisms import LEFT_OUT
from malaprop.studies.frontier.promises import KEPT_RUNS, NEAREST_OF, lexicon_words
from malaprop.studies.frontier.sampling import noise_draws, rows_of

TITLE: Final = "The frontier: which mechanism, and which ε"
UNDECIDED: Final = (
    "Comparisons with every other mechanism at every share recovered. What Welch's test cannot "
    "tell apart at 5 % is not decided. Errors over noise draws and over splits both count."
)
BY_EPSILON: Final = (
    "The figures as they were measured, at each mechanism's own ε. Do not compare mechanisms by "
    "these: their ε are of different metrics. Euclidean ε is the guarantee per unit of Euclidean "
    "distance between vectors, where there is one."
)
QUICK: Final = (
    "**A quick run is another, smaller experiment:** fewer ε, texts and draws of the noise. It "
    "reaches no verdict, and recommends nothing."
)
BEST: Final = (
    "The mechanism with the best figure at each share recovered, with its guarantee, beside the "
    "recommended one. “Decided” says whether Welch's test tells the two apart at 5 %."
)
CAPTION: Final = (
    "Left: against ε, on a logarithmic axis, each mechanism in the unit of its own metric. Right: "
    "against the share of words that the better attack recovers, where mechanisms can be compared. "
    "Bars are two standard errors over noise draws. For authors identified, lower is better. "
    "Dotted: no noise; dashed grey: random words."
)


def reading(quick: bool) -> list[str]:
    """Explain the columns, and what errors are over."""
    run = Run(quick=quick)
    return _paragraphs(f"""
**Recovered** is the share of words that an observer gets right. The observer knows the mechanism,
how frequent words are, and which words follow which. The share is that of the better of two
attacks: `bayes` (each **word alone**) and `context` (**with context**: bigrams). Both
know the same counts of words and bigrams, those of the web that ship for `english`. All mechanisms
are compared at the same share recovered, not at the same ε: an ε of one metric says nothing about
an ε of another.

**Nats to the nearest word** is the guarantee in one unit: the most that an output can tell a word
from its nearest word in the vectors, as a log-ratio. It is the median over {NEAREST_OF} words
spread evenly over the lexicon. Empty where a mechanism promises (ε, δ).

**Similarity** is the mean similarity of a word and its replacement; **word similarity** Spearman's
correlation on MEN; **accuracy** that of logistic regression on private film reviews (MR); **STS**
Pearson's correlation on the STS benchmark. **Attribution** is the share of presidents' addresses
whose author Koppel's method names from their first words. A mechanism should lower it. The attacker
learns from clean texts, or (adaptive) from private ones.

**±** is one standard error over {noise_draws(run)} draws of the noise, on the same texts, pairs and
{SPLITS} splits for all mechanisms. Figures at a level are interpolated between two measured ε. An
error counts for no less than the root mean square of its measure's errors over all points: few
draws that happen to agree prove nothing. The lines beside this page also have the errors over
splits.
""")


def marks(quick: bool) -> str:
    """Explain the figures without punctuation, and N_w."""
    return (
        "Attribution as above, by an attacker who reads punctuation, and by one who does not; and "
        "N_w, the chance that a word stays: mean, 95th percentile and maximum over "
        f"{lexicon_words(Run(quick=quick))} words spread evenly over the lexicon, exact for "
        f"balanced and tem, from {KEPT_RUNS} runs of each word for the others."
    )


def limits(quick: bool) -> list[str]:
    """Say what the comparison cannot tell, and which mechanisms are not in it."""
    run = Run(quick=quick)
    sizes = {name: rows_of(run, name) for name in ("mr", "attacked", "stsb", "men")}
    known = _paragraphs(f"""
The law of words under noise on vectors (laplace, mahalanobis, priv-emb, coordinate-laplace,
gaussian, nadp) is not known, so attacks on them use estimates from draws, and recover hardly more
than the words that are kept: a lower bound. Their curves may lie further to the right, and their
lead over balanced in STS and word similarity may be smaller than it looks. Attacks on balanced and
tem use the exact law.

STS and word similarity reward words that stay as they are: on the STS benchmark, a random table
with no embedding does about as well as the true vectors (see the floors above). A mechanism that
keeps a word or replaces it by a far one does well there, and one that takes near words instead does
not.

Nats to the nearest word say nothing about words that are far apart: there, a metric guarantee
grows with its own distance, which for balanced is that in its graph of words, up to its cutoff.

A better model of language than bigrams recovers more from every mechanism.

Tasks are small: about {sizes["attacked"]:,} reviews are attacked and {sizes["mr"]:,} classified,
with {sizes["stsb"]:,} pairs of sentences and {sizes["men"]:,} pairs of words. Differences in
accuracy of a few hundredths may be luck.

The figures are those of English film reviews, captions and addresses. Measure your own:
`malaprop evaluate FILE`.
""")
    return [*known, *(f"`{name}` is left out: {why}." for name, why in LEFT_OUT.items())]


def _paragraphs(text: str) -> list[str]:
    return text.strip().split("\n\n")
