"""Templates: what stays visible of a text, with slots for what the mechanism draws.

Filling a template takes public material only: the template, and drawn words and values for its
slots. It makes capitals by the rules of a sentence, and of English words such as "London" and
"USA"; it chooses between “a” and “an”, and writes parts of contractions as words.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from string import ascii_lowercase
from types import MappingProxyType
from typing import Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from malaprop.privacy.arrays import Ids, distinct
from malaprop.text import english
from malaprop.text.kinds import Form
from malaprop.text.markup import INLINE
from malaprop.text.segments import Segment

Punctuation = Literal["keep", "drop"]
Flags = NDArray[np.bool_]
Strings = NDArray[np.object_]

Part = str | Form | None
"""A part of a text: a string is shown as it is; `None` is a slot for a word, a form for a value."""
WORD_MARK, VALUE_MARK = "w", "v"
"""The marks of a slot for a word and of one for a value; see `mark`."""
TAG_MARK, BLOCK_MARK, PUBLIC_MARK = "m", "b", "q"
"""Marks of what was declared public: a tag within a line, a tag between lines, anything else."""

# The end of a sentence, or a blank line. Chinese and Japanese stops need no space after them.
_SENTENCE_END = re.compile(r"""[.!?…؟۔।]["'”’»)\]}]*\s|[。！？]|\n\s*\n""")
_LINE_BREAK = re.compile(r"[\n\r\u2028\u2029]")
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
# Marks that may stand between an article and its word. Signs that are dropped must not matter.
_THIN = {"keep": f"so{TAG_MARK}{BLOCK_MARK}", "drop": f"sop{TAG_MARK}{BLOCK_MARK}"}
# Slots with one space between them, or something that is shown as it is.
_RUNS = re.compile(r"w(?:sw)*|[kv]")
_STRETCHES = re.compile(r"[mbq]|[^mbq]++")
_LONGEST_TAIL = 64  # signs behind a word that may still end its sentence


def mark(part: Part) -> str:
    """Return a letter that classifies a part of a text.

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


def mark_of(segment: Segment) -> str:
    """Return the mark of a public segment.

    >>> [mark_of(Segment(tag, True, "markup")) for tag in ("<b>", "</li>")]
    ['m', 'b']
    """
    if segment.origin != "markup":
        return PUBLIC_MARK
    # Signs of Markdown are followed by white space, and stand at the start of a line.
    return TAG_MARK if segment.text.strip("</>") in INLINE else BLOCK_MARK


class Template(NamedTuple):
    """What stays visible of a text: what stands around its slots, and what is known of them."""

    gaps: list[str]
    """The texts before the first slot, between slots, and behind the last one."""
    starts: list[int]
    """Slots for words that start a sentence."""
    apart: list[int]
    """Slots with more than whitespace before them: no article looks beyond that."""
    values: list[int]
    """Slots for values."""
    forms: list[Form]


def lay_out(
    parts: Sequence[Part],
    marks: str,
    punctuation: Punctuation = "keep",
    escape: Callable[[str], str] = str,
) -> Template:
    """Return the template of a text, given its parts and their marks.

    A string with a letter or a digit (a placeholder, a kept word) counts as a word and is shown
    as it is; the other strings form the gaps between words. Two words without a gap get a space;
    a number and a word after it, as in "500mg", do not, and neither does a value that begins with
    a sign, as in "ann@localhost". Where a dropped token leaves two runs of
    whitespace side by side, one stays: the one with more line breaks, or else the first.

    With `punctuation="drop"` a gap becomes one space, or one line break if it has any, and the
    gaps at both ends vanish. What a gap held affects neither capitals nor articles, and "500mg" is
    written like "500 mg".

    Public pieces are shown exactly as they are, and so are the gaps beside them: no space is
    added, so `<b>word</b>` stays closed up. All else is escaped for the markup that it stands in.
    Sentences and articles go on across tags within a line, as if they were not there.

    >>> lay_out([None, ",", " ", None, ".", " ", None, "!"], "wpswpswp").gaps
    ['', ', ', '. ', '!']
    >>> lay_out(["(", None, ")", " ", "[masked]", "?"], "pwpskp", "drop").gaps
    ['', ' [masked]']
    """
    template = Template([], [], [], [], [])
    gaps, starts, apart, values, forms = template
    shown: list[str] = []  # since the last slot
    tail: str | None = None  # the signs since the last word; None where a sentence starts anyway
    after = 0  # the place behind the last slot
    for stretch in _STRETCHES.finditer(marks):
        begin, end = stretch.span()
        if marks[begin] in (TAG_MARK, BLOCK_MARK, PUBLIC_MARK):
            piece = cast(str, parts[begin])
            shown.append(piece)
            tail = _tail_behind(piece, marks[begin], tail)
            continue
        place = begin
        for run in _RUNS.finditer(marks, begin, end):
            first, last = run.span()
            if place == begin:  # beside a public piece, or an edge of the text
                gap = _gap_beside(parts[begin:first], punctuation, at_edge=begin == 0)
                tail = None if tail is None else (tail + gap)[-_LONGEST_TAIL:]
                starts_sentence = tail is None or ends_sentence(tail)
            else:
                gap = _gap_between(parts, place, first, punctuation)
                starts_sentence = gap != " " and ends_sentence(gap)
            shown.append(escape(gap))
            place, tail = last, ""
            if marks[first] == "k":
                shown.append(escape(cast(str, parts[first])))
                continue
            if marks[first] == VALUE_MARK:
                values.append(len(gaps))
                forms.append(cast(Form, parts[first]))
            elif starts_sentence:
                starts.append(len(gaps))
            if marks[after:first].strip(_THIN[punctuation]):
                apart.append(len(gaps))
            gaps.append("".join(shown))
            gaps += [" "] * ((last - first) // 2)
            shown.clear()
            after = last
        at_edge = end == len(marks) or begin == place == 0
        gap = _gap_beside(parts[place:end], punctuation, at_edge=at_edge)
        tail = None if tail is None else (tail + gap)[-_LONGEST_TAIL:]
        shown.append(escape(gap))
    gaps.append("".join(shown))
    return template


def _tail_behind(piece: str, piece_mark: str, tail: str | None) -> str | None:
    """Return the signs since the last word, behind a public piece."""
    if piece_mark == BLOCK_MARK:
        return None
    if piece_mark == TAG_MARK:
        return tail
    *words, signs = _LETTER_OR_DIGIT.split(piece)
    if words:
        return signs[-_LONGEST_TAIL:]
    return None if tail is None else (tail + signs)[-_LONGEST_TAIL:]


def _gap_beside(gap: Sequence[Part], punctuation: Punctuation, *, at_edge: bool) -> str:
    """Return the text of a gap beside a public piece or an edge: nothing is added to it."""
    text = merged(gap)
    if punctuation == "keep" or not text:
        return text
    return "" if at_edge else _dropped(text)


def _gap_between(parts: Sequence[Part], end: int, start: int, punctuation: Punctuation) -> str:
    """Return the text between two words or values: it is never empty but where they may touch."""
    if punctuation == "drop":
        return _dropped(merged(parts[end:start]))
    if end == start:
        return "" if closely(parts[end - 1], parts[start]) else " "
    return merged(parts[end:start])


def _dropped(text: str) -> str:
    return "\n" if _LINE_BREAK.search(text) else " "


def closely(part: Part, following: Part) -> bool:
    """Tell whether no space is put between two parts that touch, neither being a gap."""
    if isinstance(following, Form) and following.opens_with_sign:
        return True
    if not isinstance(part, Form):
        return False
    return following.follows_closely(part) if isinstance(following, Form) else part.takes_units


def ends_sentence(gap: str) -> bool:
    """Tell whether a sentence ends within the gap between two words."""
    return _SENTENCE_END.search(gap) is not None


def merged(gap: Sequence[Part]) -> str:
    """Join a gap into a text, with adjacent runs of whitespace merged into one."""
    if len(gap) == 1:
        return cast(str, gap[0])
    parts: list[str] = []
    for part in cast(Sequence[str], gap):
        if parts and part.isspace() and parts[-1].isspace():
            parts[-1] = max(parts[-1], part, key=lambda space: space.count("\n"))
        else:
            parts.append(part)
    return "".join(parts)


# What a slot is linked to by a sign without a space: there, letters are no words.
BEHIND_APOSTROPHE, ABBREVIATED = 1, 2
_APOSTROPHES = ("'", "’")


def link(gaps: Sequence[str], slot: int) -> int:
    """Return how a slot is linked to what is around it, given all gaps; 0 if it is not.

    It stands behind an apostrophe, as in "it 's", or in an abbreviation, as in "U.S.".

    >>> [link(["", " '", ".", ". ", ""], slot) for slot in range(4)]
    [0, 2, 2, 0]
    >>> [link(["", " '", " ", ""], slot) for slot in range(3)]
    [0, 1, 0]
    """
    before, after = gaps[slot : slot + 2]
    if (before == "." and slot > 0) or (after == "." and slot + 2 < len(gaps)):
        return ABBREVIATED
    return BEHIND_APOSTROPHE if before.endswith(_APOSTROPHES) else 0


# Writes drawn ids as words of a text, with capitals and fitting articles, and values.

_NOT_YET = -1  # in place of what is not yet known of a word
VALUE = -1
"""In place of the id of a word, where a value is drawn."""
FOLLOWS, BEGINS, UNKNOWN = 0, 1, 2
"""What stands before a slot: another slot for a word, the start of a sentence, anything else."""
_AS_THEY_ARE: Mapping[str, str] = MappingProxyType({})
_LOOSE = english.CLITICS.union(ascii_lowercase)  # words that links matter to


class Writer:
    """Writes drawn words into templates, for a public list of words.

    `escape` writes private text for the markup that it stands in.

    >>> writer = Writer(["i", "an", "the", "a", "dog"])
    >>> writer.fill(lay_out([None, " ", None, " ", None], "wswsw"), ["an", "dog", "i"])
    'A dog I'
    """

    def __init__(self, words: Sequence[str], escape: Callable[[str], str] | None = None) -> None:
        self.words, self._escape = words, escape
        self._articles = all(word in words for word in english.TELLING_WORDS)
        # English in small letters, which need not be the right ones.
        self._english = ("monday" in words or self._articles) and "Monday" not in words
        # As inside a sentence, then as at its start; each without a space after it, and with one.
        self._written: Strings = np.empty(4 * len(words), dtype=np.object_)
        self._known: Flags = np.zeros(2 * len(words), dtype=np.bool_)

    def fill(self, template: Template, words: list[str]) -> str:
        """Return the text of a template with these words and written values in its slots."""
        return "".join(self.parts(template, words))

    def parts(self, template: Template, words: list[str]) -> list[str]:
        """Return the parts of that text: gaps and slots in turns, a gap first and last."""
        if self._articles and not english.ARTICLES.isdisjoint(words):
            words = self._with_articles(template, words)
        forms = self._forms
        written = [forms.get(word, word) for word in words]
        for slot in template.starts:
            written[slot] = self._form(words[slot], True)
        if forms:
            for slot, word in enumerate(words):
                if word in _LOOSE and (linked := link(template.gaps, slot)):
                    written[slot] = self._form(word, slot in template.starts, linked)
        for slot in template.values:
            written[slot] = words[slot]
        shown = [""] * (2 * len(words) + 1)
        shown[::2] = template.gaps
        shown[1::2] = self._escaped(written)
        return shown

    def write(
        self,
        drawn: Ids,
        starts: Flags,
        apart: Flags,
        linked: Ids,
        spaced: Ids,
        values: Sequence[str],
    ) -> Strings:
        """Return how drawn words are written in many slots, and values where `VALUE` stands.

        `starts` and `apart` say of each slot what `Template` lists, `linked` what `link` does, and
        `spaced`, 0 or 1, whether a space follows.
        """
        if self._articles:
            drawn = self._fitted(drawn, apart, values)
        typed = np.flatnonzero(drawn == VALUE)
        places = drawn + len(self.words) * starts
        places[typed] = 0
        # Few of all words occur in a short text: each is written when it first does.
        for place in distinct(places[~self._known.take(places)]).tolist():
            start, number = divmod(place, len(self.words))
            (word,) = self._escaped([self._form(self.words[number], bool(start))])
            self._written[2 * place], self._written[2 * place + 1] = word, f"{word} "
            self._known[place] = True
        written: Strings = self._written.take(2 * places + spaced)
        if self._english and (linked_places := np.flatnonzero(linked)).size:
            # Values are written below; until then they stand for the last word.
            for place in linked_places[self._loose[drawn[linked_places]]].tolist():
                form = self._form(self.words[drawn[place]], starts[place], linked[place])
                written[place] = form + " " * spaced[place]
        if typed.size:
            pairs = zip(self._escaped(values), spaced[typed].tolist(), strict=True)
            written[typed] = [value + " " * space for value, space in pairs]
        return written

    @property
    def _forms(self) -> Mapping[str, str]:
        return english.written_words() if self._english else _AS_THEY_ARE

    def _form(self, word: str, start: bool, linked: int = 0) -> str:
        """Return how a word is written, inside a sentence or at its start."""
        form = self._forms.get(word, word)
        if linked == BEHIND_APOSTROPHE and word in english.CLITICS:
            form = word
        elif linked == ABBREVIATED and len(word) == 1:
            form = word.upper()
        return opening(form) if start and (form == word or form.islower()) else form

    def _escaped(self, strings: Sequence[str]) -> Sequence[str]:
        return strings if self._escape is None else list(map(self._escape, strings))

    def _fitted(self, drawn: Ids, apart: Flags, values: Sequence[str]) -> Ids:
        """Fit each article to the next word or value, unless that is apart."""
        ids, fitting = self._article_ids, self._fitting
        articles = np.logical_or.reduce([drawn == article for article in ids.values()])
        places = np.flatnonzero(articles[:-1] & ~apart[1:])
        following = drawn[places + 1]
        for word in distinct(following[fitting[following] == _NOT_YET]).tolist():
            fitting[word] = ids[english.article_before(self._form(self.words[word], False))]
        fitted = drawn.copy()
        fitted[places] = fitting[following]
        before_values = places[following == VALUE]
        if before_values.size:
            numbers = np.cumsum(drawn == VALUE)[before_values]  # how many values stand before
            for place, number in zip(before_values, numbers.tolist(), strict=True):
                fitted[place] = ids[english.article_before(values[number])]
        return fitted

    def _with_articles(self, template: Template, words: list[str]) -> list[str]:
        """Return the words with each article fitted to what is next, unless that is apart."""
        fitted, values = words.copy(), frozenset(template.values)
        no_articles = {*values, *(slot - 1 for slot in template.apart)}
        for place, word in enumerate(words[:-1]):
            if word in english.ARTICLES and place not in no_articles:
                following = words[place + 1]
                if place + 1 not in values:
                    following = self._form(following, False)
                fitted[place] = english.article_before(following)
        return fitted

    @cached_property
    def _loose(self) -> Flags:
        """Which words links matter to."""
        return np.array([len(word) <= 2 and word in _LOOSE for word in self.words])

    @cached_property
    def _fitting(self) -> Ids:
        """The article that fits each word, once it was needed."""
        return np.full(len(self.words), _NOT_YET, dtype=np.int64)

    @cached_property
    def _article_ids(self) -> dict[str, int]:
        return {article: self.words.index(article) for article in english.ARTICLES}


def opening(word: str) -> str:
    """Write a word as at the start of a sentence."""
    return word[:1].title() + word[1:]
