"""Secret words beside what was drawn for them, for the owner of the texts."""

from dataclasses import dataclass, field

from malaprop.core.arrays import Ids


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
