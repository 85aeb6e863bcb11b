"""What the owner of texts may see, and nobody else: their words beside draws, and repetitions.

Each draw of a word tells more about it, so how often words repeat decides what a text gives away.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from malaprop.draws import group_numbers, runs
from malaprop.privacy.arrays import Ids
from malaprop.privacy.guarantee import WORD, Guarantee
from malaprop.text.kinds import ValueForm
from malaprop.text.kinds.dates import SHIFTED
from malaprop.text.parser import Secrets, Templates
from malaprop.text.policy import Policy


@dataclass(frozen=True, kw_only=True, eq=False)
class WordDraws:
    """The words of several texts, and one private draw of each.

    It holds the secret: it is for measurements by the owner, and never to be published.
    """

    secret: Ids = field(repr=False)
    """The ids of the lexicon words that the texts were mapped to, text by text."""
    drawn: Ids = field(repr=False)
    """The id that was drawn for each of them."""
    lengths: Ids = field(repr=False)
    """How many words each text has."""

    def first(self, texts: int) -> "WordDraws":
        """Return the draws of the first texts alone."""
        lengths = self.lengths[:texts]
        words = int(lengths.sum())
        return WordDraws(secret=self.secret[:words], drawn=self.drawn[:words], lengths=lengths)


@dataclass(frozen=True, kw_only=True, eq=False)
class SideBySide:
    """A text and a private draw of it, part by part: gaps and slots in turns, a gap first and last.

    It holds the secret: it is for the owner of the text, and never to be published.
    """

    original: list[str] = field(repr=False)
    private: list[str] = field(repr=False)
    as_drawn: list[str] = field(repr=False)
    """The same as `private`, unless that was made readable."""
    tags: list[str] = field(repr=False)
    """As what each slot is counted, such as `in_lexicon` or `dates`."""
    secret: Ids = field(repr=False)
    """The lexicon word that each slot counts as; -1 for a value."""
    drawn: Ids = field(repr=False)
    """The lexicon word that was drawn for each slot; -1 for a value."""
    shown: Ids = field(repr=False)
    """The same as `drawn`, unless that was made readable."""
    also: list[str] = field(repr=False)
    """The same draw as another smoother makes it readable; as `as_drawn` if there is none."""
    shown_also: Ids = field(repr=False)
    """The lexicon word of each slot in `also`; -1 for a value."""
    guarantee: Guarantee


MANY = 5
"""Occurrences of a content word in a text from which they tell what it is."""
_REPEATS = "repeats_"  # begins the names of counts of texts that repeat a word so often
_SOME = 3  # occurrences of a content word in a text from which they are counted
_COMMON = 500  # words of a large lexicon that are too frequent to count as content


def common_words(size: int) -> int:
    """Return how many words at the head of a lexicon are too frequent to count as content.

    Lexicons list frequent words first: of `size` words the first 500, at most a tenth of them.
    """
    return min(_COMMON, size // 10)


def count_repeats(ids: Ids, slot_counts: Sequence[int], common: int) -> dict[str, int]:
    """Count texts by how often their most frequent content word occurs, from 3 times on.

    The words with ids below `common` are not content. The counts of several batches add up.

    >>> count_repeats(np.array([9, 9, 9, 0, 9, 0, 0, 0, 0]), [4, 5], common=5)
    {'repeats_3': 1}
    """
    content = np.flatnonzero(ids >= common)
    if len(content) < _SOME:
        return {}
    texts = np.repeat(np.arange(len(slot_counts)), slot_counts)[content]
    order, starts = runs([texts, ids[content]])
    occurrences = np.diff(starts, append=len(order))
    owners = texts[order[starts]]
    most = np.maximum.reduceat(occurrences, np.flatnonzero(np.diff(owners, prepend=-1)))
    numbers, counts = np.unique(most[most >= _SOME], return_counts=True)
    return {f"{_REPEATS}{n}": int(c) for n, c in zip(numbers.tolist(), counts, strict=True)}


@dataclass(frozen=True, kw_only=True)
class Repetition:
    """How often content words occur in one text, and what that many draws tell: for the owner.

    Content words are those beyond the `common` most frequent words of the lexicon.
    """

    common: int
    most: int = 0
    """The largest number of occurrences of one content word in one text; 0 if below 3."""
    texts: int = 0
    """How many texts have a content word that occurs 5 times or more."""
    recovered: tuple[tuple[int, float], ...] = ()
    """Numbers of draws of a word, and the share of words that an observer recovers from them."""

    def to_dict(self) -> dict[str, object]:
        """Return the facts as plain values for JSON."""
        return {
            "most_occurrences_of_a_content_word_in_a_text": self.most,
            "texts_with_a_content_word_5_times_or_more": self.texts,
            "words_that_are_no_content": self.common,
            "share_recovered_by_draws": {str(k): round(share, 3) for k, share in self.recovered},
        }


def split_repeats(counts: Mapping[str, int]) -> tuple[dict[str, int], dict[int, int]]:
    """Return the other counts, and how many texts repeat a content word how often."""
    others = {name: count for name, count in counts.items() if not name.startswith(_REPEATS)}
    repeats = {int(name.removeprefix(_REPEATS)): counts[name] for name in counts.keys() - others}
    return others, repeats


def most_draws(templates: Templates, secrets: Secrets, policy: Policy) -> list[dict[str, int]]:
    """Return, for each text and kind, the most draws that one mapped value gets.

    That many times ε, at the distance between two values, is what a text loses about one of them.
    A kind of which the text has no value is left out, and so is what is drawn without a look at it.
    """
    forms, counts = templates.forms, templates.slot_counts
    texts = np.repeat(np.arange(len(counts)), counts)
    names = [WORD]
    kinds, groups = np.zeros((2, len(texts)), dtype=np.int64)
    if len(forms):
        numbers: dict[str, int] = {WORD: 0}
        of_kind = [form.grid.kind if isinstance(form, ValueForm) else "" for form in forms]
        kinds[templates.typed] = [numbers.setdefault(kind, len(numbers)) for kind in of_kind]
        groups[templates.typed] = group_numbers(forms)
        names = list(numbers)
    order, starts = runs([texts, groups, secrets.ids])
    repeats = np.diff(starts, append=len(order))
    if policy.repeat == "document":
        repeats = np.minimum(repeats, 1)
    first = order[starts]
    most: list[dict[str, int]] = [{} for _ in counts]
    rows = zip(texts[first].tolist(), kinds[first].tolist(), repeats.tolist(), strict=True)
    for text, kind, count in rows:
        if name := names[kind]:
            if policy.shift_dates and name in SHIFTED:  # one shift moves them all
                count = 1
            most[text][name] = max(count, most[text].get(name, 0))
    return most
