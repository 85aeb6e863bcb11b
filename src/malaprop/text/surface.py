"""Rebuilds a text around the words that the mechanism gave.

Only public material comes in: a skeleton, which holds what may be shown and empty slots for the
rest, and the words for the slots. Capitals are made here, by the rules of a sentence, and so are
spaces and the choice between “a” and “an”.
"""

import re
from collections.abc import Sequence
from typing import Literal

from malaprop.core.errors import ParameterError
from malaprop.text.articles import ARTICLES, article_before

Punctuation = Literal["keep", "drop"]

Skeleton = Sequence[str | None]
"""Strings are shown as they are; `None` is a slot for a word."""

# The end of a sentence, or a blank line. Chinese and Japanese stops need no space after them.
_SENTENCE_END = re.compile(r"""[.!?…؟۔।]["'”’»)\]}]*\s|[。！？]|\n\s*\n""")
_LINE_BREAK = re.compile(r"[\n\r\u2028\u2029]")
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_FIRST_PERSON = {word: f"I{word[1:]}" for word in ("i", "i'm", "i'd", "i'll", "i've")}
_PLAIN_GAP = [" "]


def fill(
    skeleton: Skeleton,
    words: Sequence[str],
    *,
    punctuation: Punctuation = "keep",
    articles: bool = False,
) -> str:
    """Put words into the slots of a skeleton, in sentence case.

    A string in the skeleton that has a letter or a digit (a placeholder, a kept word) stands for
    a word and is shown as it is; the other strings make the gaps between words. Two words
    without a gap get a space between them. Where a dropped piece leaves two white spaces side by
    side, one stays: the one with more line breaks, or else the first.

    With `punctuation="drop"` a gap becomes one space, or one line break if it has any, and the
    gaps at both ends vanish; what they held has no influence on the capitals either.

    With `articles`, an “a” or “an” among the words is made to fit the word that follows it.

    >>> fill([None, ",", " ", None, ".", " ", None, "!"], ["cold", "i", "rain"])
    'Cold, I. Rain!'
    >>> fill(["(", None, ")", " ", "[masked]", "?"], ["one"], punctuation="drop")
    'One [masked]'
    >>> fill([None, " ", None], ["a", "apple"], articles=True)
    'An apple'
    """
    if skeleton.count(None) != len(words):
        raise ParameterError(
            "The 'words' parameter of fill must hold one word for each slot of the skeleton, "
            f"{skeleton.count(None)}. Got {len(words)}."
        )
    given = iter(_with_articles(skeleton, words) if articles else words)
    shown: list[str] = []
    gap: list[str] = []
    for part in skeleton:
        if part is not None and (part == " " or not _LETTER_OR_DIGIT.search(part)):
            gap.append(part)
            continue
        if not shown:
            starts = True
            shown.append(_merged(gap) if punctuation == "keep" else "")
        elif gap == _PLAIN_GAP:
            starts = False
            shown.append(" ")
        else:
            between = _between(gap, punctuation)
            starts = _SENTENCE_END.search(between) is not None
            shown.append(between)
        gap.clear()
        shown.append(_cased(next(given), starts) if part is None else part)
    if punctuation == "keep":
        shown.append(_merged(gap))
    return "".join(shown)


def _with_articles(skeleton: Skeleton, words: Sequence[str]) -> list[str]:
    """The words, each article fitting what follows it after mere white space."""
    found = list(words)
    if ARTICLES.isdisjoint(found):
        return found
    place, before = -1, None  # the last word's number, and whether it is an article still open
    for part in skeleton:
        if part is None:
            place += 1
            if before is not None:
                found[before] = article_before(found[place])
            before = place if found[place] in ARTICLES else None
        elif not part.isspace():
            before = None
    return found


def _cased(word: str, starts: bool) -> str:
    """A word of a lexicon as it is written at the start of a sentence, or elsewhere."""
    if starts:
        return word[:1].title() + word[1:]
    return _FIRST_PERSON.get(word, word)


def _between(gap: list[str], punctuation: Punctuation) -> str:
    """What is shown between two words."""
    text = _merged(gap)
    if punctuation == "keep":
        return text or " "
    return "\n" if _LINE_BREAK.search(text) else " "


def _merged(gap: list[str]) -> str:
    """The text of a gap, with one white space for several side by side."""
    if len(gap) == 1:
        return gap[0]
    parts: list[str] = []
    for part in gap:
        if parts and part.isspace() and parts[-1].isspace():
            parts[-1] = max(parts[-1], part, key=_line_breaks)
        else:
            parts.append(part)
    return "".join(parts)


def _line_breaks(space: str) -> int:
    return space.count("\n")
