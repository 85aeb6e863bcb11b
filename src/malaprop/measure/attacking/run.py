"""Attacks on the owner's own texts."""

from collections.abc import Iterable
from typing import Any

from numpy.random import Generator

from malaprop.core.errors import ParameterError
from malaprop.core.parameters import several_texts, type_name
from malaprop.core.progress import Progress
from malaprop.core.randomness import checked_rng, secure_rng
from malaprop.measure.adversaries import attacks as _registered  # defines the attacks
from malaprop.measure.attacking.base import Target, attack_with
from malaprop.measure.attacking.result import AttackResult
from malaprop.pipeline.privatizer import Privatizer

attacks = _registered


def attack(
    name: str,
    privatizer: Privatizer,
    texts: Iterable[str],
    labels: Iterable[object] | None = None,
    *,
    rng: Generator | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> AttackResult:
    """Privatize texts, attack the result, and return how far the attack got.

    The texts go through the privatizer's own parser and channel. The observer knows everything
    public: the mechanism, its parameters, the lexicon, and public text; not the texts. `name` is
    one of `malaprop.measure.attacks`, and `options` are that attack's, such as `model`,
    `adaptive` or `punctuation`. `labels` are for attacks on labels, one for each text.

    `score` is the share of words recovered, the accuracy of inferred labels, or the area under the
    curve for membership; `baseline` is what needs no attack, and `interval` is one of 95 %. `rng`
    splits and resamples texts, adds noise to vectors, and estimates channels without a known law;
    private words come from the privatizer's own generator.
    """
    chosen = attack_with(name, options)
    if not isinstance(privatizer, Privatizer):
        raise ParameterError(f"`attack` takes a Privatizer. Got {type_name(privatizer)}.")
    several_texts(texts, "attack")
    if isinstance(labels, str):
        raise ParameterError("`labels` must have one label for each text, not be one string.")
    rng = secure_rng() if rng is None else checked_rng(rng)
    target = Target(
        privatizer=privatizer,
        texts=list(texts),
        labels=None if labels is None else list(labels),
        rng=rng,
        progress=progress,
    )
    return chosen.run(target)
