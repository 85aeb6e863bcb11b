"""Fuzz the tokenizer: it loses nothing, and shows nothing that could spell a word or a number."""

from collections import Counter
from unicodedata import category

from tests.fuzz.texts import try_texts

from malaprop.text.tokens import TokenKind, kind_of, tokenize

_SHOWN = {TokenKind.PUNCTUATION, TokenKind.SPACE}
# Written down anew, not taken from the tokenizer: what may pass as it is written.
_CATEGORIES = {"Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sc", "Zs", "Zl", "Zp"}
_SIGNS = set("\t\n\v\f\r$+<=>^`|~")


def fuzz(cases: int, seed: int) -> dict[str, int]:
    """Cut as many texts; return how many tokens of each kind there were."""
    figures: Counter[str] = Counter()

    def check(text: str) -> None:
        tokens = tokenize(text)
        assert "".join(tokens) == text
        figures["texts"] += 1
        for token in tokens:
            assert tokenize(token) == [token]
            kind = kind_of(token)
            figures[str(kind)] += 1
            assert kind not in _SHOWN or all(map(_may_be_shown, token))

    try_texts(check, cases, seed)
    return dict(figures)


def _may_be_shown(character: str) -> bool:
    return character in _SIGNS or category(character) in _CATEGORIES
