"""Text: cut into tokens, parsed into a template and ids, and rebuilt around other words."""

from malaprop.text.parser import ParsedTexts, TextParser
from malaprop.text.policy import (
    Action,
    BoundPolicy,
    Kinds,
    Policy,
    Repeat,
    TextOptions,
    Treatment,
    Unknown,
    policy_with,
)
from malaprop.text.template import Punctuation, Template, fill
from malaprop.text.tokens import TokenKind, kind_of, tokenize
from malaprop.text.vocabulary import Route, Way
from malaprop.text.word_map import MAP_VERSION, WordMap

__all__ = [
    "MAP_VERSION",
    "Action",
    "BoundPolicy",
    "Kinds",
    "ParsedTexts",
    "Policy",
    "Punctuation",
    "Repeat",
    "Route",
    "Template",
    "TextOptions",
    "TextParser",
    "TokenKind",
    "Treatment",
    "Unknown",
    "Way",
    "WordMap",
    "fill",
    "kind_of",
    "policy_with",
    "tokenize",
]
