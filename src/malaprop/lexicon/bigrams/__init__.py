"""Bigram models: how likely a word follows another, in public text."""

from malaprop.lexicon.bigrams.files import open_model, save_model, shipped_model
from malaprop.lexicon.bigrams.model import BigramModel, words_digest

__all__ = ["BigramModel", "open_model", "save_model", "shipped_model", "words_digest"]
