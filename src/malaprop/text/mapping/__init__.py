"""The public map from any token to a word of the lexicon.

word_map      the map and its rules, in the order in which they are tried
folding       spellings without capitals and without accents
inflection    base forms of inflected words
numbers       number words for numbers
vocabulary    the large public vocabulary: what its words count as in `english`
hashing       hashes of a word's edits and parts, by which the vocabulary is searched
meaning       the vocabulary bound to a lexicon; misspellings
compounds     words put together
route         how a word was found
spelling      the nearest spelling, the last resort
"""

from malaprop.text.mapping.route import Route, Way
from malaprop.text.mapping.word_map import MAP_VERSION, WordMap

__all__ = ["MAP_VERSION", "Route", "Way", "WordMap"]
