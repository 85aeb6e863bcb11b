"""HTML: only known tags are shown; malformed markup is text; linear time; nothing fails."""

import time
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text.linear import is_linear
from tests.text.markup_texts import MARKUP_TEXTS, rewritten

from malaprop.text.markup import TAGS, VOID, cut_html, escape_html
from malaprop.text.public import PublicPieces

SHOWN = {f"<{name}>" for name in TAGS} | {f"</{name}>" for name in TAGS - VOID}


def shown(text: str) -> str:
    return rewritten(PublicPieces(markup="html"), text)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("<P CLASS='secret'>x</P\n>", "<p>x</p>"),
        ("a<br/>b<br />c<BR>d</br>", "a<br>b<br>c<br>d"),
        ('<a href="x>y" title="<b>secret</b>">link</a>', "<a>link</a>"),
        ("<p it's>x it's", "<p>x it's"),
        ("<a href=secret/?a=b>l</a>", "<a>l</a>"),
        ("x<!-- secret -->y<!---->z", "x y z"),
        ("x<script type='a'>if (a</b>) secret </scripty></SCRIPT >y", "x y"),
        ("<style>secret</style><font color=secret>x</font>y", "x y"),
        ("<!DOCTYPE secret><?xml secret?><![CDATA[secret]]>x", "x"),
        ("<img src=secret alt='secret'>", ""),
        ("<o:p>x</o:p> <my-tag>y", "x y"),
        ("<option>a</option><option>b</option>", "a b"),
        ("a < b, a<b, 1 <2 <3 <", "a &lt; b, a&lt;b, 1 &lt;2 &lt;3 &lt;"),
        ("Ann <ann@x.org> <https://x.org>", "Ann &lt;ann@x.org&gt; &lt;https://x.org&gt;"),
        ("<!-- open", "&lt;!-- open"),
        ("<script>open", "&lt;script&gt;open"),
        ("<p open", "&lt;p open"),
        ("<p <b>x", "&lt;p <b>x"),
        ("<html><head><meta x=secret><TITLE lang=secret>x &amp; y</title ></head><body><p>z</p>",
         "<html><head><title>x &amp; y</title></head><body><p>z</p>"),
        ("<title>a <b>x</b> <!-- y --><script></title>z",
         "<title>a &lt;b&gt;x&lt;/b&gt; &lt;!-- y --&gt;&lt;script&gt;</title>z"),
        ("<title>a<p>b", "a<p>b"),
        ("a</title><p>b", "a<p>b"),
        ("<svg><title/><text>a</text></svg><p>b", "a<p>b"),
        ("<title>a<title>b</title>c</title>d", "<title>a&lt;title&gt;b</title>c d"),
        ("<textarea>x</textarea><noscript>y</noscript><template>z</template>", "x y z"),
        ("<select><option value=secret label='secret'>x</select>", "x"),
        ("<!--[if IE]>secret<![endif]-->x<![if !IE]>y<![endif]>", "x y"),
        ("&eacute;&#233;&#xE9; &lt;b&gt; &amp;lt; &amp &unknown;",
         "ééé &lt;b&gt; &amp;lt; &amp; &amp;unknown;"),
        ("&l<!-- -->t;", "&amp;l t;"),
        ("", ""),
    ],
)  # fmt: skip
def test_markup_is_shown_as_documented(text: str, result: str) -> None:
    assert shown(text) == result


@given(MARKUP_TEXTS)
def test_public_pieces_are_exactly_known_tags(text: str) -> None:
    assert {each.text for each in cut_html(text) if each.public} <= SHOWN


@given(MARKUP_TEXTS)
def test_what_is_shown_is_read_again_in_the_same_way(text: str) -> None:
    for placeholders in ((), "placeholders"):
        pieces = PublicPieces(placeholders, markup="html")
        assert pieces.cut(rewritten(pieces, text)) == pieces.cut(text)


SECRET = st.text(st.sampled_from("q<>&;=/! -\n\"'Q"), max_size=8).map(lambda text: f"Q{text}Q")


@given(
    MARKUP_TEXTS,
    SECRET,
    st.sampled_from(["<!--{}-->", "<script>{}</script>", "<style x>{}</style>"]),
)
def test_what_comments_and_scripts_hold_is_dropped(text: str, secret: str, form: str) -> None:
    before = text.replace("<", "").replace("Q", "")
    hidden = form.format(secret.replace("--", "").replace("</", ""))
    assert not any("Q" in each.text for each in cut_html(before + hidden))


@given(SECRET, st.sampled_from(["p", "img", "a", "foo"]), st.sampled_from("\"'"))
def test_attributes_are_dropped(secret: str, name: str, quote: str) -> None:
    tag = f"<{name} x={quote}{secret.replace(quote, '')}{quote} y>"
    assert "".join(each.text for each in cut_html(f"a {tag} b")).replace(f"<{name}>", "") == "a  b"


class Reader(HTMLParser):
    """Reads tags and text with the standard library's parser."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert attributes == []
        self.tags.append(f"<{tag}>")

    def handle_endtag(self, tag: str) -> None:
        self.tags.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self.text += data


@given(MARKUP_TEXTS)
def test_another_parser_reads_the_same_tags_and_text(text: str) -> None:
    segments, reader = cut_html(text), Reader()
    reader.feed(shown(text))
    reader.close()
    assert reader.tags == [each.text for each in segments if each.public]
    assert reader.text == "".join(each.text for each in segments if not each.public)


@given(st.text())
def test_escaped_text_has_no_markup(text: str) -> None:
    assert [each.text for each in cut_html(escape_html(text))] == ([text] if text else [])


HOSTILE = [
    *("<", "<a ", '<a ="" ="', "<a x='", '<a =" =\'', "<!--", "<!", "<?", "<script>", "<style x='"),
    *("<title>", "<title>a</title>", "<title/>", "</title ", "<title></title x"),
    *("<script></script ", "</script x", "&", "&#", "&#x", "&lt", "&#0", "= ", '="', "<b", "</"),
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_the_time_is_linear(unit: str) -> None:
    for start in ("", "<a "):
        assert is_linear(cut_html, unit, start)


def test_a_million_brackets_take_seconds() -> None:
    started = time.process_time()
    cut_html("<" * 1_000_000)
    assert time.process_time() - started < 5


@pytest.mark.parametrize("digits", ["9" * 100_000, "0" * 100_000 + "65", "x" + "f" * 100_000])
def test_huge_references_do_no_harm(digits: str) -> None:
    (segment,) = cut_html(f"&#{digits};")
    assert segment.text == ("A" if digits.endswith("65") else "\ufffd")
