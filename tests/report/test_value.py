"""Numbers, dates and times, explained on the path of their kind."""

import json

import numpy as np
import pytest

from malaprop import Lexicon, ParameterError, Privatizer, explain, seeded_rng
from malaprop.draws import draw_values, write_values
from malaprop.text.kinds.grammar import read_value
from malaprop.text.kinds.grids import StepSizes


@pytest.fixture(scope="module")
def chain() -> Lexicon:
    words = ["mg", "cold", "warm"]
    plane = Lexicon(words, [[0.0], [1.0], [3.0]])
    return plane.with_graph(edges=[("mg", "cold"), ("cold", "warm")])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("2023", "number"),
        ("500mg", "number"),
        ("$12", "money"),
        ("10:30", "time"),
        ("3.5", "decimal number"),
    ],
)
def test_a_value_is_explained_by_the_law_that_is_drawn(
    text: str, kind: str, chain: Lexicon
) -> None:
    explained = explain(text, epsilon=1.0, lexicon=chain, top=6)
    assert explained.kind == kind
    assert explained.becomes[0].word == explained.word
    assert explained.becomes[0].probability == explained.stays
    value = read_value(text.removesuffix("mg"), "mdy")
    assert value is not None
    draws = draw_values(
        [value.form] * 40_000, [value.secret] * 40_000, StepSizes(), 1.0, seeded_rng(1)
    )
    texts = np.array(write_values([value.form] * 40_000, draws))
    for each in explained.becomes:
        error = 5 * (each.probability / 40_000) ** 0.5
        assert (texts == each.word).mean() == pytest.approx(each.probability, abs=error)
    total = sum(each.probability for each in explained.becomes) + explained.others_probability
    assert total == pytest.approx(1.0)


def test_near_values_are_told_apart_as_the_guarantee_says(chain: Lexicon) -> None:
    explained = explain("2023", epsilon=1.0, lexicon=chain)
    assert [(each.word, each.distance) for each in explained.rivals[:2]] == [
        ("2022", 1.0),
        ("2024", 1.0),
    ]
    for rival in explained.rivals:
        assert rival.bound == pytest.approx(np.exp(rival.distance))
        assert rival.odds == pytest.approx(rival.bound)
    assert [(each.low, each.high) for each in explained.ranges] == [
        ("2022", "2024"),
        ("2021", "2025"),
    ]


def test_steps_and_their_epsilon_can_be_chosen(chain: Lexicon) -> None:
    usual = explain("2023", epsilon=1.0, lexicon=chain)
    wider = explain("2023", epsilon=1.0, lexicon=chain, steps={"year": "5 years"})
    weaker = explain("2023", epsilon=1.0, lexicon=chain, kind_epsilon=3.0)
    assert wider.stays < usual.stays < weaker.stays
    assert weaker.guarantee.epsilon == 3.0
    assert explain("2023", epsilon=1.0, lexicon=chain, kinds="words").kind == "word"


def test_the_renderings_speak_of_values(chain: Lexicon) -> None:
    explained = explain("500mg", epsilon=1.0, lexicon=chain)
    shown = str(explained)
    assert "a value of the kind number; a step is a tenth" in shown
    assert "drawn on its own" in shown
    assert "equally likely values" in " ".join(shown.split())
    assert "of words stay" not in shown
    assert "other values" in explained._repr_html_()
    plain = json.loads(json.dumps(explained.to_dict(), allow_nan=False))
    assert plain["kind"] == "number"
    assert plain["expected_share_unchanged"] is None
    assert plain["ranges"][0]["share"] == 0.5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a@b.com", "drawn anew"),
        ("3mg4mg5", "drawn anew"),
        ("500,", "one word"),
        ("about 500", "one word"),
        ("AB123456", "drawn anew"),
    ],
)
def test_what_has_no_law_is_refused(text: str, message: str, chain: Lexicon) -> None:
    with pytest.raises(ParameterError, match=message) as caught:
        explain(text, epsilon=1.0, lexicon=chain)
    assert text not in str(caught.value)


def test_a_value_with_a_word_beside_it_counts_as_no_single_word(chain: Lexicon) -> None:
    privatizer = Privatizer(chain, "balanced", epsilon=1.0)
    assert privatizer.mapped("512") == "512"
    with pytest.raises(ParameterError, match="one word or one value"):
        privatizer.mapped("500mg")
    assert Privatizer(chain, "balanced", epsilon=1.0, kinds="words").mapped("500mg") in chain.words
