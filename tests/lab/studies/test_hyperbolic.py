"""The study of hyperbolic-2019: its density, texts with slots, equal worst cases, every item."""

from typing import Any

import numpy as np
import pytest
from tests.lab.studies.planted_sets import planted

from malaprop import Lexicon, seeded_rng
from malaprop.lab.datasets import LabelledTexts, TextPairs
from malaprop.lab.studies import study_named
from malaprop.lab.studies.hyperbolic.mechanisms import (
    HIERARCHY,
    channel_of,
    drawn_in,
    largest_ratio,
    lexicon_of,
    reduced,
)
from malaprop.lab.studies.hyperbolic.texts import (
    PROTOCOLS,
    Replacer,
    SlotTexts,
    WordIds,
    rare_transitions,
)
from malaprop.lab.studies.hyperbolic.words import Curve, density, fig4, table1
from malaprop.lab.studies.reproduction import ENCODERS, Cells, Run, run_study
from malaprop.lab.studies.study import Line
from malaprop.lexicon.bigrams import BigramModel, words_digest


@pytest.fixture
def ball(tiny: Lexicon) -> Lexicon:
    """Half of the tiny lexicon's words, in the ball."""
    directions = seeded_rng(8).normal(size=(30, 3))
    radii = np.linspace(0.05, 0.99, 30)[:, None]
    units = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    return Lexicon(tiny.words[:30], radii * units, "poincare")


@pytest.fixture
def model(tiny: Lexicon) -> BigramModel:
    """A model in which only the second word follows the first one, and often."""
    size = len(tiny)
    totals = np.zeros(size + 1, dtype=np.int64)
    totals[0] = 1000
    return BigramModel.of_pairs(
        np.array([0]),
        np.array([1]),
        np.array([1000]),
        words=words_digest(tiny.words),
        unigrams=np.full(size, 10),
        totals=totals,
    )


def test_the_density_has_mass_1_on_a_line_only() -> None:
    x = np.linspace(-1.0, 1.0, 200_001)
    for epsilon in (0.5, 1.0, 8.0):
        assert np.trapezoid(density(x, epsilon), x) == pytest.approx(1.0, abs=1e-4)
    assert density(0.0, 1.0) > density(0.5, 1.0)


def test_a_slot_becomes_what_comes_out_most_often(ball: Lexicon) -> None:
    run = Run(lexicons={HIERARCHY: ball})
    setting = {"word": ball.words[0], "mechanism": "tem", "epsilon": 1000.0}
    (found,) = table1(run, setting, seeded_rng(1))
    assert str(found.value).split(", ")[0] == ball.words[0]  # hardly any noise
    (noisy,) = table1(run, {**setting, "epsilon": 0.1}, seeded_rng(1))
    assert len(set(str(noisy.value).split(", "))) == 3
    assert set(str(noisy.value).split(", ")) <= set(ball.words)


def test_words_lie_where_their_vectors_do() -> None:
    names = ["animal", "dog", "cat", "city", "paris"]
    vectors = [[0.1, 0.0, 0.0], [0.5, 0.1, 0.0], [0.6, 0.0, 0.1], [0.0, 0.2, 0.0], [0.0, 0.15, 0.0]]
    run = Run(lexicons={HIERARCHY: Lexicon(names, vectors, "poincare")})
    setting = {"control": "words at the edge"}  # where they are
    lines = {
        (each.measure, each.setting["word"]): each for each in fig4(run, setting, seeded_rng(1))
    }
    assert lines["radius", "dog"].value == pytest.approx(np.sqrt(0.26))
    assert lines["beyond", "dog"].value == pytest.approx(np.sqrt(0.26) - 0.1)
    assert float(lines["beyond", "paris"].value or 0) < 0.0  # which would contradict the paper
    assert ("beyond", "animal") not in lines
    angle = {
        word: line.setting["angle"] for (_, word), line in lines.items() if "angle" in line.setting
    }
    assert abs(angle["dog"] - angle["cat"]) < abs(angle["dog"] - angle["paris"])


def test_words_are_drawn_in_along_their_rays(ball: Lexicon) -> None:
    inner = drawn_in(ball, 0.2)
    before, after = (np.linalg.norm(each.vectors, axis=1) for each in (ball, inner))
    np.testing.assert_allclose(np.arctanh(after), 0.2 * np.arctanh(before), rtol=1e-4)


def test_what_is_in_no_slot_stays(ball: Lexicon) -> None:
    texts = SlotTexts(["The Wak, of wfs?", "", "WAL."], ball)
    assert texts.flat == ["the", "wak", "of", "wfs", "wal"]
    slots = PROTOCOLS["stop words kept"](texts)
    assert slots.tolist() == [False, True, False, False, True]
    words = texts.replaced(slots, np.array([2, 3]))
    assert texts.joined(words) == ["the wam, of wfs?", "", "wan."]
    assert PROTOCOLS["all words"](texts).all()


def test_slots_are_words_of_rare_transitions(
    ball: Lexicon, tiny: Lexicon, model: BigramModel
) -> None:
    texts = SlotTexts(["wak wal wam", "wal wak"], ball)
    slots = rare_transitions(model, tiny)(texts)
    assert not slots[1]


def test_a_table_noised_once_is_a_cipher(ball: Lexicon) -> None:
    texts = SlotTexts(["wak wal " * 40], ball)
    for once, most in ((True, 2), (False, 30)):
        replacer = Replacer(WordIds(ball), None, PROTOCOLS["all words"], once)
        words = set(replacer.words_of(texts, seeded_rng(1)))
        assert len(words) == 2 if once else 10 < len(words) <= most
        assert replacer.in_clear == 0.0


def test_curves_meet_at_the_worst_case() -> None:
    curve = Curve(np.array([1.0, 4.0]), np.array([[0.0, 100.0], [200.0, 300.0]]), 5.0)
    matched = curve.at(200.0, 100.0)
    assert matched is not None
    assert matched[0] == pytest.approx(2.0)
    assert matched[1].tolist() == [100.0, 200.0]
    assert curve.at(300.0, 100.0) is None
    assert curve.at(100.0, 100.0) is None


def test_principal_components_keep_distances(tiny: Lexicon) -> None:
    whole, part = reduced(tiny, 8), reduced(tiny, 4)
    assert part.vectors.shape == (60, 4)
    assert (part.distances([0]) <= whole.distances([0]) + 1e-5).all()


def test_the_ratio_of_distances_is_that_of_the_worst_pair(ball: Lexicon, tiny: Lexicon) -> None:
    flat = tiny.subset(ball.words)
    curved, lengths = ball.distances(range(30)), flat.distances(range(30))
    pairs = ~np.eye(30, dtype=bool)
    expected = (curved[pairs] / lengths[pairs]).max()
    assert largest_ratio(ball, tiny) == pytest.approx(expected)


def test_an_equal_euclidean_epsilon_promises_as_much(ball: Lexicon, tiny: Lexicon) -> None:
    run = Run(lexicons={"english": tiny, HIERARCHY: ball})
    setting: dict[str, Any] = {"mechanism": "tem", "space": "Euclidean, 300 dimensions"}
    setting |= {"epsilon": 2.0, "control": "equal Euclidean ε"}
    channel = channel_of(run, setting)
    curved, flat = lexicon_of(run, {}), lexicon_of(run, setting)
    promised = float(channel.guarantee.epsilon) * flat.distances(range(30))
    asked = 2.0 * curved.distances(range(30))
    pairs = ~np.eye(30, dtype=bool)
    assert (promised[pairs] >= asked[pairs] * (1.0 - 1e-6)).all()
    assert (promised[pairs] / asked[pairs]).min() == pytest.approx(1.0)


def _sets(tiny: Lexicon, model: BigramModel) -> dict[str, object]:
    sets: dict[str, object] = dict(planted(tiny.words))
    texts = sets["mr"]
    assert isinstance(texts, LabelledTexts)
    for name in ("sst5", "trec"):
        sets[name] = texts
    for name in ("sotu", "gutenberg"):
        authors = [f"a{i % 12}" for i in range(80)]
        sets[name] = LabelledTexts(name=name, texts=texts.texts, labels=tuple(authors))
    pairs: dict[str, Any] = {"first": texts.texts, "second": texts.texts[::-1]}
    for name in ("sick", "mrpc"):
        sets[name] = TextPairs(name=name, **pairs, labels=texts.labels)
    scores = tuple(np.linspace(0.0, 5.0, 80).tolist())
    sets["sts14"] = TextPairs(name="sts14", **pairs, scores=scores)
    return {**sets, "bigrams": model}


def _is_only_the_papers(line: Line) -> bool:
    """Whether nobody but PAN or a sentence encoder could give our figure."""
    pan = str(line.setting.get("data", "")).startswith("pan")
    return pan or line.setting.get("mechanism") in ENCODERS


@pytest.mark.parametrize("item", [item.name for item in study_named("hyperbolic").items])
def test_every_item_runs(
    item: str, tiny: Lexicon, ball: Lexicon, model: BigramModel, cells: Cells
) -> None:
    smaller = Lexicon(tiny.words, tiny.vectors[:, :4])
    lexicons = {"english": tiny, HIERARCHY: ball, "glove-6b-50d": smaller}
    run = Run(quick=True, lexicons=lexicons, sets=_sets(tiny, model))
    lines = run_study(study_named("hyperbolic"), run, items=[item], cells=cells)
    known = [line for line in lines if not _is_only_the_papers(line)]
    assert known
    assert not any(line.command for line in known)
    assert sum(line.ours is not None for line in known) > 0.6 * len(known)
    if item == "table3":  # what PAN's data would be compared with
        printed = [line for line in lines if line.paper is not None]
        assert len({str(line.setting) for line in printed}) == 30
        assert all(line.command for line in printed)
    if item == "table6":
        encoded = [line for line in lines if line.setting["mechanism"] in ENCODERS]
        assert all(line.command and line.paper is not None for line in encoded)
        assert len(encoded) == 16  # 14 scores, two of them as two correlations
    if item in ("fig5", "table4", "table6"):
        assert any(line.paper is not None and line.ours is not None for line in lines)
    if item not in ("table1", "fig4"):  # an example, and words that `ball` has not
        assert any(line.claims for line in lines)
