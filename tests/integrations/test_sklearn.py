import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from joblib import Parallel, delayed  # type: ignore[import-untyped]
from scipy.stats import gamma, kstest
from sklearn.base import clone  # type: ignore[import-untyped]
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped]
from sklearn.utils.estimator_checks import (  # type: ignore[import-untyped]
    parametrize_with_checks,
)

from malaprop import Kind, ParameterError, secure_rng, seeded_rng
from malaprop.integrations.sklearn import PrivateEmbedding
from malaprop.privacy.noise import operator_norm

ROWS = np.random.Generator(np.random.PCG64(1)).normal(size=(50, 12))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [
        PrivateEmbedding(epsilon=5.0),
        PrivateEmbedding(epsilon=5.0, n_components=1, projection="gaussian"),
    ],
)
def test_scikit_learns_own_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_noise_is_fresh_in_every_call() -> None:
    private = PrivateEmbedding(epsilon=1.0).fit(ROWS)
    assert private.randomness_ == "secure"
    first, second = private.transform(ROWS), private.transform(ROWS)
    # Whole rows: single coordinates are equal now and then, being rounded to a grid.
    assert not (first == second).all(axis=1).any()
    assert not np.array_equal(clone(private).fit(ROWS).transform(ROWS), first)
    assert not np.array_equal(pickle.loads(pickle.dumps(private)).transform(ROWS), first)  # noqa: S301


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_noise_is_fresh_in_every_worker(backend: str) -> None:
    rng = secure_rng()
    private = PrivateEmbedding(epsilon=1.0, random_state=rng).fit(ROWS)
    rows = Parallel(n_jobs=2, backend=backend)(delayed(private.transform)(ROWS) for _ in range(4))
    every = np.concatenate([*rows, private.transform(ROWS)])
    assert len(np.unique(every, axis=0)) == len(every)


def test_a_seed_repeats_it_and_is_not_private() -> None:
    private = PrivateEmbedding(epsilon=1.0, random_state=7).fit(ROWS)
    assert private.randomness_ == "seeded: not private"
    assert np.array_equal(private.transform(ROWS), private.transform(ROWS))
    stream = PrivateEmbedding(epsilon=1.0, random_state=seeded_rng(7)).fit(ROWS)
    assert np.array_equal(stream.transform(ROWS), private.transform(ROWS))
    assert not np.array_equal(stream.transform(ROWS), private.transform(ROWS))


def test_the_noise_is_what_the_guarantee_needs() -> None:
    private = PrivateEmbedding(epsilon=2.0, n_components=4, random_state=3).fit(ROWS)
    radii = np.linalg.norm(private.transform(np.zeros((40_000, 12))), axis=1)
    scale = operator_norm(private.components_) / 2.0
    assert kstest(radii, gamma(4, scale=scale).cdf).pvalue > 1e-6
    assert kstest(radii, gamma(4, scale=1.05 * scale).cdf).pvalue < 1e-6


def test_the_guarantee_is_stated() -> None:
    guarantee = PrivateEmbedding(epsilon=2.0).fit(ROWS).guarantee_
    assert (guarantee.kind, guarantee.epsilon, guarantee.delta) == (Kind.METRIC, 2.0, 0.0)
    assert guarantee.metric == "euclidean"
    assert "any two vectors" in str(guarantee)


def test_fitting_learns_nothing_but_the_number_of_columns() -> None:
    here = PrivateEmbedding(epsilon=1.0, random_state=1).fit(ROWS)
    there = PrivateEmbedding(epsilon=1.0, random_state=1).fit(1000.0 * ROWS[:2] + 5.0)
    assert np.array_equal(here.components_, there.components_)
    assert here.guarantee_ == there.guarantee_
    assert np.array_equal(here.transform(ROWS), there.transform(ROWS))


def test_principal_directions_come_from_public_vectors_only() -> None:
    with pytest.raises(ParameterError, match="public_vectors"):
        PrivateEmbedding(epsilon=1.0, projection="pca").fit(ROWS)
    public = ROWS[:30] * np.arange(1, 13)
    private = PrivateEmbedding(
        epsilon=1.0, projection="pca", public_vectors=public, n_components=2
    ).fit(ROWS)
    assert operator_norm(private.components_) == pytest.approx(1.0, abs=1e-10)
    assert np.abs(private.components_[0]).argmax() >= 9
    with pytest.raises(ParameterError, match="12 columns"):
        PrivateEmbedding(epsilon=1.0, public_vectors=public[:, :5]).fit(ROWS)


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0.0},
        {"epsilon": "1"},
        {"n_components": 13},
        {"n_components": 0},
        {"projection": "fourier"},
        {"projection_seed": None},
        {"random_state": "seed"},
        {"random_state": -1},
    ],
)
def test_wrong_parameters_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        PrivateEmbedding(**{"epsilon": 1.0, **wrong}).fit(ROWS)


def test_in_a_pipeline() -> None:
    label = (ROWS[:, 0] > 0).astype(int)
    model = make_pipeline(PrivateEmbedding(epsilon=50.0, n_components=12), LogisticRegression())
    assert model.fit(ROWS, label).score(ROWS, label) > 0.8
    names = model[:-1].get_feature_names_out()
    assert list(names[:2]) == ["privateembedding0", "privateembedding1"]
    assert len(names) == 12


def test_without_scikit_learn_the_error_says_what_to_install() -> None:
    code = "import sys; sys.modules['sklearn'] = None; import malaprop.integrations.sklearn"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "MissingExtraError" in run.stderr
    assert "pip install scikit-learn" in run.stderr


def test_a_random_state_promises_nothing() -> None:
    seeded = PrivateEmbedding(epsilon=1.0, random_state=0).fit(ROWS)
    assert seeded.guarantee_.kind is Kind.NONE
    assert PrivateEmbedding(epsilon=1.0).fit(ROWS).guarantee_.kind is Kind.METRIC
