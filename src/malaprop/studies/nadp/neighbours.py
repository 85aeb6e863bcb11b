"""Table 1: the words nearest to the noisy vectors of five words."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.random import Generator

from malaprop.lexicon.lexicon import Lexicon
from malaprop.studies.framework.claims import Claim
from malaprop.studies.framework.items import Figure, Item
from malaprop.studies.framework.lines import Setting
from malaprop.studies.framework.measuring import floor_shares, mean_of, share_in_clear
from malaprop.studies.framework.not_at_hand import GLOVE_42B, VECTORS
from malaprop.studies.framework.run import MissingDataError, Run
from malaprop.studies.nadp.channels import channel_of

WORDS = ("misogynist", "police", "hitler", "wikileaks", "fbi")
_SHOWN = 3
COLUMNS = (
    {"mechanism": "no noise"},
    {"mechanism": "mahalanobis", "published": True, "lambda": 1.0},
    {"mechanism": "nadp", "published": True, "tau": 0.5},
    {"mechanism": "nadp", "published": True, "tau": 0.1},
    {"mechanism": "nadp", "published": False, "tau": 0.1},
)


def grid(run: Run) -> Iterator[Setting]:
    """Five words, each without noise and with that of each mechanism; the paper states no ε."""
    for word in WORDS:
        for column in COLUMNS:
            epsilons = run.pick(quick=(10.0,), full=(1.0, 10.0, 20.0))
            for epsilon in epsilons if "published" in column else (None,):
                setting = {**column, "word": word, "spread": "noise draws"}
                yield setting if epsilon is None else {**setting, "epsilon": epsilon}


def table1(run: Run, setting: Setting, rng: Generator) -> Iterator[Figure]:
    """List the words nearest to a noisy vector, and count how often the word is among them."""
    word = setting["word"]
    lexicon = run.lexicon()
    if word not in lexicon:
        lexicon = run.lexicon(GLOVE_42B, VECTORS[GLOVE_42B])
        if word not in lexicon:
            raise MissingDataError(f"The word {word}", VECTORS[GLOVE_42B])
        setting = {**setting, "lexicon": GLOVE_42B}
    added = {"vectors": setting["lexicon"]} if "lexicon" in setting else {}
    yield from (replace(figure, setting=added) for figure in _near(run, setting, lexicon, rng))


def _near(run: Run, setting: Setting, lexicon: Lexicon, rng: Generator) -> Iterator[Figure]:
    own = lexicon.index[setting["word"]]
    if setting["mechanism"] == "no noise":
        ids = lexicon.nearest(lexicon.vectors[[own]], _SHOWN + 1)[:, 1:]
        yield Figure("neighbours", _joined(lexicon.words, ids[0]))
        yield from floor_shares("no noise", len(lexicon))
        return
    channel = channel_of(run, setting)
    noisy = channel.release_words(np.full(run.pick(quick=20, full=200), own), rng)
    ids = lexicon.nearest(noisy, _SHOWN)
    yield Figure("neighbours", _joined(lexicon.words, ids[0]))
    yield mean_of("disclosed", (ids == own).any(axis=1))
    yield mean_of("kept", ids[:, 0] == own)
    yield Figure("share_in_clear", share_in_clear(channel))


def _joined(words: tuple[str, ...], ids: object) -> str:
    return ", ".join(words[int(i)] for i in np.asarray(ids))


TABLE1 = Item(
    name="table1",
    grid=grid,
    cell=table1,
    key="table1",
    revision=2,
    measures=("neighbours", "disclosed", "kept", "share_in_clear"),
    claims=(
        Claim(
            text="NADP never discloses the original word",
            measure="disclosed",
            about=lambda setting: setting["mechanism"] == "nadp" and setting["published"],
            holds=lambda line, results: line.ours == 0.0,
        ),
        Claim(
            text="Mahalanobis sometimes discloses the original word",
            measure="disclosed",
            about=lambda setting: setting["mechanism"] == "mahalanobis",
            # No draw of 200 that discloses it does not contradict “sometimes”.
            holds=lambda line, results: True if line.ours else None,
        ),
    ),
)
