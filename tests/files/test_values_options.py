"""Which texts have typed values, with which options, and what the guarantee says of them."""

import math
import re

import pytest
from tests.files.typed import EPSILON, SMALL, WORDS, typed

from malaprop import NADP, TEM, Balanced, Privatizer
from malaprop.draws import value_channel
from malaprop.privacy.errors import ParameterError
from malaprop.text.kinds.grids import GRIDS, StepSizes


def test_kinds_are_typed_with_balanced_and_words_otherwise() -> None:
    graph = SMALL.with_graph()
    balanced = Privatizer(graph, Balanced(epsilon=1.5))
    assert balanced.policy.kinds == "typed"
    assert balanced.policy.kind_epsilon == 1.5
    stated = balanced("2023").policy
    assert (stated["kinds"], stated["kind_epsilon"]) == ("typed", 1.5)
    assert Privatizer(SMALL, TEM(epsilon=1.0))("2023").policy["kinds"] == "words"
    assert re.fullmatch(r"\d+", balanced("2023").text)
    assert balanced("2023").policy["kinds"] == "typed"
    assert balanced("2023").policy["kind_epsilon"] == 1.5
    assert Privatizer(graph, Balanced(epsilon=1.5), kind_epsilon=0.5).policy.kind_epsilon == 0.5
    assert Privatizer(graph, Balanced(epsilon=1.5), kinds="words")("2023").text.lower() in WORDS
    plain = Privatizer(SMALL, TEM(epsilon=1.0))
    assert plain.policy.kinds == "words"
    assert plain("2023").text.lower() in WORDS
    assert "kinds" not in str(plain.guarantee)
    assert plain.guarantee.kinds == ()


def test_other_metrics_need_an_epsilon_of_their_own() -> None:
    with pytest.raises(ParameterError, match="kind_epsilon"):
        Privatizer(SMALL, TEM(epsilon=1.0), kinds="typed")
    for options in (
        {"kind_epsilon": 1.0},
        {"steps": {"date": "3 days"}},
        {"dates": "dmy"},
        {"decimals": "comma"},
        {"decimals": "comma"},
    ):
        with pytest.raises(ParameterError, match="typed"):
            Privatizer(SMALL, TEM(epsilon=1.0), **options)
    with pytest.raises(ParameterError, match="treat numbers and dates as words"):
        Privatizer(SMALL, NADP(epsilon=1.0, delta=1e-6), kinds="typed", kind_epsilon=1.0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"kinds": "other"},
        {"kind_epsilon": 0.0},
        {"kind_epsilon": math.nan},
        {"kind_epsilon": math.inf},
        {"kind_epsilon": 1e-31},
        {"kind_epsilon": 1e200},
        {"kind_epsilon": "1"},
        {"kind_epsilon": True},
        {"dates": "ymd"},
        {"decimals": "."},
        {"steps": {"date": "soon"}},
        {"steps": "date"},
    ],
)
def test_wrong_options_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        typed(**wrong)


def test_the_guarantee_names_the_kinds() -> None:
    guarantee = typed(steps={"date": "3 days"})("cold 2023").guarantee
    for part in (
        "kinds and formats of values",
        "each value as the nearest one of its grid",
        "dates (3 days",
        "e-mail addresses, web addresses, mentions",
        "Between values of different kinds or shapes, nothing is promised.",
    ):
        assert part in str(guarantee)
    assert "never by more than" not in str(guarantee)
    assert guarantee.cap == math.inf
    assert guarantee.of_kind("date").loss(2.0) == 2.0 * EPSILON
    assert guarantee.of_kind("identifier").loss(2.0) == 0.0
    assert guarantee.words == 2


def test_the_guarantee_says_what_values_rest_on() -> None:
    """The grids are public, and the draws of values are rounded, too: at least as on any grid."""
    for epsilon in (1e-9, 0.8, 1e9):
        guarantee = typed(kind_epsilon=epsilon).guarantee
        assert "the grids of values and their steps" in guarantee.public
        stated = re.fullmatch(
            r".* of a word.*adds less than (\S+) to .* of a value.*", guarantee.numerics
        )
        assert stated
        for grid in GRIDS.values():
            numerics = value_channel(grid, StepSizes(), epsilon).guarantee.numerics
            own = re.search(r"less than (\S+)", numerics)
            assert own
            assert float(own[1]) <= float(stated[1])
        assert guarantee.numerics.count("float64") == 1
    assert "value" not in typed(kinds="words", kind_epsilon=None).guarantee.numerics
