"""What is declared public in a text: cut into segments to show, and segments to privatize."""

from malaprop.text.public.html_tags import cut_html, escape_html
from malaprop.text.public.kept_words import KeptWords
from malaprop.text.public.pieces import PLACEHOLDERS, Markup, PublicPieces
from malaprop.text.public.placeholders import cut_placeholders, is_placeholder
from malaprop.text.public.segments import Segment
from malaprop.text.public.spans import Span, cut_spans

__all__ = [
    "PLACEHOLDERS",
    "KeptWords",
    "Markup",
    "PublicPieces",
    "Segment",
    "Span",
    "cut_html",
    "cut_placeholders",
    "cut_spans",
    "escape_html",
    "is_placeholder",
]
