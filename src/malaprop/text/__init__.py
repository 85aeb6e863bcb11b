"""Text: cut into tokens, parsed into a template and ids, and rebuilt around other words."""

from malaprop.text.mapping import WordMap
from malaprop.text.parsing import ParsedTexts, TextParser
from malaprop.text.policy import (
    Action,
    BoundPolicy,
    Policy,
    Repeat,
    TextOptions,
    Treatment,
    Unknown,
)
from malaprop.text.template import Punctuation, Template, fill
from malaprop.text.tokens import TokenKind, kind_of, tokenize

__all__ = [
    "Action",
    "BoundPolicy",
    "ParsedTexts",
    "Policy",
    "Punctuation",
    "Repeat",
    "Template",
    "TextOptions",
    "TextParser",
    "TokenKind",
    "Treatment",
    "Unknown",
    "WordMap",
    "fill",
    "kind_of",
    "tokenize",
]
