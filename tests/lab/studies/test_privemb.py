"""The study of privemb-2021 on a tiny lexicon: every item, its controls, and the claims."""

from dataclasses import replace

import numpy as np
import pytest

from malaprop import Lexicon, seeded_rng
from malaprop.lab import studies
from malaprop.lab.datasets import LabelledTexts
from malaprop.lab.studies.privemb import (
    M1,
    M2,
    SCALED,
    bound,
    lexicon_of,
    squared_length,
)
from malaprop.lab.studies.reproduction import Cells, Run, run_study
from malaprop.lab.studies.study import Line
from malaprop.lab.tasks.similarity import preserved
from malaprop.privacy.noise import ProjectedLaplace

STUDY = studies.study_named("privemb")
WORDS = 240


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    """Words of two kinds that differ in the first direction."""
    rng = seeded_rng(2)
    vectors = rng.normal(size=(WORDS, 60)) * 3.0
    vectors[::2, 0] += 9.0
    return Lexicon([f"w{i}" for i in range(WORDS)], vectors)


def labelled(name: str, lexicon: Lexicon, words: int, parted: bool = False) -> LabelledTexts:
    rng = seeded_rng(4)
    texts, labels = [], []
    for i in range(160):
        ids = rng.integers(WORDS // 2, size=words) * 2 + i % 2
        texts.append(" ".join(lexicon.words[j] for j in ids))
        labels.append("pos" if i % 2 else "neg")
    splits = tuple("test" if i % 5 == 0 else "train" for i in range(160)) if parted else ()
    return LabelledTexts(name=name, texts=tuple(texts), labels=tuple(labels), splits=splits)


@pytest.fixture(scope="module")
def lines(lexicon: Lexicon, tmp_path_factory: pytest.TempPathFactory) -> list[Line]:
    sets = {name: labelled(name, lexicon, 6) for name in ("mr", "cr", "mpqa")}
    sets |= {name: labelled(name, lexicon, 6, parted=True) for name in ("sst5", "trec")}
    sets["opinion-words"] = LabelledTexts(
        name="opinion-words",
        texts=tuple(lexicon.words),
        labels=tuple("pos" if i % 2 else "neg" for i in range(WORDS)),
    )
    smaller = Lexicon(lexicon.words, lexicon.vectors[:, :20] / 4.0)
    lexicons = {"english": lexicon, "glove-6b-50d": smaller}
    run = Run(quick=True, lexicons=lexicons, sets=sets)
    return run_study(STUDY, run, cells=Cells(tmp_path_factory.mktemp("cells")))


def values(lines: list[Line], item: str, measure: str, **wanted: object) -> list[float]:
    """Return the figures of these settings."""
    return [
        float(line.ours)
        for line in lines
        if line.item == item
        and line.measure == measure
        and line.ours is not None
        and all(line.setting.get(name) == value for name, value in wanted.items())
    ]


def test_every_item_has_lines_and_the_table_has_the_papers_figures(lines: list[Line]) -> None:
    assert {line.item for line in lines} == {item.name for item in STUDY.items}
    printed = {
        (line.setting["task"], line.setting["mechanism"], line.measure): line.paper
        for line in lines
        if line.paper is not None
    }
    assert len(printed) == 30
    assert printed["trec", M2, "accuracy"] == 0.73
    assert printed["trec", "InferSent", "accuracy"] == 0.882
    ours = [line for line in lines if line.paper is not None and not line.command]
    assert all(line.setting["noise"] == "table" for line in ours)


def test_what_is_missing_leaves_a_command(lines: list[Line]) -> None:
    commands = {(line.item, line.setting.get("lexicon")): line.command for line in lines}
    missing = {place: command for place, command in commands.items() if command}
    fasttext = {(item, "fasttext") for item in ("fig5", "fig6", "fig7")}
    assert missing.keys() == fasttext | {("fig4", "glove-6b-200d"), ("table1", None)}
    for place in (*fasttext, ("fig4", "glove-6b-200d")):
        assert str(missing[place]).startswith("malaprop lexicon import ")
        assert "https://" in str(missing[place])
    assert all(line.ours is None for line in lines if line.command)


def test_other_vectors_are_judged_apart_from_fasttext(lines: list[Line]) -> None:
    for item in ("fig5", "fig6", "fig7"):
        claimed = [line for line in lines if line.item == item and line.claims]
        by_vectors = {line.setting["lexicon"]: line for line in claimed}
        assert by_vectors.keys() == {"fasttext", "glove-6b-50d"}
        assert by_vectors["fasttext"].ours is None
        assert by_vectors["glove-6b-50d"].ours is not None
        assert by_vectors["glove-6b-50d"].claims[0].claim.startswith("vectors of 50 and 100")
        assert {each.whose for each in by_vectors["glove-6b-50d"].claims} == {"control"}


def test_the_formula_may_ask_for_more_dimensions_than_there_are(lines: list[Line]) -> None:
    (asked,) = values(lines, "fig5", "m", lexicon="glove-6b-50d", published=True)
    (sound,) = values(lines, "fig5", "m", lexicon="glove-6b-50d", projection="pca")
    assert asked > 20
    assert sound == 20


def test_a_scaled_lexicon_has_the_distances_of_english(lexicon: Lexicon) -> None:
    lexicons = {"english": lexicon, "glove-6b-50d": Lexicon(lexicon.words, lexicon.vectors / 4.0)}
    setting = {"lexicon": "glove-6b-50d", "control": SCALED}
    scaled = lexicon_of(Run(lexicons=lexicons), setting)
    np.testing.assert_allclose(scaled.vectors, lexicon.vectors, rtol=1e-5)


def test_a1_at_an_equal_share_keeps_as_many_words_as_m2(lines: list[Line]) -> None:
    kept = values(lines, "fig4", "kept", control="equal share kept", dimension=50)
    m2 = values(lines, "fig4", "kept", mechanism=M2, published=True, dimension=50)
    assert kept == pytest.approx(m2, abs=0.15)


def test_a_constant_beats_the_noise_of_m1(lines: list[Line]) -> None:
    (m1,) = values(lines, "fig1", "distance_error", mechanism=M1, epsilon=1)
    (constant,) = values(lines, "fig1", "distance_error_of_constant", mechanism=M1, epsilon=1)
    assert constant < m1


def test_floors_are_floors(lines: list[Line]) -> None:
    (clean,) = values(lines, "fig3", "accuracy", control="no noise")
    (random,) = values(lines, "fig3", "accuracy", control="random table")
    assert clean > 0.9
    assert random < 0.8
    (majority,) = values(lines, "table1", "accuracy", task="trec", control="majority")
    assert majority == pytest.approx(0.5)


def test_the_published_projection_stretches_some_vectors_beyond_its_noise(
    lines: list[Line],
) -> None:
    published = values(lines, "lemma4", "epsilon_factor", published=True, among="all vectors")
    assert max(published) > 1.0
    sound = values(lines, "lemma4", "epsilon_factor", published=False)
    assert max(sound) <= 1.0 + 1e-9
    full = studies.judged_again([replace(line, quick=False) for line in lines])
    told = [each for line in full if line.item == "lemma4" for each in line.claims]
    assert {each.whose for each in told if each.holds is False} == {"control"}


def test_identical_vectors_have_no_error_and_a_perfect_correlation() -> None:
    rows = seeded_rng(1).normal(size=(40, 5))
    measures = preserved(rows, rows)
    assert measures["distance_error"] == 0.0
    assert measures["product_spearman"] == pytest.approx(1.0)
    assert measures["distance_error_of_constant"] > 0.0


def test_the_expected_length_of_the_noise_is_that_of_draws(lexicon: Lexicon) -> None:
    setting = {"mechanism": M2, "published": True, "epsilon": 2.0, "beta": 0.9}
    noise = bound(lexicon, setting).noise
    assert isinstance(noise, ProjectedLaplace)
    drawn = noise.release(np.zeros((4000, 60)), seeded_rng(3))
    assert np.square(drawn).sum(axis=1).mean() == pytest.approx(squared_length(noise), rel=0.03)
