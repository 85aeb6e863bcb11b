"""What a word may become, as a value: the law, its renderings, and what they must not hold."""

import json
import math
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import malaprop
from malaprop import TEM, Balanced, Explanation, Gaussian, Laplace, Lexicon, explain
from malaprop.privacy.errors import ParameterError
from malaprop.privacy.mechanism import Mechanism
from malaprop.report.explanation import explanation_page
from malaprop.report.page import render

WORDS = ("cold", "cool", "warm", "hot", "<b>bold</b>")
SMALL = Lexicon(WORDS, [[0.0], [1.0], [2.0], [3.0], [3.5]])
ALL: list[Mechanism] = [
    TEM(epsilon=1.0),
    Balanced(epsilon=1.0),
    Laplace(epsilon=1.0),
    Gaussian(epsilon=1.0),
]


TAGS = {"b", "h1", "h2", "p", "ul", "li", "div", "table", "thead", "tbody", "tr", "th", "td"}


class Strict(HTMLParser):
    """Collects tags and text, and refuses tags that are left open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data + " "


def parsed(html: str) -> Strict:
    strict = Strict()
    strict.feed(html)
    strict.close()
    assert strict.open == []
    assert strict.seen <= TAGS
    assert not re.search(r"https?:|<script|src=|href=", html)
    return strict


def test_the_law_is_the_channels() -> None:
    explained = explain("Cold", mechanism=TEM(epsilon=1.3), lexicon=SMALL, top=3)
    law = np.exp(TEM(epsilon=1.3).on(SMALL).log_probabilities([0])[0])
    assert [each.word for each in explained.becomes] == ["cold", "cool", "warm"]
    assert [each.probability for each in explained.becomes] == pytest.approx(law[:3])
    assert [each.distance for each in explained.becomes] == [0.0, 1.0, 2.0]
    assert explained.others == 2
    assert explained.others_probability == pytest.approx(law[3:].sum())
    assert explained.stays == pytest.approx(law[0])
    assert explained.expected_distance == pytest.approx(law @ [0, 1, 2, 3, 3.5])
    assert (explained.unit, explained.rings, explained.draws) == ("distance", (), 0)
    assert explained.rivals[0].bound == pytest.approx(math.exp(1.3))


def test_the_rings_hold_all_words_and_all_probability() -> None:
    explained = explain("cold", epsilon=1.0, lexicon=SMALL)
    assert explained.unit == "steps"
    assert sum(ring.count for ring in explained.rings) == len(SMALL)
    assert sum(ring.probability for ring in explained.rings) == pytest.approx(1.0)
    assert explained.rings[0].likeliest == ("cold",)


def test_the_defaults_are_those_of_a_privatizer() -> None:
    explained = malaprop.explain("aspirin", epsilon=1.5)
    assert explained.guarantee == malaprop.Privatizer(epsilon=1.5).channel.guarantee
    assert explained.becomes[0].word == "aspirin"
    assert "ibuprofen" in str(explained)
    # Rings that are far out, and hardly matter, are one row of a page.
    (last,) = (line for line in str(explained).splitlines() if re.match(r"\s+[\d.]+\+ ", line))
    far = explained.rings[8:]
    assert len(far) > 5
    assert last.split()[:2] == [f"{far[0].steps:g}+", f"{sum(ring.count for ring in far):,}"]


@pytest.mark.parametrize("mechanism", ALL, ids=lambda mechanism: mechanism.name)
def test_all_renderings_say_the_same(mechanism: Mechanism) -> None:
    explained = explain("cold", mechanism=mechanism, lexicon=SMALL)
    plain = explained.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    strict = parsed(explained._repr_html_())
    flat, shown = " ".join(str(explained).split()), " ".join(strict.text.split())
    for part in ("cold", "<b>bold</b>", "What an observer can infer", str(explained.guarantee)):
        assert part in flat
        assert part in shown
    assert ("Estimated from 4,000 draws" in flat) == bool(explained.draws)
    assert plain["guarantee"]["statement"] == str(explained.guarantee)
    assert len(plain["becomes"]) == len(explained.becomes) == len(SMALL)


def test_a_word_outside_the_lexicon_is_not_repeated() -> None:
    explained = explain("doctorzyx", epsilon=1.0, mechanism="tem", lexicon=SMALL)
    assert explained.mapped
    assert "Not in the lexicon: it counts as " in str(explained)
    for shown in (str(explained), explained._repr_html_(), repr(explained), explained.to_dict()):
        assert "zyx" not in str(shown)


def test_lines_fit_the_width(english: Lexicon) -> None:
    explained = explain("aspirin", epsilon=1.5, lexicon=english)
    for width in (60, 80, 120):
        lines = render(explanation_page(explained), width=width).splitlines()
        assert max(map(len, lines)) <= width
    (own,) = [line for line in lines if line.startswith("aspirin ")]
    assert own.endswith("█" * 30)


def test_wide_letters_keep_their_columns() -> None:
    wide = Lexicon(["寒い", "cold", "暑い"], [[0.0], [1.0], [2.0]])
    shown = str(explain("cold", mechanism=TEM(epsilon=1.0), lexicon=wide)).splitlines()
    lines = [line for line in shown if line.startswith(wide.words)]
    assert len(lines) == 3
    cells = [sum(2 if ord(sign) > 0x3000 else 1 for sign in line.split("%")[0]) for line in lines]
    assert len(set(cells)) == 1


@pytest.mark.parametrize("wrong", ["cold hot", "cold,", "", " ", None, 5, float("nan")])
def test_only_one_word_is_explained(wrong: str) -> None:
    with pytest.raises(ParameterError, match="Give one word"):
        explain(wrong, epsilon=1.0, mechanism="tem", lexicon=SMALL)


def test_wrong_parameters_are_refused() -> None:
    with pytest.raises(ParameterError, match="'top'"):
        explain("cold", epsilon=1.0, lexicon=SMALL, top=0)
    with pytest.raises(ParameterError, match="needs an ε"):
        explain("cold", lexicon=SMALL)


def test_an_explanation_is_a_value() -> None:
    assert issubclass(Explanation, object)
    one, other = (explain("cold", epsilon=1.0, lexicon=SMALL) for _ in range(2))
    assert one == other


def test_a_value_has_the_keys_of_a_word() -> None:
    word, value = explain("cold", epsilon=1.5).to_dict(), explain("2023", epsilon=1.0).to_dict()
    assert value.keys() == word.keys()
    assert value["expected_share_unchanged"] is value["context"] is None
    assert not {"keeping", "share"} & value.keys()
