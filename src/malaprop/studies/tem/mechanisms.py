"""The mechanisms of the study: TEM, Madlib, and what needs no words."""

import math
from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from malaprop.core.channel import Channel
from malaprop.core.errors import LexiconError
from malaprop.core.randomness import seeded_rng
from malaprop.lexicon.lexicon import Lexicon
from malaprop.lexicon.tables.values import Tables
from malaprop.measure.tasking import sources
from malaprop.measure.tasking.sources import Source
from malaprop.measure.tasking.subjects import random_words, subject_of, unprotected
from malaprop.mechanisms.laplace import Laplace
from malaprop.mechanisms.tem import TEM
from malaprop.mechanisms.tem.exponent_tables import build_table_for
from malaprop.studies.framework.lines import Setting
from malaprop.studies.framework.run import Run
from malaprop.studies.tem.reviews import parts_of, vocabulary

BETA = 0.001
TABLE, PLACES = "table", "each place"
EQUAL = "equal share kept"
PUNCTUATION = "punctuation kept"
NO_NOISE, RANDOM_WORDS, RANDOM_TABLE = "no noise", "random words", "random table"
_STEPS = 12  # of a bisection over ε
_TOKENS = 500  # words of reviews that a share kept is estimated from, in that bisection


def channel_of(run: Run, setting: Setting) -> Channel:
    """Return the channel of a setting on the reviews' vocabulary."""
    lexicon, epsilon = vocabulary(run), float(setting["epsilon"])
    if is_at_equal_share(setting):
        epsilon = equal_epsilon(run, setting)
    key = ("channel", setting["mechanism"], setting.get("exponent"), epsilon)
    return run.once(key, lambda: bound(lexicon, setting, epsilon))


def is_at_equal_share(setting: Setting) -> bool:
    """Whether Madlib is to keep as many words as TEM does at the same ε."""
    return str(setting.get("control", "")).startswith(EQUAL)


def bound(lexicon: Lexicon, setting: Setting, epsilon: float) -> Channel:
    """Bind Madlib, or TEM with the paper's exponent and γ, or with the audited exponent."""
    if setting["mechanism"] == "laplace":
        return Laplace(epsilon=epsilon).on(lexicon)
    if setting["exponent"] == "half":
        return TEM(epsilon=epsilon, exponent="half", beta=BETA).on(lexicon)
    try:
        return TEM(epsilon=epsilon, exponent="audited").on(lexicon)
    except LexiconError:  # it was not audited, which takes a while for thousands of words
        table = build_table_for(lexicon, epsilon)
        audited = lexicon.with_tables(Tables(exponents=(table,)))
        return TEM(epsilon=epsilon, exponent="audited").on(audited)


def source_of(run: Run, setting: Setting, rng: Generator) -> Source:
    """Return what the reviews of one trial are drawn from."""
    control, space = setting.get("control", ""), vocabulary(run)
    if control.startswith(NO_NOISE):
        return unprotected(space).begin(rng)
    if control.startswith(RANDOM_WORDS):
        return random_words(space).begin(rng)
    if control == RANDOM_TABLE:
        return sources.WordTable(space, rng, rng.permutation(len(space)))
    once = setting["noise"] == TABLE
    return subject_of(channel_of(run, setting), once=once, release="words").begin(rng)


def equal_epsilon(run: Run, setting: Setting) -> float:
    """Return the ε at which Madlib keeps as many words of reviews as TEM does at this ε."""
    lexicon = vocabulary(run)
    tem = {**setting, "mechanism": "tem", "exponent": "half"}
    epsilon = float(setting["epsilon"])

    def searched() -> float:
        ids = seeded_rng(run.seed).permutation(parts_of(run, 0)["TR1"].corpus.ids)[:_TOKENS]

        def kept(channel: Channel) -> float:
            return float(np.mean(channel.substitute(ids, seeded_rng(run.seed)) == ids))

        wanted = kept(bound(lexicon, tem, epsilon))
        return _bisected(lambda x: kept(Laplace(epsilon=x).on(lexicon)) < wanted)

    return run.once(("equal", epsilon), searched)


def _bisected(is_too_small: Callable[[float], bool]) -> float:
    low, high = math.log(0.5), math.log(500.0)
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        if is_too_small(math.exp(middle)):
            low = middle
        else:
            high = middle
    return math.exp((low + high) / 2.0)
