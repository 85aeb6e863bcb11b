"""The rule that chooses a setting."""

import json
from dataclasses import asdict, replace

import numpy as np
from tests.measure.figures import attack_figure

from malaprop import seeded_rng
from malaprop.measure.evaluation import Bounds, Cell, Evaluation, Utility, recommend, revived
from malaprop.privacy.estimate import Estimate


def estimate(value: float, margin: float = 0.01) -> Estimate:
    return Estimate(value=value, low=value - margin, high=value + margin)


BOUNDS = Bounds(
    kept=0.0,
    similarity=0.0,
    text_similarity=0.05,
    majority=estimate(0.6, 0.0),
    random_words={m: {"clean": estimate(0.55), "private": estimate(0.55)} for m in ("a", "b")},
    unprotected={"a": estimate(0.8), "b": estimate(0.9)},
    unprotected_by_texts={m: {"75": estimate(0.7), "150": estimate(0.9)} for m in ("a", "b")},
)


def cell(epsilon: float, accuracy: float, recovered: float, *, kept: float = 0.1) -> Cell:
    attack = attack_figure(recovered, interval=(recovered - 0.02, recovered + 0.02))
    label = attack_figure(1.0, interval=(1.0, 1.0), recovers_words=False)
    return Cell(
        mechanism={"name": "tem", "epsilon": epsilon},
        name="tem",
        kept=estimate(kept),
        similarity=estimate(0.3),
        text_similarity=estimate(0.5),
        accuracy={m: {"clean": estimate(accuracy), "private": estimate(0.1)} for m in ("a", "b")},
        accuracy_by_texts={m: {"150": estimate(accuracy)} for m in ("a", "b")},
        attacks={"context": attack, "attribute": label},
        seconds=1.0,
    )


def test_the_most_useful_of_the_safe_settings_is_chosen() -> None:
    cells = [cell(1, 0.7, 0.2), cell(2, 0.8, 0.47), cell(3, 0.85, 0.49), cell(4, 0.89, 0.7)]
    found = recommend(cells, BOUNDS, 0.5)
    assert found.cell is cells[1]  # the third one's interval ends above 0.5
    assert "2 of 4 settings" in found.reason
    assert "clean texts reach 0.900" in found.reason
    assert found.utility == "accuracy on clean texts, by b"  # the better model without protection


def test_a_more_private_setting_that_is_as_good_is_named() -> None:
    cells = [cell(1, 0.795, 0.2), cell(2, 0.8, 0.4), cell(3, 0.7, 0.1)]
    found = recommend(cells, BOUNDS, 0.5)
    assert found.cell is cells[1]
    assert "1 more private setting has a value within that interval" in found.reason
    assert "the most private is tem at ε = 1: 0.795, where context recovers 0.200" in found.reason


def test_equal_settings_go_to_the_more_private_one() -> None:
    cells = [cell(2, 0.8, 0.4), cell(1, 0.8, 0.2)]
    assert recommend(cells, BOUNDS, 0.5).cell is cells[1]


def test_it_is_said_if_no_setting_is_safe() -> None:
    found = recommend([cell(1, 0.7, 0.6), cell(2, 0.8, 0.8)], BOUNDS, 0.5)
    assert found.cell is None
    assert "The nearest is tem at ε = 1, where context recovers 0.600" in found.reason


def test_it_is_said_if_what_is_safe_is_of_no_use() -> None:
    found = recommend([cell(1, 0.605, 0.2), cell(2, 0.8, 0.8)], BOUNDS, 0.5)
    assert found.cell is None
    assert "clearly above 0.600" in found.reason


def test_words_that_are_kept_count_as_recovered() -> None:
    found = recommend([cell(1, 0.7, 0.2, kept=0.6)], BOUNDS, 0.5)
    assert found.cell is None
    assert "taking the output for the word recovers 0.600" in found.reason


def test_without_an_attack_on_words_nothing_is_recommended() -> None:
    one = cell(1, 0.7, 0.2)
    bare = Cell(**{**vars(one), "attacks": {"attribute": one.attacks["attribute"]}})
    assert "No attack on words was run" in recommend([bare], BOUNDS, 0.5).reason


def test_cells_and_bounds_survive_json() -> None:
    one = cell(1.5, 0.7, 0.2)
    assert Cell(**revived(json.loads(json.dumps(asdict(one))))) == one
    assert Bounds(**revived(json.loads(json.dumps(asdict(BOUNDS))))) == BOUNDS


def test_a_setting_that_is_no_better_than_random_words_is_rarely_called_useful() -> None:
    """Both accuracies have errors: against the floor's mean alone, 6 % would count."""
    count, rng, useful = 20_000, seeded_rng(1), 0
    for own, random in rng.normal(0.5, 0.02, size=(count, 2, 5)):
        floor = Estimate.of_runs(random.tolist())
        utility = Utility(name="accuracy", model="a", floor=floor, ceiling=Estimate.exact(1.0))
        useful += utility.is_clear(Estimate.of_runs(own.tolist()))
    assert useful <= 0.04 * count


def test_the_floor_counts_with_its_interval() -> None:
    unsure = {m: {"clean": estimate(0.65, 0.1), "private": estimate(0.6)} for m in ("a", "b")}
    cells = [cell(1, 0.7, 0.2)]
    assert recommend(cells, BOUNDS, 0.5).cell is cells[0]
    assert recommend(cells, replace(BOUNDS, random_words=unsure), 0.5).cell is None


def evaluation(*cells: Cell, bounds: Bounds = BOUNDS, runs: int = 5) -> Evaluation:
    counts = ("given", "sampled", "words", "attacked", "attacked_words", "trained")
    return Evaluation(
        cells=cells,
        bounds=bounds,
        lexicon={"name": "english", "fingerprint": "00"},
        policy={},
        settings={"most": 0.5, "runs": runs},
        texts=dict(zip(counts, (900, 200, 4000, 200, 4000, 150), strict=True)),
        classes=2,
        runs="",
    )


def over_runs(cell: Cell, *values: float) -> Cell:
    """Return the cell with an accuracy over some runs."""
    accuracy = Estimate.of_runs(values, shared=1 / 3)
    return replace(cell, accuracy={"b": {"clean": accuracy, "private": accuracy}})


def test_it_says_how_many_runs_would_decide() -> None:
    rival = cell(1, 0.79, 0.2)
    chosen = over_runs(cell(2, 0.8, 0.4), 0.795, 0.8, 0.805)
    (question,) = evaluation(rival, chosen, runs=3).undecided
    assert question.startswith(
        "Whether tem at ε = 2 is more useful than tem at ε = 1: about 6 runs"
    )
    for runs, decided in ((5, False), (6, True)):  # as spread as the three
        own = 0.8 + 0.005 * np.linspace(-1, 1, runs) / np.std(np.linspace(-1, 1, runs), ddof=1)
        accuracy = Estimate.of_runs(own.tolist(), shared=1 / 3)
        assert (accuracy.low > 0.79) == decided


def test_more_runs_of_the_same_texts_do_not_decide_everything() -> None:
    rival = cell(1, 0.795, 0.2)
    chosen = over_runs(cell(2, 0.8, 0.4), 0.75, 0.8, 0.85)
    (question,) = evaluation(rival, chosen, runs=3).undecided
    assert "more runs would not decide it, about " in question
    useless = over_runs(cell(1, 0.61, 0.2), 0.58, 0.61, 0.64)
    (question,) = evaluation(useless, runs=3).undecided
    assert question.startswith("Whether tem at ε = 1 is more useful than useless texts: ")


def test_an_attack_near_the_limit_is_decided_by_texts() -> None:
    assert evaluation(cell(1, 0.7, 0.2)).undecided == ()
    (question,) = evaluation(cell(1, 0.7, 0.2), cell(2, 0.8, 0.49)).undecided
    assert question == (
        "Whether tem at ε = 2 keeps context at or under 0.5: about 800 texts would decide it."
    )


def test_the_summary_says_what_is_kept_and_what_is_recovered() -> None:
    assert evaluation(cell(1.5, 0.7, 0.2)).summary == (
        "At ε = 1.5 a classifier trained on 150 private texts keeps 0.70 (0.69 to 0.71) of 0.90 "
        "(0.89 to 0.91) accuracy; an observer with context recovers 20 % (18 to 22) of words."
    )


def test_without_labels_or_context_the_summary_says_what_it_can() -> None:
    bare = replace(BOUNDS, unprotected={}, random_words={}, majority=None)
    one = replace(cell(1.5, 0.7, 0.2), accuracy={})
    bayes = replace(one, attacks={"bayes": one.attacks["context"]})
    assert evaluation(bayes, bounds=bare).summary == (
        "At ε = 1.5 private texts keep a similarity of 0.50 (0.49 to 0.51) to the clean ones; an "
        "observer of single words recovers 20 % (18 to 22) of words."
    )
    laplace = {"name": "laplace", "epsilon": 9}
    none = replace(one, attacks={}, mechanism=laplace, name="laplace")
    assert evaluation(bayes, none, bounds=bare).summary.startswith("At ε = 1.5 (tem) ")
    assert evaluation(none, bounds=bare).summary.endswith("; no attack on words was run.")
