"""What is measured of each mechanism: attacks on words, tasks, attribution, the guarantee."""

from collections.abc import Iterator
from typing import Final

from numpy.random import Generator

from malaprop.lexicon.lexicon import Lexicon
from malaprop.measure.tasking import subjects
from malaprop.pipeline.privatizer import Privatizer
from malaprop.studies.framework.items import Figure
from malaprop.studies.framework.lines import Setting
from malaprop.studies.framework.measuring import floor_shares, share_in_clear
from malaprop.studies.framework.run import Run
from malaprop.studies.frontier.attacks import attacked
from malaprop.studies.frontier.authors import (
    attributed,
    majority_author,
    untouched,
    with_any_words,
    with_one_word_each,
)
from malaprop.studies.frontier.mechanisms import lexicon_of, mechanism_of
from malaprop.studies.frontier.promises import kept_words, promised
from malaprop.studies.frontier.service import majority, served

MEASURES: Final = (
    *(
        "kept",
        "share_in_clear",
        "success_alone",
        "success_context",
        "similarity",
        "word_similarity",
        "accuracy",
    ),
    *("sts", "attribution", "attribution_adaptive"),
    *("attribution_no_marks", "attribution_adaptive_no_marks", "guarantee", "euclidean_epsilon"),
    *("loss_of_nearest", "kept_of_lexicon", "kept_of_lexicon_p95", "kept_of_lexicon_max"),
)


def spread(setting: Setting, measure: str) -> str:
    """Return what the error of a measure is over: words for N_w, noise draws for all others."""
    return "words" if measure == "kept_of_lexicon" else str(setting["spread"])


def frontier(run: Run, setting: Setting, rng: Generator) -> Iterator[Figure]:
    """Measure a mechanism at one ε, or a floor. If a data set is missing, measure the rest."""
    lexicon = lexicon_of(run, setting)
    if "epsilon" not in setting:
        yield from _floor(run, setting["mechanism"], lexicon, rng)
        return
    privatizer = Privatizer(lexicon, mechanism_of(setting), rng=rng)
    yield from attacked(run, privatizer, rng)
    yield from served(run, privatizer.channel, rng)
    yield from attributed(run, privatizer.texts)
    yield from kept_words(run, privatizer.channel, rng)
    yield from promised(lexicon, privatizer.channel.guarantee)
    yield Figure("share_in_clear", share_in_clear(privatizer.channel))


def _floor(run: Run, name: str, lexicon: Lexicon, rng: Generator) -> Iterator[Figure]:
    """Measure what needs no mechanism: no noise, no meaning, or the most frequent answer."""
    yield from floor_shares(name, len(lexicon))
    if name == "majority":
        yield from majority(run)
        yield from majority_author(run)
    elif name == "no noise":
        yield from served(run, subjects.unprotected(lexicon), rng)
        yield from attributed(run, untouched, noisy=False)
    elif name == "random table":
        yield from served(run, subjects.random_table(lexicon), rng)
        yield from attributed(run, with_one_word_each(lexicon, rng))
    else:
        yield from served(run, subjects.random_words(lexicon), rng)
        yield from attributed(run, with_any_words(lexicon, rng))
