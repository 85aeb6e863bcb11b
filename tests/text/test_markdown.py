"""Markdown: signs at the starts of lines are shown; targets and code are dropped; linear time."""

import re

import pytest
from hypothesis import given
from tests.text.linear import is_linear
from tests.text.markup_texts import MARKUP_TEXTS, rewritten

from malaprop import Privatizer
from malaprop.text.markup import MarkdownText, cut_markdown
from malaprop.text.public import PublicPieces

CASES = [
    ("# x\n###### x\n####### x", "# X\n###### X\n####### X"),
    ("#x", "#X"),
    ("> x\n>> - x\n", "> X\n> > - X\n"),
    ("- x\n  * x\n+ x", "- X\n  * X\n+ X"),
    ("1984. x\n 7) x\n1234567890. x", "1. X\n 1. X\n1234567890. X"),
    ("2023.x", "2023.X"),
    ("- [x] a\n- [ ] b", "- [ ] A\n- [ ] B"),
    ("x [a](http://secret 'secret') y", "X [A]() Y"),
    ("![alt](secret_(1).png)[![b](secret)](secret)", "![ALT]()[![B]()]()"),
    ("[a](http://open", "[A](HTTP://OPEN"),
    ("[a][secret] [b][]", "[A][] [B][]"),
    ("x\n[secret]: http://secret 'secret'\ny", "X\n\nY"),
    ("[^1]: note", "[^1]: NOTE"),
    ("```secret\nsecret\n```\nx", "```\n[masked]\n```\nX"),
    ("~~~~ secret\nsecret\n~~~\nsecret\n~~~~~\nx", "~~~\n[masked]\n~~~\nX"),
    ("- ```\n  secret\n  ```\nx", "- ```\n[masked]\n```\nX"),
    ("x\n```\nsecret", "X\n```\n[masked]\n```\n"),
    ("``` a ``` b", "``` A ``` B"),
    ("`code` and    code", "`CODE` AND    CODE"),
    ("---\nauthor: secret\n---\nx", "X"),
    ("+++\nsecret\n+++\r\nx", "X"),
    ("---\nx", "---\nX"),
    ("x\n---\ny\n---", "X\n---\nY\n---"),
    ("a<!-- secret\n- secret -->b <b class=secret>x</b> <script>secret</script>y", "A B X Y"),
    ("a < b <https://x.org> &eacute;", "A < B <HTTPS://X.ORG> &EACUTE;"),
    ("| a | b |\n|---|:-:|\n| *c* | _d_ |", "| A | B |\n|---|:-:|\n| *C* | _D_ |"),
    ("", ""),
]


def shown(text: str) -> str:
    return rewritten(PublicPieces(markup="markdown"), text, str.upper)


@pytest.mark.parametrize(("text", "result"), CASES)
def test_markdown_is_shown_as_documented(text: str, result: str) -> None:
    assert shown(text) == result
    assert "secret" not in shown(text).lower()


@given(MARKUP_TEXTS)
def test_public_pieces_are_signs_alone(text: str) -> None:
    for segment in cut_markdown(text):
        if segment.public:
            letters = segment.text.replace("[masked]", "").replace("1. ", "")
            assert not re.search(r"\w", letters)


@pytest.mark.parametrize(
    "unit",
    [">", "> ", "](", "]()", "[a](", "```\n", "---\n", "1. ", "[x]:", "][a", "<a ", "\\", "](\\",
     "`", "~~~", "# ", "[", "- [ ] ", "<!--", "((", "](a("],
)  # fmt: skip
def test_the_time_is_linear(unit: str) -> None:
    for start in ("", "[a](", "---\n", "```\n"):
        assert is_linear(cut_markdown, unit, start)


def test_a_text_that_says_so_is_read_as_markdown() -> None:
    privatizer = Privatizer(epsilon=1.5)
    texts = ["```\nsecret\n```", MarkdownText("```\nsecret\n```\n1984. x")]
    (plain, marked), counts = privatizer.batch(texts)
    assert "masked" not in plain
    assert marked.startswith("```\n[masked]\n```\n1. ")
    assert counts["public_markup"] == 2


def test_numbers_of_lists_stay_without_punctuation() -> None:
    release = Privatizer(epsilon=1.5, markup="markdown", punctuation="drop")("1984. x, *y*\n- z")
    assert re.fullmatch(r"1\. \w+ \w+\n- \w+", release.text)
