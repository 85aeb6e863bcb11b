"""Text: cut into tokens, parsed into a template and ids, and rebuilt around other words."""

from malaprop.text.parser import Secrets, Tallies, Templates, TextParser
from malaprop.text.policy import Kinds, Policy, Repeat, TextOptions, Unknown, policy_with
from malaprop.text.template import Punctuation, Template
from malaprop.text.tokens import TokenKind, kind_of, tokenize
from malaprop.text.treatment import Action, BoundPolicy, Treatment
from malaprop.text.vocabulary import Route, Way
from malaprop.text.word_map import MAP_VERSION, WordMap

__all__ = [
    "MAP_VERSION",
    "Action",
    "BoundPolicy",
    "Kinds",
    "Policy",
    "Punctuation",
    "Repeat",
    "Route",
    "Secrets",
    "Tallies",
    "Template",
    "Templates",
    "TextOptions",
    "TextParser",
    "TokenKind",
    "Treatment",
    "Unknown",
    "Way",
    "WordMap",
    "kind_of",
    "policy_with",
    "tokenize",
]
