"""Texts made of what markup is made of."""

from collections.abc import Callable

from hypothesis import strategies as st

from malaprop.text.public import PublicPieces

ATOMS = [
    *("<", ">", "</", "/", "!", "?", "a", "b", "x", "é", "1", "1.", "2.", " ", "  "),
    *("\n", "\r\n", "\t"),
    *('"', "'", "=", "`", "``", "```", "~~~", "[", "]", "](", "][", "(", ")", "\\", "&", "#"),
    *("&#", ";"),
    *("&lt;", "&gt;", "&amp;", "&eacute;", "&#42;", "&#96;", "&#65;", "&#32;", "&nbsp", "lt;"),
    *("<!--", "-->", "<a ", "<b>", "</b>", "<br />", "<script>", "</script>", "<STYLE>"),
    *("</style>", "<title>", "</title>", "<title/>"),
    *("<img src=", "- ", "* ", "> ", "[x] ", "[a]: ", "[^1]", ":", "@", ".", "_", "__", "{{", "}}"),
    *("[NAME]", "<PERSON>", "{{date}}", "__ID__", "[NAME_1]", "https://x.y", "a@b.co", "|", "\0"),
]  # fmt: skip
"""Pieces of markup and of text."""

MARKUP_TEXTS = st.text() | st.lists(st.sampled_from(ATOMS) | st.characters(), max_size=25).map(
    "".join
)


def rewritten(pieces: PublicPieces, text: str, privatize: Callable[[str], str] = str) -> str:
    """Return a text whose private segments are replaced, each by itself."""
    return "".join(
        each.text if each.public else pieces.escape(privatize(each.text))
        for each in pieces.cut(text)
    )
