"""Suggestions for names that were mistyped."""

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """A hint at the nearest known name, with a space before it, or nothing.

    >>> did_you_mean("laplas", ["laplace", "tem"])
    " Did you mean 'laplace'?"
    """
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return f" Did you mean {near[0]!r}?" if near else ""
