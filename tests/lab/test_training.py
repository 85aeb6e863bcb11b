from pathlib import Path

import numpy as np
import pytest

from malaprop import Lexicon, LexiconError, OutputError, ParameterError
from malaprop.lab.poincare import (
    LIMIT,
    Hierarchy,
    TrainingSettings,
    gradients,
    read_pairs,
    reconstruction,
    train,
    train_lexicon,
)
from malaprop.privacy import metrics
from malaprop.privacy.arrays import Floats, Ids


def tree(fan: int, depth: int) -> list[tuple[str, str]]:
    """A tree whose words are named by the way to them: r, r0, r1, r00 …"""
    pairs, level = [], ["r"]
    for _ in range(depth):
        below = [f"{word}{i}" for word in level for i in range(fan)]
        pairs += [(word, word[:-1]) for word in below]
        level = below
    return pairs


TREE = Hierarchy.of(tree(3, 4))
QUICK = TrainingSettings(dimension=5, epochs=30, negatives=40, general=20, batch=32)


class TestHierarchy:
    def test_the_closure(self) -> None:
        found = Hierarchy.of([("cat", "mammal"), ("mammal", "animal"), ("cat", "pet")])
        assert found.words == ("animal", "cat", "mammal", "pet")
        names = {
            word: {found.words[j] for j in found.above_of(np.array([i]))}
            for i, word in enumerate(found.words)
        }
        assert names == {
            "animal": set(),
            "cat": {"mammal", "animal", "pet"},
            "mammal": {"animal"},
            "pet": set(),
        }
        assert found.above_of(np.array([1, 0, 2])).tolist() == [0, 2, 3, 0]

    def test_circles_do_no_harm(self) -> None:
        found = Hierarchy.of([("a", "b"), ("b", "c"), ("c", "a"), ("d", "d"), ("d", "a")])
        assert found.counts.tolist() == [2, 2, 2, 3]

    def test_words_keep_the_order_of_a_list(self) -> None:
        pairs = [("cat", "mammal"), ("mammal", "animal")]
        assert Hierarchy.of(pairs, ["zoo", "mammal", "cat"]).words == ("mammal", "cat", "animal")

    def test_nothing_is_refused(self) -> None:
        with pytest.raises(LexiconError, match="no relations"):
            Hierarchy.of([])


class TestReading:
    def test_pairs(self, tmp_path: Path) -> None:
        path = tmp_path / "pairs.tsv"
        path.write_bytes("cat\tmammal\r\n\nstraße\tweg\n".encode())
        assert read_pairs(path) == [("cat", "mammal"), ("straße", "weg")]

    @pytest.mark.parametrize("line", ["cat", "cat\t", "\tcat", "a b\tc", "a\tb\tc", "a\tb\x07"])
    def test_a_wrong_line_is_named_and_not_shown(self, tmp_path: Path, line: str) -> None:
        path = tmp_path / "pairs.tsv"
        path.write_text(f"good\tword\n{line}\n")
        with pytest.raises(LexiconError, match="line 2: a relation must be two words") as caught:
            read_pairs(path)
        assert "cat" not in str(caught.value)

    def test_files_that_cannot_be_read(self, tmp_path: Path) -> None:
        (tmp_path / "latin").write_bytes(b"stra\xdfe\tweg\n")
        with pytest.raises(LexiconError, match="UTF-8"):
            read_pairs(tmp_path / "latin")
        with pytest.raises(LexiconError, match="cannot be read"):
            read_pairs(tmp_path / "missing")


def loss(vectors: Floats, hierarchy: Hierarchy, words: Ids, others: Ids, weights: Floats) -> float:
    """The training loss, word by word."""
    total = 0.0
    for u in words:
        above = hierarchy.above_of(np.array([u]))
        d = metrics.distances(np.repeat(vectors[[u]], len(vectors), axis=0), vectors)
        pairs = zip(others, weights, strict=True)
        rest = sum(c * np.exp(-2.0 * d[w]) for w, c in pairs if w != u and w not in above)
        for v in above:
            near = np.exp(-2.0 * d[v])
            total -= np.log(near / (near + rest))
    return float(total)


def test_the_gradient_is_the_losses() -> None:
    rng = np.random.Generator(np.random.PCG64(1))
    size = len(TREE.words)
    vectors = metrics.exp0(rng.normal(size=(size, 3)))
    others = rng.choice(size, 12, replace=False)
    batch = rng.choice(np.flatnonzero(TREE.counts), 6), others, rng.uniform(1, 4, size=12)
    ids, found = gradients(TREE, vectors, *batch)
    untouched = np.setdiff1d(np.arange(size), ids)
    for i in [*ids[:8], *untouched[:2]]:
        for k in range(3):
            step = np.zeros_like(vectors)
            step[i, k] = 1e-6
            slope = loss(vectors + step, TREE, *batch) - loss(vectors - step, TREE, *batch)
            expected = found[list(ids).index(i), k] if i in ids else 0.0
            assert slope / 2e-6 == pytest.approx(expected, rel=1e-4, abs=1e-6)


class TestQuality:
    def test_by_hand(self) -> None:
        """From c: b, x, a, in this order. Above it are a and b: ranks 1 and 2, AP (1 + 2/3)/2."""
        line = Hierarchy.of([("c", "b"), ("b", "a"), ("x", "a")])
        assert line.words == ("a", "b", "c", "x")
        vectors = np.array([[0.0], [0.5], [0.7], [0.3]])
        found = reconstruction(line, vectors)
        # From b: c, x, a. From x: b, a.
        precision = [(1 + 2 / 3) / 2, 1 / 3, 1 / 2]
        assert found.average_precision == pytest.approx(np.mean(precision))
        assert found.mean_rank == pytest.approx(np.mean([1, 2, 3, 2]))

    def test_equal_distances_count_against_it(self) -> None:
        pair = Hierarchy.of([("b", "a"), ("c", "a")])
        found = reconstruction(pair, np.zeros((3, 2)))
        assert found.average_precision == 0.5
        assert found.mean_rank == 2.0


class TestTraining:
    vectors = train(TREE, QUICK)

    def test_it_gives_the_tree_back(self) -> None:
        found = reconstruction(TREE, self.vectors.astype(np.float64))
        assert found.average_precision > 0.9
        assert found.mean_rank < 1.5

    def test_general_words_are_near_the_origin(self) -> None:
        norms = np.linalg.norm(self.vectors, axis=1)
        depth = np.array([len(word) for word in TREE.words])
        means = [norms[depth == level].mean() for level in range(1, 6)]
        assert means == sorted(means)

    def test_vectors_are_a_lexicon_of_distinct_points(self) -> None:
        lexicon = Lexicon(TREE.words, self.vectors, metric="poincare")
        d = lexicon.distances(np.arange(len(lexicon)))
        assert (d[~np.eye(len(d), dtype=bool)] > 0).all()
        assert np.linalg.norm(self.vectors.astype(np.float64), axis=1).max() < LIMIT + 1e-6

    def test_the_seed_decides(self) -> None:
        quick = TrainingSettings(dimension=3, epochs=2)
        assert np.array_equal(train(TREE, quick), train(TREE, quick))
        other = TrainingSettings(dimension=3, epochs=2, seed=1)
        assert not np.array_equal(train(TREE, quick), train(TREE, other))

    def test_an_interrupted_training_goes_on_where_it_was(self, tmp_path: Path) -> None:
        class Stop(Exception):  # noqa: N818
            pass

        def stop(done: int, total: int) -> None:
            if done == 3:
                raise Stop

        settings = TrainingSettings(dimension=3, epochs=6)
        path = tmp_path / "state.npz"
        with pytest.raises(Stop):
            train(TREE, settings, checkpoint=path, progress=stop)
        seen: list[int] = []
        resumed = train(
            TREE, settings, checkpoint=path, resume=True, progress=lambda d, n: seen.append(d)
        )
        assert seen == [4, 5, 6]
        assert np.array_equal(resumed, train(TREE, settings))

    def test_a_checkpoint_of_another_training_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "state.npz"
        train(TREE, TrainingSettings(dimension=3, epochs=1), checkpoint=path)
        with pytest.raises(LexiconError, match="other relations or settings"):
            train(TREE, TrainingSettings(dimension=4, epochs=1), checkpoint=path, resume=True)
        with pytest.raises(LexiconError, match="other relations or settings"):
            train(
                Hierarchy.of(tree(2, 2)),
                TrainingSettings(dimension=3, epochs=1),
                checkpoint=path,
                resume=True,
            )
        path.write_bytes(b"PK broken")
        with pytest.raises(LexiconError, match="not a complete checkpoint"):
            train(TREE, TrainingSettings(dimension=3, epochs=1), checkpoint=path, resume=True)

    def test_small_hierarchies_and_one_dimension(self) -> None:
        for dimension in (1, 2):
            vectors = train(
                Hierarchy.of([("b", "a")]), TrainingSettings(dimension=dimension, epochs=3)
            )
            assert vectors.shape == (2, dimension)

    @pytest.mark.parametrize(
        "wrong", [{"dimension": 0}, {"epochs": 0}, {"rate": 0.0}, {"rate": 2.0}, {"negatives": 0}]
    )
    def test_wrong_settings_are_refused(self, wrong: dict[str, float]) -> None:
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            TrainingSettings(**wrong)  # type: ignore[arg-type]


@pytest.mark.usefixtures("home")
class TestCompiling:
    def test_it_opens_by_its_name(self, home: Path, tmp_path: Path) -> None:
        source = tmp_path / "pairs.tsv"
        source.write_text("cat\tmammal\n")
        quality = train_lexicon(TREE, "mine", QUICK, sources=[source], licence="CC0-1.0")
        assert quality.average_precision > 0.9
        opened = Lexicon.open("mine")
        assert opened.vectors.shape == (len(TREE.words), 5)
        assert str(opened.metric) == "poincare"
        assert opened.words == TREE.words
        assert not list((home / "lexicons").glob("*.npz"))

    def test_names_and_interrupted_work_are_kept(self, home: Path) -> None:
        quick = TrainingSettings(dimension=2, epochs=1)
        with pytest.raises(ParameterError, match="name of a lexicon"):
            train_lexicon(TREE, "No Name", quick, sources=[])
        train_lexicon(TREE, "mine", quick, sources=[])
        with pytest.raises(OutputError, match="exists already"):
            train_lexicon(TREE, "mine", quick, sources=[])
        train_lexicon(TREE, "mine", quick, sources=[], force=True)
        train(TREE, quick, checkpoint=home / "lexicons" / ".other.training.npz")
        with pytest.raises(OutputError, match="resume=True"):
            train_lexicon(TREE, "other", quick, sources=[])
        train_lexicon(TREE, "other", quick, sources=[], resume=True)
