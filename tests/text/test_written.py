"""How drawn words are written: capitals inside sentences, parts of contractions, abbreviations."""

import pytest

from malaprop import Lexicon
from malaprop.text.english import CAPITALS, CONTRACTIONS, PARTS, READ_AS, written_words
from malaprop.text.parser import TextParser
from malaprop.text.policy import Policy
from malaprop.text.template import Writer, lay_out, mark
from malaprop.text.tokens import tokenize
from malaprop.text.word_map import fold

SOME = ("monday", "usa", "s", "it", "u", "an", "a", "mri", "mark", "i")


def written(text: str, words: tuple[str, ...] = SOME) -> str:
    """Write the words of a text anew."""
    tokens = tokenize(text)
    parts = [None if token.isalpha() else token for token in tokens]
    template = lay_out(parts, "".join(map(mark, parts)))
    return Writer(words).fill(template, list(filter(str.isalpha, tokens)))


@pytest.mark.parametrize(
    ("drawn", "shown"),
    [
        ("on monday in the usa, mark may go", "On Monday in the USA, mark may go"),
        ("iphone. iphone ii", "iPhone. iPhone II"),
        ("she isn here; it s t ll ve re", "She isn't here; it is not will have are"),
        ("s it? t it. i", "Is it? Not it. I"),
        ("it 's, it ’ll, 'i did, 'isn", "It 's, it ’ll, 'I did, 'isn't"),
        ("the u.s. b.b.c. in u.k, a.s", "The U.S. B.B.C. In U.K, A.S"),
        ("it s. u", "It is. U"),
    ],
)
def test_words_are_written_as_english_writes_them(drawn: str, shown: str) -> None:
    assert written(drawn) == shown


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        (("monday",), True),
        (("the", "a", "an"), True),
        (("the", "an"), False),
        (("montag", "usa"), False),
        (("monday", "Monday"), False),
    ],
)
def test_only_lexicons_of_small_english_words_are_rewritten(
    words: tuple[str, ...], changed: bool
) -> None:
    assert written("x usa isn", words) == ("X USA isn't" if changed else "X usa isn")


def test_articles_fit_words_as_they_are_written() -> None:
    english_words = (*SOME, "the")
    assert written("a mri a usa an ucla a fbi an nato", english_words) == (
        "An MRI a USA a UCLA an FBI a NATO"
    )
    assert written("a isn", english_words) == "An isn't"


def test_the_list_has_each_word_once_and_as_it_is_read() -> None:
    words = CAPITALS.read_text("ascii").split()
    assert words == sorted(words, key=str.lower)
    assert len({word.lower() for word in words}) == len(words) > 8000
    assert all(word != word.lower() == fold(word) for word in words)
    assert written_words().keys() >= {word.lower() for word in words}


def test_every_word_is_one_token_and_none_is_a_fragment(english: Lexicon) -> None:
    """A reader's tool counts the same words, and reads all but contractions as what was drawn."""
    template = lay_out([None], "w")
    writer, words = Writer(english.words), TextParser(english.words, Policy()).words
    for word_id, word in enumerate(english.words):
        shown = writer.fill(template._replace(starts=[]), [word])
        assert len(tokenize(shown)) == 1
        assert shown not in ("s", "t", "ll", "ve", "re")
        if shown.lower() != word:
            assert word in CONTRACTIONS
        else:
            assert words.lookup(shown) == word_id


def test_what_a_contraction_counts_as_is_read_again_as_that_word(english: Lexicon) -> None:
    parser = TextParser(english.words, Policy(kinds="words"))
    own = {whole: part for whole, part in READ_AS.items() if whole not in english.index}
    templates, secrets = parser.parse([f"{each.upper()} or {each}." for each in own])
    for part, text in zip(own.values(), templates.fill(secrets.ids), strict=True):
        first, _, last = text.removesuffix(".").split(" ")
        assert first[0].isupper()
        assert last == CONTRACTIONS.get(part, part)
        for shown in (first.lower(), last.lower()):
            assert PARTS.get(shown, shown) == part in english.index


def test_both_ways_of_filling_write_alike(english: Lexicon) -> None:
    """Token by token, as short texts are filled, and chunk by chunk, as long ones are."""
    text = (
        "The U.S. and a mri, it 's in london. s t; isn't a 'u' b.b.c. (s) 'll an usa.i "
        "Monday iphone. IPHONE x.t don 12.s s.12 s's a.m. I 'i' ’t"
    )
    parser = TextParser(english.words, Policy(kinds="words"))
    texts = [text[place:] for place in range(len(text))]
    templates, secrets = parser.parse(texts * 20)
    for whole, one in zip(templates.fill(secrets.ids), texts, strict=False):
        templates, secrets = parser.parse([one])
        assert templates.fill(secrets.ids) == [whole]
