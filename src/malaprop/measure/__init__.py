"""What a channel does to words, and what an observer learns.

statistics      what a channel does to single words
bayes_success   how often an observer without context guesses a word right
calibrate       from a target that a person understands to ε
calibrate_vectors   the same for vectors: what is left of distances, or how many are found again
best_lambda     λ of the Mahalanobis mechanism by a grid
noise_and_scale how noise compares with the distances of vectors
audit_words     the exact audit of some words and their nearest ones
sampled_audit   a lower bound on the loss, from draws alone
attack          privatize texts, attack the result: what an observer recovers or infers
attacks         the attacks, by name
train_model     a bigram model of a public corpus, for attacks with context
evaluate        privacy beside utility on your own texts, and a recommendation

>>> import malaprop
>>> from malaprop import measure
>>> line = malaprop.Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [3.0]])
>>> measure.statistics(malaprop.TEM(epsilon=2.0).on(line)).summary()["kept"].max < 0.99
True
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from malaprop.lexicon.bigrams import BigramModel, open_model, save_model
    from malaprop.measure.adversaries import (
        AttackResult,
        FoundVectors,
        InferredLabels,
        RecoveredWords,
        attack,
        attacks,
    )
    from malaprop.measure.adversaries.public_model import train_model
    from malaprop.measure.audit import audit_words
    from malaprop.measure.audit_by_draws import SampledAudit, sampled_audit
    from malaprop.measure.bayes import BayesSuccess, bayes_success
    from malaprop.measure.calibration import Calibration, LambdaChoice, best_lambda, calibrate
    from malaprop.measure.evaluation import Evaluation
    from malaprop.measure.evaluation_run import EvaluationSettings, evaluate
    from malaprop.measure.neighbourhoods import density, overlap, skewness
    from malaprop.measure.vector_noise import (
        NoiseAndScale,
        VectorFigures,
        calibrate_vectors,
        noise_and_scale,
        vector_figures,
    )
    from malaprop.measure.word_statistics import WordStatistics, statistics

__all__ = [
    "AttackResult",
    "BayesSuccess",
    "BigramModel",
    "Calibration",
    "Evaluation",
    "EvaluationSettings",
    "FoundVectors",
    "InferredLabels",
    "LambdaChoice",
    "NoiseAndScale",
    "RecoveredWords",
    "SampledAudit",
    "VectorFigures",
    "WordStatistics",
    "attack",
    "attacks",
    "audit_words",
    "bayes_success",
    "best_lambda",
    "calibrate",
    "calibrate_vectors",
    "density",
    "evaluate",
    "noise_and_scale",
    "open_model",
    "overlap",
    "sampled_audit",
    "save_model",
    "skewness",
    "statistics",
    "train_model",
    "vector_figures",
]

# Where the names are: a module is imported when one of its names is asked for.
_HOMES = {
    "lexicon.bigrams": "BigramModel open_model save_model",
    "measure.adversaries": "AttackResult FoundVectors InferredLabels RecoveredWords attack attacks",
    "measure.adversaries.public_model": "train_model",
    "measure.audit": "audit_words",
    "measure.audit_by_draws": "SampledAudit sampled_audit",
    "measure.bayes": "BayesSuccess bayes_success",
    "measure.calibration": "Calibration LambdaChoice best_lambda calibrate",
    "measure.evaluation": "Evaluation",
    "measure.evaluation_run": "EvaluationSettings evaluate",
    "measure.neighbourhoods": "density overlap skewness",
    "measure.vector_noise": "NoiseAndScale VectorFigures calibrate_vectors noise_and_scale "
    "vector_figures",
    "measure.word_statistics": "WordStatistics statistics",
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names.split():
            value = getattr(importlib.import_module(f"malaprop.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'malaprop.measure' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
