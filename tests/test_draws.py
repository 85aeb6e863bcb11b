"""Numbers, dates and times are drawn by the law of their path; identifiers tell nothing."""

import math
import pickle
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import chisquare
from tests.files.typed import EPSILON, SMALL, WORDS, typed

from malaprop import explain
from malaprop.draws import value_channel
from malaprop.privacy.errors import ParameterError
from malaprop.text.kinds import ValueForm
from malaprop.text.kinds.grammar import read_value, split_values
from malaprop.text.kinds.grids import GRIDS, StepSizes
from malaprop.text.policy import Policy
from malaprop.text.treatment import BoundPolicy

DRAWS = 60_000


def law(form: ValueForm, index: int, epsilon: float, steps: StepSizes) -> NDArray[np.float64]:
    """The law by the closed form, from the places of the grid alone."""
    places = form.grid.places(steps)
    q = np.exp(-epsilon * np.diff(places))
    left, right = np.append(0.0, q), np.append(q, 0.0)
    weights = (1.0 - left * right) / ((1.0 + left) * (1.0 + right))
    probabilities: NDArray[np.float64] = weights * np.exp(-epsilon * abs(places - places[index]))
    assert math.isclose(probabilities.sum(), 1.0, rel_tol=1e-9)
    return probabilities


def p_value(token: str, epsilon: float, **options: object) -> float:
    """How likely the values that were drawn for a token are, by the law with this ε."""
    value = read_value(token, "mdy")
    assert value is not None
    assert isinstance(value.form, ValueForm)
    texts, counts = typed(**options).batch([token] * DRAWS)
    assert counts["protected"] == counts[value.form.tag] == DRAWS
    found = Counter(texts)
    drawn = np.zeros(len(value.form.grid.values))
    for text, count in found.items():
        again = read_value(text, "mdy")
        assert again is not None
        assert again.form == value.form
        drawn[again.secret] += count
    steps = StepSizes(options.get("steps"))  # type: ignore[arg-type]
    expected = law(value.form, value.secret, epsilon, steps)
    bins = np.unique(np.floor(np.cumsum(expected) * 40), return_index=True)[1]
    pooled = np.add.reduceat(expected, bins) * DRAWS
    enough = pooled >= 5
    observed = np.add.reduceat(drawn, bins)
    assert observed[~enough].sum() <= 10 + 10 * pooled[~enough].sum()
    total = pooled[enough] * observed[enough].sum() / pooled[enough].sum()
    return float(chisquare(observed[enough], total).pvalue)


LAWS = [
    *("2023", "42", "12,500", "37.25", "$12.99", "12%", "3rd", "6.02e23", "1990s", "80s"),
    *("3/4/2023", "03-04-99", "March 3", "March 2023", "3 March 1999", "10:30", "10:30:15", "3pm"),
]


@pytest.mark.parametrize("token", LAWS)
def test_each_kind_is_drawn_by_its_law(token: str) -> None:
    assert p_value(token, EPSILON) > 1e-6
    assert p_value(token, EPSILON * 1.05) < 1e-6


def test_the_steps_are_those_that_were_asked_for() -> None:
    steps = {"date": "3 days", "year": "2 years"}
    assert p_value("3/4/2023", EPSILON, steps=steps) > 1e-6
    assert p_value("3/4/2023", EPSILON, steps={**steps, "date": "4 days"}) > 1e-6
    assert p_value("2023", EPSILON, steps=steps) > 1e-6
    for grid in GRIDS.values():
        own, usual = (value_channel(grid, StepSizes(chosen), 1.0) for chosen in (steps, None))
        ratio = own.path.length / usual.path.length
        assert ratio == pytest.approx(7 / 3, rel=1e-5) if grid.kind == "date" else ratio <= 1.0


def test_the_loss_between_neighbours_on_every_grid_is_epsilon_a_step() -> None:
    """The odds of any output, between any two neighbours, are within e^(ε·d): the audit."""
    for grid in GRIDS.values():
        channel = value_channel(grid, StepSizes(), EPSILON)
        size = len(channel.path)
        starts = np.unique(np.linspace(0, size - 2, 40).astype(int))
        here, there = (channel.log_probabilities(starts + i) for i in (0, 1))
        losses = abs(here - there).max(axis=1)
        gaps = channel.path.gaps[starts]
        assert np.allclose(losses, EPSILON * gaps, rtol=1e-6, atol=1e-9)


SAME = [
    ("555-123-4567", "212-000-9999"),
    ("+44 20 7946 0958", "+49 30 1234 5678"),
    ("4111 1111 1111 1111", "1234 5678 9012 3456"),
    ("123-45-6789", "000-00-0000"),
    ("AB12CD", "zz99zz"),
    ("1234567", "٠٠٠٠٠٠٠"),
    ("ann@b.org", "someone.with.a.long.name+x@mail.example.co.uk"),
    ("http://a.b/c", "www.another.org/?q=1&s=2#top"),
    ("@ann", "@a_much_longer_name_99"),
    ("10.0.0.1", "99.9.9.9"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_identifiers_and_addresses_tell_nothing(one: str, other: str) -> None:
    """The same noise gives the same text, whatever stood there."""
    for around in ("{}", "the {}, is", "cold: {} hot. {}!"):
        first, second = (
            typed()(around.format(token, token)).text.casefold() for token in (one, other)
        )
        assert first == second


ALIKE = [
    ("3:30 pm", "15:30"),
    ("3 p.m.", "3pm"),
    ("007mg", "7mg"),
    ("45000mg", "45,000mg"),
    ("007", "042"),
    ("883120", "100000"),
    ("ann7", "bob8"),
    ("10.2.3.4", "999.080.6.17"),
    ("/home/ann", "/x"),
    ("1,234", "1234"),
    ("1st", "1th"),
    ("12th of March", "12 Mar"),
    ("March 3rd 2023", "Mar. 3, 2023"),
    ("3/4/2023", "03/04/2023"),
    ("2/31/2023", "02/28/2023"),
    ("1990's", "1990s"),
    ("٤٢", "42"),
    ("1.6E-19", "1.60e-19"),
    ("$1500000", "$1,500,000.".rstrip(".")),
]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_how_a_value_was_written_is_not_shown(one: str, other: str) -> None:
    assert typed()(f"a {one} is").text == typed()(f"a {other} is").text


def test_identifiers_are_uniform_in_their_shape() -> None:
    texts = typed().texts(["SN12AB-555-123-4567"] * 20_000)
    assert all(re.fullmatch(r"[A-Z]{2}\d\d[A-Z]{2}-\d{3}-\d{3}-\d{4}", text) for text in texts)
    columns = list(zip(*texts, strict=True))
    for column in columns:
        if column[0] != "-":
            choices = 20 if column[0].isalpha() else 10
            counts = [*Counter(column).values()]
            assert len(counts) == choices
            assert chisquare(counts).pvalue > 1e-6
    pairs = Counter(zip(columns[-1], columns[-2], strict=True))
    assert chisquare([*pairs.values()]).pvalue > 1e-6
    assert len(pairs) == 100


def test_made_up_names_are_uniform() -> None:
    texts = typed().texts(["x@y.org"] * 20_000)
    for place in range(4):
        syllables = Counter(text[2 * place : 2 * place + 2] for text in texts)
        assert len(syllables) == 75
        assert chisquare([*syllables.values()]).pvalue > 1e-6


TEXTS = st.lists(
    st.sampled_from(
        [
            *("cold", "Zyx", " ", " ", " ", ", ", ". ", "\n", "(", "-", "/", ":", "$", "%", "#"),
            *("2023", "7", "12.5", "March", "3 May", "10:30", "pm", "a@b.org", "www.a.org", "@me"),
            *("555-123-4567", "x1y2", "500mg", "1st", "3/4/2023", "😀", "٣", "1e-5", "90s", "'"),
        ]
    ),
    max_size=14,
).map("".join)


@given(TEXTS | st.text(max_size=40), st.sampled_from(["map", "mask", "drop"]))
def test_nothing_of_a_text_comes_out_but_what_is_drawn(text: str, unknown: str) -> None:
    """Words are the lexicon's or a mask, and every digit belongs to something that was drawn."""
    release = typed(unknown=unknown, placeholder="gone")(text)
    read_value = BoundPolicy(list(WORDS), Policy(kinds="typed")).read_value
    for token in split_values(release.text):
        if read_value(token) is None and any(map(str.isalnum, token)):
            # An emoji becomes a word, and an apostrophe may tie it to the next one.
            words = token.casefold().split("'")
            assert {*words} <= {"", "gone", *WORDS, *_PARTS_OF_VALUES}
    assert release.counts["kept"] == 0


@pytest.mark.parametrize("value", ["3 May", "3pm", "1st", "90s", "a@b.org", "x1y2", "1.5e5"])
@pytest.mark.parametrize("letters", [0, 2000])
def test_a_word_does_not_run_into_the_letters_of_a_value(value: str, letters: int) -> None:
    """An emoji, which becomes a word, may touch any value; a unit touches a number."""
    private = typed().texts([f"{value}😀 ", "500mg, 10:30😀.", "cold " * letters])
    assert private[0].split()[-1] in WORDS
    assert re.fullmatch(r"\d+[a-z]+, \d\d:\d\d[a-z]+\.", private[1])


@pytest.mark.parametrize("letters", [0, 2000])
@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("zzzz@localhost.", r"[A-Za-z]+@[a-z]{8}\."),
        ("@me@you", r"@[a-z]{8}@[a-z]{8}"),
        ("500@home, 3pm@home", r"\d+@[a-z]{8}, \d+[ap]m@[a-z]{8}"),
        ("cold$500", r"[A-Za-z]+\$\d+"),
        ("cold+44 20 7946 0958", r"[A-Za-z]+\+\d\d \d\d \d{4} \d{4}"),
        ("cold(020) 7946 0958", r"[A-Za-z]+\(\d{3}\) \d{4} \d{4}"),
    ],
)
def test_a_value_that_begins_with_a_sign_gains_no_space(
    text: str, shape: str, letters: int
) -> None:
    assert re.fullmatch(shape, typed().texts([text, "cold " * letters])[0])


# Where values touch, what was written may be cut in another way.
_PARTS_OF_VALUES = {
    *("am", "pm", "st", "nd", "rd", "th", "s", "e", "t", "z", "https", "example", "org"),
    *(f"{word}{other}" for word in WORDS for other in WORDS),
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
}


@given(st.lists(TEXTS, max_size=4), st.integers(0, 9))
def test_a_large_batch_is_privatized_like_a_small_one(several: list[str], seed: int) -> None:
    from malaprop.text import parser

    def made(few_letters: int) -> list[str]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(parser, "_FEW_LETTERS", few_letters)
            return typed(seed).texts(several)

    assert made(0) == made(10**6)


def test_a_release_says_how_values_were_treated() -> None:
    release = typed(steps={"date": "3 days"})("cold 5 a@b.org").to_dict()
    policy = release["policy"]
    assert isinstance(policy, dict)
    assert policy["kinds"] == "typed"
    assert policy["kind_epsilon"] == EPSILON
    assert policy["steps"]["date"] == "3 days"
    del policy["map"]  # the version of the map is no parameter
    assert Policy(**policy) == typed(steps={"date": "3 days"}).policy


def test_typed_privatizers_travel() -> None:
    privatizer = typed()
    privatizer("zyxsecret 4711 x@zyxsecret.org")
    packed = pickle.dumps(privatizer)
    assert b"zyxsecret" not in packed
    assert pickle.loads(packed).policy == privatizer.policy  # noqa: S301
    assert hash(privatizer.policy) == hash(typed().policy)
    for grid in GRIDS.values():
        assert pickle.loads(pickle.dumps(grid)) is grid  # noqa: S301


def test_counts_are_by_kind() -> None:
    text = "cold 5 $5 5% 1st 3/4/2023 10:30 1234567 a@b.org www.a.org @me /a"
    counts = typed()(text).counts
    for tag in ("in_lexicon", "numbers", "money", "percentages", "ordinals", "dates", "times"):
        assert counts[tag] == 1
    for tag in ("identifiers", "emails", "urls", "mentions", "paths"):
        assert counts[tag] == 1
    assert counts["protected"] == 12


def test_equal_values_share_a_draw_and_others_do_not() -> None:
    privatizer = typed(repeat="document", kind_epsilon=0.1)
    for text in ("12 March, March 12: 12th of March", "5:30 pm; 17:30, 5:30 p.m.", "1,234; 1234"):
        values = {
            found[1]
            for token in split_values(privatizer(text).text)
            if (found := read_value(token, "mdy"))
        }
        assert len(values) == 1
    first, second, third = privatizer("x1y2 X1Y2 x1y3").text.split()
    assert first == second != third
    draws = [privatizer("0.5 0.05").text.split() for _ in range(50)]
    assert any(int(one[2:]) != int(other[2:]) for one, other in draws)


def test_what_a_value_counts_as() -> None:
    privatizer = typed()
    for token, expected in {"12,345": "12,300", "2/30/2023": "02/28/2023", "3 pm": "3pm"}.items():
        assert privatizer.mapped(token) == expected
    for token in ("a@b.org", "1234567"):
        with pytest.raises(ParameterError, match="drawn anew"):
            privatizer.mapped(token)
    for word, value in {"2023": "2023", "500mg": "500"}.items():
        assert explain(word, epsilon=1.5, lexicon=SMALL.with_graph()).word == value
    assert explain("2023", epsilon=1.5, mechanism="tem", lexicon=SMALL).word in WORDS
