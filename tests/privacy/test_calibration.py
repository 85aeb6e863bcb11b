"""The calibration against values from mpmath with 60 digits and more, and the exact δ of pairs."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import chi2, norm

from malaprop import ParameterError, gaussian_scale
from malaprop.privacy.gaussian_noise import classical_scale, gaussian_delta, spherical_delta

EXACT = [
    (1e-06, 1e-15, "5412218.040949569475788401"),
    (1e-06, 1e-06, "276029.903999201508096461"),
    (1e-06, 1e-05, "38021.98146874745004973507"),
    (1e-06, 0.1, "3.978930280845964836593654"),
    (1e-06, 0.5, "0.7413006769311043885124265"),
    (0.1, 1e-15, "71.30059507636501075074905"),
    (0.1, 1e-06, "36.30469042619578316016247"),
    (0.1, 1e-05, "30.74956613197744847202999"),
    (0.1, 0.1, "2.846924435847349656896311"),
    (0.1, 0.5, "0.7016745806207028203555471"),
    (1, 1e-15, "7.487009467986595453638071"),
    (1, 1e-06, "4.224678889326835292283418"),
    (1, 1e-05, "3.730631634815941813869689"),
    (1, 0.1, "1.085877765191856478443202"),
    (1, 0.5, "0.5070650314763313597305643"),
    (10, 1e-15, "0.8289598747219691960814943"),
    (10, 1e-06, "0.5410868318183659822094944"),
    (10, 1e-05, "0.4998886197090085131223817"),
    (10, 0.1, "0.2818120721261393133620602"),
    (10, 0.5, "0.2133323925735299979456832"),
    (100, 1e-15, "0.1201761791482396203909228"),
    (100, 1e-06, "0.09783722397444109256079379"),
    (100, 1e-05, "0.09466990701474638803510976"),
    (100, 0.1, "0.07700940212232786022086918"),
    (100, 0.5, "0.07036032149083715731952082"),
    (1000, 1e-15, "0.0266669571279310296354089"),
    (1000, 1e-06, "0.02485036668694771957946318"),
    (1000, 1e-05, "0.02458178335165427945672223"),
    (1000, 0.1, "0.02299898170690804300141681"),
    (1000, 0.5, "0.02234950966953074232855344"),
    (1, 1 / 73404, "3.660699526324125359549718"),
    (0.0001984, 0.002359, "162.3898321118080947978659"),
    (7.965e-06, 3.841e-06, "55979.41189673414144301626"),
    (0.03766, 0.0002769, "48.61070176728963916650826"),
    (2.169, 3.02e-08, "2.370734120665955365233522"),
    (0.00117, 1.103e-06, "2097.108964740269188662802"),
    (1.562, 5.349e-06, "2.57624344150661683873263"),
    (9.312e-05, 5.698e-09, "34216.14259612605641671462"),
    (0.7317, 0.0003921, "3.707699782353377678278079"),
    (12.39, 0.001507, "0.3394746510045901076163396"),
    (2.733e-05, 5.649e-08, "81295.04314311407554492385"),
    (697.0, 2.209e-11, "0.03190005830132401917679456"),
    (14.92, 0.001002, "0.3033167077248084820894963"),
]
DELTAS = [
    (1e-06, 1e-07, 7.4745639918703801449e-32),
    (1e-06, 3.0, 0.8663855306550707818),
    (0.1, 0.05, 0.00044619186488471433276),
    (1.0, 0.25, 2.924272104856407347e-6),
    (1.0, 0.75, 0.049921251151344315681),
    (1.0, 8.0, 0.99989629957260266372),
    (10.0, 1.5, 3.1991654350984821921e-10),
    (100.0, 5.0, 1.5847802326686265848e-69),
    (20.0, 30.0, 1.0),
]
PAPER = math.sqrt(2 * math.log(1.25 * 73404))  # the classical σ at ε = 1, δ = 1/73404


@pytest.mark.parametrize(("epsilon", "delta", "exact"), EXACT)
def test_the_scale_is_exact_and_never_below(epsilon: float, delta: float, exact: str) -> None:
    error = Fraction(gaussian_scale(epsilon, delta)) / Fraction(exact) - 1
    assert 0 <= error < 1e-13


@pytest.mark.parametrize(("epsilon", "ratio", "exact"), DELTAS)
def test_delta_is_exact(epsilon: float, ratio: float, exact: float) -> None:
    assert gaussian_delta(epsilon, ratio) == pytest.approx(exact, rel=1e-13)


@given(
    epsilon=st.floats(-6, 3).map(lambda x: 10.0**x),
    delta=st.floats(-15, math.log10(0.99)).map(lambda x: 10.0**x),
    sensitivity=st.floats(1e-3, 1e3),
)
def test_scale_and_delta_are_inverse(epsilon: float, delta: float, sensitivity: float) -> None:
    sigma = gaussian_scale(epsilon, delta, sensitivity)
    found = gaussian_delta(epsilon, sensitivity / sigma)
    # A relative error of 4e-14 in σ moves δ by far less than this, over the whole range.
    assert delta * (1 - 1e-9) < found < delta * (1 + 1e-13)
    assert gaussian_delta(epsilon, 1.01 * sensitivity / sigma) > delta


@given(epsilon=st.floats(0.1, 20), ratio=st.floats(0.5, 8))
def test_delta_is_the_textbook_formula_where_that_has_digits(epsilon: float, ratio: float) -> None:
    a, b = ratio / 2 - epsilon / ratio, -ratio / 2 - epsilon / ratio
    textbook = norm.cdf(a) - math.exp(epsilon) * norm.cdf(b)
    assert gaussian_delta(epsilon, ratio) == pytest.approx(textbook, rel=1e-9, abs=1e-14)


def test_delta_grows_with_the_distance() -> None:
    """Words 1, 2, 3 and 5 edges apart, with σ for one edge; and 1.2 times too far."""
    sigma = gaussian_scale(1.0, 1e-5)
    found = [gaussian_delta(1.0, k / sigma) for k in (1.2, 2, 3, 5)]
    assert found == pytest.approx([1.4e-4, 0.0104, 0.064, 0.257], rel=0.04)


def test_the_ends() -> None:
    assert gaussian_scale(0.0, 0.5) == pytest.approx(1 / (2 * norm.ppf(0.75)), rel=1e-13)
    assert gaussian_scale(0.0, 0.5) >= gaussian_scale(1e-9, 0.5)
    assert gaussian_scale(1.0, 0.9999) == gaussian_scale(1.0, 0.99)
    assert gaussian_delta(0.0, 1.0) == pytest.approx(2 * norm.cdf(0.5) - 1, rel=1e-13)
    assert gaussian_delta(1.0, 0.0) == gaussian_delta(1.0, 1e-9) == 0.0
    assert gaussian_delta(1.0, math.inf) == gaussian_delta(1.0, 1e9) == 1.0
    assert math.isfinite(gaussian_scale(1e-300, 1e-300))
    with pytest.raises(ParameterError, match=r"1e-300 to 1e\+100"):
        gaussian_scale(1e300, 0.5)


@pytest.mark.parametrize(
    "wrong",
    [
        {"delta": 0.0},
        {"delta": 1.0},
        {"delta": -0.1},
        {"delta": math.nan},
        {"epsilon": -1.0},
        {"epsilon": math.inf},
        {"epsilon": math.nan},
        {"sensitivity": 0.0},
        {"sensitivity": math.inf},
    ],
)
def test_wrong_arguments_are_refused(wrong: dict[str, float]) -> None:
    arguments: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-5, **wrong}
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        gaussian_scale(**arguments)


class TestClassical:
    @pytest.mark.parametrize(
        ("delta", "first"), [(1e-3, 7.46), (1e-5, 8.42), (1e-6, 8.78), (1e-10, 9.85)]
    )
    def test_where_it_first_fails(self, delta: float, first: float) -> None:
        def excess(epsilon: float) -> float:
            return math.log(gaussian_delta(epsilon, 1 / classical_scale(epsilon, delta)) / delta)

        assert max(excess(e) for e in np.linspace(0.5, first - 0.01, 60)) < 0
        assert brentq(excess, 5.0, 15.0) == pytest.approx(first, abs=0.005)

    @pytest.mark.parametrize(("epsilon", "factor"), [(10, 2.27), (20, 153), (40, 2.0e4)])
    def test_how_much_it_fails(self, epsilon: float, factor: float) -> None:
        found = gaussian_delta(epsilon, 1 / classical_scale(epsilon, 1e-5)) / 1e-5
        assert found == pytest.approx(factor, rel=0.02)

    def test_it_holds_below_1_and_wastes_noise(self) -> None:
        for epsilon in (0.01, 0.3, 0.999):
            for delta in (1e-15, 1e-5, 0.1, 0.9):
                assert gaussian_delta(epsilon, 1 / classical_scale(epsilon, delta)) <= delta
        assert classical_scale(1.0, 1e-5) == pytest.approx(4.845, abs=5e-4)
        assert classical_scale(1.0, 1e-5) / gaussian_scale(1.0, 1e-5) == pytest.approx(
            1.30, abs=0.01
        )


class TestTwoWidths:
    @pytest.mark.parametrize(
        ("dimension", "delta"), [(1, 0.0558932), (50, 0.893935), (300, 0.9999856)]
    )
    def test_the_papers_widths(self, dimension: int, delta: float) -> None:
        found = spherical_delta(1.0, 1.835 * PAPER, 1.276 * PAPER, 1.0, dimension)
        assert found == pytest.approx(delta, abs=6e-7)

    def test_the_width_alone_gives_the_category_away(self) -> None:
        assert spherical_delta(1.0, 1.835 * PAPER, 1.276 * PAPER, 0.0, 300) > 0.9999

    def test_what_epsilon_it_would_take(self) -> None:
        def excess(epsilon: float) -> float:
            found = spherical_delta(epsilon, 1.835 * PAPER, 1.276 * PAPER, 1.0, 300)
            return math.log(found * 73404)

        assert brentq(excess, 50.0, 200.0) == pytest.approx(111.2, abs=0.06)

    @pytest.mark.parametrize("dimension", [1, 2, 5, 50])
    @pytest.mark.parametrize(("sigma", "other"), [(1.0, 1.5), (2.0, 0.7), (1.0, 1.01)])
    @pytest.mark.parametrize(("epsilon", "distance"), [(0.3, 0.0), (1.0, 0.4), (2.0, 3.0)])
    def test_it_is_what_quadrature_gives(
        self, epsilon: float, distance: float, sigma: float, other: float, dimension: int
    ) -> None:
        found = spherical_delta(epsilon, sigma, other, distance, dimension)
        ways = ((sigma, other), (other, sigma))
        assert found == pytest.approx(
            max(quadrature(epsilon, s, t, distance, dimension) for s, t in ways), abs=2e-7
        )

    def test_equal_widths_are_the_gaussian_mechanism(self) -> None:
        assert spherical_delta(1.0, 2.0, 2.0, 1.0, 300) == gaussian_delta(1.0, 0.5)
        assert spherical_delta(1.0, 2.0, 2.0 + 1e-4, 1.0, 3) == pytest.approx(
            gaussian_delta(1.0, 0.5), rel=2e-3
        )

    def test_widths_too_close_to_compute_are_refused(self) -> None:
        with pytest.raises(ParameterError, match="treat them as equal"):
            spherical_delta(1.0, 2.0, 2.0 + 1e-9, 1.0, 3)


def quadrature(epsilon: float, s: float, t: float, distance: float, dimension: int) -> float:
    """P(S) − e^ε·Q(S) on S = {p > e^ε·q}: one coordinate by sums, the others' square by χ²."""
    z, step = np.linspace(-12 * max(s, t), distance + 12 * max(s, t), 200_001, retstep=True)
    slope = (1 / t**2 - 1 / s**2) / 2
    rest = epsilon + dimension * math.log(s / t) + z**2 / (2 * s**2)
    rest = (rest - (z - distance) ** 2 / (2 * t**2)) / slope  # what the square must exceed, or not
    if dimension == 1:
        inside_p = inside_q = (rest < 0) == (slope > 0)
    else:
        law = chi2(dimension - 1)
        mass = law.sf if slope > 0 else law.cdf
        inside_p, inside_q = mass(rest / s**2), mass(rest / t**2)
    p, q = norm.pdf(z, 0, s) * inside_p, norm.pdf(z, distance, t) * inside_q
    return float((p.sum() - math.exp(epsilon) * q.sum()) * step)


@pytest.mark.parametrize("epsilon", [5e-324, 1e-301, 1.1e100, 1e300, 1.7e308])
def test_numbers_that_float64_cannot_handle_are_refused(epsilon: float) -> None:
    for delta in (1e-300, 1e-9, 0.5):
        with pytest.raises(ParameterError, match=r"1e-300 to 1e\+100"):
            gaussian_scale(epsilon, delta)
