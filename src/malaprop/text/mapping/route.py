"""How the map found the word that stands for a token."""

from enum import StrEnum
from typing import NamedTuple


class Way(StrEnum):
    """The rule that led to a word."""

    LISTED = "listed"
    """The lexicon has the token itself."""
    FORM = "form"
    """The lexicon has it without accents, endings or digits, or has what it stands for."""
    MEANING = "meaning"
    """The large vocabulary has it, and says which word is nearest in meaning."""
    CORRECTED = "corrected"
    """It is one edit from a word of the large vocabulary."""
    COMPOUND = "compound"
    """It is made of words of the large vocabulary, and counts as the last one."""
    SPELLING = "spelling"
    """Nothing else applies: the nearest spelling."""


class Route(NamedTuple):
    """The word that stands for a token, and how it was found.

    `via` is the spelling that was looked up, and depends on the token: do not publish it.
    """

    id: int
    way: Way
    via: str

    def __str__(self) -> str:
        """Say how the word was found, without the token."""
        return _SAID[self.way].format(via=self.via)


_SAID = {
    Way.LISTED: "it is in the lexicon",
    Way.FORM: "the word that it is a form of, or stands for",
    Way.MEANING: "the nearest word by meaning, which a public vocabulary gives",
    Way.CORRECTED: "read as “{via}”, and that by meaning",
    Way.COMPOUND: "read as words put together, of which “{via}” counts, and that by meaning",
    Way.SPELLING: "the nearest spelling, because nothing better leads to the lexicon",
}
