"""Running tasks: repetitions, what varies, floors, results."""

import json
from typing import Any

import pytest

from malaprop import DataError, Laplace, Lexicon, ParameterError, seeded_rng
from malaprop.lab import tasks
from malaprop.lab.datasets import LabelledTexts, WordPairs

PAIRS = WordPairs(
    name="made up",
    first=tuple(f"w{i}" for i in range(30)),
    second=(*(f"W{i + 9}" for i in range(29)), "missing"),
    scores=tuple(float(i) for i in range(30)),
)


def test_a_lexicon_is_scored_once_because_nothing_varies(plane: Lexicon) -> None:
    result = tasks.run("similarity", plane, data=PAIRS, rng=seeded_rng(1))
    assert result.over == "nothing"
    assert len(result.score.values) == 1
    assert result.value == result.ceiling.value
    assert result.items == 29
    assert result.covered == pytest.approx(29 / 30)
    assert result.data == ("made up",)


def test_noise_differs_in_each_run_and_a_seed_repeats_it(plane: Lexicon) -> None:
    channel = Laplace(epsilon=1.0).on(plane)
    results = [
        tasks.run("similarity", channel, data=PAIRS, repeats=4, rng=seeded_rng(3)) for _ in range(2)
    ]
    assert results[0] == results[1]
    assert len(set(results[0].score.values)) == 4
    assert results[0].over == "noise"
    assert results[0].spread > 0


def test_one_of_the_two_can_be_held_fixed(plane: Lexicon) -> None:
    channel = Laplace(epsilon=1.0).on(plane)
    options: dict[str, Any] = {"repeats": 3, "count": 10, "floors": False}
    for vary, over in (("both", "noise and splits"), ("noise", "noise"), ("splits", "splits")):
        result = tasks.run("preservation", channel, vary=vary, rng=seeded_rng(1), **options)
        assert result.over == over
        constants = set(result.measures["distance_error_of_constant"].values)
        assert len(constants) == (1 if vary == "noise" else 3)  # it depends on the words alone
        assert len(set(result.score.values)) == 3
    still = tasks.run("preservation", channel, vary="noise", rng=seeded_rng(1), **options)
    again = tasks.run("preservation", channel, vary="splits", rng=seeded_rng(1), **options)
    assert still.score.values[0] == again.score.values[0]


def test_floors_and_json(plane: Lexicon) -> None:
    result = tasks.run("similarity", plane, data=PAIRS, rng=seeded_rng(1))
    assert set(result.floors) == {"random_table", "random_words"}
    assert set(result.bounds) == {"unprotected", "random_table", "random_words"}
    assert result.bounds["unprotected"]["spearman"] == result.value
    plain = json.loads(json.dumps(result.to_dict()))
    assert plain["value"] == result.value
    assert plain["measures"]["pearson"]["value"] == result.measures["pearson"].value
    bare = tasks.run("similarity", plane, data=PAIRS, floors=False)
    assert not bare.floors


def test_progress_ends_at_the_end(plane: Lexicon) -> None:
    seen: list[tuple[int, int]] = []
    channel = Laplace(epsilon=1.0).on(plane)
    tasks.run("similarity", channel, data=PAIRS, repeats=2, progress=lambda *at: seen.append(at))
    assert seen == [(i, 5) for i in range(1, 6)]


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("similarty", {}, "Did you mean 'similarity'"),
        ("similarity", {"test": 0.1}, "has no option 'test'"),
        ("similarity", {"data": PAIRS, "vary": "words"}, "`vary` must be one of"),
        ("similarity", {"data": PAIRS, "repeats": 0}, "`repeats` 1 or more"),
        ("similarity", {"data": "men", "repeats": 1}, "malaprop data fetch men"),
        ("similarity", {"data": ()}, "needs `data`"),
        ("preservation", {"count": 30}, "at most half"),
        ("classify", {"data": PAIRS}, "takes LabelledTexts. Got WordPairs"),
        ("classify", {"data": PAIRS, "test": 1.0}, "`test` must be a share"),
        ("classify", {"data": PAIRS, "tested": "both"}, "`tested` must be private or clean"),
    ],
)
def test_mistakes_are_told(
    plane: Lexicon, name: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises((ParameterError, DataError), match=message):
        tasks.run(name, plane, **options)


def test_a_task_that_was_made_takes_no_options(plane: Lexicon) -> None:
    made = tasks.registry["similarity"](data=PAIRS)
    assert tasks.run(made, plane).items == 29
    with pytest.raises(ParameterError, match="when you make it"):
        tasks.run(made, plane, data=PAIRS)


def test_no_word_of_the_lexicon(plane: Lexicon) -> None:
    strangers = WordPairs(name="s", first=("x",), second=("y",), scores=(1.0,))
    with pytest.raises(DataError, match="none of the pairs"):
        tasks.run("similarity", plane, data=strangers)


def test_columns_of_different_lengths_are_no_data_set() -> None:
    with pytest.raises(DataError, match="as many values"):
        LabelledTexts(name="s", texts=("a", "b"), labels=("x",))
    with pytest.raises(DataError, match="at least one row"):
        LabelledTexts(name="s", texts=(), labels=())
