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
    from malaprop.measure.attacking.base import attacks
    from malaprop.measure.attacking.result import (
        AttackResult,
        FoundVectors,
        InferredLabels,
        RecoveredWords,
    )
    from malaprop.measure.attacking.run import attack
    from malaprop.measure.attacking.training import train_model
    from malaprop.measure.audit_by_draws import SampledAudit, sampled_audit
    from malaprop.measure.audit_of_words import audit_words
    from malaprop.measure.bayes import BayesSuccess, bayes_success
    from malaprop.measure.calibration import calibrate
    from malaprop.measure.evaluating.evaluation import Evaluation
    from malaprop.measure.evaluating.run import evaluate
    from malaprop.measure.evaluating.settings import EvaluationSettings
    from malaprop.measure.figures import skewness
    from malaprop.measure.neighbourhoods import density, overlap
    from malaprop.measure.regularization import LambdaChoice, best_lambda
    from malaprop.measure.scale import NoiseAndScale, noise_and_scale
    from malaprop.measure.searching import Calibration
    from malaprop.measure.vector_calibration import calibrate_vectors
    from malaprop.measure.vector_measures import VectorFigures, vector_figures
    from malaprop.measure.words import WordStatistics, statistics

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
    "measure.adversaries": "attacks",
    "measure.attacking.result": "AttackResult FoundVectors InferredLabels RecoveredWords",
    "measure.attacking.run": "attack",
    "measure.attacking.training": "train_model",
    "measure.audit_by_draws": "SampledAudit sampled_audit",
    "measure.audit_of_words": "audit_words",
    "measure.bayes": "BayesSuccess bayes_success",
    "measure.calibration": "calibrate",
    "measure.evaluating.evaluation": "Evaluation",
    "measure.evaluating.run": "evaluate",
    "measure.evaluating.settings": "EvaluationSettings",
    "measure.figures": "skewness",
    "measure.neighbourhoods": "density overlap",
    "measure.regularization": "LambdaChoice best_lambda",
    "measure.scale": "NoiseAndScale noise_and_scale",
    "measure.searching": "Calibration",
    "measure.vector_calibration": "calibrate_vectors",
    "measure.vector_measures": "VectorFigures vector_figures",
    "measure.words": "WordStatistics statistics",
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
