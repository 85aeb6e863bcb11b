"""How many words the published mechanism releases as they are."""

from collections.abc import Iterator

import numpy as np
from numpy.random import Generator

from malaprop.mechanisms.nadp import NADP
from malaprop.studies.framework.claims import Claim
from malaprop.studies.framework.items import Figure, Item, crossed
from malaprop.studies.framework.lines import Setting
from malaprop.studies.framework.run import Run

TAUS = (0.1, 0.2, 0.3, 0.5)


def grid(run: Run) -> Iterator[Setting]:
    """Both mechanisms at each τ; ε plays no part, for a word without noise."""
    return crossed(
        mechanism=["nadp"], published=[True, False], epsilon=[1.0], tau=TAUS, lexicon=["english"]
    )


def clear(run: Run, setting: Setting, rng: Generator) -> Iterator[Figure]:
    """Count the words with σ = 0, which come out as they went in."""
    lexicon = run.lexicon(setting["lexicon"])
    mechanism = NADP(epsilon=setting["epsilon"], tau=setting["tau"], published=setting["published"])
    bare = mechanism.on(lexicon).noise.sigmas == 0.0
    yield Figure("in_clear", int(np.count_nonzero(bare)))
    yield Figure("share_in_clear", float(bare.mean()))


CLEAR = Item(
    name="clear",
    grid=grid,
    cell=clear,
    key="clear",
    measures=("in_clear", "share_in_clear"),
    claims=(
        Claim(
            text="NADP discloses no word of the lexicon (Table 1 has five)",
            whose="reading",
            measure="in_clear",
            about=lambda setting: bool(setting["published"]),
            holds=lambda line, results: line.ours == 0,
        ),
    ),
)
