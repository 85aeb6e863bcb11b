"""One draw for all places of a value in a text: the plan, the law, and the counts of a report."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import chisquare

from malaprop import TEM, Balanced, Laplace, Lexicon, Privatizer, compose, seeded_rng
from malaprop.draws import share_draws
from malaprop.owner import common_words, count_repeats, split_repeats
from malaprop.privacy.errors import ParameterError
from malaprop.text import parser
from malaprop.text.policy import Repeat

WORDS = ("cold", "cool", "warm", "hot", "doctor", "nurse")
SMALL = Lexicon(WORDS, [[float(i), float(i * i % 7)] for i in range(len(WORDS))])
LINE = Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [2.5]])
MECHANISM = TEM(epsilon=1.0)
RARE = 1e-6

slots = st.lists(st.lists(st.tuples(st.integers(0, 2), st.integers(-3, 4)), max_size=8), max_size=6)


@given(slots)
def test_a_text_has_one_draw_for_each_value_of_a_group(
    texts: list[list[tuple[int, int]]],
) -> None:
    ids = np.array([value for text in texts for _, value in text], dtype=np.int64)
    groups = np.array([group for text in texts for group, _ in text], dtype=np.int64)
    shared = share_draws(ids, [len(text) for text in texts], groups)
    keys = [(number, *slot) for number, text in enumerate(texts) for slot in text]
    distinct = list(dict.fromkeys(keys))  # in the order of their first places
    assert [keys[slot] for slot in shared.slots] == distinct
    assert shared.counts.tolist() == [len(set(text)) for text in texts]
    assert shared.shown.tolist() == [distinct.index(k) for k in keys]


def test_without_groups_all_slots_are_words() -> None:
    ids, counts = np.array([70_000, 3, 70_000, 3]), [3, 1]
    alone, grouped = share_draws(ids, counts), share_draws(ids, counts, np.zeros(4, np.int64))
    assert alone.slots.tolist() == grouped.slots.tolist() == [0, 1, 3]
    apart = share_draws(ids, counts, np.array([0, 0, 1, 0]))
    assert apart.slots.tolist() == [0, 1, 2, 3]


def drawn(privatizer: Privatizer, text: str, count: int) -> list[tuple[str, ...]]:
    return [tuple(private.casefold().split()) for private in privatizer.texts([text] * count)]


def laws(lexicon: Lexicon, epsilon: float) -> NDArray[np.float64]:
    channel = TEM(epsilon=epsilon).on(lexicon)
    return np.exp(channel.log_probabilities(np.arange(len(lexicon))))


def p_of(found: Sequence[tuple[str, ...]], stated: Mapping[Any, float]) -> float:
    """How likely such outputs are by a law."""
    counts = Counter(found)
    assert set(counts) <= set(stated)
    expected = np.array([stated[key] for key in stated]) * len(found)
    return float(chisquare([counts[key] for key in stated], expected).pvalue)


@pytest.mark.parametrize("repeat", ["fresh", "document"])
def test_the_law_of_a_text_follows_its_pattern(repeat: Repeat) -> None:
    """Of “cold hot cold”: three draws, or two and a copy of the first."""

    def stated(epsilon: float) -> dict[tuple[str, ...], float]:
        law, words = laws(LINE, epsilon), LINE.words
        if repeat == "document":
            pairs = product(range(3), range(3))
            return {(words[a], words[b], words[a]): law[0, a] * law[2, b] for a, b in pairs}
        return {
            (words[a], words[b], words[c]): law[0, a] * law[2, b] * law[0, c]
            for a, b, c in product(range(3), repeat=3)
        }

    privatizer = Privatizer(LINE, MECHANISM, repeat=repeat, rng=seeded_rng(5))
    found = drawn(privatizer, "cold hot cold", 60_000)
    assert p_of(found, stated(1.0)) > RARE
    assert p_of(found, stated(1.05)) < RARE


@pytest.mark.parametrize("secure", [True, False], ids=["secure", "seeded"])
def test_draws_are_equal_within_a_text_and_independent_across_texts(secure: bool) -> None:
    """Texts that follow each other share nothing, with a stock of draws and without."""
    rng = None if secure else seeded_rng(8)
    privatizer = Privatizer(LINE, MECHANISM, repeat="document", rng=rng)
    texts = privatizer.texts(["cold, cold. Cold!"] * 40_000)
    firsts = []
    for text in texts:
        words = "".join(sign if sign.isalpha() else " " for sign in text).casefold().split()
        assert len(set(words)) == 1
        firsts.append(words[0])
    law = laws(LINE, 1.0)[0]
    pairs = {
        (LINE.words[a], LINE.words[b]): law[a] * law[b] for a, b in product(range(3), repeat=2)
    }
    assert p_of(list(pairwise(firsts))[::2], pairs) > RARE


@given(st.permutations(WORDS), st.integers(0, 99), st.sampled_from([MECHANISM, Laplace(epsilon=1)]))
def test_both_ways_agree_if_all_words_differ(
    words: list[str], seed: int, mechanism: TEM | Laplace
) -> None:
    texts = [" ".join(words), ", ".join(words[:3]), words[0], ""]
    fresh, document = (
        Privatizer(SMALL, mechanism, repeat=repeat, rng=seeded_rng(seed)).many(texts)
        for repeat in ("fresh", "document")
    )
    assert [release.text for release in fresh] == [release.text for release in document]
    assert [r.guarantee.words for r in fresh] == [r.guarantee.words for r in document]


def test_words_that_are_mapped_alike_share_a_draw() -> None:
    """Otherwise their draws would tell them apart."""
    privatizer = Privatizer(SMALL, TEM(epsilon=0.01), repeat="document")
    for release in privatizer.many(["Doctor, doctors, DOCTOR'S"] * 50):
        assert len(set(release.text.replace(",", "").casefold().split())) == 1
        assert release.guarantee.words == 1
        assert release.counts["protected"] == 3


@given(st.lists(st.lists(st.sampled_from([*WORDS, "Zyx", ","]), max_size=9), max_size=5))
def test_a_large_batch_is_drawn_like_a_small_one(several: list[list[str]]) -> None:
    texts = [" ".join(words) for words in several]

    def made(few_letters: int) -> object:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(parser, "_FEW_LETTERS", few_letters)
            rng = seeded_rng(1)
            return Privatizer(SMALL, MECHANISM, repeat="document", rng=rng).many(texts)

    assert made(0) == made(10**6)


def test_the_guarantee_counts_distinct_words_and_says_what_it_does_not_cover() -> None:
    privatizer = Privatizer(SMALL, TEM(epsilon=2.0, gamma=3.0), repeat="document")
    one, three = privatizer.guarantee, privatizer("cold hot, cold nurse hot").guarantee
    assert three.words == 3
    assert three.loss(math.inf) == 2.0 * 3.0 * 3
    assert "differ in one distinct word, in all its places, the same places holding equal" in str(
        one
    )
    assert "up to 3 distinct words, each in all its places, the same places holding equal" in str(
        three
    )
    for guarantee in (one, three):
        assert guarantee.per == "distinct word"
        assert "which places hold equal words" in guarantee.texts
        assert "neither more nor less than what fresh draws promise" in str(guarantee)
    fresh = Privatizer(SMALL, TEM(epsilon=2.0, gamma=3.0)).guarantee
    assert "distinct" not in str(fresh)
    with pytest.raises(ParameterError, match="'per'"):
        compose([fresh, one])


def test_a_wrong_choice_is_refused() -> None:
    with pytest.raises(ParameterError, match="'repeat' parameter must be one of fresh, document"):
        Privatizer(SMALL, MECHANISM, repeat="never")  # type: ignore[arg-type]


@given(st.lists(st.lists(st.integers(0, 5), max_size=14), max_size=6), st.integers(0, 6))
def test_texts_are_counted_by_their_most_frequent_content_word(
    texts: list[list[int]], common: int
) -> None:
    ids = np.array([word for text in texts for word in text], dtype=np.int64)
    most = [
        max(Counter(word for word in text if word >= common).values(), default=0) for text in texts
    ]
    expected = {f"repeats_{n}": count for n, count in Counter(most).items() if n >= 3}
    assert count_repeats(ids, [len(text) for text in texts], common) == expected


def test_counts_of_batches_add_up() -> None:
    words = [f"w{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(100)]
    lexicon = Lexicon(words, np.arange(100.0)[:, None])
    assert common_words(100) == 10
    assert common_words(32_781) == 500
    privatizer = Privatizer(lexicon, Balanced(epsilon=1.0))
    rare, frequent = words[50], words[9]
    total: Counter[str] = Counter()
    for texts in ([f"{rare} " * 7, f"{frequent} " * 40], [f"{rare} " * 3] * 2, [rare] * 9):
        total.update(privatizer.batch(texts)[1])
    others, repeats = split_repeats(total)
    assert repeats == {7: 1, 3: 2}
    assert not any(name.startswith("repeats") for name in others)
    assert others["protected"] == 7 + 40 + 6 + 9


def _typed(**options: Any) -> Privatizer:
    return Privatizer(
        SMALL, MECHANISM, kinds="typed", kind_epsilon=0.5, repeat="document", **options
    )


def test_equal_values_share_a_draw_whatever_their_format() -> None:
    text = "cold 3/4/2023, hot 4 March; 12 cold 3/4/2023 12, March 4, 2023."
    different = set()
    for release in _typed().many([text] * 300):
        dates = re.findall(r"\d\d/\d\d/\d{4}", release.text)
        assert len(dates) == 2
        assert dates[0] == dates[1]
        written = re.search(r"([A-Z][a-z]+) (\d+), (\d{4})", release.text)
        assert written
        named = datetime.strptime(" ".join(written.groups()), "%B %d %Y").replace(tzinfo=UTC)
        assert named.strftime("%m/%d/%Y") == dates[0]
        different.add(dates[0])
        assert "distinct words or values" in str(release.guarantee)
        assert release.guarantee.words < release.counts["protected"]
    assert len(different) > 20


@pytest.mark.parametrize("text", ["3.5 0.35", "$5.00 $500", "$42 €42", "7% 0.7%", "42 42$"])
def test_unequal_values_do_not_share_a_draw(text: str) -> None:
    """A grid counts units: the same number of tenths and of hundredths are not equal.

    Otherwise “3.5 0.35” would always become a pair such as “3.7 0.37”, and “3.6 0.35” would not.
    """
    privatizer = _typed(rng=seeded_rng(4))
    assert privatizer(text).guarantee.words == 2
    pairs = [
        ["".join(filter(str.isdecimal, part)).lstrip("0") for part in private.split()]
        for private in privatizer.texts([text] * 100)
    ]
    assert len({one == other for one, other in pairs}) == 2
    assert "which places hold equal words or values" in privatizer.guarantee.texts


def test_a_word_and_a_value_never_share_a_draw() -> None:
    """The places of a grid are numbers like those of words: the group tells them apart."""
    values = _typed(rng=seeded_rng(3)).texts(["cold 0 cool 1 warm 2 hot 3"] * 50)
    assert all(re.fullmatch(r"(\w+ \d+ ?){4}", text) for text in values)


def test_both_ways_agree_for_values_that_differ() -> None:
    text = "cold 5 hot, 3:30 pm 2023 7% nurse"
    document = _typed(rng=seeded_rng(3))(text).text
    fresh = Privatizer(SMALL, MECHANISM, kinds="typed", kind_epsilon=0.5, rng=seeded_rng(3))(text)
    assert fresh.text == document


def test_equal_identifiers_share_a_stand_in() -> None:
    """As equal words do; others of the same shape get one of their own."""
    for text in _typed().texts(["555-123-4567 555-987-6543 555-123-4567"] * 20):
        one, other, again = text.split()
        assert one == again
        assert one != other


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("+44 20 7946 0958", "+44\xa020 7946\u202f0958"),
        ("01234567", "٠١٢٣٤٥٦٧"),
        ("AB12345", "ａｂ12345"),
        ("x1\u00e92", "X1e\u03012"),
    ],
)
def test_identifiers_that_look_alike_when_private_share_a_stand_in(one: str, other: str) -> None:
    privatizer = Privatizer(
        SMALL, MECHANISM, rng=seeded_rng(1), repeat="document", kinds="typed", kind_epsilon=1.0
    )
    text = privatizer(f"({one}) ({other}) ({one[:-1]}1)").text
    first, second, third = re.findall(r"\(([^)]*)\)", text)
    assert first == second != third
