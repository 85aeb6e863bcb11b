"""The public map from any token to a word of the lexicon.

word_map      the map and its rules, in the order in which they are tried
folding       spellings without capitals and without accents
inflection    base forms of inflected words
numbers       number words for numbers
spelling      the nearest spelling, the last resort
"""

from malaprop.text.mapping.word_map import WordMap

__all__ = ["WordMap"]
