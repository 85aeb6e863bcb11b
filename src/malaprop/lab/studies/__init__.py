"""Studies: the experiments of five papers, run again on real data, with controls.

    names       the studies there are
    reproduce   run one, and return its lines: our figures beside the paper's

A study is a folder here: `paper.json`, what the paper did and printed; `items.toml`, the grid and
the claims of each table and figure; and a module with the functions that it names.

>>> from malaprop.lab import studies
>>> studies.names()[0]
'nadp'
"""

from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

from malaprop.lab.studies.reproduction import CellProgress, Run, run_study
from malaprop.lab.studies.study import Line, Study, judged, read_study
from malaprop.privacy.errors import ParameterError, did_you_mean

_ORDER = ("nadp", "mahalanobis", "tem", "privemb", "hyperbolic")
_OWN = ("frontier",)  # studies of no paper


def names() -> tuple[str, ...]:
    """Return the names of all studies of papers: the folders that hold a paper's figures."""
    there = {path.parent.name for path in Path(__file__).parent.glob("*/paper.json")}
    return (*(name for name in _ORDER if name in there), *sorted(there - {*_ORDER, *_OWN}))


@cache
def study_named(name: str) -> Study:
    if name not in (*names(), *_OWN):
        hint = did_you_mean(name, names())
        raise ParameterError(f"There is no study {name!r}.{hint} There are: {', '.join(names())}.")
    return read_study(name, vars(import_module(f"malaprop.lab.studies.{name}")))


def judged_again(lines: Iterable[Line]) -> list[Line]:
    """Return lines that were measured before, with the claims as they are judged today.

    Each figure is one line, though older files repeat it for each claim.
    """
    by_item: dict[tuple[str, str], dict[str, Line]] = {}
    for line in lines:
        by_item.setdefault((line.study, line.item), {}).setdefault(line.key, line)
    again = []
    for (study, name), own in by_item.items():
        claims = {item.name: item.claims for item in study_named(study).items}
        again += judged(own.values(), claims.get(name, ()))
    return again


def reproduce(
    name: str,
    *,
    quick: bool = False,
    seed: int = 0,
    items: Sequence[str] | None = None,
    fresh: bool = False,
    progress: CellProgress | None = None,
    run: Run | None = None,
) -> list[Line]:
    """Run a study, or some of its items, and return our figures beside the paper's.

    `quick` is another, smaller experiment, on fewer words and without verdicts. Cells that
    were measured before with the same seed and versions are taken from the user's cache folder,
    unless `fresh`. A `run` of another size, or with data of your own, is made by
    `malaprop.lab.studies.scale.run_of`.
    """
    chosen = run or Run(quick=quick, seed=seed)
    return run_study(study_named(name), chosen, items=items, fresh=fresh, progress=progress)
