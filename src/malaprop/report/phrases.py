"""Phrases that all renderings of a report share."""

from collections.abc import Mapping

PROTECTED = {
    "in_lexicon": "in the lexicon",
    "mapped": "mapped to words of it",
    "numbers": "as numbers",
    "urls": "as web addresses",
    "emails": "as e-mail addresses",
    "mentions": "as mentions",
    "hashtags": "as hashtags",
    "emoji": "as emoji or symbols",
    "dates": "as dates",
    "times": "as times",
    "money": "as amounts of money",
    "percentages": "as percentages",
    "ordinals": "as ordinals",
    "identifiers": "as identifiers",
}
OTHERWISE = {
    "masked": "masked",
    "dropped": "dropped",
    "kept": "KEPT AS THEY ARE, without protection",
    "removed": "invisible characters removed",
}
NO_CHANCE_OF_GUESSING = (
    "an observer who knows the context, or sees a word several times, guesses more"
)
"""What belongs beside the share of words that stay."""


def parameters(mechanism: Mapping[str, object]) -> str:
    """Return a mechanism as it is written in Python."""
    values = [f"{k}={v}" for k, v in mechanism.items() if k != "name" and v is not None]
    return f"{mechanism['name']}({', '.join(values)})"


def listed(names: Mapping[str, str], counts: Mapping[str, int]) -> list[str]:
    """List the counts that are not 0, each with what it counts."""
    return [f"{counts[tag]:,} {text}" for tag, text in names.items() if counts.get(tag)]


def printable(name: str) -> str:
    """Escape a name from a file, which could hold control characters for the terminal."""
    return name if name.strip() and name.isprintable() else ascii(name)
