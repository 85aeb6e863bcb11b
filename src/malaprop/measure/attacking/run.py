"""Attacks on the owner's own texts."""

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Ids
from malaprop.core.errors import DataError, ParameterError
from malaprop.core.parameters import type_name
from malaprop.core.progress import Progress
from malaprop.core.randomness import checked_rng, secure_rng
from malaprop.lexicon.bigrams import BigramModel
from malaprop.measure.adversaries import attacks as _registered  # defines the attacks
from malaprop.measure.attacking.base import Attack, Seen, attack_with
from malaprop.measure.attacking.function_words import FUNCTION_WORDS
from malaprop.measure.attacking.likelihoods import likelihoods_of
from malaprop.measure.attacking.models import check_corpus, model_for, prior_of
from malaprop.measure.attacking.result import AttackResult
from malaprop.measure.attacking.scoring import by_occurrence, group, interval, share
from malaprop.pipeline.privatizer import Privatizer
from malaprop.pipeline.word_draws import WordDraws

attacks = _registered


def attack(
    name: str,
    privatizer: Privatizer,
    texts: Iterable[str],
    labels: Sequence[object] | None = None,
    *,
    rng: Generator | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> AttackResult:
    """Privatize texts, attack the result, and return the share of words that were recovered.

    The texts go through the privatizer's own parser and channel. The observer knows everything
    public: the mechanism, its parameters, the lexicon, and a model of public text; not the texts.
    `name` is one of `malaprop.measure.attacks`, and `options` are that attack's, such as `model`.
    `labels` are for attacks on labels; those on words take none. `rng` resamples texts for the
    interval, and estimates channels without a known law; the private words come from the
    privatizer's own generator.
    """
    chosen = attack_with(name, options)
    _check(chosen, privatizer, texts, labels)
    rng = secure_rng() if rng is None else checked_rng(rng)
    model = model_for(chosen.model, privatizer.lexicon, needed=chosen.needs_model)
    draws = privatizer.word_draws(texts)
    if not draws.secret.size:
        raise DataError("The texts have no words to attack.")
    check_corpus(model, draws.secret, draws.lengths)
    seen = _seen(chosen, privatizer, draws, model, rng)
    guesses = chosen.guesses(seen, progress)
    return _result(chosen, privatizer, draws, seen, guesses, rng)


def _check(chosen: Attack, privatizer: Any, texts: Any, labels: object) -> None:
    if not isinstance(privatizer, Privatizer):
        raise ParameterError(f"`attack` takes a Privatizer. Got {type_name(privatizer)}.")
    if isinstance(texts, str):
        raise ParameterError("`attack` takes several texts, not one string.")
    if labels is not None:
        raise ParameterError(f"The attack {chosen.name} is on words, and takes no labels.")
    if chosen.needs_reuse and _repeat(privatizer) == "fresh":
        raise ParameterError(
            f"The attack {chosen.name} is on texts in which each distinct word has one draw: "
            'make the privatizer with `repeat="document"`.'
        )


def _repeat(privatizer: Privatizer) -> str:
    return privatizer.policy.repeat


def _seen(
    chosen: Attack,
    privatizer: Privatizer,
    draws: WordDraws,
    model: BigramModel | None,
    rng: Generator,
) -> Seen:
    """Return what the observer gets: everything but the secret words."""
    prior = prior_of(model, len(privatizer.lexicon))
    return Seen(
        outputs=draws.drawn,
        lengths=draws.lengths,
        same=_same(draws, len(privatizer.lexicon)),
        reused=_repeat(privatizer) != "fresh",
        likelihoods=likelihoods_of(privatizer.channel, prior, chosen.draws, rng),
        prior=prior,
        model=model,
    )


def _same(draws: WordDraws, size: int) -> Ids:
    """Label each place by its text and its word; the labels do not say which word it is."""
    texts = np.repeat(np.arange(len(draws.lengths)), draws.lengths)
    keys, first, places = np.unique(
        texts * size + draws.secret, return_index=True, return_inverse=True
    )
    ranks = np.empty(len(keys), dtype=np.int64)
    ranks[np.argsort(first)] = np.arange(len(keys))  # in the order of the text
    return ranks[places]


def _result(
    chosen: Attack,
    privatizer: Privatizer,
    draws: WordDraws,
    seen: Seen,
    guesses: Ids,
    rng: Generator,
) -> AttackResult:
    words = privatizer.lexicon.words
    hits, kept = guesses == draws.secret, draws.drawn == draws.secret
    functional = np.array([word.lower() in FUNCTION_WORDS for word in words])
    floor = share(draws.secret == int(seen.prior.argmax()))
    values = {option.name: getattr(chosen, option.name) for option in fields(chosen)}
    values["model"] = "" if seen.model is None else seen.model.fingerprint
    return AttackResult(
        attack=chosen.name,
        score=share(hits),
        interval=interval(hits, draws.lengths, rng),
        baseline=max(share(kept), floor),
        kept=share(kept),
        floor=floor,
        content=group("content words", ~functional[draws.secret], hits, kept),
        occurrences=by_occurrence(seen.same, hits, kept),
        words=len(hits),
        texts=int((draws.lengths > 0).sum()),
        likelihoods=seen.likelihoods.source,
        prior=_prior(seen.model),
        model=values["model"],
        repeat=_repeat(privatizer),
        mechanism=privatizer.mechanism.to_dict(),
        options=values,
    )


def _prior(model: BigramModel | None) -> str:
    if model is None:
        return "even: all words are equally likely"
    named = ", ".join(model.sources) or "a corpus without a name"
    return f"a bigram model of {named}, fingerprint {model.fingerprint[:16]}"
