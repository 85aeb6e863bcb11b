"""The rebuilt text: sentence case from the output, gaps kept or dropped."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malaprop.text import english
from malaprop.text.kinds.dates import TimeForm
from malaprop.text.kinds.numbers import NumberForm
from malaprop.text.template import Part, Punctuation, Writer, lay_out, mark
from malaprop.text.tokens import tokenize

ENGLISH = ("a", "an", "the")


def fill(
    parts: Sequence[Part],
    words: Sequence[str],
    *,
    punctuation: Punctuation = "keep",
    articles: bool = False,
) -> str:
    template = lay_out(parts, "".join(map(mark, parts)), punctuation)
    return Writer(ENGLISH if articles else ("x",)).fill(template, list(words))


def template_of(text: str) -> list[str | None]:
    """Every x is a slot."""
    return [None if part == "x" else part for part in tokenize(text)]


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("x x, x.", "A a, a."),
        ("x. x! x? x… x", "A. A! A? A… A"),
        ("x.x x:x", "A.a a:a"),
        ('"x." (x) x', '"A." (A) a'),
        ("x.) x", "A.) A"),
        ("x\nx\n\nx\r\n\r\nx", "A\na\n\nA\r\n\r\nA"),
        ("  x ", "  A "),
        ("x。x", "A。A"),
        ("...", "..."),
        ("", ""),
    ],
)
def test_sentence_case(text: str, filled: str) -> None:
    template = template_of(text)
    assert fill(template, ["a"] * template.count(None)) == filled


def test_only_the_first_letter_of_a_word_is_changed() -> None:
    assert (
        fill([None, " ", None, ". ", None], ["mcDonald", "USA", "éCOLE"]) == "McDonald USA. ÉCOLE"
    )


def test_the_first_person_is_a_capital() -> None:
    template: list[str | None] = [None, " ", None, " ", None, " ", None]
    words = ["and", "i", "i'm", "in"]
    assert fill(template, words, articles=True) == "And I I'm in"
    assert fill(template, words) == "And i i'm in"  # no lexicon of English


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("  x, x. x!", "A a a"),
        ("x -\n- x\n\nx", "A\na\na"),
        ("x\r\nx\u2028x", "A\na\na"),
        ("?!", ""),
    ],
)
def test_dropped_punctuation_has_no_influence_at_all(text: str, filled: str) -> None:
    template = template_of(text)
    words = ["a"] * template.count(None)
    assert fill(template, words, punctuation="drop") == filled


@pytest.mark.parametrize("gap", [[" "], [","], [",", " "], [" ", "(", "\xa0"], ["."], []])
@pytest.mark.parametrize("first", [None, NumberForm("number", 0), TimeForm(seconds=False)])
def test_dropped_signs_affect_neither_articles_nor_spaces(first: Part, gap: list[str]) -> None:
    for second in (None, TimeForm(seconds=False, before="T")):
        template: list[Part] = [first, *gap, second]
        shown = fill(template, ["an", "dog"], punctuation="drop", articles=True)
        assert shown.lower() == ("a dog" if first is None else "an dog")


@pytest.mark.parametrize("punctuation", ["keep", "drop"])
def test_placeholders_and_kept_words_stand_as_they_are(punctuation: Punctuation) -> None:
    template: list[Part] = ["[masked]", " ", None, None, "[masked]", "[masked]"]
    filled = "[masked] a b [masked] [masked]"
    assert fill(template, ["a", "b"], punctuation=punctuation) == filled


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ([None, " ", " ", None], "A a"),
        ([None, " ", "\n", " ", None], "A\na"),
        ([None, "\n\n", "\n", None], "A\n\nA"),
        ([None, " ", ",", " ", None], "A , a"),
        ([None, "  ", None], "A  a"),
        ([None, None], "A a"),
        ([None, " ", " "], "A "),
    ],
)
def test_what_a_dropped_token_leaves(template: list[str | None], filled: str) -> None:
    assert fill(template, ["a"] * template.count(None)) == filled


@pytest.mark.parametrize("words", [[], ["a"], ["a", "b", "c"]])
def test_every_slot_needs_one_word(words: list[str]) -> None:
    with pytest.raises((ValueError, IndexError)):
        fill([None, " ", None], words)


@given(st.lists(st.none() | st.sampled_from([".", " ", "\n", "?!", ", ", "[masked]"])), st.data())
def test_all_words_come_out_in_their_order(template: list[str | None], data: st.DataObject) -> None:
    slots = template.count(None)
    words = data.draw(
        st.lists(st.sampled_from(["cold", "rain", "wind"]), min_size=slots, max_size=slots)
    )
    given_words = iter(words)
    expected = [
        "masked" if part else next(given_words) for part in template if part in (None, "[masked]")
    ]
    for punctuation in ("keep", "drop"):
        text = fill(template, words, punctuation=punctuation)
        assert [token.lower() for token in tokenize(text) if token.isalpha()] == expected


def test_long_gaps_take_linear_time() -> None:
    assert fill([None, *["@"] * 100_000, None], ["a", "b"]) == "A" + "@" * 100_000 + "b"


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["a", "apple"], "An apple"),
        (["an", "dog"], "A dog"),
        (["an", "hour"], "An hour"),
        (["a", "a", "egg"], "An an egg"),
        (["a"], "A"),
        (["an", "university"], "A university"),
    ],
)
def test_articles_fit_the_word_that_follows(words: list[str], shown: str) -> None:
    template = [part for _ in words for part in (None, " ")][:-1]
    assert fill(template, words, articles=True) == shown
    assert fill(template, words).lower() == " ".join(words)


@pytest.mark.parametrize(
    ("article", "words"),
    [
        ("a", "unit union unanimous usage using urine utah utopia uganda ufo euro one house u b"),
        ("an", "uninvited unidentified unimportant unable usher urban utter onerous hour heir x e"),
    ],
)
def test_articles_go_by_sound(article: str, words: str) -> None:
    assert {word: english.article_before(word) for word in words.split()} == dict.fromkeys(
        words.split(), article
    )


def test_an_article_before_punctuation_or_a_mask_stays() -> None:
    assert fill([None, ",", " ", None], ["a", "apple"], articles=True) == "A, apple"
    assert fill([None, " ", "[masked]", " ", None], ["a", "apple"], articles=True).startswith("A ")
