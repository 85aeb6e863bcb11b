"""The report of a run as a web page."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from malaprop import privatize_files
from malaprop.measure.profile import ContextFigure
from malaprop.report import plots

_VOID = {"meta", "br", "path", "use", "image"}


class _Checked(HTMLParser):
    """Collects tags, and what they refer to; refuses tags that are not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID:
            assert self.open.pop() == tag


FIGURE = ContextFigure(
    epsilon=2.0,
    kept=0.3,
    alone=0.41,
    context=0.48,
    upper=0.5,
    sample="public <films>",
    prior="text of <all>",
)


@pytest.fixture
def page(tmp_path: Path) -> str:
    vectors = tmp_path / "tiny.vec"
    vectors.write_text("cold 0\ncool 1\nwarm 3\nhot 3.5\n")
    notes = tmp_path / "<b>notes & co.csv"
    notes.write_text("id,<i>note\n007,cold\n")
    target = tmp_path / "page.html"
    privatize_files(
        notes,
        tmp_path / "out.csv",
        columns=["<i>note"],
        mechanism="tem",
        epsilon=2.0,
        lexicon=str(vectors),
        workers=1,
        report=target,
    )
    assert target.stat().st_mode & 0o777 == 0o600
    return target.read_text("utf-8")


def test_a_page_is_whole_and_loads_nothing(page: str) -> None:
    checked = _Checked()
    checked.feed(page)
    assert checked.open == []
    assert "script" not in checked.seen
    assert all(link.startswith("#") for link in checked.links)
    assert not re.search(r"url\((?!#)", page)
    assert "http-equiv" in page
    assert page.count("<figure>") == 4


def test_a_page_says_what_must_be_known(page: str) -> None:
    for title in ("What is guaranteed", "What is not protected", "What an observer learns"):
        assert f"<h2>{title}</h2>" in page
    assert "can shift the odds between the two texts by a factor of at most" in page
    assert "<details><summary>The formal statement</summary>" in page
    assert "Context raises" in page


def test_a_page_has_the_figure_with_context_beside_the_one_without(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setattr("malaprop.measure.profile.context_figure", lambda *_: FIGURE)
    page = request.getfixturevalue("page")
    words = "of the words of public &lt;films&gt; are recovered"
    known = "text of &lt;all&gt;"
    assert f"<b>41%</b> {words} word by word, from word frequencies in {known}" in page
    assert f"<b>48%</b> {words} with context, from bigrams of {known}" in page
    assert "right by an observer without context, to whom all words are equally likely" in page
    assert f"in {known} recovers 41% by looking at each word alone" in page
    assert "also knows which words follow which 48%" in page
    assert page.count("public &lt;films&gt;") == 3


def test_a_page_without_such_a_figure_has_none(page: str) -> None:
    assert "follow which" not in page


def test_one_rate_is_one_figure(page: str) -> None:
    """How often a single word is guessed right: in a box, in a sentence, in a table."""
    [share] = re.findall(r"<b>([^<]*%)</b> of single words are guessed right", page)
    assert f"About {share} of single words are guessed right" in page
    assert f'<td class="number">1</td><td class="number">{share}</td>' in page


def test_a_page_shows_no_backticks(page: str) -> None:
    assert "`" not in page


def test_names_are_no_markup(page: str) -> None:
    assert "<b>notes" not in page
    assert "&lt;b&gt;notes &amp; co.csv" in page
    assert "&lt;i&gt;note" in page


def test_without_matplotlib_there_are_no_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from malaprop import MissingExtraError

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match="pip install matplotlib"):
        plots.drawn(lambda axes: None)
