"""Privacy beside utility on one's own texts."""

import json
import math
import statistics
from dataclasses import replace
from unittest import mock

import pytest
from tests.measure.conftest import LABELS, TEXTS

from malaprop import TEM, Lexicon, seeded_rng
from malaprop.measure import (
    BigramModel,
    Evaluation,
    EvaluationSettings,
    evaluate,
    evaluation_run,
    train_model,
)
from malaprop.measure.adversaries import attack_with
from malaprop.measure.evaluation_run import EvaluationProgress
from malaprop.privacy.channel import LawChannel
from malaprop.privacy.errors import DataError, ParameterError


def measured(
    words: Lexicon, bigrams: BigramModel, labels: list[str] | None = LABELS, **options: object
) -> Evaluation:
    settings = EvaluationSettings(model=bigrams, runs=3, attacked=100)
    return evaluate(
        TEXTS,
        labels,
        epsilons=[0.5, 4.0],
        mechanisms=["tem"],
        lexicon=words,
        settings=settings,
        rng=seeded_rng(3),
        **options,  # type: ignore[arg-type]
    )


@pytest.fixture(scope="module")
def evaluation(words: Lexicon, bigrams: BigramModel) -> Evaluation:
    return measured(words, bigrams)


def test_each_setting_has_privacy_beside_utility(evaluation: Evaluation) -> None:
    strong, weak = evaluation.cells
    assert strong.title == "tem, exponent=audited at ε = 0.5"
    assert weak.title == "tem, exponent=audited at ε = 4"
    assert strong.kept.value < weak.kept.value
    assert strong.text_similarity.value < weak.text_similarity.value
    assert list(strong.attacks) == ["bayes", "context", "majority"]
    assert strong.attacks["context"].value < weak.attacks["context"].value
    for model in ("centroids", "ngrams"):
        assert strong.accuracy[model]["private"].value < weak.accuracy[model]["private"].value
        assert evaluation.bounds.unprotected[model].value == 1.0
    assert evaluation.classes == 2


def test_the_words_kept_are_those_that_the_law_keeps(
    evaluation: Evaluation, words: Lexicon
) -> None:
    channel = TEM(epsilon=4.0).on(words)
    assert isinstance(channel, LawChannel)
    truth = sum(math.exp(channel.law.log_probabilities([i])[0][i]) for i in range(6)) / 6
    kept, number = evaluation.cells[1].kept, 3 * 360
    bound = 4.9 * math.sqrt(truth * (1 - truth) / number)  # two-sided, 10⁻⁶
    assert abs(kept.value - truth) < bound
    assert kept.interval[0] < kept.value < kept.interval[1]


def test_json_names_floors_and_the_context_attack(evaluation: Evaluation) -> None:
    value = json.loads(json.dumps(evaluation.to_dict(), allow_nan=False))
    assert set(value["floors"]) == {"random_words", "majority"}
    assert value["floors"]["majority"]["value"] == pytest.approx(0.5, abs=0.03)
    assert set(value["unprotected"]["accuracy"]) == {"centroids", "ngrams"}
    cell = value["cells"][0]
    assert 0.0 <= cell["attacks"]["context"]["score"] <= 1.0
    documented = "score interval over spread values baseline floor unprotected measured"
    assert set(cell["attacks"]["context"]) == {*documented.split(), "recovers_words"}
    assert "context, majority: 95 % by bootstrap over 50 texts, with 3 draws" in value["intervals"]
    assert set(cell["accuracy"]["ngrams"]) == {"clean", "private"}
    assert value["texts"]["attacked_words"] == 100
    assert not any(word in json.dumps(value) for word in ("good", "awful", "down"))


def test_without_labels_texts_are_compared(words: Lexicon, bigrams: BigramModel) -> None:
    found = measured(words, bigrams, labels=None)
    assert found.cells[0].accuracy == {}
    assert found.utility.name == "similarity of texts"
    assert found.to_dict()["floors"]["majority"] is None


def test_a_sample_is_drawn_and_said(words: Lexicon, bigrams: BigramModel) -> None:
    found = evaluate(
        [*TEXTS, "", "good"],
        [*LABELS, "up", ""],
        epsilons=[1.0],
        mechanisms=["tem:2", TEM(epsilon=3.0)],
        lexicon=words,
        settings=EvaluationSettings(model=bigrams, runs=2, sample=60, models=("ngrams",)),
    )
    assert (found.texts["sampled"], found.texts["given"]) == (60, 180)
    assert [cell.epsilon for cell in found.cells] == [2.0, 3.0]
    assert found.notes == ("2 texts without words, or without a label, were left out",)


def test_all_texts_can_be_measured(words: Lexicon) -> None:
    settings = EvaluationSettings(runs=2, sample=None, models=("ngrams",), attacks=("bayes",))
    found = evaluate(TEXTS, LABELS, mechanisms=["tem:2"], lexicon=words, settings=settings)
    assert (found.texts["sampled"], found.texts["given"], found.texts["trained"]) == (180, 180, 136)
    assert list(found.cells[0].accuracy_by_texts["ngrams"]) == ["34", "68", "136"]
    told = json.loads(json.dumps(found.to_dict()))
    assert told["settings"]["sample"] is None
    assert set(told["unprotected"]["accuracy_by_texts"]["ngrams"]) == {"34", "68", "136"}
    assert told["summary"].startswith("At ε = 2 a classifier trained on 136 private texts keeps ")


def test_a_lexicon_without_a_model_is_attacked_without_context(words: Lexicon) -> None:
    found = evaluate(TEXTS, epsilons=[1.0], mechanisms=["tem"], lexicon=words)
    assert list(found.cells[0].attacks) == ["bayes", "majority"]
    assert "context attack was not run" in found.notes[0]
    for attack, complaint in (("context", "needs a bigram model"), ("frequency", "document")):
        settings = EvaluationSettings(attacks=(attack,))
        with pytest.raises(ParameterError, match=complaint):
            evaluate(TEXTS, mechanisms=["tem"], lexicon=words, settings=settings)


def test_attacks_on_labels_get_the_labels(words: Lexicon) -> None:
    settings = EvaluationSettings(attacks=("bayes", "attribute"), models=("ngrams",), runs=2)
    found = evaluate(TEXTS, LABELS, mechanisms=["tem:9"], lexicon=words, settings=settings)
    attribute = found.cells[0].attacks["attribute"]
    assert attribute.value > 0.9
    assert not attribute.recovers_words
    strongest = found.cells[0].strongest
    assert strongest is not None
    assert strongest[0] != "attribute"
    with pytest.raises(ParameterError, match="attribute is on labels: give `labels`"):
        evaluate(TEXTS, mechanisms=["tem:9"], lexicon=words, settings=settings)


def test_attacks_are_over_all_draws_and_splits(evaluation: Evaluation, words: Lexicon) -> None:
    for figure in evaluation.cells[1].attacks.values():
        assert len(figure.values) == 3
        assert figure.value == pytest.approx(sum(figure.values) / 3)
        assert figure.spread == pytest.approx(statistics.stdev(figure.values))
        assert figure.over == "bootstrap over 50 texts, with 3 draws of the noise each"
        assert figure.interval[0] <= figure.value <= figure.interval[1]
        assert (figure.measured, figure.unprotected) == ("share of words", 1.0)
    settings = EvaluationSettings(attacks=("attribute", "membership"), models=("ngrams",), runs=2)
    found = evaluate(TEXTS, LABELS, mechanisms=["tem:9"], lexicon=words, settings=settings)
    attacks = found.cells[0].attacks
    assert attacks["membership"].measured == "area under the curve"
    for figure in attacks.values():
        assert len(figure.values) == 2
        assert figure.over == "bootstrap over texts and 2 splits, each with its own noise"


def test_attacks_on_words_share_their_draws(words: Lexicon) -> None:
    """All words are equally likely: at a large ε both take the output for the word."""
    settings = EvaluationSettings(attacks=("bayes", "majority"), runs=4)
    cell = evaluate(TEXTS[:6], mechanisms=["tem:9"], lexicon=words, settings=settings).cells[0]
    assert cell.attacks["bayes"].values == cell.kept.values
    assert cell.attacks["bayes"].baseline == pytest.approx(cell.kept.value)


def test_what_attacks_cannot_do_with_is_refused_before_any_work(words: Lexicon) -> None:
    told: list[EvaluationProgress] = []
    long = [" ".join(TEXTS[i : i + 6]) for i in range(0, 180, 6)]
    own = EvaluationSettings(model=train_model(long, words))
    with pytest.raises(ParameterError, match="was trained on these texts"):
        evaluate(long, lexicon=words, mechanisms=["tem"], settings=own, progress=told.append)
    settings = EvaluationSettings(attacks=("authorship",), models=("ngrams",))
    distinct = [f"good {'!' * i}" if i % 2 else "bad" for i in range(180)]
    authors = [str(i % 2) for i in range(180)]  # of the one, there is one text 90 times
    with pytest.raises(DataError, match="two authors with 4 distinct texts or more each"):
        evaluate(distinct, authors, lexicon=words, settings=settings, progress=told.append)
    assert told == []


def test_one_draw_for_each_distinct_word_is_attacked_by_frequency(words: Lexicon) -> None:
    found = evaluate(TEXTS, mechanisms=["tem:1"], lexicon=words, repeat="document")
    assert list(found.cells[0].attacks) == ["bayes", "majority", "frequency"]


def test_progress_is_told_by_setting(words: Lexicon, bigrams: BigramModel) -> None:
    told: list[EvaluationProgress] = []
    measured(words, bigrams, labels=None, progress=told.append)
    assert [each.done for each in told] == sorted(each.done for each in told)
    assert told[0].done == 0
    assert max(each.done for each in told) <= told[0].total == 3000


@pytest.mark.parametrize(
    ("texts", "labels", "options", "complaint"),
    [
        (TEXTS, ["same"] * 180, {}, "All labels are the same"),
        (TEXTS, [f"secret {i}" for i in range(180)], {}, "name a column of classes"),
        (TEXTS, [None] * 180, {}, "No text has a label"),
        (TEXTS, LABELS[:3], {}, "a label for each text"),
        (TEXTS[:10], LABELS[:10], {}, "20 texts or more"),
        ([" "], None, {}, "no texts"),
        (["!", "?"], None, {}, "no words"),
        ("secret text", None, {}, "not one string"),
        (TEXTS, None, {"mechanisms": ["tme"]}, "Did you mean 'tem'"),
        (TEXTS, None, {"mechanisms": ["tem:x"]}, "ε must be a number"),
        (TEXTS, None, {"mechanisms": ["tem", "tem:1"]}, "twice"),
        (TEXTS, None, {"mechanisms": []}, "no mechanism"),
        (TEXTS, None, {"epsilons": []}, "needs an ε"),
    ],
)
def test_bad_input_is_refused(
    words: Lexicon,
    texts: list[str],
    labels: list[object],
    options: dict[str, object],
    complaint: str,
) -> None:
    arguments = {"mechanisms": ["tem"], "epsilons": [1.0]} | options
    with pytest.raises((DataError, ParameterError), match=complaint) as error:
        evaluate(texts, labels, lexicon=words, **arguments)  # type: ignore[arg-type]
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"sample": 0}, "sample"),
        ({"most": 0.0}, "most"),
        ({"attacks": ("contxt",)}, "context"),
        ({"attacks": ("inversion",)}, "not on texts"),
        ({"models": ("ngram",)}, "There are: centroids, ngrams"),
    ],
)
def test_bad_settings_are_refused(options: dict[str, object], complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        EvaluationSettings(**options)  # type: ignore[arg-type]


def test_one_run_is_no_certainty(words: Lexicon) -> None:
    settings = EvaluationSettings(attacks=("bayes",), models=("ngrams",), runs=1)
    found = evaluate(TEXTS, LABELS, mechanisms=["tem:9"], lexicon=words, settings=settings)
    accuracy = found.cells[0].accuracy["ngrams"]["clean"]
    assert accuracy.interval[1] - accuracy.interval[0] > 0.05
    assert "accuracy: 95 % over the test texts, for one noise draw" in found.about_intervals
    assert found.runs.startswith("one noise draw, with a random split: ")


def test_one_text_says_nothing_of_others(words: Lexicon) -> None:
    settings = EvaluationSettings(attacks=("bayes",))
    found = evaluate(["good, great"], mechanisms=["tem:9"], lexicon=words, settings=settings)
    assert found.cells[0].kept.interval == (0.0, 1.0)
    low, high = found.cells[0].attacks["bayes"].interval
    assert high - low > 0.5
    assert found.recommendation.cell is None


def test_attackers_adapt_if_they_are_told_to(words: Lexicon) -> None:
    settings = EvaluationSettings(attacks=("bayes", "attribute"), models=("ngrams",), runs=2)
    settings = replace(settings, adaptive=True)
    with mock.patch.object(evaluation_run, "attack_with", wraps=attack_with) as made:
        found = evaluate(TEXTS, LABELS, mechanisms=["tem:9"], lexicon=words, settings=settings)
    assert [call.args[1]["adaptive"] for call in made.call_args_list] == [True, True]
    assert found.settings["adaptive"] is True
