"""What is guaranteed, in plain words: true for the guarantee, with words that people know."""

from dataclasses import replace

import pytest

from malaprop import TEM, Gaussian, Lexicon, Privatizer
from malaprop.report.promise import comparisons, factor, plain_promise, short_promise

LINE = Lexicon(["cold", "colder", "cool", "warm", "hot"], [[0.0], [0.1], [1.0], [3.0], [9.0]])


@pytest.mark.parametrize(
    ("loss", "text"),
    [
        (0.5, "1.65"),
        (5.97, "392"),
        (7.64, "2,080"),
        (11.9, "148,000"),
        (15.0, "3.27 million"),
        (21.0, "1.32 billion"),
        (30.07, "e^30.07"),
    ],
)
def test_factors_are_rounded_up_and_have_no_exponent_of_ten(loss: float, text: str) -> None:
    assert factor(loss) == text


def test_examples_are_words_that_people_know() -> None:
    words = ["london", "paris", "aspirin", "ibuprofen", "the"]
    lexicon = Lexicon(words, [[0.0], [1.0], [9.0], [9.5], [4.0]])
    pairs = comparisons(TEM(epsilon=1.0).on(lexicon))
    assert [(each.word, each.other, each.distance) for each in pairs] == [
        ("aspirin", "ibuprofen", 0.5),
        ("london", "paris", 1.0),
        ("aspirin", "london", 9.0),
    ]


def test_other_lexicons_give_words_of_their_own_that_are_no_forms_of_each_other() -> None:
    pairs = comparisons(TEM(epsilon=1.0).on(LINE))
    assert [(each.word, each.other) for each in pairs] == [
        ("cold", "cool"),
        ("hot", "warm"),
        ("cold", "hot"),
    ]
    assert comparisons(TEM(epsilon=1.0).on(Lexicon(["cold"], [[0.0]]))) == ()
    two = comparisons(TEM(epsilon=1.0).on(Lexicon(["cold", "hot"], [[0.0], [1.0]])))
    assert {(each.word, each.other) for each in two} == {("cold", "hot"), ("hot", "cold")}


def test_three_sentences_give_the_losses_of_the_guarantee() -> None:
    privatizer = Privatizer(LINE, TEM(epsilon=2.0, gamma=8.0))
    examples = comparisons(privatizer.channel)
    told = " ".join(plain_promise(privatizer.guarantee, examples))
    assert "“cold” in one and “cool” in the other" in told
    assert "the odds between the two texts by a factor of at most 7.39" in told  # e^(2·1)
    assert "between “cold” and “hot” by a factor of at most 8.89 million" in told  # e^(2·8): γ
    assert "(which is next to no protection)" in told
    assert "“cold” and “cool” by a factor of at most 7.39" in short_promise(
        privatizer.guarantee, examples
    )


def test_shared_draws_and_a_delta_are_named() -> None:
    shared = Privatizer(LINE, TEM(epsilon=1.0), repeat="document")
    told = " ".join(plain_promise(shared.guarantee, comparisons(shared.channel)))
    assert "differ in one word alone, in all its places, “cold”" in told
    assert "each further distinct word" in told
    noisy = Privatizer(LINE, Gaussian(epsilon=0.9))
    told = " ".join(plain_promise(noisy.guarantee, comparisons(noisy.channel)))
    assert "the chances of whatever may come out differ by" in told
    assert "and by a δ of" in told
    assert short_promise(noisy.guarantee, comparisons(noisy.channel)) == str(noisy.guarantee)


def test_without_a_guarantee_nothing_is_promised() -> None:
    kept = Privatizer(LINE, TEM(epsilon=1.0), unknown="keep")
    for told in (
        *plain_promise(kept.guarantee, comparisons(kept.channel)),
        short_promise(kept.guarantee, ()),
    ):
        assert "othing" in told
        assert "factor" not in told
    unpromised = [replace(each, loss=None) for each in comparisons(kept.channel)]
    assert "nothing is promised" in plain_promise(kept.channel.guarantee, unpromised)[0]
