"""The privatizer: whatever goes in, only words of the lexicon and what may be seen come out."""

import pickle
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from unicodedata import category

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from tests.files.small import ROUGH, SMALL, TEXTS, WORDS

from malaprop import (
    TEM,
    Balanced,
    Laplace,
    LawChannel,
    Lexicon,
    Privatizer,
    Release,
    secure_rng,
    seeded_rng,
)
from malaprop.privacy.errors import ParameterError
from malaprop.text import parser
from malaprop.text.english import written_words
from malaprop.text.policy import Unknown
from malaprop.text.treatment import TAGS


def words_of(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())


@given(TEXTS, st.sampled_from(["map", "drop"]), st.sampled_from(["keep", "drop"]))
def test_every_word_that_comes_out_is_one_of_the_lexicon(
    text: str, unknown: str, punctuation: str
) -> None:
    privatizer = Privatizer(SMALL, ROUGH, unknown=unknown, punctuation=punctuation)  # type: ignore[arg-type]
    release = privatizer(text)
    found = words_of(release.text)
    assert set(found) <= set(WORDS)
    assert len(found) == release.counts["protected"]


@given(TEXTS)
def test_only_listed_signs_pass_through(text: str) -> None:
    release = Privatizer(SMALL, ROUGH)(text)
    for sign in re.sub(r"[A-Za-z]+", "", release.text):
        # No letter, digit, mark, emoji or invisible character, but for plain white space.
        assert category(sign)[0] in "PZ" or sign in "\t\n\v\f\r$+<=>^`|~" or category(sign) == "Sc"


@given(TEXTS)
def test_masked_words_show_the_placeholder(text: str) -> None:
    release = Privatizer(SMALL, ROUGH, unknown="mask", placeholder="<gone>")(text)
    assert release.text.count("<gone>") >= release.counts["masked"]
    found = [word for word in words_of(release.text) if word != "gone"]
    assert set(found) <= set(WORDS)
    assert len(found) == release.counts["protected"] == release.counts["in_lexicon"]


def test_what_is_kept_is_counted_and_nothing_else_is_kept() -> None:
    release = Privatizer(SMALL, ROUGH, unknown="keep")("cold Zyx 4711 a@b.org #zyx @zyx 😀 x1")
    assert release.counts["kept"] == 1
    assert "Zyx" in release.text
    assert set(words_of(release.text)) <= {*WORDS, "zyx"}
    assert not re.search(r"\d|@|#|😀", release.text)


@given(TEXTS)
def test_the_counts_are_of_all_pieces(text: str) -> None:
    counts = Privatizer(SMALL, ROUGH)(text).counts
    assert set(counts) == {"protected", "wordless", "mostly_signs", *TAGS}
    kinds = ("in_lexicon", "mapped", "numbers", "urls", "emails", "mentions", "hashtags", "emoji")
    assert counts["protected"] == sum(counts[kind] for kind in kinds)
    assert counts["kept"] == counts["masked"] == counts["dropped"] == 0


@given(TEXTS.filter(lambda text: text.upper().lower() == text.lower()), st.integers(0, 99))
def test_capitals_have_no_influence(text: str, seed: int) -> None:
    plain, loud = (
        Privatizer(SMALL, ROUGH, rng=seeded_rng(seed))(form)
        for form in (text.lower(), text.upper())
    )
    if len(text.upper()) == len(text.lower()):
        assert plain.text == loud.text


def test_capitals_are_those_of_a_sentence() -> None:
    exact = Privatizer(SMALL, TEM(epsilon=500.0))
    assert exact("the NURSE is cold. tHe doctor, Hot").text == "The nurse is cold. The doctor, hot"


@given(st.lists(TEXTS, max_size=5), st.integers(0, 99))
def test_many_is_like_one_after_the_other(several: list[str], seed: int) -> None:
    together = Privatizer(SMALL, ROUGH, rng=seeded_rng(seed)).many(several)
    privatizer = Privatizer(SMALL, ROUGH, rng=seeded_rng(seed))
    alone = [privatizer(text) for text in several]
    shape = [(release.counts, release.guarantee, _gaps(release)) for release in together]
    assert shape == [(release.counts, release.guarantee, _gaps(release)) for release in alone]


def _gaps(release: Release) -> list[str]:
    return re.split(r"[A-Za-z]+", release.text)


def test_many_draws_each_text_from_its_own_law() -> None:
    """Nothing is mixed up: at an epsilon where words stay, every text stays too."""
    several = ["cold, hot", "", "The doctor", "nurse!", "...", "is"]
    releases = Privatizer(SMALL, TEM(epsilon=500.0)).many(iter(several))
    assert [release.text.casefold() for release in releases] == [t.casefold() for t in several]
    assert Privatizer(SMALL, ROUGH).many([]) == []


@given(st.lists(TEXTS, max_size=5), st.sampled_from(["map", "mask", "drop", "keep"]))
def test_a_large_batch_is_privatized_like_a_small_one(several: list[str], unknown: str) -> None:
    """The same seed gives the same words, in whichever way the texts are parsed."""

    def made(few_letters: int) -> tuple[object, object]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(parser, "_FEW_LETTERS", few_letters)
            privatizer = Privatizer(SMALL, ROUGH, unknown=unknown, rng=seeded_rng(1))  # type: ignore[arg-type]
            return privatizer.many(several), privatizer.batch(several)

    assert made(0) == made(10**6)


def test_a_privatizer_travels_without_the_words_it_has_seen() -> None:
    privatizer = Privatizer(SMALL, ROUGH)
    privatizer.texts(["zyxsecret, zyxsecret " * 100, "zyxsecret"])
    assert b"zyxsecret" not in pickle.dumps(privatizer)


@pytest.mark.parametrize("mechanism", [ROUGH, Laplace(epsilon=0.5)])
def test_the_same_seed_repeats(mechanism: TEM | Laplace) -> None:
    text = "The doctor is cold, the nurse is hot. " * 5

    def made(seed: int) -> str:
        return Privatizer(SMALL, mechanism, rng=seeded_rng(seed))(text).text

    assert made(1) == made(1)
    assert made(1) != made(2)


def test_randomness_is_secure_unless_seeded() -> None:
    assert Privatizer(SMALL, ROUGH)("cold").randomness == "secure"
    assert Privatizer(SMALL, ROUGH, rng=secure_rng())("cold").randomness == "secure"
    seeded = Privatizer(SMALL, ROUGH, rng=seeded_rng(1))
    assert seeded.randomness == seeded("cold").randomness == "seeded: not private"
    long = "cold " * 200
    assert Privatizer(SMALL, ROUGH)(long).text != Privatizer(SMALL, ROUGH)(long).text


@pytest.mark.parametrize(
    "wrong", [{"unknown": "forget"}, {"punctuation": "swap"}, {"placeholder": "..."}]
)
def test_a_wrong_policy_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        Privatizer(SMALL, ROUGH, **wrong)  # type: ignore[arg-type]


def test_long_texts_and_long_words() -> None:
    privatizer = Privatizer(SMALL, ROUGH)
    started = time.process_time()
    text = "The doctor zyxed 12 colds, is hot. " * 30_000
    release = privatizer(text)
    assert len(text) > 1_000_000
    assert release.counts["protected"] == 7 * 30_000
    for word in ("x" * 100_000, "é" * 100_000, "1" * 100_000, "e\u0301" * 50_000, "a'" * 50_000):
        assert set(words_of(privatizer(word).text)) <= set(WORDS)
    assert time.process_time() - started < 30  # seconds; it takes about two


def test_words_that_differ_in_capitals_only_count_as_the_first_of_them() -> None:
    """The statement must not promise the distance of a word that the mapping never reaches."""
    cased = Lexicon(["Polish", "polish", "shine"], [[0.0], [10.0], [10.1]])
    privatizer = Privatizer(cased, TEM(epsilon=20.0), rng=seeded_rng(1))
    assert privatizer("polish").text == "Polish"
    assert "each word counting as the lexicon word that it is mapped to" in str(
        privatizer.guarantee
    )


def test_wrong_arguments_are_refused() -> None:
    privatizer = Privatizer(SMALL, ROUGH)
    wrong: list[Callable[[], object]] = [
        lambda: Privatizer(SMALL.words, ROUGH),  # type: ignore[arg-type]
        lambda: Privatizer("no such lexicon", Balanced(epsilon=1.0)),
        lambda: Privatizer(SMALL, TEM),  # type: ignore[arg-type]
        lambda: Privatizer(SMALL, "tem"),
        lambda: Privatizer(SMALL, "temm", epsilon=1.0),
        lambda: Privatizer(SMALL, ROUGH, epsilon=1.0),
        lambda: Privatizer(SMALL),
        lambda: Privatizer(SMALL, ROUGH, rng=3),  # type: ignore[arg-type]
        lambda: privatizer.many("abc"),
        lambda: privatizer(5),  # type: ignore[arg-type]
    ]
    for call in wrong:
        with pytest.raises(ParameterError):
            call()


NO_WORDS = "... --- ..."


def test_a_text_without_words_is_released_with_a_warning() -> None:
    release = Privatizer(SMALL, ROUGH)(NO_WORDS)
    assert release.text == NO_WORDS
    assert release.counts["wordless"] == 1
    (warning,) = release.warnings
    assert "no words" in warning
    assert "nothing" in warning
    assert release.to_dict()["warnings"] == [warning]
    assert NO_WORDS not in warning


@pytest.mark.parametrize("text", ["cold", "", " \n", "cold ... --- ...", "😀", "12"])
def test_other_texts_have_none(text: str) -> None:
    release = Privatizer(SMALL, ROUGH)(text)
    assert release.warnings == ()
    assert release.counts["wordless"] == 0


def test_without_punctuation_nothing_is_shown_of_such_a_text() -> None:
    release = Privatizer(SMALL, ROUGH, punctuation="drop")(NO_WORDS)
    assert (release.text, release.warnings) == ("", ())


def test_texts_without_words_are_counted_among_many() -> None:
    texts = [NO_WORDS, "cold, hot", "", "!", "a: ... --- ...", "\u2026"] * 300
    _, counts = Privatizer(SMALL, ROUGH).batch(texts)
    assert (counts["wordless"], counts["mostly_signs"]) == (900, 300)
    each = [release.counts for release in Privatizer(SMALL, ROUGH).many(texts)]
    assert sum(one["wordless"] for one in each) == 900
    assert sum(one["mostly_signs"] for one in each) == 300


@pytest.mark.parametrize("unknown", ["mask", "drop"])
def test_the_warning_depends_on_the_private_text_alone(unknown: Unknown) -> None:
    privatizer = Privatizer(SMALL, ROUGH, unknown=unknown)
    warnings: dict[str, set[tuple[str, ...]]] = {}
    for text in ("Zyx!", "!", "\u200b!", "\u200bZyx!", "12!", "cold!", "Zyx", ""):
        release = privatizer(text)
        warnings.setdefault(re.sub(r"\w+", "w", release.text), set()).add(release.warnings)
    assert all(len(found) == 1 for found in warnings.values())


def test_threads_may_share_a_privatizer(english: Lexicon) -> None:
    """At once, on new words and on words with a stock: nobody waits for ever, and no law is off."""
    privatizer = Privatizer(english, Balanced(epsilon=1.5))
    words = privatizer.lexicon.words
    texts = [" ".join((*words[place : place + 12], "cat")) for place in range(3000, 3600, 12)]

    def all_of_them(_: int) -> list[str]:
        return [privatizer(text).text for text in texts]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(all_of_them, range(8)))
    drawn = [text.lower().split() for result in found for text in result]
    assert {len(text) for text in drawn} == {13}
    written = {written_words().get(word, word).lower() for word in words}
    assert {word for text in drawn for word in text} <= written
    assert isinstance(privatizer.channel, LawChannel)
    cat = np.array([privatizer.lexicon.index["cat"]])
    stays = float(privatizer.channel.law.staying(cat)[0])
    seen = sum(text[-1] == "cat" for text in drawn)
    assert binomtest(seen, len(drawn), stays).pvalue > 1e-6
