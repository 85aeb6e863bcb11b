"""Private copies of texts, and copies that keep no word at all."""

from collections.abc import Callable, Sequence

from numpy.random import Generator

from malaprop.core.progress import Progress, report
from malaprop.lexicon.lexicon import Lexicon
from malaprop.pipeline.privatizer import Privatizer
from malaprop.text import Policy, TextParser

Rewrite = Callable[[list[str]], list[str]]
"""Anything that returns a private text for each text: fresh noise with every call."""


def private_copies(
    private: Privatizer | Rewrite,
    texts: Sequence[str],
    number: int,
    progress: Progress | None = None,
) -> list[list[str]]:
    """Return several private copies of some texts, each with noise of its own."""
    rewrite = private.texts if isinstance(private, Privatizer) else private
    copies = []
    for done in range(number):
        copies.append(rewrite(list(texts)))
        report(progress, done + 1, number)
    return copies


def random_words(lexicon: Lexicon, policy: Policy, rng: Generator) -> Rewrite:
    """Return what replaces each word by any word of the lexicon, all equally likely.

    What else a policy shows stays: the number of words, punctuation, public pieces. A number is
    replaced by a word, too.
    """
    words_only = Policy(
        unknown=policy.unknown,
        punctuation=policy.punctuation,
        placeholder=policy.placeholder,
        keep=policy.keep,
        markup=policy.markup,
        kinds="words",
    )
    parser = TextParser(lexicon.words, words_only)

    def rewrite(texts: list[str]) -> list[str]:
        parsed = parser.parse(texts)
        return parsed.rebuild(rng.integers(0, len(lexicon), size=len(parsed.ids)))

    return rewrite
