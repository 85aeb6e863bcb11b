"""Suggestions for names that were mistyped."""

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """Return a hint at the closest known name, with a leading space; empty if none is close.

    >>> did_you_mean("laplas", ["laplace", "tem"])
    " Did you mean 'laplace'?"
    """
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return f" Did you mean {close[0]!r}?" if close else ""
