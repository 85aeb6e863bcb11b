"""Bigram models: probabilities, and folders that may come from strangers."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malaprop import Lexicon, LexiconError, OutputError, ParameterError
from malaprop.lexicon.bigrams import (
    BigramModel,
    PairTable,
    find_places,
    open_model,
    rounded,
    save_model,
    words_digest,
)
from malaprop.measure import train_model
from malaprop.privacy.arrays import Ids

WORDS = ["the", "cat", "sat", "mat", "on"]
TEXTS = ["The cat sat on the mat.", "On the mat the cat sat.", "cat, cat!"]


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return Lexicon(WORDS, [[float(i)] for i in range(5)])


@pytest.fixture(scope="module")
def model(lexicon: Lexicon) -> BigramModel:
    return train_model(TEXTS, lexicon, sources={"rhymes": "a note"})


def ids(*words: str) -> Ids:
    return np.array([WORDS.index(word) for word in words])


def test_probabilities_are_discounted_counts_and_back_off(model: BigramModel) -> None:
    # "the" is followed four times: by "cat" twice, by "mat" twice.
    prior = (np.array([4, 4, 2, 2, 2]) + 0.5) / 16.5
    np.testing.assert_allclose(model.prior, prior)
    back_off = 2 * 0.75 / 4
    assert model.back_off[0] == pytest.approx(back_off)
    found = model.probabilities(ids("the", "the"), ids("cat", "on"))
    expected = [(2 - 0.75) / 4 + back_off * prior[1], back_off * prior[4]]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_probabilities_add_up_to_one_after_every_word(model: BigramModel) -> None:
    firsts, seconds = np.arange(6)[:, None], np.arange(5)[None]
    np.testing.assert_allclose(model.probabilities(firsts, seconds).sum(axis=1), 1.0, rtol=1e-6)
    assert model.start == 5


def test_a_list_of_the_most_frequent_pairs_leaves_more_to_single_words(model: BigramModel) -> None:
    cut = BigramModel.of_pairs(
        np.array([0]),
        np.array([1]),
        np.array([2]),
        words=model.words,
        unigrams=model.unigrams,
        totals=model.totals,
    )
    assert cut.back_off[0] == pytest.approx(1 - (2 - 0.75) / 4)
    assert (cut.back_off[1:] == 1.0).all()
    sums = cut.probabilities(np.arange(6)[:, None], np.arange(5)[None]).sum(axis=1)
    np.testing.assert_allclose(sums, 1.0, rtol=1e-6)


@given(
    st.sets(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=200),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=50),
    st.sampled_from([41, 4_000, 70_001]),
)
def test_a_table_of_pairs_is_a_dictionary(
    pairs: set[tuple[int, int]], asked: list[tuple[int, int]], size: int
) -> None:
    listed = sorted(pairs)
    firsts = np.array([pair[0] for pair in listed], dtype=np.int64)
    seconds = np.array([pair[1] for pair in listed], dtype=np.int64)
    places, kept = find_places(firsts, seconds, size)
    assert kept.sum() >= 0.9 * len(listed)
    values = rounded(np.arange(1.0, len(listed) + 1.0))
    listed = [pair for pair, there in zip(listed, kept, strict=True) if there]
    known = dict(zip(listed, values[kept].tolist(), strict=True))
    table = PairTable(places, firsts[kept], seconds[kept], values[kept], size)
    rows, columns = np.array(asked, dtype=np.int64).T
    expected = [[known.get((int(u), int(v)), 0.0) for v in columns] for u in rows]
    np.testing.assert_array_equal(table.values(rows[:, None], columns[None]), expected)


def test_a_model_is_written_and_opened_again(model: BigramModel, tmp_path: Path) -> None:
    save_model(model, tmp_path / "model")
    opened = open_model(tmp_path / "model")
    assert opened.fingerprint == model.fingerprint
    assert dict(opened.sources) == {"rhymes": "a note"}
    np.testing.assert_array_equal(opened.sketch, model.sketch)


def test_the_fingerprint_names_everything(model: BigramModel) -> None:
    arrays = {
        name: getattr(model, name) for name in ("totals", "offsets", "nexts", "counts", "places")
    }
    for changed in (
        BigramModel(words=model.words, unigrams=model.unigrams, **arrays),
        BigramModel(
            words=model.words,
            unigrams=model.unigrams + np.eye(5, dtype=np.int64)[0],
            sources=model.sources,
            sketch=model.sketch,
            **arrays,
        ),
    ):
        assert changed.fingerprint != model.fingerprint


def test_a_folder_is_replaced_only_on_request_and_only_if_it_is_a_model(
    model: BigramModel, tmp_path: Path
) -> None:
    save_model(model, tmp_path / "model")
    with pytest.raises(OutputError, match="already exists"):
        save_model(model, tmp_path / "model")
    save_model(model, tmp_path / "model", force=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("mine")
    with pytest.raises(OutputError, match="not a model"):
        save_model(model, tmp_path / "other", force=True)
    assert (tmp_path / "other" / "thesis.txt").read_text() == "mine"


def test_a_model_knows_its_words(model: BigramModel) -> None:
    model.check_words(WORDS)
    with pytest.raises(ParameterError, match="another lexicon"):
        model.check_words([*WORDS[:-1], "off"])
    assert words_digest(["ab", "c"]) != words_digest(["a", "bc"])


def state_any_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have all fingerprints be right: a stranger can state that of damaged files."""
    monkeypatch.setattr(BigramModel, "fingerprint", property(lambda _: "right"))


def damage(folder: Path, name: str, array: object) -> None:
    np.save(folder / f"{name}.npy", array, allow_pickle=True)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("offsets", np.array([0, 9, 1, 1, 1, 1, 1])),
        ("offsets", np.array([0, 1, 1])),
        ("nexts", np.full(20, 5)),
        ("nexts", np.full(20, -1)),
        ("counts", np.full(20, 1 << 40)),
        ("counts", np.ones((20, 2), dtype=np.int64)),
        ("totals", np.zeros(6, dtype=np.int64)),
        ("unigrams", np.ones(5)),
        ("unigrams", np.array([1, 2, 3, 4, 1 << 63], dtype=np.uint64)),
        ("unigrams", np.array([{}] * 5, dtype=object)),
        ("sketch", np.arange(2000, dtype=np.uint64)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_arrays_that_do_not_fit_are_refused(
    model: BigramModel, tmp_path: Path, name: str, array: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    state_any_fingerprint(monkeypatch)
    save_model(model, tmp_path / "model")
    damage(tmp_path / "model", name, array)
    with pytest.raises(LexiconError, match="holds no bigram model"):
        open_model(tmp_path / "model")


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"fingerprint": "0" * 64},
        {"sources": {"\x1b[31m": "red"}},
        {"sources": {"long": "x" * 5000}},
        {"sources": 3},
        {"words": None},
    ],
)
def test_notes_that_cannot_be_shown_are_refused(
    model: BigramModel, tmp_path: Path, change: dict[str, object]
) -> None:
    save_model(model, tmp_path / "model")
    path = tmp_path / "model" / "about.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(LexiconError, match="holds no bigram model"):
        open_model(tmp_path / "model")


@pytest.mark.parametrize("name", ["unigrams", "totals", "nexts", "counts", "places", "sketch"])
def test_a_model_with_another_value_is_refused(
    model: BigramModel, tmp_path: Path, name: str
) -> None:
    save_model(model, tmp_path / "model")
    assert open_model(tmp_path / "model").fingerprint == model.fingerprint
    array = np.array(getattr(model, name))
    array[0] ^= 1
    damage(tmp_path / "model", name, array)
    with pytest.raises(LexiconError, match="or it is damaged"):
        open_model(tmp_path / "model")


def test_damaged_files_are_refused_or_read_but_nothing_else(
    model: BigramModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state_any_fingerprint(monkeypatch)
    folder = tmp_path / "model"
    rng = np.random.Generator(np.random.PCG64(3))
    outcomes = set()
    for _ in range(300):
        save_model(model, folder, force=True)
        files = sorted(folder.iterdir())
        file = files[rng.integers(len(files))]
        content = bytearray(file.read_bytes())
        if rng.random() < 0.3:
            content = content[: rng.integers(len(content))]
        else:
            for place in rng.integers(len(content), size=rng.integers(1, 4)):
                content[place] = rng.integers(256)
        file.write_bytes(content)
        try:
            opened = open_model(folder)
        except LexiconError:
            outcomes.add("refused")
            continue
        outcomes.add("read")
        found = opened.probabilities(np.arange(len(opened) + 1)[:, None], np.arange(len(opened)))
        assert np.isfinite(found).all()
        assert (found >= 0.0).all()
    assert outcomes == {"refused", "read"}
