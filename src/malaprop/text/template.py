"""Templates: what stays visible of a text, with slots for what the mechanism draws.

Filling a template takes public material only: the template, and drawn words and values for its
slots. It makes capitals by the rules of a sentence, adds missing spaces and chooses between “a”
and “an”.
"""

import re
from collections.abc import Sequence
from typing import Literal, cast

from malaprop.core.errors import ParameterError
from malaprop.text.articles import ARTICLES, article_before
from malaprop.text.forms.form import Form

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
