"""Suggestions for names that were mistyped."""

import difflib
from collections.abc import Iterable

_SHORTEST_START = 3  # letters of a name that can stand for it


def did_you_mean(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """Return a hint at the closest known name, with a leading space; empty if none is close.

    The start of just one known name means that one.

    >>> did_you_mean("laplas", ["laplace", "tem"]), did_you_mean("eps", ["steps", "epsilon"])
    (" Did you mean 'laplace'?", " Did you mean 'epsilon'?")
    """
    names = list(known)
    begun = [each for each in names if len(name) >= _SHORTEST_START and each.startswith(name)]
    close = begun if len(begun) == 1 else difflib.get_close_matches(name, names, 1, cutoff)
    return f" Did you mean {close[0]!r}?" if close else ""
