"""Markdown: code masked, targets dropped, structure kept; linear time; nothing fails."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text.public.linear import is_linear
from tests.text.public.markup_texts import MARKUP_TEXTS

from malaprop.text.public import PublicPieces, cut_markdown, escape_markdown
from malaprop.text.public.html_tags import TAGS, VOID
from malaprop.text.public.markdown_source import written_source

TAGS_SHOWN = {f"<{name}>" for name in TAGS} | {f"</{name}>" for name in TAGS - VOID}
FORMS_SHOWN = re.compile(
    r"\]\(\)|\[ \]|[0-9]{1,9}[.)]|(`+)\[code\]\1|```\n[ \t>]*\[code\]\n[ \t>]*```|&(gt|#\d\d\d?);"
)


def shown(text: str) -> str:
    return PublicPieces(markup="markdown").rewritten(text, str)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("# A *b* __c__\n\n> q\n\n- d\n\n| a | b |\n|:-|--|\n", None),
        ("[t](secret) ![a](secret.png \"secret\") [t](<secret x> 'secret')", "[t]() ![a]() [t]()"),
        ("[t](https://x.y/secret_(a)?b) [t]( secret )", "[t]() [t]()"),
        ("[t](not a target) [t] (x) f(x)", None),
        ("[t][Ref  A] a[i][j]\n\n[ref a]: https://secret 'secret'\nx", "[t]() a[i][j]\n\nx"),
        ("> [a]: secret\n[b]: <#secret x>\n[c]: x not a definition", "[c]: x not a definition"),
        ("[^1] and\n\n[^1]: a note", None),
        ("a `secret` b ``se`cret`` c", "a `[code]` b ``[code]`` c"),
        ("a \\`b c ` d\n`", None),
        ("\\``secret`", "\\``[code]`"),
        ("```python\nsecret\n\nsecret\n```\nx", "```\n[code]\n```\nx"),
        ("~~~ secret\nsecret\n```\n~~~~\nx", "```\n[code]\n```\nx"),
        ("````\n```\nsecret\n````", "```\n[code]\n```"),
        ("```\nsecret", "```\n[code]\n```"),
        ("> ```sh\n> secret\nx", "> ```\n> [code]\n> ```\nx"),
        ("- ```sh\n  secret\n  ```\n- x", "- ```\n  [code]\n  ```\n- x"),
        ("    indented is text", None),
        ("<b class=secret>x</b> <img alt=secret>y<!-- \n```\nsecret -->z", "<b>x</b> y z"),
        ("<!-- a -->```\nsecret\n```", "```\n[code]\n```"),
        ("`<!--` a `-->`", "`[code]` a `[code]`"),
        ("<https://x.y> <a@b.c>", "https://x.y a@b.c"),
        ("a < b & c &lt; &amp; \\< \\&", "a &lt; b &amp; c &lt; &amp; &lt; &amp;"),
        ("caf&eacute; &quot;x&quot; &#42;y&#42; &gt; &#96;", 'café "x" &#42;y&#42; &gt; &#96;'),
        ("&#65;&#49;", "A1"),
        ("- [x] a\n- [ ] b\n* [X] c", "- [ ] a\n- [ ] b\n* [ ] c"),
        ("", ""),
    ],
)
def test_markup_is_shown_as_documented(text: str, result: str | None) -> None:
    assert shown(text) == (text if result is None else result)


def test_numbers_of_items_are_public_only_where_they_follow() -> None:
    text = "1. a\n2. b\n7. c\n3. d\n  1) e\n  2) f\n4. g\n1984. h\n1. i\n3. j\n01. k"
    numbers = [each.text for each in cut_markdown(text) if each.public]
    assert numbers == ["1.", "2.", "3.", "1)", "2)", "4.", "1."]


@given(MARKUP_TEXTS)
def test_public_pieces_are_of_the_documented_forms(text: str) -> None:
    for each in cut_markdown(text):
        if each.public:
            assert each.text in TAGS_SHOWN or FORMS_SHOWN.fullmatch(each.text)


@given(MARKUP_TEXTS)
def test_references_that_are_shown_stand_for_punctuation(text: str) -> None:
    for each in cut_markdown(text):
        if each.public and each.text.startswith("&#"):
            assert not chr(int(each.text[2:-1])).isalnum()


@given(MARKUP_TEXTS)
def test_what_is_shown_is_read_again_in_the_same_way(text: str) -> None:
    for placeholders in ((), "placeholders"):
        pieces = PublicPieces(placeholders, markup="markdown")
        assert pieces.cut(pieces.rewritten(text, str)) == pieces.cut(text)


@given(MARKUP_TEXTS)
def test_writing_the_source_twice_changes_nothing_that_is_shown(text: str) -> None:
    assert cut_markdown(written_source(text)) == cut_markdown(text)


HIDDEN = [
    *("[t]({})", "![t]({})", '[t](x "{}")', "`{}`", "```{}\nx\n```", "```\n{}\n```"),
    *("~~~\n{}\n~~~",),
    *("[t]: {}", "> [t]: {}", "<!-- {} -->", "<img x='{}'>", "<b x={}>", "<script>{}</script>"),
]  # fmt: skip


@given(
    st.sampled_from(HIDDEN), st.text(st.sampled_from("q-._/:?#%"), max_size=8), st.text(max_size=9)
)
def test_what_code_and_targets_hold_is_not_in_any_segment(
    form: str, secret: str, before: str
) -> None:
    if form.startswith("<!--"):
        secret = secret.replace("-", "")
    text = re.sub(r"[Q`~<\\\[]", "", before) + "\n\n" + form.format(f"Q{secret}Q") + "\n\nend"
    assert not any("Q" in each.text for each in cut_markdown(text))


@given(st.text())
def test_escaped_text_has_no_html(text: str) -> None:
    assert not any(each.text in TAGS_SHOWN for each in cut_markdown(escape_markdown(text)))


HOSTILE = [
    *("`", "``` ", "`` ` ", "`\n", "](", "](a", "](&lt;", "](()", '](a "', "](a '", "](a ("),
    *("][", "[a]:", "[a]: x\n", "[" * 9, "\\", "<", '<a ="" ="', "<!--", "&", "&#", "1. ", "1.\n"),
    *("> ", ">", "- [x] ", "~~~\n", "> ~~~\n", "<a](<a ", "&lt;", "][a]", " ", "\t", "\\`"),
    *("[x", "<a@", "&!](](<!--", "<a ](<a "),
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_the_time_is_linear(unit: str) -> None:
    for start in ("", "<a ", "[a]: x\n", "```\n"):
        assert is_linear(cut_markdown, unit, start)


def test_runs_of_backticks_of_all_lengths_take_linear_time() -> None:
    assert is_linear(cut_markdown, " ".join("`" * length for length in range(1, 100)))
