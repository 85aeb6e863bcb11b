"""What is declared public in a text: cut into segments to show, and segments to privatize."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, filterfalse, starmap
from typing import cast, get_args
from unicodedata import normalize

from malaprop.privacy.errors import ParameterError
from malaprop.text.entities import Entity, FoundEntity, cut_at_entities, found_spans
from malaprop.text.markup import Markup, cut_html, cut_markdown, decoded, escape_html
from malaprop.text.segments import Segment, cut_at, cut_placeholders
from malaprop.text.tokens import TokenKind, kind_of, tokenize

# Words and phrases that the user declared public.
#
# An entry is found as a run of whole tokens, so never inside a word, a number, an address or a name
# after @ or #. Capitals do not matter, nor which apostrophe or how much white space there is; the
# text is shown as written. Where several entries fit, the longest wins.
#
# The entries form a tree of tokens: finding them takes the time of cutting the text into tokens,
# however many entries there are. The length of an entry is limited, because the search may look
# ahead by one entry at every token.

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
        self._root: _Node = {}
        self._telling: set[str] = set()
        for entry in entries_of(entries):
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


# All that a user declares public about texts: markup, placeholders, and words to keep.

PLACEHOLDERS = "placeholders"
"""The value of `keep` that stands for the closed list of placeholders."""

_SIGNS: dict[Markup, re.Pattern[str]] = {
    "html": re.compile(r"[<>&]"),  # of tags and references
    "markdown": re.compile(r"[#<>*+\-`~\[\]]|[0-9][.)]"),
}
_CUTS = {"html": cut_html, "markdown": cut_markdown}


def entries_of(keep: str | Iterable[str]) -> tuple[str, ...]:
    """Return the entries of `keep`, each once, in their order; refuse what cannot be kept.

    >>> entries_of("placeholders"), entries_of(["flu", "placeholders", "flu"])
    (('placeholders',), ('flu', 'placeholders'))
    """
    if keep == PLACEHOLDERS:
        return (PLACEHOLDERS,)
    if isinstance(keep, str) or not isinstance(keep, Iterable):
        got = "another string: put it into a list" if isinstance(keep, str) else "neither"
        raise ParameterError(
            'The `keep` parameter must be a list of words or phrases, or "placeholders". '
            f"Got {got}."
        )
    entries = tuple(keep)
    for number, entry in enumerate(entries, start=1):
        if not (
            isinstance(entry, str)
            and entry.isprintable()
            and entry == entry.strip()
            and len(entry) <= MOST_CHARACTERS
            and _LETTER_OR_DIGIT.search(entry)
        ):
            raise ParameterError(
                f"Entry {number} of the `keep` parameter must be a printable string of at most "
                f"{MOST_CHARACTERS} characters, with a letter or a digit, and without white space "
                "at its ends."
            )
    return tuple(dict.fromkeys(entries))


def checked_markup(markup: Markup | None) -> Markup | None:
    """Return the language of markup, if there is one of that name."""
    if markup is not None and markup not in get_args(Markup):
        raise ParameterError(
            f"The `markup` parameter must be {', '.join(get_args(Markup))} or None. Got {markup!r}."
        )
    return markup


Piece = Segment | FoundEntity


class PublicPieces:
    """Cuts texts into the pieces that were declared public, and the private rest.

    `keep` is a list of words and phrases, or `"placeholders"`. The list may have `"placeholders"`
    as an entry, which stands for the closed list and not for that word. Markup is cut first, then
    placeholders, then words: each in what the step before left private.

    >>> pieces = PublicPieces(keep=["placeholders", "aspirin"], markup="html")
    >>> [each.text for each in pieces.cut("<p class='x'><PERSON> took Aspirin") if each.public]
    ['<p>', '&lt;PERSON&gt;', 'Aspirin']
    """

    def __init__(self, keep: str | Iterable[str] = (), markup: Markup | None = None) -> None:
        entries, self._markup = entries_of(keep), checked_markup(markup)
        words = [entry for entry in entries if entry != PLACEHOLDERS]
        self._placeholders = PLACEHOLDERS in entries
        self._words = KeptWords(words) if words else None

    def may_concern(self, chunk: str) -> bool:
        """Tell whether a string between two spaces may be part of a piece, or must be escaped.

        A text without such a string is one private segment, shown without escapes. This may say
        so too often.
        """
        if self._markup is not None and _SIGNS[self._markup].search(chunk):
            return True
        if self._placeholders and any(each.public for each in cut_placeholders(chunk)):
            return True
        return self._words is not None and self._words.may_hold(chunk)

    def cut(self, text: str) -> list[Segment]:
        """Cut a text into segments.

        The text of a public segment is shown as it is, and its `origin` says what made it public:
        markup, placeholders or words. The text of a private segment is to be privatized, and
        then escaped by `escape`.
        """
        if self._markup is None:
            segments = [Segment(text, False)] if text else []
        else:
            segments = _CUTS[self._markup](text, placeholders=self._placeholders)
        return cast(list[Segment], list(self._kept(segments)))

    def cut_around(
        self, text: str, entities: Sequence[Entity], split: Callable[[str], list[str]]
    ) -> list[Piece]:
        """Cut a text into segments and entities; `split` returns the tokens of a text.

        Entities are cut first. What they cover is neither markup nor kept.
        """
        if self._markup is None:
            return list(self._kept(cut_at_entities(text, entities, split(text))))
        tokens = _with_references(text, split) if self._markup == "html" else split(text)
        cut = cut_at_entities(text, entities, tokens)
        marks = iter(_unused(text))
        found = {next(marks): each for each in cut if isinstance(each, FoundEntity)}
        marked = iter(found)
        parts = [next(marked) if isinstance(each, FoundEntity) else each.text for each in cut]
        segments = _CUTS[self._markup]("".join(parts), placeholders=self._placeholders)
        return list(self._kept(_found_again(segments, found)))

    def _kept(self, segments: Iterable[Piece]) -> Iterable[Piece]:
        """Cut private segments further, into what is kept and the rest."""
        if self._placeholders:
            segments = self._refined(segments, cut_placeholders, PLACEHOLDERS)
        if self._words is not None:
            segments = self._refined(segments, self._words.cut, "words")
        return segments

    def _refined(
        self, segments: Iterable[Piece], cut: Callable[[str], list[Segment]], origin: str
    ) -> Iterator[Piece]:
        # What is kept was text, so it is escaped like text.
        for segment in segments:
            if not isinstance(segment, Segment) or segment.public:
                yield segment
                continue
            for part in cut(segment.text):
                yield Segment(self.escape(part.text), True, origin) if part.public else part

    def escape(self, text: str) -> str:
        """Escape private text for the markup that it stands in.

        Every character is escaped by itself, so parts of a text may be escaped one by one.
        """
        return escape_html(text) if self._markup == "html" else text


# Entities in markup: a sign that the text lacks stands for each while tags are cut.

_PRIVATE_USE = ((0xE000, 0xF900), (0xF0000, 0x10FFFE))
_REFERENCED = re.compile(r"(?<![\w'’&#])[\w'’]*+(?:&#?[0-9A-Za-z]{1,32}+;[\w'’]*+)++")


def _unused(text: str) -> Iterator[str]:
    """Yield characters that stand neither in a text nor among those that it refers to."""
    used = {*text, *decoded(text)}
    return filterfalse(
        used.__contains__, map(chr, chain.from_iterable(starmap(range, _PRIVATE_USE)))
    )


def _found_again(segments: Iterable[Segment], found: Mapping[str, FoundEntity]) -> Iterator[Piece]:
    """Yield segments, with entities in the place of the signs that stand for them."""
    signs = re.compile(f"([{''.join(found)}])" if found else r"(?!)")
    for segment in segments:
        if segment.public:
            yield segment
            continue
        for part in filter(None, signs.split(segment.text)):
            yield found[part] if part in found else Segment(part, False)


def _with_references(text: str, split: Callable[[str], list[str]]) -> list[str]:
    """Return the tokens of HTML, with words that have references, such as caf&eacute;, whole."""
    tokens: list[str] = []
    end = 0
    for match in _REFERENCED.finditer(text):
        if len(tokenize(decoded(match[0]))) == 1:
            tokens += [*split(text[end : match.start()]), match[0]]
            end = match.end()
    return [*tokens, *split(text[end:])]


# Spans: the user says which parts of a text are private, and everything else is public.

Span = tuple[int, int]
"""The places where a span starts and ends: `text[start:end]`."""


def cut_spans(text: str, spans: Iterable[object]) -> list[Segment]:
    """Cut a text at the spans to protect: they are private, the rest is public.

    A span is a pair of places, `text[start:end]`, or anything that `entities` takes: its label does
    not count. Spans may come in any order. Those that overlap are one. Those that touch stay
    segments of their own.

    >>> [each.text for each in cut_spans("Ann has flu", [(8, 11), (0, 3)]) if not each.public]
    ['Ann', 'flu']
    """
    places = found_spans(spans, len(text), name="spans")
    return [
        Segment(piece, not private, "" if private else "spans")
        for piece, private, _ in cut_at(text, places)
    ]
