"""Dates that are moved together, by one secret shift for each document."""

import math
import re
from collections import defaultdict
from datetime import date

import numpy as np
import pytest
from scipy.stats import chisquare

from malaprop import TEM, Guarantee, Lexicon, Privatizer, compose, explain, seeded_rng
from malaprop.draws import draw_values, shift_rate, write_values
from malaprop.privacy.accounting import loss_over
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.errors import ParameterError
from malaprop.privacy.sampling import usual_shift, whole_shifts
from malaprop.text.kinds import ValueForm
from malaprop.text.kinds.dates import DAYS, MONTHS, SHORT_DAYS, YEAR_DAYS
from malaprop.text.kinds.grammar import read_value
from malaprop.text.kinds.grids import StepSizes, ValueGrid

WEEK = StepSizes()


def value_of(text: str) -> tuple[ValueForm, int]:
    """A value's form and its place on the grid."""
    read = read_value(text, "mdy")
    assert read is not None
    assert isinstance(read.form, ValueForm)
    return read.form, read.secret


def law(numbers: Ids, rate: float) -> Floats:
    """Pr[S = s] = (1 − q)/(1 + q)·q^|s|, q being e^(−rate)."""
    weights: Floats = np.exp(-rate * np.abs(numbers))
    return math.tanh(rate / 2.0) * weights


class TestLaw:
    """A threshold that fails once in a million runs, and surely if the scale is 5 % off."""

    DRAWS = 500_000

    def p_value(self, drawn: Ids, rate: float) -> float:
        # Bins of equal numbers as near as they can be, then both tails.
        edge = usual_shift(rate, 0.98)
        width = max(1, edge // 15)
        cuts = np.arange(-edge, edge + width, width)
        bins = np.digitize(drawn, cuts)
        observed = np.bincount(bins, minlength=len(cuts) + 1)
        many = np.arange(-60 * edge - 60, 60 * edge + 61)
        shares = np.bincount(np.digitize(many, cuts), law(many, rate), minlength=len(cuts) + 1)
        used = shares * self.DRAWS > 5.0
        rest = [observed[~used].sum()], [shares[~used].sum()]
        if rest[1][0] * self.DRAWS > 5.0:
            counts, expected = np.append(observed[used], rest[0]), np.append(shares[used], rest[1])
        else:
            counts, expected = observed[used], shares[used]
        return float(chisquare(counts, counts.sum() * expected / expected.sum()).pvalue)

    @pytest.mark.parametrize("rate", [1.5 / 7, 1.5 / 365, 0.5 / 3653, 0.1, 1.0])
    def test_shifts_follow_it(self, rate: float) -> None:
        drawn = whole_shifts(self.DRAWS, rate, seeded_rng(17))
        assert self.p_value(drawn, rate) > 1e-6
        assert self.p_value(drawn, rate * 1.05) < 1e-6
        assert self.p_value(drawn, rate / 1.05) < 1e-6

    def test_at_the_ends_of_the_rate(self) -> None:
        assert not whole_shifts(1000, 1e9, seeded_rng(1)).any()
        slow = whole_shifts(100_000, 1e-6, seeded_rng(1))
        assert np.abs(slow).mean() == pytest.approx(1e6, rel=0.02)
        assert (slow > 0).mean() == pytest.approx(0.5, abs=0.01)

    def test_dates_are_moved_by_such_shifts(self) -> None:
        form, secret = value_of("2023-03-04")
        every = np.full(self.DRAWS, secret)
        drawn = draw_values(
            [form] * self.DRAWS, every, WEEK, 1.5, seeded_rng(3), np.arange(self.DRAWS)
        )
        shifts = np.array(drawn) - secret
        assert self.p_value(shifts, 1.5 / 7) > 1e-6
        assert self.p_value(shifts, 1.5 / 7 * 1.05) < 1e-6

    @pytest.mark.parametrize("rate", [1.5 / 7, 1.5 / 365, 0.3, 5.0])
    def test_the_usual_range_is_the_least_one(self, rate: float) -> None:
        within = [
            float(law(np.arange(-r, r + 1), rate).sum())
            for r in (usual_shift(rate), usual_shift(rate) - 1)
        ]
        assert within[0] >= 0.95 - 1e-12
        assert within[1] < 0.95


def outputs(grids: list[ValueGrid], places: list[int], rate: float) -> dict[bytes, float]:
    """The exact law of what comes out of several dates of one document."""
    many = np.arange(-4000, 4001)
    moved = np.array(
        [
            grid.moved(np.full(len(many), place), many)
            for grid, place in zip(grids, places, strict=True)
        ]
    )
    chances: dict[bytes, float] = defaultdict(float)
    for row, chance in zip(moved.T, law(many, rate), strict=True):
        chances[row.tobytes()] += float(chance)
    return chances


@pytest.mark.parametrize("delta", [1, 7, -30, 365])
@pytest.mark.parametrize("start", [40_000, 109_100, 20])
def test_the_loss_is_that_of_one_shift(start: int, delta: int) -> None:
    """Also where dates are clipped at the ends of their grids, and around a year."""
    grids, rate = [DAYS, DAYS, SHORT_DAYS, YEAR_DAYS], 0.05
    places = [max(start, 400), max(start, 400) + 12, 1000, 350]
    shifted = [*(place + delta for place in places[:3]), (places[3] + delta) % 366]
    first, second = outputs(grids, places, rate), outputs(grids, shifted, rate)
    common = [
        abs(math.log(chance / second[output]))
        for output, chance in first.items()
        if chance > 1e-60 and second[output] > 1e-60
    ]
    assert len(common) > 100
    assert max(common) <= rate * abs(delta) + 1e-9


def test_dates_of_a_document_move_together_and_documents_by_themselves() -> None:
    for repeat in ("fresh", "document"):
        private = Privatizer(epsilon=1.5, shift_dates=True, repeat=repeat, rng=seeded_rng(2))
        shifts = set()
        for text in private.texts(["2023-03-04 2023-03-04 03/11/23 1 May 2001; 5 July"] * 40):
            days = re.findall(r"\d{4}-\d{2}-\d{2}", text)
            first, second = map(date.fromisoformat, days)
            assert first == second
            shift = (first - date(2023, 3, 4)).days
            shifts.add(shift)
            _, secret = value_of("March 11, 2023")
            moved = date.fromordinal(DAYS.values[secret] + shift)
            assert moved.strftime("%m/%d/%y") in text
        assert len(shifts) > 10


def test_months_move_by_a_shift_of_their_own_and_what_is_coarser_does_not() -> None:
    private = Privatizer(epsilon=0.5, shift_dates=True, rng=seeded_rng(2))
    day_shifts, month_shifts, decades = [], [], []
    for text in private.texts(["2023-03-04 May 2001 July 2001 1990s 1990s"] * 60):
        named = re.findall(r"[A-Z]\w+ \d{4}", text)
        first, second = (MONTHS.values[value_of(each)[1]] for each in named)
        assert second - first == 2
        month_shifts.append(first - (2001 * 12 + 4))
        found = re.search(r"\d{4}-\d{2}-\d{2}", text)
        assert found
        day_shifts.append((date.fromisoformat(found[0]) - date(2023, 3, 4)).days)
        decades.append(tuple(re.findall(r"\d{4}s", text)))
    assert len(set(zip(day_shifts, month_shifts, strict=True))) > 40
    assert any(first != second for first, second in decades)
    assert abs(np.corrcoef(day_shifts, month_shifts)[0, 1]) < 0.5


def test_what_lies_beyond_a_grid_is_clipped_and_a_year_goes_around() -> None:
    places = np.array([0, len(DAYS.values) - 1])
    assert DAYS.moved(places, np.array([-5, 5])).tolist() == places.tolist()
    assert YEAR_DAYS.moved(np.array([0, 365, 0]), np.array([-1, 1, -732])).tolist() == [365, 0, 0]
    assert write_values(*_in_march(-3)) == ["1 March"]


def _in_march(by: int) -> tuple[list[ValueForm], list[int]]:
    form, secret = value_of("4 March")
    return [form], form.grid.moved(np.array([secret]), np.array([by])).tolist()


def guarantee(**options: object) -> Guarantee:
    return Privatizer(epsilon=1.5, shift_dates=True, **options).guarantee  # type: ignore[arg-type]


def test_the_guarantee_says_what_is_promised_and_what_shows() -> None:
    promised = guarantee()
    assert "95 % of shifts are of 14 days or less" in str(promised)
    assert "texts whose dates all differ by the same span are that far apart once" in str(promised)
    assert "where one alone differs, nothing is promised, for intervals show" in str(promised)
    assert "intervals between dates" in promised.texts
    assert promised.of_kind("date").loss(2.0) == 3.0
    assert loss_over(promised.for_words(9), [("date", 2.0)]).epsilon == 3.0
    assert "if all of them differ by the same span" in promised.of_kind("date").pairs
    assert "of 729 days or less" in str(guarantee(steps={"date": "365 days"}))
    twice = compose([promised, promised]).of_kind("date")
    assert twice.loss(2.0) == 6.0
    with pytest.raises(ParameterError, match="same 'texts'"):
        compose([promised, Privatizer(epsilon=1.5).guarantee])
    assert "together" not in str(Privatizer(epsilon=1.5).guarantee.to_dict())
    assert shift_rate(DAYS, WEEK, 1.5) == pytest.approx(1.5 / 7, rel=1e-15)
    assert shift_rate(MONTHS, WEEK, 1.5) == 1.5


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ParameterError, match='needs `kinds="typed"`'):
        Privatizer(epsilon=1.5, shift_dates=True, kinds="words")
    tiny = Lexicon(["cold", "hot"], [[0.0], [1.0]])
    with pytest.raises(ParameterError, match=r'`shift_dates` parameter.*needs `kinds="typed"`'):
        Privatizer(tiny, TEM(epsilon=1.0), shift_dates=True)
    with pytest.raises(ParameterError, match="too small for `shift_dates`"):
        Privatizer(epsilon=1.5, kind_epsilon=1e-9, shift_dates=True)
    with pytest.raises(ParameterError, match="True or False"):
        Privatizer(epsilon=1.5, shift_dates="yes")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="leave them out"):
        explain("3/4/2023", epsilon=1.5, shift_dates=True)
