"""Text: cut into tokens, parsed into a template and ids, and rebuilt around other words."""

from malaprop.text.mapping import MAP_VERSION, Route, Way, WordMap
from malaprop.text.parsing import ParsedTexts, TextParser
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
