"""HTML and Markdown: tags, code and targets told from the text between them."""

import re
from collections.abc import Iterator, Mapping
from html import unescape
from typing import ClassVar, Literal

from malaprop.text.segments import Segment, is_placeholder

Markup = Literal["html", "markdown"]


MARKUP_SHOWN: Mapping[Markup, str] = {
    "html": "the tags of HTML",
    "markdown": "the signs of Markdown at the starts of lines, and where code stands",
}
"""What is shown of texts in a language of markup."""


class MarkedText(str):
    """A text that says in which language of markup it is, whatever a policy says of others."""

    __slots__ = ()
    markup: ClassVar[Markup]


class HtmlText(MarkedText):
    """A text in HTML."""

    __slots__ = ()
    markup = "html"


class MarkdownText(MarkedText):
    """A text in Markdown."""

    __slots__ = ()
    markup = "markdown"


# Character references of HTML, such as `&eacute;`, `&#233;` and `&lt;`: decoded as browsers do.


# Python refuses to read numbers of thousands of digits. No character has more than seven.
_HUGE = re.compile(r"&#(?:0*+[1-9][0-9]{7,}+|[xX]0*+[1-9A-Fa-f][0-9A-Fa-f]{6,}+);?")
_PADDED = re.compile(r"&#([xX]?)0{8,}+")
_UNKNOWN = "\ufffd"


def decoded(text: str) -> str:
    """Return a text with its character references decoded. No text makes this fail.

    >>> decoded("caf&eacute; &lt;b&gt; &#" + "9" * 9999 + ";")
    'café <b> �'
    """
    if "&" not in text:
        return text
    return unescape(_PADDED.sub(r"&#\g<1>0", _HUGE.sub(_UNKNOWN, text)))


# HTML: known tags are public, without their attributes; the text between them is private.
#
# The rules:
#
# - Tags on the closed list `TAGS` are shown as `<p>` or `</p>`: in small letters, without
# attributes
#   and without a slash at the end (`<br />` becomes `<br>`).
# - A title is shown with both of its tags, or with none: if one is missing, or `<title/>` closes
#   itself. As in browsers, what it holds is text, not markup.
# - Dropped: comments, declarations, scripts and style sheets with what they hold, all other tags,
#   and end tags of elements that have none (`</br>`). Where two words would run together, a space
#   takes the place.
# - Malformed markup is text: a `<` that starts no tag, a tag, comment or script without an end, a
#   tag with a `<` in it outside quotes, `<ann@example.org>`.
# - Character references are decoded before the text is cut into tokens, and `escape_html` escapes
#   the private text again.
#
# The time is linear in the length of the text.

VOID = frozenset({"br", "hr", "wbr"})
"""Elements without an end tag."""
TITLE = "title"
INLINE = frozenset(
    {
        *("a", "abbr", "b", "bdi", "cite", "code", "del", "dfn", "em", "i", "ins", "kbd", "mark"),
        *("q", "s", "samp", "small", "span", "strong", "sub", "sup", "u", "var", "wbr"),
    }
)
"""Elements within a line: their tags part no sentences."""
TAGS = (
    VOID
    | INLINE
    | {
        *("html", "head", TITLE),
        *("body", "main", "section", "article", "header", "footer", "nav", "aside", "div"),
        *("h1", "h2", "h3", "h4", "h5", "h6", "p", "blockquote", "pre", "address", "hgroup"),
        *("ul", "ol", "li", "dl", "dt", "dd", "figure", "figcaption", "details", "summary"),
        *("table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td"),
    }
)
"""The elements whose tags are shown."""

_RAW = frozenset({"script", "style"})
_NAME = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*+(?:[:-][A-Za-z0-9]++)*+)(?=[\s/>])")
# Attributes up to a quoted value, the end of the tag, or what may not stand in a tag.
_ATTRIBUTES = re.compile(r"(?:[^<>=]++|=(?!\s*+[\"']))*+(?:=\s*+([\"'])|(>))?")
_ENDS = {
    **{sign: re.compile(sign) for sign in (">", "-->")},
    **{
        name: re.compile(rf"</{name}(?=[\s/>])[^<>]*+>", re.IGNORECASE | re.ASCII)
        for name in (*_RAW, TITLE)
    },
}
_WORD_ENDS = re.compile(r"\w\Z")
_WORD_STARTS = re.compile(r"\w")


def cut_html(text: str, *, placeholders: bool = False) -> list[Segment]:
    """Cut HTML into tags, which are public, and the text between them, decoded.

    With `placeholders`, a tag such as `<PERSON>` is text.

    >>> [each.text for each in cut_html('<P id="x">Caf&eacute; <!-- Ann -->&lt;3<br/>')]
    ['<p>', 'Café <3', '<br>']
    """
    runs: list[str] = []
    segments: list[Segment] = []
    for run, markup in _HtmlReader(text, placeholders=placeholders).pieces():
        if run := decoded(run):
            # Where something was dropped between two words, a space takes its place.
            if runs and _WORD_ENDS.search(runs[-1]) and _WORD_STARTS.match(run):
                runs.append(" ")
            runs.append(run)
        if markup:
            segments += Segment("".join(runs), False), Segment(markup, True, "markup")
            runs.clear()
    segments.append(Segment("".join(runs), False))
    return [each for each in segments if each.text]


def escape_html(text: str) -> str:
    """Escape private text, so that no character of it is taken for markup.

    >>> escape_html("a < b & c")
    'a &lt; b &amp; c'
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


class _HtmlReader:
    """Finds the markup in a text.

    A search that reached the end of the text in vain is not repeated: this keeps the time linear.
    """

    def __init__(self, text: str, *, placeholders: bool) -> None:
        self._text, self._placeholders = text, placeholders
        self._missing: set[str] = set()
        # Where quoted values start from which no end of a tag can be reached.
        self._dead: set[int] = set()

    def pieces(self) -> Iterator[tuple[str, str]]:
        """Return pairs of a run of text and the tag behind it (empty if it is dropped)."""
        start = place = 0
        while (place := self._text.find("<", place)) >= 0:
            piece = self._markup_at(place)
            if piece is None:
                place += 1
                continue
            end, markup = piece
            if title := self._title(place, end):
                yield self._text[start:place], f"<{TITLE}>"
                start, place, end, markup = end, title.start(), title.end(), f"</{TITLE}>"
            yield self._text[start:place], markup
            start = place = end
        yield self._text[start:], ""

    def _title(self, place: int, end: int) -> re.Match[str] | None:
        """Return the end tag of the title whose start tag stands between two places, if both do."""
        name = _NAME.match(self._text, place, end)
        if name is None or name[1] or name[2].lower() != TITLE or self._text[end - 2] == "/":
            return None
        return self._end(TITLE, end)

    def _markup_at(self, place: int) -> tuple[int, str] | None:
        """Return the end of the markup at a “<”, and how it is shown, or None if it is text."""
        if self._text.startswith(("<!", "<?"), place):
            comment = self._text.startswith("<!--", place)
            ending = self._end("-->", place + 4) if comment else self._end(">", place + 2)
            return None if ending is None else (ending.end(), "")
        tag = _NAME.match(self._text, place)
        if tag is None:
            return None
        end, slash, name = self._tag_end(tag.end()), tag[1], tag[2].lower()
        if end < 0 or (self._placeholders and is_placeholder(self._text[place:end])):
            return None
        if name in _RAW and not slash:  # dropped with its content
            ending = self._end(name, end)
            return None if ending is None else (ending.end(), "")
        # Of a title, only both tags together are shown.
        dropped = name not in TAGS or name == TITLE or (slash and name in VOID)
        return end, "" if dropped else f"<{slash}{name}>"

    def _end(self, ending: str, place: int) -> re.Match[str] | None:
        """Return the next sign or end tag that ends a declaration or an element."""
        if ending in self._missing:
            return None
        match = _ENDS[ending].search(self._text, place)
        if match is None:
            self._missing.add(ending)
        return match

    def _tag_end(self, place: int) -> int:
        """Return the end of a tag, given the end of its name, or -1.

        A quote counts only after “=”, and “>” may stand within quotes. Two scans that open the
        same quote go on alike, so a quote from which one scan failed is remembered.
        """
        opened: list[int] = []
        while attributes := _ATTRIBUTES.match(self._text, place):
            if attributes[2]:
                return attributes.end()
            place = attributes.end()
            if not attributes[1] or place in self._dead:
                break
            opened.append(place)
            place = self._text.find(attributes[1], place) + 1
            if not place:
                break
        self._dead.update(opened)
        return -1


# Markdown: the signs at the starts of lines are public; all else is text, or dropped.
#
# The rules:
#
# - Headings, quotes, bullets and numbers of lists are shown at the starts of lines, each number as
#   `1.`, each box of a task as `[ ]`.
# - A block of code between fences is shown as one mask, without the fence's language.
# - Dropped: metadata at the start (between lines of `---` or `+++`), the targets of links and
#   images, definitions of targets, and tags, comments, scripts and style sheets of HTML. Where two
#   words would run together, a space takes the place.
# - All else is text: emphasis, tables, brackets and code within a line, of which the signs are
#   punctuation; web addresses; whatever is malformed.
#
# Here, too, the time is linear in the length of the text.

MASKED_CODE = "[masked]"
"""What is shown of a block of code."""
_METADATA = re.compile(r"\A(---|\+\+\+)[ \t]*+\r?\n(?:[^\n]*+\n)*?\1[ \t]*+(?:\r?\n|\Z)")
_LINE_SIGN = re.compile(
    r"([ \t]*+)(?:(?P<heading>\#{1,6})(?=[ \t])|(?P<quote>>)"
    r"|(?P<bullet>[-*+])(?=[ \t])(?P<box>[ \t]++\[[ xX]\](?=[ \t]))?"
    r"|(?P<number>[0-9]{1,9}[.)])(?=[ \t]))[ \t]*+"
)
_FENCE = re.compile(r"[ \t]*+(?:(`{3,})[^`\n]*+|(~{3,})[^\n]*+)\n?\Z")
_DEFINITION = re.compile(r" {0,3}\[(?!\^)[^\[\]\n]++\]:[^\n]*+")
_TARGET = re.compile(r"\]\((?:[^()\\\n]++|\\.|\([^()\n]*+\))*+\)")
_REFERENCE = re.compile(r"\]\[[^\[\]\n]*+\]")


def cut_markdown(text: str, *, placeholders: bool = False) -> list[Segment]:
    """Cut Markdown into the signs at the starts of lines, which are public, and the text.

    With `placeholders`, a tag such as `<PERSON>` is text.

    >>> [each.text for each in cut_markdown("# Ann\\n- see [me](http://x)\\n```sh\\nls\\n```\\n")]
    ['# ', 'Ann\\n', '- ', 'see [me]()\\n', '```\\n[masked]\\n```\\n']
    """
    segments: list[Segment] = []
    for part, fence in _fenced(_METADATA.sub("", text, count=1)):
        for line in _without_targets(part, placeholders=placeholders).splitlines(keepends=True):
            signs, rest = _signs(line)
            if not signs and segments and not segments[-1].public:
                segments[-1] = Segment(segments[-1].text + rest, False)
            else:
                segments += Segment(signs, True, "markup"), Segment(rest, False)
        if fence:
            segments.append(Segment(f"{fence}\n{MASKED_CODE}\n{fence}\n", True, "markup"))
    return [each for each in segments if each.text]


def _fenced(text: str) -> Iterator[tuple[str, str]]:
    """Yield pairs of what stands before a block of code, and the fence of the block.

    The fence is empty behind the last block. One without an end reaches to the end of the text.
    """
    lines: list[str] = []
    fence = ""
    for line in text.splitlines(keepends=True):
        start = _signs_end(line)
        mark = _FENCE.match(line, start)
        signs = (mark[1] or mark[2]) if mark else ""
        if fence:
            if signs.startswith(fence) and line.strip(" \t\r\n>") == signs:
                fence = ""
        elif signs:
            fence = signs
            lines.append(line[:start])
            yield "".join(lines), fence[:3]
            lines.clear()
        else:
            lines.append(line)
    yield "".join(lines), ""


def _without_targets(text: str, *, placeholders: bool) -> str:
    """Return Markdown without what is dropped of it."""
    runs: list[str] = []
    for run, _ in _HtmlReader(text, placeholders=placeholders).pieces():
        if runs and _WORD_ENDS.search(runs[-1]) and _WORD_STARTS.match(run):
            runs.append(" ")
        runs += [run] if run else []
    return _REFERENCE.sub("][]", _TARGET.sub("]()", "".join(runs)))


def _line_signs(line: str) -> list[re.Match[str]]:
    """Return the signs at the start of a line."""
    signs: list[re.Match[str]] = []
    while sign := _LINE_SIGN.match(line, signs[-1].end() if signs else 0):
        signs.append(sign)
        if sign["heading"]:
            break
    return signs


def _signs_end(line: str) -> int:
    signs = _line_signs(line)
    return signs[-1].end() if signs else 0


def _signs(line: str) -> tuple[str, str]:
    """Return the signs at the start of a line as they are shown, and the rest of the line."""
    if _DEFINITION.match(line):
        return "", line[len(line.rstrip("\r\n")) :]
    signs = _line_signs(line)
    shown = [
        f"{sign[1]}{sign['heading'] or sign['quote'] or sign['bullet'] or '1.'} "
        f"{'[ ] ' if sign['box'] else ''}"
        for sign in signs
    ]
    return "".join(shown), line[signs[-1].end() if signs else 0 :]
