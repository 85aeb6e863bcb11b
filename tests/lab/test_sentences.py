"""Vectors of sentences."""

from pathlib import Path

import numpy as np
from tests.lab.tiny_minilm import tiny_minilm

from malaprop.lab.sentences import SentenceModel


def test_a_sentence_has_the_same_vector_in_any_company(tmp_path: Path) -> None:
    model = SentenceModel(tiny_minilm(tmp_path, ("cold", "soup", "hot", "é", ",")))
    some = ["Cold soups, hot", "hot", "", "zzz cold", "cold " * 300]
    together = model.vectors(some)
    alone = np.concatenate([model.vectors([sentence]) for sentence in some])
    np.testing.assert_allclose(together, alone, atol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1.0, rtol=1e-5)
    assert abs(together[0] @ together[1]) < 0.999
    pieces = model._pieces("Cold SOUPS, soupsx hot")
    assert pieces == [2, 4, 5, 9, 8, 1, 6, 3]  # a word with an unknown piece is unknown
