"""The public model that an attack uses."""

import os
from typing import Any

import numpy as np

from malaprop.core.arrays import Floats, Ids
from malaprop.core.errors import ParameterError
from malaprop.core.parameters import type_name
from malaprop.lexicon.bigrams import BigramModel, open_model, shipped_model
from malaprop.lexicon.lexicon import Lexicon
from malaprop.measure.attacking.sketches import overlap

_SAME = 0.5  # of the texts; some short texts are in every corpus


def model_for(model: Any, lexicon: Lexicon, *, needed: bool) -> BigramModel | None:
    """Return the model that was given, opened and checked, or the one that ships.

    None if there is none and none is needed.
    """
    if model is None:
        shipped = shipped_model(lexicon)
        if shipped is None and needed:
            raise ParameterError(
                "This attack needs a bigram model of the lexicon, and only english comes with "
                "one: train one with  malaprop lm train CORPUS -o MODEL --lexicon NAME  and pass "
                "it as `model`."
            )
        return shipped
    if isinstance(model, str | os.PathLike):
        model = open_model(model)
    if not isinstance(model, BigramModel):
        raise ParameterError(
            "The 'model' option must be a BigramModel or the folder of one, as malaprop lm train "
            f"writes it. Got {type_name(model)}."
        )
    model.check_words(lexicon.words)
    return model


def prior_of(model: BigramModel | None, size: int) -> Floats:
    """Return how likely each word is: by the model, or all equally without one."""
    return np.full(size, 1.0 / size) if model is None else model.prior


def check_corpus(model: BigramModel | None, ids: Ids, lengths: Ids) -> None:
    """Refuse a model that was trained on the texts themselves: it would know the secret."""
    if model is not None and overlap(model.sketch, ids, lengths) >= _SAME:
        raise ParameterError(
            "The 'model' was trained on these texts: an observer does not have them. Train it on "
            "another corpus, or on a part of the texts that is not attacked."
        )
