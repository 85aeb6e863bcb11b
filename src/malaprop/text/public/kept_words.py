"""Words and phrases that the user declared public.

An entry is found as a run of whole tokens, so never inside a word, a number, an address or a
name after @ or #. Capitals do not matter, nor which apostrophe or how much white space there is;
the text is shown as written. Where several entries fit, the longest wins.

The entries form a tree of tokens: finding them takes the time of cutting the text into tokens,
however many entries there are. The length of an entry is limited, because the search may look
ahead by one entry at every token.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from unicodedata import normalize

from malaprop.core.errors import ParameterError
from malaprop.text.public.segments import Segment, cut_at
from malaprop.text.tokens import TokenKind, kind_of, tokenize

MOST_CHARACTERS = 100
"""The longest entry that is accepted."""

_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
# The tokenizer cuts 12:30, 3/4 and 10-12 into numbers, and a_b and 3.5mg into words.
_GOES_ON_BEFORE = re.compile(r"(?<=\w)\w|(?<=\d[-.,:/–])\d")
_GOES_ON_AFTER = re.compile(r"(?<=\w)\w|(?<=\d)[-.,:/–]\d")

_END = ""
"""Key of a node at which an entry ends. No token is empty."""
_Node = dict[str, "_Node"]


class KeptWords:
    """A public list of words and phrases, ready to be found in texts.

    >>> kept = KeptWords(["aspirin", "New York"])
    >>> [each.text for each in kept.cut("Aspirin in new  york, not aspirins") if each.public]
    ['Aspirin', 'new  york']
    """

    def __init__(self, entries: Iterable[str]) -> None:
        self.entries = checked_entries(entries)
        self._root: _Node = {}
        self._telling: set[str] = set()
        for entry in self.entries:
            node = self._root
            tokens = [token for token, _ in _tokens(entry)]
            for token in tokens:
                node = node.setdefault(token, {})
            node[_END] = {}
            self._telling.add(max(filter(_LETTER_OR_DIGIT.search, tokens), key=len))

    def may_hold(self, chunk: str) -> bool:
        """Tell whether a string between two spaces may be part of an entry.

        It is if it has the entry's longest word: no entry is found without.
        """
        return any(token in self._telling for token, _ in _tokens(chunk))

    def cut(self, text: str) -> list[Segment]:
        """Cut a text into the entries that it holds, which are public, and the rest."""
        return cut_at(text, self._found(text))

    def _found(self, text: str) -> Iterator[tuple[int, int]]:
        tokens = _tokens(text)
        place = 0
        while place < len(tokens):
            after = self._longest(text, tokens, place) if tokens[place][0] in self._root else place
            if after > place:
                yield tokens[place][1], _end(text, tokens, after)
            place = max(after, place + 1)

    def _longest(self, text: str, tokens: list[tuple[str, int]], first: int) -> int:
        """Return the place after the longest entry that starts at a token, or that token's."""
        start, best = tokens[first][1], first
        node = self._root
        for place in range(first, len(tokens)):
            if tokens[place][0] not in node:
                break
            node = node[tokens[place][0]]
            if _END in node and _stands_alone(text, start, _end(text, tokens, place + 1)):
                best = place + 1
        return best


def _end(text: str, tokens: list[tuple[str, int]], after: int) -> int:
    return tokens[after][1] if after < len(tokens) else len(text)


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Tell whether a piece is not part of a longer word or number."""
    return not (_GOES_ON_BEFORE.match(text, start) or _GOES_ON_AFTER.match(text, end))


def _tokens(text: str) -> list[tuple[str, int]]:
    """Return the tokens of a text as they are compared, and where each starts.

    A run of punctuation is cut into its characters, because "[" may be an entry's first one and
    stand in "([". White space is one space.
    """
    tokens = tokenize(text)
    parts = {token: _parts(token) for token in set(tokens)}
    compared: list[tuple[str, int]] = []
    start = 0
    for token in tokens:
        compared += [(part, start + place) for place, part in enumerate(parts[token])]
        start += len(token)
    return compared


def _parts(token: str) -> Sequence[str]:
    if _LETTER_OR_DIGIT.search(token):
        return (_folded(token),)
    kind = kind_of(token)
    if kind is TokenKind.SPACE:
        return (" ",)
    return token if kind is TokenKind.PUNCTUATION else (token,)


def _folded(token: str) -> str:
    """Return a token as it is compared: without capitals, composed, with a plain apostrophe."""
    if token.isascii():
        return token.lower()
    return normalize("NFC", normalize("NFD", token).casefold()).replace("’", "'")


def checked_entries(entries: Iterable[str]) -> tuple[str, ...]:
    """Return the entries of a list, each once, in their order; refuse what cannot be kept."""
    if isinstance(entries, str) or not isinstance(entries, Iterable):
        got = "another string: put it into a list" if isinstance(entries, str) else "neither"
        raise ParameterError(
            'The `keep` parameter must be a list of words or phrases, or "placeholders". '
            f"Got {got}."
        )
    listed = list(entries)
    for number, entry in enumerate(listed, start=1):
        if not _may_be_kept(entry):
            raise ParameterError(
                f"Entry {number} of the `keep` parameter must be a printable string of at most "
                f"{MOST_CHARACTERS} characters, with a letter or a digit, and without white space "
                "at its ends."
            )
    return tuple(dict.fromkeys(listed))


def _may_be_kept(entry: object) -> bool:
    return (
        isinstance(entry, str)
        and entry.isprintable()
        and entry == entry.strip()
        and len(entry) <= MOST_CHARACTERS
        and _LETTER_OR_DIGIT.search(entry) is not None
    )
