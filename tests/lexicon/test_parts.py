"""Some words of a lexicon, and the words nearest to any vector."""

import numpy as np
import pytest

from malaprop import Lexicon, LexiconError, MetricError, ParameterError, seeded_rng

LINE = Lexicon(["a", "b", "c", "d"], [[0.0], [1.0], [3.0], [7.0]])


def test_a_subset_keeps_order_vectors_and_metric() -> None:
    part = LINE.with_metric("manhattan").subset(["d", "a", "unknown"])
    assert part.words == ("a", "d")
    assert part.vectors.tolist() == [[0.0], [7.0]]
    assert str(part.metric) == "manhattan"
    assert part.fingerprint != LINE.fingerprint


def test_a_subset_of_no_words_or_of_a_graph_is_refused() -> None:
    with pytest.raises(LexiconError, match="None of these words"):
        LINE.subset(["unknown"])
    with pytest.raises(MetricError, match="take the subset first"):
        LINE.with_graph(edges=[("a", "b"), ("b", "c"), ("c", "d")]).subset(["a", "b"])


def test_the_nearest_words_of_any_vector_are_those_of_all_distances() -> None:
    rng = seeded_rng(1)
    cloud = Lexicon([f"w{i}" for i in range(300)], rng.normal(size=(300, 5)))
    queries = rng.normal(size=(40, 5))
    distances = np.linalg.norm(queries[:, None] - cloud.vectors, axis=2)
    assert (cloud.nearest(queries, k=7) == np.argsort(distances, axis=1)[:, :7]).all()


def test_nearest_refuses_other_metrics_shapes_and_counts() -> None:
    with pytest.raises(MetricError, match="manhattan"):
        LINE.with_metric("manhattan").nearest([[1.0]])
    with pytest.raises(ParameterError, match="1 columns"):
        LINE.nearest([[1.0, 2.0]])
    with pytest.raises(ParameterError, match="1 or more"):
        LINE.nearest([[1.0]], k=0)
