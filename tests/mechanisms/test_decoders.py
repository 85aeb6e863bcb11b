import inspect

import numpy as np
import pytest
from scipy.stats import chisquare
from tests.exact import nearest_on_a_line

from malaprop import Decoder, Laplace, Lexicon, ParameterError, seeded_rng
from malaprop.mechanisms.decoders import DECODINGS, Rank, Vickrey, as_decoding

DRAWS = 60_000
LINE = Lexicon(["a", "b", "c", "d"], [[0.0], [1.0], [3.0], [7.0]])


def decode(decoding: object, vector: float, epsilon: float = 1.0) -> np.ndarray:
    decoder = as_decoding(decoding).on(LINE, epsilon)  # type: ignore[arg-type]
    return decoder.decode(np.full((DRAWS, 1), vector), seeded_rng(8))


def test_a_decoder_knows_nothing_of_the_input_by_its_type() -> None:
    assert list(inspect.signature(Decoder.decode).parameters) == ["self", "vectors", "rng"]


def test_nearest() -> None:
    assert set(decode("nearest", 1.9)) == {1}


def test_words_of_noise_on_a_line_follow_the_closed_form() -> None:
    drawn = Laplace(epsilon=0.8).on(LINE).substitute(np.full(DRAWS, 1), seeded_rng(4))
    counts = np.bincount(drawn, minlength=4)
    places = LINE.vectors[:, 0].astype(np.float64)
    true, narrow = (DRAWS * nearest_on_a_line(places, rate)[1] for rate in (0.8, 0.8 * 1.05))
    assert chisquare(counts, true).pvalue > 1e-6
    assert chisquare(counts, narrow).pvalue < 1e-6


@pytest.mark.parametrize("t", [0.0, 0.3, 0.5, 1.0])
def test_vickrey_takes_the_first_or_the_second(t: float) -> None:
    drawn = decode(Vickrey(t=t), 1.5)  # 0.5 from b, 1.5 from a and from c: the tie goes to a
    first = (1 - t) * 1.5 / (t * 0.5 + (1 - t) * 1.5)
    counts = np.bincount(drawn, minlength=4)
    assert counts[2] == counts[3] == 0
    if t in (0.0, 1.0):
        assert counts[1] == DRAWS * first
    else:
        assert chisquare(counts[:2], [DRAWS * (1 - first), DRAWS * first]).pvalue > 1e-6
        assert chisquare(counts[:2], [DRAWS * (1 - 0.95 * first), DRAWS * 0.95 * first])[1] < 1e-6


@pytest.mark.parametrize(("c", "epsilon"), [(1.0, 0.5), (0.2, 2.0), (3.0, 0.1)])
def test_rank_falls_exponentially_around_the_pivot(c: float, epsilon: float) -> None:
    drawn = decode(Rank(c=c), 1.2, epsilon)
    p = np.exp(-c * epsilon * np.array([1, 0, 2, 3]))  # ranks of a, b, c, d around b
    counts = np.bincount(drawn, minlength=4)
    assert chisquare(counts, DRAWS * p / p.sum()).pvalue > 1e-6
    q = np.exp(-1.2 * c * epsilon * np.array([1, 0, 2, 3]))
    assert chisquare(counts, DRAWS * q / q.sum()).pvalue < 1e-6


def test_rank_beside_a_word_of_the_same_vector() -> None:
    twins = Lexicon(["a", "b"], [[1.0], [1.0]])
    decoder = Rank(c=1.0).on(twins, 1.0)
    drawn = decoder.decode(np.ones((DRAWS, 1)), seeded_rng(1))
    assert np.mean(drawn == 0) == pytest.approx(1 / (1 + np.exp(-1)), abs=0.02)


@pytest.mark.parametrize("name", sorted(DECODINGS))
def test_every_decoder_serves_laplace_and_a_lexicon_of_one_word(name: str, plane: Lexicon) -> None:
    mechanism = Laplace(epsilon=1.0, decoder=name)
    drawn = mechanism.on(plane).substitute(np.arange(40), seeded_rng(2))
    assert ((drawn >= 0) & (drawn < 40)).all()
    one = Lexicon(["a"], [[1.0]])
    assert mechanism.on(one).substitute([0], seeded_rng(2)).tolist() == [0]


def test_wrong_decoders_are_refused() -> None:
    with pytest.raises(ParameterError, match="nearest, vickrey, rank"):
        Laplace(epsilon=1.0, decoder="farthest")
    with pytest.raises(ParameterError, match="'t'"):
        Vickrey(t=1.5)
    with pytest.raises(ParameterError, match="'c'"):
        Rank(c=0.0)
