"""The map's answers are pinned: changes for speed must not alter them."""

import hashlib
from random import Random

from malaprop import Lexicon
from malaprop.text.word_map import MAP_VERSION, WordMap

ENGLISH = Lexicon.open("english")
ANSWERS = "75b8a07c2fa8f28c29c8f0e5172cd55b208b0a3ef7ecd6571349ef655acf2c6b"
"""The digest of the answers to `unknown_tokens`: whoever changes it changes `MAP_VERSION`, too."""

LETTERS = "abcdefghijklmnopqrstuvwxyz"
ODD = ("é", "ß", "ø", "'", "’", "-", "_", "3", "19", "ŉ", "ﬁ", "ñ", "\u0301", "Ⅷ", "ї", "²")
ENDINGS = (
    *("s", "ed", "ing", "er", "est", "ly", "ness", "ment", "able", "ful", "'s", "n't", "’ll"),
    *("19", "gb", "esque", "ies", "iest", "ingly", "edness"),
)


def edited(word: str, pick: Random) -> str:
    at, letter = int(pick.random() * (len(word) + 1)), LETTERS[int(pick.random() * 26)]
    swapped = word[at + 1 : at + 2] + word[at : at + 1]
    middles = ("", letter, letter + word[at : at + 1], swapped + word[at + 2 : at + 3])
    kind = int(pick.random() * 4)
    return word[:at] + middles[kind] + word[at + (1, 1, 1, 3)[kind] :]


def unknown_tokens(count: int) -> list[str]:
    """Make up tokens: misspelled, joined, inflected, drawn out, random, with odd characters."""
    pick = Random(7)

    def one(things: tuple[str, ...] | str) -> str:
        return things[int(pick.random() * len(things))]

    tokens = []
    for _ in range(count):
        word, other = one(ENGLISH.words), one(ENGLISH.words)
        at = int(pick.random() * len(word))
        kinds = (
            edited(word, pick),
            edited(edited(word, pick), pick),
            word + other,
            f"#{word.title()}{other.title()}",
            word + one(ENDINGS),
            word[:at] + 4 * word[at] + word[at:],
            "".join(one(LETTERS) for _ in range(1 + at)),
            word[:at] + one(ODD) + word[at:],
            edited(word + other, pick).upper(),
        )
        tokens.append(kinds[int(pick.random() * len(kinds))])
    return list(filter(None, tokens))


def test_answers_are_those_of_this_version() -> None:
    words = WordMap(ENGLISH.words)
    routes = [words.route(token) for token in unknown_tokens(4000)]
    answers = repr([(route.id, str(route.way), route.via) for route in routes])
    assert MAP_VERSION.startswith("3,")
    assert hashlib.sha256(answers.encode()).hexdigest() == ANSWERS


def test_answers_are_the_same_together() -> None:
    words, tokens = WordMap(ENGLISH.words), unknown_tokens(1000)
    assert words.map_all(tokens) == [words.map(token) for token in tokens]


def test_all_ways_are_among_the_answers() -> None:
    words = WordMap(ENGLISH.words)
    ways = {str(words.route(token).way) for token in unknown_tokens(1000)}
    assert ways == {"listed", "form", "meaning", "corrected", "compound", "spelling"}
