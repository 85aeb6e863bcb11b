"""How the tokens of texts were treated, in numbers, for the owner of the texts."""

from typing import Any

import numpy as np


def counted(drawn: int, words: Any, punctuation: Any, treated: dict[str, int]) -> dict[str, int]:
    """Return how many words were drawn, how many texts show mostly signs, and the rest.

    `words` and `punctuation` are the counts of one text, or arrays for several texts.
    """
    return {
        "protected": drawn,
        "wordless": _how_many((words == 0) & (punctuation > 0)),
        "mostly_signs": _how_many((words > 0) & (punctuation > words)),
        **treated,
    }


def _how_many(texts: Any) -> int:
    """Count the texts of which something is true; for one text, numpy would take longer."""
    return int(texts) if isinstance(texts, bool) else int(np.count_nonzero(texts))
