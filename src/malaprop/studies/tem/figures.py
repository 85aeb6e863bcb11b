"""Figure 1a and 1b, and the half against the audited exponent: grids and claims."""

from collections.abc import Iterator
from typing import Any

from malaprop.studies.framework.claims import Claim, Results, above, at_most
from malaprop.studies.framework.items import Item, crossed
from malaprop.studies.framework.lines import Line, Setting
from malaprop.studies.framework.run import Run
from malaprop.studies.framework.spreads import over
from malaprop.studies.tem.mechanisms import (
    EQUAL,
    NO_NOISE,
    PLACES,
    PUNCTUATION,
    RANDOM_TABLE,
    RANDOM_WORDS,
    TABLE,
)
from malaprop.studies.tem.trials import (
    CLEAN_REGULARIZED,
    EQUAL_PUNCTUATED,
    LOSS,
    RANDOM_PUNCTUATED,
    REGULARIZED,
    STATIC,
    trial,
)

SPREAD = "noise and splits"
_CHANCE, _NEAR = 0.5, 0.01
"""An area of 0.50, as the paper prints it, and how far above an area is still at chance."""
_TEM: dict[str, Any] = {"mechanism": "tem", "exponent": "half"}
_BESIDE = {EQUAL: None, EQUAL_PUNCTUATED: PUNCTUATION}
"""For each control of Madlib at an equal share kept, the control of TEM to compare it with."""


def grid(run: Run) -> Iterator[Setting]:
    """TEM and Madlib by ε; the audited exponent, tables noised once, and floors beside them."""
    for setting in _settings(run):
        yield {"task": "imdb", **setting, "spread": SPREAD}


def _settings(run: Run) -> Iterator[dict[str, Any]]:
    for epsilon in run.pick(quick=(2, 4), full=(1, 2, 4, 10)):
        common: dict[str, Any] = {"epsilon": [epsilon], "noise": [PLACES]}
        yield from crossed(mechanism=["tem"], exponent=["half"], **common)
        yield from crossed(mechanism=["laplace"], **common)
    yield from exponents(run)
    common = {"epsilon": [2], "noise": [TABLE]}
    yield from crossed(mechanism=["tem"], exponent=["half"], **common)
    yield from crossed(mechanism=["laplace"], **common)
    at_two: dict[str, Any] = {"epsilon": 2, "noise": PLACES}
    for control in (EQUAL, PUNCTUATION, EQUAL_PUNCTUATED):
        yield {"mechanism": "laplace", **at_two, "control": control}
    for control in (PUNCTUATION, REGULARIZED):
        yield {**_TEM, **at_two, "control": control}
    for control in (NO_NOISE, CLEAN_REGULARIZED, RANDOM_WORDS, RANDOM_PUNCTUATED, RANDOM_TABLE):
        yield {"control": control}


def exponents(run: Run) -> Iterator[dict[str, Any]]:
    """The audited exponent, where words change."""
    epsilons = run.pick(quick=(2,), full=(1, 2))
    return crossed(mechanism=["tem"], exponent=["audited"], epsilon=epsilons, noise=[PLACES])


def exponent_grid(run: Run) -> Iterator[Setting]:
    """Both exponents at the same ε."""
    for audited in exponents(run):
        for exponent in ("half", "audited"):
            yield {"task": "imdb", **audited, "exponent": exponent, "spread": SPREAD}


def spread(setting: Setting, measure: str) -> str:
    """Return what errors are over; which words are in clear depends on the reviews alone."""
    noisy = not str(setting.get("control", "")).startswith(NO_NOISE)
    return over(noisy=noisy and measure != "share_in_clear", divided=True)


def _is_papers(setting: Setting, mechanism: str = "tem") -> bool:
    return (
        setting.get("mechanism") == mechanism
        and setting.get("exponent", "half") == "half"
        and setting.get("noise") == PLACES
        and "control" not in setting
    )


def _madlib(line: Line, results: Results) -> Line | None:
    return results.like(line, mechanism="laplace", exponent=None)


def _is_static(setting: Setting) -> bool:
    """Whether the attacker is the paper's; without data, a line names none."""
    return bool(setting.get("attacker", STATIC) == STATIC)


def is_no_better_than_chance(line: Line) -> bool | None:
    """Whether an area is at chance or below: an attacker who is worse speaks for the paper."""
    return at_most(line, _CHANCE, _NEAR)


FIG1A = Item(
    name="fig1a",
    grid=grid,
    cell=trial,
    key="trial",
    spread=spread,
    revision=2,
    measures=(
        "accuracy",
        "accuracy_ci95",
        "accuracy_private",
        "kept",
        "share_in_clear",
        "majority",
        "epsilon_of_equal_share",
    ),
    claims=(
        Claim(
            text="TEM is more accurate than Madlib at the same ε",
            measure="accuracy",
            about=_is_papers,
            holds=lambda line, results: above(line, _madlib(line, results)),
        ),
        Claim(
            text="TEM is more accurate also where Madlib keeps as many words",
            whose="control",
            measure="accuracy",
            about=lambda setting: setting.get("control") in _BESIDE,
            holds=lambda line, results: above(
                results.like(line, **_TEM, control=_BESIDE[line.setting["control"]]), line
            ),
        ),
    ),
)
FIG1B = Item(
    name="fig1b",
    grid=grid,
    cell=trial,
    key="trial",
    spread=spread,
    measures=("auc", "kept", "share_in_clear"),
    revision=2,
    claims=(
        Claim(
            text="at ε = 2, membership is inferred no better than by chance",
            measure="auc",
            about=lambda s: (
                (_is_papers(s) or _is_papers(s, "laplace")) and s["epsilon"] == 2 and _is_static(s)
            ),
            holds=lambda line, results: is_no_better_than_chance(line),
        ),
        Claim(
            text="at ε = 2, membership is inferred no better than by chance by an attacker who "
            "needs no shadow, either",
            whose="control",
            measure="auc",
            about=lambda s: (
                (_is_papers(s) or _is_papers(s, "laplace"))
                and s["epsilon"] == 2
                and s.get("attacker") == LOSS
            ),
            holds=lambda line, results: is_no_better_than_chance(line),
        ),
        Claim(
            text="at ε ≥ 4, TEM protects less against the attack than Madlib",
            measure="auc",
            about=lambda s: _is_papers(s) and s["epsilon"] >= 4 and _is_static(s),
            holds=lambda line, results: above(line, _madlib(line, results)),
        ),
    ),
)
EXPONENT = Item(
    name="exponent",
    grid=exponent_grid,
    cell=trial,
    key="trial",
    spread=spread,
    measures=("accuracy", "accuracy_private", "auc", "kept", "share_in_clear", "exponent"),
    revision=2,
)
