"""Phrases that all renderings of a report share."""

from collections.abc import Mapping

from malaprop.core.errors import printable
from malaprop.core.metrics.graph import Steps
from malaprop.pipeline.guessing import Guessed
from malaprop.pipeline.repetition import Repetition

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
    "public_markup": "pieces of markup shown as they are, declared public",
    "public_placeholders": "placeholders shown as they are, declared public",
    "public_words": "words shown as they are, declared public",
    "public_spans": "passages outside the spans shown as they are, declared public",
}
NO_CHANCE_OF_GUESSING = (
    "an observer who knows the context or how frequent words are, or sees a word several times, "
    "guesses more: malaprop attack measures how much"
)
"""What belongs beside the share of words that stay."""


UNIFORM = "an observer without context, to whom all words are equally likely"
"""Who guesses single words, where nothing else is said about what the observer knows."""


def best_guess(guessed: Guessed) -> str:
    """Say how often an observer without context guesses a word right.

    >>> print(best_guess(Guessed(0.342))[:75])
    about 34% of single words are guessed right by an observer without context,
    """
    return f"{guessed} of single words are guessed right by {UNIFORM}"


def repetition(facts: Repetition, repeat: str) -> list[str]:
    """Say how often content words occur in a text, and what an observer makes of it."""
    if not facts.most:
        return []
    texts = f"{facts.texts:,} text{' has' if facts.texts == 1 else 's have'}"
    often = f"a content word occurs up to {facts.most:,} times in one text"
    lines = [f"{often}, and {texts} one that occurs 5 times or more"]
    if repeat == "document":
        lines.append("all its places share one draw, and which places are equal can be seen")
    elif facts.recovered:
        shares = ", ".join(f"{k} draws {share:.0%}" for k, share in facts.recovered)
        lines.append(
            f"each place is a draw of its own: of public words, an observer without context "
            f"recovers from {shares}, about; one draw for all is repeat = document"
        )
    return lines


def content_words(facts: Repetition) -> str:
    """Say what counts as a content word."""
    return f"Content words are all but the first {facts.common:,} of the lexicon."


def fingerprint_of(metric: object) -> str:
    """Name the fingerprint of a lexicon under a metric, as `malaprop lexicon info` does.

    >>> fingerprint_of("graph")
    'fingerprint with graph'
    """
    return "fingerprint with graph" if str(metric) == Steps.name else "fingerprint"


def parameters(mechanism: Mapping[str, object]) -> str:
    """Return a mechanism as it is written in Python."""
    values = [f"{k}={v}" for k, v in mechanism.items() if k != "name" and v is not None]
    return f"{mechanism['name']}({', '.join(values)})"


def setting(value: object) -> str:
    """Return the value of a setting, which may be several by name."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {each}" for name, each in value.items())
    return str(value)


def listed(names: Mapping[str, str], counts: Mapping[str, int]) -> list[str]:
    """List the counts that are not 0, each with what it counts."""
    return [f"{counts[tag]:,} {text}" for tag, text in names.items() if counts.get(tag)]


def named(name: str) -> str:
    """Return a name that can be seen: an empty one in quotes, control characters as escapes."""
    return printable(name) if name.strip() else ascii(name)
