"""Metrics and graphs that are not what their names say: no law on them is certified."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from tests.measure.test_audit_deceit_laws import FLAT, MANY, PROMISE, Uniform

from malaprop import TEM, LawChannel, Lexicon, audit
from malaprop.privacy.arrays import Floats, Ids, Vectors
from malaprop.privacy.law import Law
from malaprop.privacy.metrics import DistanceRows as Distances
from malaprop.privacy.metrics import Euclidean, Metric
from malaprop.privacy.word_graph import Steps, WordGraph


class Tenfold(Euclidean):
    """Ten times the distance, under the name of the distance."""

    def on(self, vectors: Vectors) -> Distances:
        rows = super().on(vectors)
        return lambda ids: 10.0 * rows(ids)


class Measured(Metric):
    """A metric that is called graph but is not one."""

    name = "graph"

    def on(self, vectors: Vectors) -> Distances:
        return Euclidean().on(vectors)


class TestMetric:
    @pytest.mark.parametrize("words", [FLAT, MANY])
    def test_a_metric_with_the_name_of_another(self, words: Lexicon) -> None:
        tenfold = Lexicon(words.words, words.vectors, Tenfold())
        assert audit(TEM(epsilon=1.0, exponent="half").on(tenfold)).holds is not True

    def test_a_metric_called_graph(self) -> None:
        called = Lexicon(FLAT.words, FLAT.vectors, Measured())
        assert audit(TEM(epsilon=1.0).on(called)).holds is None

        def graph(x: Any, y: Any) -> float:
            return float(np.abs(x - y).sum())

        assert str(FLAT.with_metric(graph).metric) == "custom(graph)"

    def test_distances_below_0(self) -> None:
        class Odd(Metric):
            name = "odd"

            def on(self, vectors: Vectors) -> Distances:
                rows = Euclidean().on(vectors)
                return lambda ids: np.where((ids == 0)[:, None] & (rows(ids) > 0), -1.0, rows(ids))

        law = Uniform(Lexicon(FLAT.words, FLAT.vectors, Odd()))
        assert audit(LawChannel(law, replace(PROMISE, metric="odd"))).holds is None

    def test_a_users_graph(self) -> None:
        class Short(WordGraph):
            def levels(self, ids: Ids) -> Any:
                return 9 * super().levels(ids)

        graph = Short(8, [[i, i + 1] for i in range(7)])
        law = Uniform(FLAT.with_metric(Steps(graph)))
        assert audit(LawChannel(law, replace(PROMISE, metric="graph"))).holds is None

    def test_distances_of_a_users_lexicon(self) -> None:
        """The allowed loss is computed from the vectors or the graph, not by the lexicon."""

        class Far(Lexicon):
            def distances(self, ids: Any) -> Floats:
                return 1e6 * super().distances(ids)

        @dataclass(frozen=True, eq=False)
        class Steep(Law):
            def log_weights(self, ids: Ids) -> Floats:
                return -40.0 * np.abs(ids[:, None] - np.arange(8.0))

        graph = Steps(WordGraph(8, [[i, i + 1] for i in range(7)]))
        for metric in (Euclidean(), graph):
            law = Steep(Far(FLAT.words, FLAT.vectors, metric))
            assert audit(LawChannel(law, replace(PROMISE, metric=str(metric)))).holds is False
