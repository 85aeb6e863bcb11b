"""Classification on the same splits for all mechanisms."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.lab.studies.planted_sets import planted

from malaprop import Laplace, Lexicon, seeded_rng
from malaprop.lab import tasks
from malaprop.lab.studies.figures import SPLIT_TIMES, classified
from malaprop.lab.studies.study import Measurement
from malaprop.lab.tasks import sources
from malaprop.lab.tasks.sources import Subject, subject_of


@pytest.fixture
def problem(tiny: Lexicon) -> Any:
    return tasks.registry["classify-text"](data=planted(tiny.words)["mr"]).prepare(tiny)


def figures_of(problem: Any, subject: Subject, seed: int = 1) -> list[Measurement]:
    return list(classified(problem, subject, ["accuracy"], 3, seeded_rng(seed)))


def test_both_errors_and_the_share_kept_are_measured(tiny: Lexicon, problem: Any) -> None:
    channel = Laplace(epsilon=1.0).on(tiny)
    draws, splits, kept = figures_of(problem, subject_of(channel, release="words"))
    assert (draws.measure, splits.measure, kept.measure) == (
        "accuracy",
        "accuracy",
        "kept_in_texts",
    )
    assert draws.error is not None
    assert splits.setting["spread"] == "splits"
    assert 0.0 < float(kept.value or 0.0) < 1.0


def test_without_noise_only_splits_differ(tiny: Lexicon, problem: Any) -> None:
    first = figures_of(problem, sources.unprotected(tiny))
    again = figures_of(problem, sources.unprotected(tiny), seed=2)
    assert first == again  # splits do not depend on the generator of the noise
    assert first[0].error is None
    assert len(first) == 2  # and words that stay by rule are not counted


def test_all_subjects_are_scored_on_the_same_splits(
    tiny: Lexicon, problem: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[int]] = []
    predictions: Callable[..., Any] = type(problem.model).predictions

    def recorded(model: Any, train: Any, classes: Any, *tests: Any) -> Any:
        seen.append(np.asarray(classes).tolist())
        return predictions(model, train, classes, *tests)

    monkeypatch.setattr(type(problem.model), "predictions", recorded)
    figures_of(problem, sources.unprotected(tiny))
    figures_of(problem, sources.random_subject(tiny))
    once = SPLIT_TIMES
    assert len(seen) == once + 3 * once
    assert seen[:once] == seen[once : 2 * once] == seen[-once:]
