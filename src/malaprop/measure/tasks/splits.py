"""Which texts a model is trained on, and which it is tested on."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Ids
from malaprop.core.errors import DataError

FEWEST_TEXTS = 20
FEWEST_OF_CLASS = 5
MOST_CLASSES = 100  # beyond that, it is no column of classes, and models grow large


@dataclass(frozen=True, kw_only=True, eq=False)
class Split:
    """The places of the texts to train on and to test on."""

    train: Ids
    test: Ids

    @property
    def shared(self) -> float:
        """The size of the test part over that of the training part."""
        return len(self.test) / len(self.train)


def random_splits(classes: Ids, test: float, number: int, rng: Generator) -> list[Split]:
    """Return random splits with the same share of each class in both parts.

    A class of one text is in the training part only.
    """
    members = [np.flatnonzero(classes == each) for each in np.unique(classes)]
    splits = []
    for _ in range(number):
        chosen = [rng.permutation(each)[: _share(len(each), test)] for each in members]
        places = np.sort(np.concatenate(chosen))
        splits.append(Split(train=np.setdiff1d(np.arange(len(classes)), places), test=places))
    return splits


def _share(size: int, test: float) -> int:
    return 0 if size < 2 else min(size - 1, max(1, round(size * test)))


def class_numbers(labels: Sequence[object], texts: int) -> Ids:
    """Return the class of each label as a number; refuse labels that no model can learn.

    Labels are the owner's data: no message shows one.
    """
    if len(labels) != texts:
        raise DataError(f"There must be a label for each text. Got {len(labels)} for {texts}.")
    for place, label in enumerate(labels, 1):
        if is_missing_label(label):
            raise DataError(f"Text {place:,} has no label: leave it out, or give it one.")
    if texts < FEWEST_TEXTS:
        raise DataError(
            f"A classifier needs {FEWEST_TEXTS} texts or more with labels. Got {texts}."
        )
    _, classes, sizes = np.unique(
        np.array([str(label) for label in labels]), return_inverse=True, return_counts=True
    )
    if len(sizes) < 2:
        raise DataError("All labels are the same: there is nothing to tell apart.")
    if len(sizes) > MOST_CLASSES:
        raise DataError(
            f"There are {len(sizes):,} different labels, and a classifier takes up to "
            f"{MOST_CLASSES}: name a column of classes."
        )
    if np.count_nonzero(sizes >= FEWEST_OF_CLASS) < 2:
        raise DataError(
            f"Fewer than two of the {len(sizes):,} different labels occur {FEWEST_OF_CLASS} times "
            "or more: name a column of classes."
        )
    return np.asarray(classes, dtype=np.int64)


def is_missing_label(label: object) -> bool:
    """Return whether there is no label: None, NaN, or nothing but whitespace."""
    return label is None or label != label or (isinstance(label, str) and not label.strip())
