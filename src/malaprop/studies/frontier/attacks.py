"""What an observer recovers of words, with and without context, over several draws of noise."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.random import Generator

from malaprop.measure.adversaries.bayes import Bayes
from malaprop.measure.adversaries.context import Context
from malaprop.measure.attacking.likelihoods import likelihoods_of
from malaprop.measure.attacking.models import check_corpus, model_for, prior_of
from malaprop.measure.attacking.words import Seen
from malaprop.measure.similarity import Similarity
from malaprop.pipeline.privatizer import Privatizer
from malaprop.studies.framework.items import Figure
from malaprop.studies.framework.measuring import mean_of, there_or_missing
from malaprop.studies.framework.run import Run
from malaprop.studies.frontier.sampling import noise_draws, rows_of, some_rows

_MEASURES: Final = ("kept", "success_alone", "success_context", "similarity")


def attacked(run: Run, privatizer: Privatizer, rng: Generator) -> Iterator[Figure]:
    """Attack sentences word by word and with context; taking outputs for words counts, too."""

    def measured() -> Iterator[Figure]:
        texts = list(some_rows(run, "mr").texts)[: rows_of(run, "attacked")]
        rows = list(_rows(run, privatizer, texts, rng))
        yield from (mean_of(name, [row[name] for row in rows]) for name in _MEASURES)

    return there_or_missing(_MEASURES, measured())


def _rows(
    run: Run, privatizer: Privatizer, texts: Sequence[str], rng: Generator
) -> Iterator[dict[str, float]]:
    """Yield the figures of each draw. All draws are attacked with the same knowledge."""
    lexicon, channel = privatizer.lexicon, privatizer.channel
    model = model_for(run.sets.get("bigrams"), lexicon, needed=True)  # or the one that ships
    prior = prior_of(model, len(lexicon))
    known = likelihoods_of(channel, prior, run.pick(quick=1000, full=10_000), rng)
    similarity = Similarity(lexicon)
    for _ in range(noise_draws(run)):
        draws = privatizer.word_draws(texts)
        check_corpus(model, draws.secret, draws.lengths)
        seen = Seen(
            outputs=draws.drawn,
            lengths=draws.lengths,
            same=np.arange(len(draws.drawn)),  # nobody tells the observer which places are alike
            reused=False,
            likelihoods=known,
            prior=prior,
            model=model,
        )
        kept = float(np.mean(draws.drawn == draws.secret))
        alone = float(np.mean(Bayes().guesses(seen) == draws.secret))
        context = float(np.mean(Context().guesses(seen) == draws.secret))
        yield {
            "kept": kept,
            "success_alone": max(alone, kept),
            "success_context": max(context, kept),
            "similarity": float(np.mean(similarity.between(draws.secret, draws.drawn))),
        }
