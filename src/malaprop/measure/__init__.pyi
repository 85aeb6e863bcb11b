from .adversaries import (
    AttackResult as AttackResult,
)
from .adversaries import (
    FoundVectors as FoundVectors,
)
from .adversaries import (
    InferredLabels as InferredLabels,
)
from .adversaries import (
    RecoveredWords as RecoveredWords,
)
from .adversaries import (
    attack as attack,
)
from .adversaries import (
    attacks as attacks,
)
from .adversaries.public_model import (
    BigramModel as BigramModel,
)
from .adversaries.public_model import (
    open_model as open_model,
)
from .adversaries.public_model import (
    save_model as save_model,
)
from .adversaries.public_model import (
    train_model as train_model,
)
from .audit import audit_words as audit_words
from .audit_by_draws import SampledAudit as SampledAudit
from .audit_by_draws import sampled_audit as sampled_audit
from .bayes import BayesSuccess as BayesSuccess
from .bayes import bayes_success as bayes_success
from .calibration import (
    Calibration as Calibration,
)
from .calibration import (
    LambdaChoice as LambdaChoice,
)
from .calibration import (
    best_lambda as best_lambda,
)
from .calibration import (
    calibrate as calibrate,
)
from .evaluation import Evaluation as Evaluation
from .evaluation_run import EvaluationSettings as EvaluationSettings
from .evaluation_run import evaluate as evaluate
from .neighbourhoods import density as density
from .neighbourhoods import overlap as overlap
from .neighbourhoods import skewness as skewness
from .vector_noise import (
    NoiseAndScale as NoiseAndScale,
)
from .vector_noise import (
    VectorFigures as VectorFigures,
)
from .vector_noise import (
    calibrate_vectors as calibrate_vectors,
)
from .vector_noise import (
    noise_and_scale as noise_and_scale,
)
from .vector_noise import (
    vector_figures as vector_figures,
)
from .word_statistics import WordStatistics as WordStatistics
from .word_statistics import statistics as statistics

__all__: list[str]
