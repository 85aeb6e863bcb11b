"""Figure 2's claims: NADP before all others, and how those compare."""

from malaprop.studies.framework.claims import Claim, Results, above, alike, below, every
from malaprop.studies.framework.items import Item
from malaprop.studies.framework.lines import Line, Setting
from malaprop.studies.framework.spreads import SPLITS
from malaprop.studies.nadp.utility import EQUAL, NADP, ONCE, SAME_CLEAR, fig2, fig2_grid, spread

_OTHERS = ("mahalanobis", "gaussian", "jaccard", "laplacian")
_BY_WORDS = ("word similarity", "classification", "odd man out")


def _is(setting: Setting, mechanism: str) -> bool:
    """Whether a setting is one of the paper's: a table noised once, no control of ours."""
    return (
        setting["mechanism"] == mechanism
        and bool(setting.get("published"))
        and setting.get("noise") == ONCE
        and "control" not in setting
        and setting["spread"] != SPLITS
        and setting.get("tau", 0.5) == NADP["tau"]
    )


def _is_control(setting: Setting, control: str) -> bool:
    return setting.get("control") == control and setting["spread"] != SPLITS


def _other(line: Line, results: Results, mechanism: str) -> Line | None:
    """Return the line of another mechanism at the same ε on the same task."""
    return next(
        (
            other
            for other in results.lines
            if other.measure == line.measure
            and _is(other.setting, mechanism)
            and other.setting["task"] == line.setting["task"]
            and other.setting["epsilon"] == line.setting["epsilon"]
        ),
        None,
    )


def _best(line: Line, results: Results) -> bool | None:
    return every(above(line, _other(line, results, name)) for name in _OTHERS)


def _second(line: Line, results: Results) -> bool | None:
    return every(above(line, _other(line, results, name)) for name in _OTHERS[1:])


def _worst(line: Line, results: Results) -> bool | None:
    return every(below(line, _other(line, results, name)) for name in _OTHERS[1:])


FIG2 = Item(
    name="fig2",
    grid=fig2_grid,
    cell=fig2,
    key="fig2",
    revision=3,
    spread=spread,
    measures=("score", "kept", "share_in_clear", "epsilon_used"),
    claims=(
        Claim(
            text="NADP is best on all four tasks at every ε",
            measure="score",
            about=lambda setting: _is(setting, "nadp"),
            holds=_best,
        ),
        Claim(
            text="Mahalanobis is second best, but for text similarity",
            measure="score",
            about=lambda setting: _is(setting, "mahalanobis") and setting["task"] in _BY_WORDS,
            holds=_second,
        ),
        Claim(
            text="Mahalanobis is worst in text similarity",
            measure="score",
            about=lambda setting: _is(setting, "mahalanobis") and setting["task"] not in _BY_WORDS,
            holds=_worst,
        ),
        Claim(
            text="Jaccard and Gaussian perform similarly: within 0.05",
            whose="reading",
            measure="score",
            about=lambda setting: _is(setting, "jaccard"),
            holds=lambda line, results: alike(line, _other(line, results, "gaussian"), 0.05),
        ),
        Claim(
            text="at high ε (20 or more) Gaussian outperforms Laplacian, but for text similarity",
            measure="score",
            about=lambda setting: (
                _is(setting, "gaussian")
                and setting["task"] in _BY_WORDS
                and setting["epsilon"] >= 20
            ),
            holds=lambda line, results: above(line, _other(line, results, "laplacian")),
        ),
        Claim(
            text="NADP is better than a mechanism that keeps as many words",
            whose="control",
            measure="score",
            about=lambda setting: _is_control(setting, EQUAL),
            holds=lambda line, results: below(line, _other(line, results, "nadp")),
        ),
        Claim(
            text="NADP is better than the same words in clear and random others",
            whose="control",
            measure="score",
            about=lambda setting: _is_control(setting, SAME_CLEAR),
            holds=lambda line, results: below(line, _other(line, results, "nadp")),
        ),
    ),
)
