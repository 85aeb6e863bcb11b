"""Points on a line."""

import pickle
from typing import Any

import numpy as np
import pytest

from malaprop import ParameterError
from malaprop.privacy.metrics import UNITS, Path


def test_distances_are_counted_in_steps() -> None:
    path = Path.of_steps([0.0, 0.5, 3.25])
    assert path.distances([0, 2]).tolist() == [[0.0, 0.5, 3.25], [3.25, 2.75, 0.0]]
    assert path.gaps.tolist() == [0.5, 2.75]
    assert path.length == 3.25
    assert len(path) == 3


def test_distances_of_far_points_are_exact() -> None:
    path = Path(np.array([0, 1, 2**52 - 1, 2**52]))
    assert (path.distances([0])[0] * UNITS).tolist() == [0, 1, 2**52 - 1, 2**52]


def test_seven_days_are_a_week_exactly() -> None:
    days = Path.even(109_572, per_step=7)
    assert days.distances([7])[0, [0, 14, 707]].tolist() == [1.0, 1.0, 100.0]
    assert np.abs(days.gaps - 1 / 7).max() <= 1 / UNITS


@pytest.mark.parametrize(
    "positions",
    [
        [],
        [1, 1],
        [2, 1],
        [[1, 2]],
        [0.5, 1.0],
        ["a"],
        [True, False],
        [0, 2**53],
        [2**63, 2**64 - 1],
    ],
)
def test_what_is_no_path_is_refused(positions: Any) -> None:
    with pytest.raises(ParameterError, match="path"):
        Path(np.array(positions))


@pytest.mark.parametrize(
    "places", [[0.0, 1e-9], [1.0, 1.0], [0.0, np.nan], [0.0, 1e300], [2.0, 1.0]]
)
def test_places_are_not_merged_in_silence(places: list[float]) -> None:
    with pytest.raises(ParameterError, match="path"):
        Path.of_steps(places)


@pytest.mark.parametrize(("count", "per_step"), [(0, 1), (3, 0), (3, UNITS + 1)])
def test_even_paths_have_points_a_unit_apart_or_more(count: int, per_step: int) -> None:
    with pytest.raises(ParameterError, match="even path"):
        Path.even(count, per_step)


@pytest.mark.parametrize("ids", [[-1], [3], [0.5], [[0]], [True]])
def test_points_that_are_none_are_refused(ids: Any) -> None:
    with pytest.raises(ParameterError, match="Points of a path"):
        Path.even(3).distances(ids)


def test_it_is_an_immutable_value() -> None:
    given = np.array([0, 5, 9])
    path, same = Path(given), Path(np.array([0, 5, 9]))
    given[0] = 3
    assert path == same
    assert hash(path) == hash(same)
    assert path != Path(np.array([0, 5, 8]))
    assert path != "a path"
    assert {path: 1}[same] == 1
    for one in (path, pickle.loads(pickle.dumps(path))):  # noqa: S301 - our own bytes
        assert one == same
        with pytest.raises(ValueError, match="read-only"):
            one.positions[0] = 1
    with pytest.raises(AttributeError):
        path.positions = given  # type: ignore[misc]
