"""The seeds of all cells are pinned: functions may get other names, figures stay."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace

import pytest
from numpy.random import Generator

from malaprop.lab import studies
from malaprop.lab.studies.reproduction import Cells, Run, run_study
from malaprop.lab.studies.study import Measurement, Setting

PINNED = {
    "nadp": "8c09ff7819a62d92",
    "mahalanobis": "f072beb5601b21ce",
    "tem": "b89c30b9d5199393",
    "privemb": "481e6a9a5451a247",
    "hyperbolic": "9a761d1e768fbd02",
    "frontier": "c638bef5f05b2cd8",
}
"""By study: a digest of the first numbers that its cells draw, in quick and in full runs."""


def test_every_study_is_pinned() -> None:
    assert {*studies.names(), "frontier"} == PINNED.keys()


@pytest.mark.parametrize("name", PINNED)
def test_a_key_stands_for_one_function(name: str) -> None:
    """Two functions with one key would read what the other measured."""
    items = studies.study_named(name).items
    pairs = {(item.key, item.cell) for item in items}
    assert len(pairs) == len({key for key, _ in pairs}) == len({cell for _, cell in pairs})


@pytest.mark.parametrize("name", PINNED)
def test_cells_draw_what_they_drew(name: str, cells: Cells) -> None:
    drawn = set()

    def renamed(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
        drawn.add(int(rng.integers(1 << 62)))
        yield Measurement("drawn", 1.0)

    study = studies.study_named(name)
    items = tuple(replace(item, cell=renamed, claims=()) for item in study.items)
    for quick in (True, False):
        run_study(replace(study, items=items), Run(quick=quick), cells=cells)
    text = "\n".join(map(str, sorted(drawn)))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == PINNED[name]
