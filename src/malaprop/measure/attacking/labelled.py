"""Texts with labels, checked and ready to be split."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from malaprop.core.arrays import Ids
from malaprop.core.errors import DataError, ParameterError
from malaprop.core.parameters import type_name
from malaprop.pipeline.missing import is_missing


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelledTexts:
    """Distinct texts with their labels, which are whole numbers from 0 on."""

    texts: list[str] = field(repr=False)
    labels: Ids = field(repr=False)
    classes: int
    """How many different labels there are."""
    left_out: int
    """How many texts are not among them: repeated ones, and those of labels with too few texts."""

    @property
    def majority(self) -> int:
        """The most frequent label."""
        return int(np.bincount(self.labels).argmax())


def labelled_texts(
    attack: str, texts: Sequence[Any], labels: Sequence[object] | None, *, fewest: int, noun: str
) -> LabelledTexts:
    """Check texts and labels, and keep each distinct text once.

    A text that occurs twice could be learnt and then tested. `fewest` is how many texts a label
    must have; texts of other labels are left out. Messages never show a label.
    """
    if labels is None:
        raise ParameterError(
            f"The attack {attack} needs a {noun} for each text: pass them as `labels`."
        )
    if len(texts) != len(labels):
        raise ParameterError(
            f"The attack {attack} needs as many labels as texts. Got {len(labels):,} labels for "
            f"{len(texts):,} texts."
        )
    unlabelled = sum(_is_empty(label) for label in labels)
    if unlabelled:
        raise DataError(
            f"{unlabelled:,} of {len(labels):,} texts have no {noun}: name a column that has one "
            "for each text, or leave these texts out."
        )
    chosen = _distinct(texts, labels)
    counts: dict[object, int] = {}
    for label in chosen.values():
        counts[label] = counts.get(label, 0) + 1
    _check_counts(attack, counts, fewest, noun)
    names = [label for label, count in counts.items() if count >= fewest]
    numbers = {label: number for number, label in enumerate(names)}
    kept = [(text, numbers[label]) for text, label in chosen.items() if label in numbers]
    return LabelledTexts(
        texts=[text for text, _ in kept],
        labels=np.array([number for _, number in kept], dtype=np.int64),
        classes=len(names),
        left_out=len(texts) - len(kept),
    )


def _is_empty(label: object) -> bool:
    return is_missing(label) or (isinstance(label, str) and not label.strip())


def _distinct(texts: Sequence[Any], labels: Sequence[object]) -> dict[str, object]:
    """Return each text that has something in it, with the label that it comes with first."""
    chosen: dict[str, object] = {}
    for text, label in zip(texts, labels, strict=True):
        if is_missing(text):
            continue
        if not isinstance(text, str):
            raise ParameterError(f"A text must be a string. Got {type_name(text)}.")
        if text.strip():
            chosen.setdefault(text, label)
    return chosen


def _check_counts(attack: str, counts: dict[object, int], fewest: int, noun: str) -> None:
    enough = sum(count >= fewest for count in counts.values())
    if enough >= 2:
        return
    if len(counts) == 1:
        raise DataError(
            f"All texts have the same {noun}, so there is nothing to tell apart: the attack "
            f"{attack} needs two {noun}s or more."
        )
    raise DataError(
        f"The attack {attack} needs at least two {noun}s with {fewest} distinct texts or more "
        f"each. Of {len(counts):,} {noun}s, {enough} {'has' if enough == 1 else 'have'} as many."
    )
