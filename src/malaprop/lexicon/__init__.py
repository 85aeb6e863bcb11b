"""Lexicons: words with vectors and a metric, from the package, a file or memory."""

from malaprop.lexicon.lexicon import Lexicon

__all__ = ["Lexicon"]
