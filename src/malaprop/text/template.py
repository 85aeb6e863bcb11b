"""Templates: what stays visible of a text, with slots for what the mechanism draws.

Filling a template takes public material only: the template, and drawn words and values for its
slots. It makes capitals by the rules of a sentence, adds missing spaces and chooses between “a”
and “an”.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice, repeat
from typing import Literal, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from malaprop.privacy.arrays import Ids, distinct
from malaprop.privacy.errors import ParameterError
from malaprop.text.kinds import Form
from malaprop.text.language import ARTICLES, ENGLISH_WORDS, article_before
from malaprop.text.markup import INLINE
from malaprop.text.segments import Segment

Punctuation = Literal["keep", "drop"]

Part = str | Form | None
Template = Sequence[Part]
"""Strings are shown as they are; `None` is a slot for a word, a form one for a value."""
Gap = Template
"""The part of a template between two words or values: strings only."""
WORD_MARK, VALUE_MARK = "w", "v"
"""The marks of a slot for a word and of one for a value; see `mark`."""
TAG_MARK, BLOCK_MARK, PUBLIC_MARK = "m", "b", "q"
"""Marks of what was declared public: a tag within a line, a tag between lines, anything else."""
SLOT_MARKS = frozenset((WORD_MARK, VALUE_MARK))

# The end of a sentence, or a blank line. Chinese and Japanese stops need no space after them.
_SENTENCE_END = re.compile(r"""[.!?…؟۔।]["'”’»)\]}]*\s|[。！？]|\n\s*\n""")
_LINE_BREAK = re.compile(r"[\n\r\u2028\u2029]")
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_FIRST_PERSON = {word: f"I{word[1:]}" for word in ("i", "i'm", "i'd", "i'll", "i've")}
# Marks that may stand between an article and its word. Signs that are dropped must not matter.
_THIN = {"keep": f"so{TAG_MARK}{BLOCK_MARK}", "drop": f"sop{TAG_MARK}{BLOCK_MARK}"}
# Slots with one space between them, or something that is shown as it is.
_RUNS = re.compile(r"w(?:sw)*|[kv]")


def mark(part: Part) -> str:
    """Return a letter that classifies a part of a template.

    w: a slot for a word; v: a slot for a value; k: a kept word or a placeholder; s: one space;
    o: other whitespace; p: punctuation.

    >>> "".join(map(mark, [None, ",", " ", "[masked]", "\\n"]))
    'wpsko'
    """
    if part is None:
        return WORD_MARK
    if isinstance(part, Form):
        return VALUE_MARK
    if part == " ":
        return "s"
    if _LETTER_OR_DIGIT.search(part):
        return "k"
    return "o" if part.isspace() else "p"


def fill(
    template: Template,
    words: Sequence[str],
    *,
    punctuation: Punctuation = "keep",
    articles: bool = False,
    marks: str | None = None,
    starts: bool = True,
) -> str:
    """Put words and written values into the slots of a template, the words in sentence case.

    A string with a letter or a digit (a placeholder, a kept word) counts as a word and is shown
    as it is; the other strings form the gaps between words. Two words without a gap get a space;
    a number and a word after it, as in "500mg", do not, and neither does a value that begins with
    a sign, as in "ann@localhost". Where a dropped token leaves two runs of
    whitespace side by side, one stays: the one with more line breaks, or else the first.

    With `punctuation="drop"` a gap becomes one space, or one line break if it has any, and the
    gaps at both ends vanish. What a gap held affects neither capitals nor articles, and "500mg" is
    written like "500 mg".

    With `articles`, each drawn “a” or “an” is made to fit the word that follows. Pass `marks`,
    the marks of the template's parts, if they are known. With `starts`, the first word starts a
    sentence.

    >>> fill([None, ",", " ", None, ".", " ", None, "!"], ["cold", "i", "rain"])
    'Cold, I. Rain!'
    >>> fill(["(", None, ")", " ", "[masked]", "?"], ["one"], punctuation="drop")
    'One [masked]'
    >>> fill([None, " ", None], ["a", "apple"], articles=True)
    'An apple'
    """
    marks = "".join(map(mark, template)) if marks is None else marks
    slots = marks.count(WORD_MARK) + marks.count(VALUE_MARK)
    if slots != len(words):
        raise ParameterError(
            "The 'words' parameter of fill must hold one word for each slot of the template, "
            f"{slots}. Got {len(words)}."
        )
    if articles and not ARTICLES.isdisjoint(words):
        words = with_articles(marks, words, punctuation)
    shown: list[str] = []
    end = taken = 0
    for run in _RUNS.finditer(marks):
        start = run.start()
        if shown:
            touch = end == start and punctuation == "keep"
            joined = touch and closely(template[end - 1], template[start])
            shown.append("" if joined else between(template[end:start], punctuation))
            starts = ends_sentence(shown[-1])
        else:
            shown.append(merged(template[:start]) if punctuation == "keep" else "")
        end = run.end()
        if marks[start] == "k":
            shown.append(cast(str, template[start]))
            continue
        count = (end - start + 1) // 2
        drawn = words[taken : taken + count]
        shown.append(_written(drawn, starts) if marks[start] == WORD_MARK else drawn[0])
        taken += count
    if punctuation == "keep":
        shown.append(merged(template[end:]))
    return "".join(shown)


def closely(part: Part, following: Part) -> bool:
    """Tell whether no space is put between two parts that touch, neither being a gap."""
    if isinstance(following, Form) and following.opens_with_sign:
        return True
    if not isinstance(part, Form):
        return False
    return following.follows_closely if isinstance(following, Form) else part.takes_units


def with_articles(marks: str, words: Sequence[str], punctuation: Punctuation) -> list[str]:
    """Return the words with each article fitted to the next word.

    Only whitespace, tags and signs that are dropped may stand between the two.
    """
    fitted, thin = list(words), _THIN[punctuation]
    slots = [place for place, letter in enumerate(marks) if letter in SLOT_MARKS]
    for place, word in enumerate(words[:-1]):
        slot, following = slots[place : place + 2]
        if (
            word in ARTICLES
            and marks[slot] == WORD_MARK
            and not marks[slot + 1 : following].strip(thin)
        ):
            fitted[place] = article_before(words[place + 1])
    return fitted


def ends_sentence(gap: str) -> bool:
    """Tell whether a sentence ends within the gap between two words."""
    return _SENTENCE_END.search(gap) is not None


def opening(word: str) -> str:
    """Write a word as at the start of a sentence."""
    return word[:1].title() + word[1:]


def inside(word: str) -> str:
    """Write a word as in the middle of a sentence."""
    return _FIRST_PERSON.get(word, word)


def _written(words: Sequence[str], starts: bool) -> str:
    """Join words with spaces; the first may start a sentence."""
    first = opening(words[0])
    if not _FIRST_PERSON.keys().isdisjoint(words):
        words = list(map(inside, words))
    return " ".join([first, *words[1:]] if starts else words)


def between(gap: Gap, punctuation: Punctuation) -> str:
    """Return the text shown between two words."""
    text = merged(gap)
    if punctuation == "keep":
        return text or " "
    return "\n" if _LINE_BREAK.search(text) else " "


def merged(gap: Gap) -> str:
    """Join a gap into a text, with adjacent runs of whitespace merged into one."""
    parts: list[str] = []
    for part in gap:
        if not isinstance(part, str):  # a slot is not part of a gap
            continue
        if parts and part.isspace() and parts[-1].isspace():
            parts[-1] = max(parts[-1], part, key=_line_breaks)
        else:
            parts.append(part)
    return "".join(parts)


def _line_breaks(space: str) -> int:
    return space.count("\n")


# Fills templates that hold public pieces: what was declared public stands among the slots.
#
# Public pieces are shown exactly as they are, and so are the gaps beside them: no space is added,
# so `<b>word</b>` stays closed up. All else is shown as `fill` does it, and escaped for the markup
# that it stands in. Capitals and articles are made for the whole text, as if it had no tags.


_PUBLIC = frozenset({TAG_MARK, BLOCK_MARK, PUBLIC_MARK})
_STRETCHES = re.compile(r"[mbq]|[^mbq]++")
_SOLID = re.compile(r"[wvk](?:.*[wvk])?", re.DOTALL)
_LONGEST_TAIL = 64  # signs behind a word that may still end its sentence


class Style(NamedTuple):
    """How a text is written: what becomes of punctuation and articles, and what is escaped."""

    punctuation: Punctuation
    articles: bool
    escape: Callable[[str], str] = str


def mark_of(segment: Segment) -> str:
    """Return the mark of a public segment.

    >>> [mark_of(Segment(tag, True, "markup")) for tag in ("<b>", "</li>")]
    ['m', 'b']
    """
    if segment.origin != "markup":
        return PUBLIC_MARK
    return TAG_MARK if segment.text.strip("</>") in INLINE else BLOCK_MARK


def has_pieces(marks: str) -> bool:
    """Tell whether a template with these marks holds public pieces."""
    return PUBLIC_MARK in marks or TAG_MARK in marks or BLOCK_MARK in marks


def compose(template: Template, words: Sequence[str], marks: str, style: Style) -> str:
    """Put words and written values into the slots of a template with public pieces.

    >>> style = Style("keep", articles=False)
    >>> compose([None, " ", "<b>", None, "</b>", "!"], ["cold", "rain"], "wsmwmp", style)
    'Cold <b>rain</b>!'
    """
    if style.articles:
        words = with_articles(marks, words, style.punctuation)
    filling = _Filling(words, style)
    for stretch in _STRETCHES.finditer(marks):
        start, end = stretch.span()
        if marks[start] in _PUBLIC:
            filling.show(cast(str, template[start]), marks[start])
        else:
            edges = start == 0, end == len(marks)
            filling.add(template[start:end], marks[start:end], edges)
    return "".join(filling.shown)


class _Filling:
    """A text in the making."""

    def __init__(self, words: Sequence[str], style: Style) -> None:
        self.shown: list[str] = []
        self._words: Iterator[str] = iter(words)
        self._style = style
        # What stands behind the last word so far; None where a sentence starts anyway.
        self._tail: str | None = None

    def show(self, piece: str, mark: str) -> None:
        """Show a public piece."""
        self.shown.append(piece)
        if mark == BLOCK_MARK:
            self._tail = None
        elif mark == PUBLIC_MARK:
            *before, last = _LETTER_OR_DIGIT.split(piece)
            self._go_on(last, after_word=bool(before))

    def add(self, part: Template, marks: str, edges: tuple[bool, bool]) -> None:
        """Fill and show a stretch between public pieces, or between one and an edge of the text."""
        solid = _SOLID.search(marks)
        if solid is None:
            self._gap(part, at_edge=any(edges))
            return
        first, after = solid.span()
        self._gap(part[:first], at_edge=edges[0])
        slots = sum(map(SLOT_MARKS.__contains__, marks))
        filled = fill(
            part[first:after],
            list(islice(self._words, slots)),
            punctuation=self._style.punctuation,
            marks=marks[first:after],
            starts=self._tail is None or ends_sentence(self._tail),
        )
        self.shown.append(self._style.escape(filled))
        self._tail = ""
        self._gap(part[after:], at_edge=edges[1])

    def _gap(self, gap: Template, *, at_edge: bool) -> None:
        """Show a gap beside a public piece: nothing is added to it."""
        text = merged(gap)
        if self._style.punctuation == "drop" and text:
            text = "" if at_edge else between(gap, "drop")
        self.shown.append(self._style.escape(text))
        self._go_on(text)

    def _go_on(self, signs: str, *, after_word: bool = False) -> None:
        if after_word:
            self._tail = signs[-_LONGEST_TAIL:]
        elif self._tail is not None:
            self._tail = (self._tail + signs)[-_LONGEST_TAIL:]


# Strings as bytes in one array, so that many are joined without a loop over them.


CODEC = "utf-8", "surrogatepass"
"""How strings become bytes: it takes every string, and gives the same one back."""
_TOGETHER = 2**15  # strings that are joined at once: caches hold what that takes


class Spellings(NamedTuple):
    """Strings as bytes, with a space after each; where they start, and how long they are.

    >>> spellings = Spellings.of(["rain", "!", "x", "cold"])
    >>> spellings = spellings.replace(np.array([2]), Spellings.of(["ß"]))
    >>> spellings.texts(np.array([0, 1, 1, 1]), np.array([2, 4]))
    ['rain!', 'ß cold']
    """

    letters: NDArray[np.uint8]
    starts: Ids
    lengths: Ids

    @classmethod
    def of(cls, strings: Iterable[str]) -> Self:
        """Encode strings."""
        encoded = [f"{string} ".encode(*CODEC) for string in strings]
        sizes = np.array(list(map(len, encoded)), dtype=np.int64)
        letters = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        return cls(letters, np.cumsum(sizes) - sizes, sizes - 1)

    def take(self, places: Ids) -> Self:
        """Return the strings at some places."""
        return self._replace(starts=self.starts.take(places), lengths=self.lengths.take(places))

    def replace(self, places: Ids, others: "Spellings") -> Self:
        """Return these strings with others at some places."""
        starts, lengths = self.starts.copy(), self.lengths.copy()
        starts[places] = others.starts + len(self.letters)
        lengths[places] = others.lengths
        return self.__class__(np.concatenate([self.letters, others.letters]), starts, lengths)

    def texts(self, spaced: Ids, ends: Ids) -> list[str]:
        """Join the strings to texts: how many spaces follow each, 0 or 1, and where texts end.

        A space follows the last string of each text, and is left out.
        """
        sizes = self.lengths + spaced
        joined = b"".join(
            _joined(self.letters, self.starts[at : at + _TOGETHER], sizes[at : at + _TOGETHER])
            for at in range(0, len(sizes), _TOGETHER)
        )
        texts, start = list[str](), 0
        for end in np.cumsum(sizes)[ends - 1].tolist():
            texts.append(joined[start : end - 1].decode(*CODEC))
            start = end
        return texts


def _joined(letters: NDArray[np.uint8], starts: Ids, sizes: Ids) -> bytes:
    places = np.repeat(starts - np.cumsum(sizes) + sizes, sizes)
    places += np.arange(len(places))
    return letters.take(places).tobytes()


# Writes drawn ids as words of a text, with capitals and fitting articles, and values.


_NOT_YET = -1  # in place of what is not yet known of a word


class Rebuilder:
    """Rebuilds texts from drawn ids, for a public list of words.

    `escape` writes private text for the markup that it stands in.

    >>> rebuilder = Rebuilder(["i", "an", "the", "a", "dog"], "keep")
    >>> rebuilder.fill([None, " ", None, " ", None], [1, 4, 0], "wswsw")
    'A dog I'
    >>> written = rebuilder.written(np.array([0, 4, 4 + len(rebuilder)]))
    >>> written.texts(np.ones(3, dtype=int), np.arange(1, 4))
    ['I', 'dog', 'Dog']
    """

    def __init__(
        self,
        words: Sequence[str],
        punctuation: Punctuation,
        escape: Callable[[str], str] | None = None,
    ) -> None:
        self._words, self.punctuation = words, punctuation
        self._articles = all(word in words for word in ENGLISH_WORDS)
        self._escape = escape
        self._style = Style(punctuation, self._articles, escape or str)
        none = np.zeros(self.first_value, dtype=np.int64)
        self._spelt = Spellings(none[:0].astype(np.uint8), none, none + _NOT_YET)

    def __len__(self) -> int:
        return len(self._words)

    def fill(
        self,
        template: Template,
        drawn: Sequence[int],
        marks: str,
        values: Iterator[str] | None = None,
    ) -> str:
        """Return the text of a template whose slots get the words with the drawn ids.

        Slots for values get the next of the written `values`, whatever their ids are.
        """
        if values is not None and VALUE_MARK in marks:
            slots = filter(SLOT_MARKS.__contains__, marks)
            words = [
                next(values) if slot == VALUE_MARK else self._words[word_id]
                for slot, word_id in zip(slots, drawn, strict=True)
            ]
        else:
            words = [self._words[word_id] for word_id in drawn]
        if self._escape is not None or has_pieces(marks):
            return compose(template, words, marks, self._style)
        return fill(
            template, words, punctuation=self.punctuation, articles=self._articles, marks=marks
        )

    def written(self, places: Ids, values: Sequence[str] = ()) -> Spellings:
        """Return what is at some places of a list.

        The list has all words as written inside a sentence, then as at its start, then values, from
        `first_value` on.
        """
        are_values = np.flatnonzero(places >= self.first_value)
        if not are_values.size:
            return self._with_all(places).take(places)
        shown = Spellings.of(self._escaped(values)).take(places[are_values] - self.first_value)
        others = places.copy()
        others[are_values] = 0
        return self.written(others).replace(are_values, shown)

    def _with_all(self, places: Ids) -> Spellings:
        """Return the list of words, all of those written that are at some places.

        Few of all words occur in a short text.
        """
        words = self._spelt
        new = distinct(places[words.lengths[places] == _NOT_YET])
        if new.size:
            strings = [
                (opening if start else inside)(self._words[word_id])
                for start, word_id in map(divmod, new.tolist(), repeat(len(self)))
            ]
            # Another thread may do so, too: each goes on with the list that it has.
            self._spelt = words = words.replace(new, Spellings.of(self._escaped(strings)))
        return words

    def _escaped(self, strings: Sequence[str]) -> Sequence[str]:
        return strings if self._escape is None else list(map(self._escape, strings))

    @property
    def first_value(self) -> int:
        """The place of the first value in the list that `written` looks at."""
        return 2 * len(self)

    def with_articles(self, drawn: Ids, far: NDArray[np.bool_], values: Sequence[str]) -> Ids:
        """Return the ids with each article fitted to the next word, unless that is marked `far`.

        Ids from `first_value` on are values, and not words.
        """
        if not self._articles:
            return drawn
        articles = np.logical_or.reduce(
            [drawn == article for article in self._article_ids.values()]
        )
        places = np.flatnonzero(articles[:-1] & ~far[1:])
        fitted = drawn.copy()
        fitted[places] = self._articles_before(drawn[places + 1], values)
        return fitted

    def _articles_before(self, following: Ids, values: Sequence[str]) -> Ids:
        """Return the article that fits each of some words and values."""
        are_values = np.flatnonzero(following >= len(self))
        words = following.copy()
        words[are_values] = 0
        for word_id in distinct(words[self._fitting[words] == _NOT_YET]).tolist():
            self._fitting[word_id] = self._article_ids[article_before(self._words[word_id])]
        articles = self._fitting[words]
        for place, value in zip(are_values, following[are_values] - self.first_value, strict=True):
            articles[place] = self._article_ids[article_before(values[value])]
        return articles

    @cached_property
    def _fitting(self) -> Ids:
        """The article that fits each word, once it was needed."""
        return np.full(len(self), _NOT_YET, dtype=np.int64)

    @cached_property
    def _article_ids(self) -> dict[str, int]:
        return {article: self._words.index(article) for article in ARTICLES}
