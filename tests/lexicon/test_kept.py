"""A lexicon carries its tables: who attaches them, whose they are, and how they travel."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest

from malaprop import TEM, Balanced, Lexicon, LexiconError, Mechanism, seeded_rng
from malaprop.lexicon import store
from malaprop.lexicon.graph import with_graph_if_needed
from malaprop.lexicon.tables import (
    ExponentTable,
    NearestWords,
    Tables,
    keep,
    kept_tables,
    tables_of,
)
from malaprop.mechanisms.balance import build_table
from malaprop.privacy.word_graph import graph_of

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture(scope="module")
def cloud() -> Lexicon:
    rng = np.random.Generator(np.random.PCG64(8))
    return Lexicon([f"w{i}" for i in range(60)], np.round(rng.normal(size=(60, 20)), 2))


def table_for(lexicon: Lexicon) -> ExponentTable:
    return ExponentTable(
        fingerprint=lexicon.fingerprint, diameter=9.0, exponents=(1.0,), losses=(1.5,)
    )


class TestWhoAttaches:
    def test_open_by_name_and_by_file(self, home: Path, cloud: Lexicon, tmp_path: Path) -> None:
        keep(table_for(cloud))
        cloud.save(home / "lexicons" / "mine")
        assert Lexicon.open("mine").tables.exponents == (table_for(cloud),)
        file = tmp_path / "mine.txt"
        rows = zip(cloud.words, cloud.vectors.tolist(), strict=True)
        file.write_text("".join(f"{word} {' '.join(map(repr, row))}\n" for word, row in rows))
        assert Lexicon.open(file).tables.exponents == (table_for(cloud),)

    def test_another_metric_and_a_graph(self, cloud: Lexicon) -> None:
        other, near = cloud.with_metric("manhattan"), cloud.with_graph()
        assert not other.tables.all
        keep(table_for(other))
        graph = graph_of(near.metric)
        assert graph is not None
        keep(build_table(graph, near.fingerprint, np.array([1.5])))
        assert cloud.with_metric("manhattan").tables.exponents == (table_for(other),)
        balances = cloud.with_graph().tables.balances
        assert balances is not None
        assert balances.fingerprint == near.fingerprint

    def test_the_constructor_does_not(self, cloud: Lexicon) -> None:
        keep(table_for(cloud))
        again = Lexicon(cloud.words, cloud.vectors)
        assert not again.tables.all
        assert again.with_kept_tables().tables.exponents == (table_for(cloud),)
        assert not again.tables.all

    def test_tables_kept_later_need_another_look(self, home: Path, cloud: Lexicon) -> None:
        cloud.save(home / "lexicons" / "mine")
        opened = Lexicon.open("mine")
        keep(table_for(cloud))
        assert not opened.tables.all
        again = opened.with_kept_tables()
        assert again.tables.exponents == (table_for(cloud),)
        assert again.opened_as == "mine"

    def test_by_hand(self, cloud: Lexicon) -> None:
        tables = Tables(exponents=(table_for(cloud),))
        assert cloud.with_tables(tables).tables == tables
        with pytest.raises(LexiconError, match="made for it"):
            cloud.with_metric("manhattan").with_tables(tables)

    def test_a_space_of_another_kind_has_none(self) -> None:
        assert not tables_of(object()).all  # type: ignore[arg-type]


class TestStrangers:
    """A folder states its fingerprint; nothing follows from that before it is computed."""

    def test_a_folder_that_claims_the_fingerprint_of_another(self, tmp_path: Path) -> None:
        english = Lexicon.open("english")
        folder = tmp_path / "claim"
        store.write(folder, [(["a", "b"], np.eye(2, dtype=np.float32))], metric="euclidean")
        note = json.loads((folder / store.ABOUT).read_text())
        note["fingerprint"] = english.fingerprint
        (folder / store.ABOUT).write_text(json.dumps(note))
        claimed = Lexicon.open(folder)
        for use in (lambda: claimed.tables, lambda: claimed.near_words([0])):
            with pytest.raises(LexiconError, match="somebody changed them"):
                use()

    @pytest.mark.parametrize("name", ["", "*", "../exponents/x", "a" * 63, "A" * 64, "[a-f0-9]*"])
    def test_a_fingerprint_that_is_none(self, home: Path, cloud: Lexicon, name: str) -> None:
        kept = keep(table_for(cloud))
        note = json.loads(kept.read_text())
        (home / "exponents" / "x.json").write_text(json.dumps(note | {"fingerprint": name}))
        assert kept_tables(name) == Tables()

    def test_tables_in_a_lexicons_folder_are_not_read(self, home: Path, cloud: Lexicon) -> None:
        folder = home / "lexicons" / "mine"
        cloud.save(folder)
        keep(table_for(cloud), folder)
        assert not Lexicon.open(folder).tables.all

    def test_a_list_of_nearest_words_that_was_not_verified(self, cloud: Lexicon) -> None:
        listed = np.zeros((60, 3), dtype=np.uint16)
        keep(NearestWords(fingerprint=cloud.fingerprint, listed=listed))
        assert cloud.with_kept_tables().near_words([1]) is None


class TestTravelling:
    @pytest.mark.parametrize("mechanism", [TEM(epsilon=1.5), Balanced(epsilon=1.5)])
    def test_a_pickle_carries_the_tables(
        self, mechanism: Mechanism, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        lexicon = with_graph_if_needed(Lexicon.open("english"), mechanism)
        ids = np.arange(0, 32_000, 400)
        drawn = mechanism.on(lexicon).substitute(ids, seeded_rng(1))
        pickled = pickle.dumps(lexicon)
        monkeypatch.setattr(store, "embedded", dict)  # as if the package had no data
        again = pickle.loads(pickled)  # noqa: S301
        assert len(again.tables.all) == len(lexicon.tables.all) > 0
        assert np.array_equal(mechanism.on(again).substitute(ids, seeded_rng(1)), drawn)

    def test_a_folder_of_tables_gives_back_what_was_kept(self, tmp_path: Path) -> None:
        near = Lexicon.open("english").with_graph()
        folder = tmp_path / "tables"
        for table in (*near.tables.all, *Lexicon.open("english").tables.all):
            keep(table, folder)
        again = kept_tables(near.fingerprint, folder)
        assert again.balances is not None
        assert near.tables.balances is not None
        assert again.balances.digest == near.tables.balances.digest
        english = Lexicon.open("english")
        carried = english.with_tables(kept_tables(english.fingerprint, folder)).tables
        assert carried.exponents == english.tables.exponents
        assert carried.nearest is not None
        assert english.tables.nearest is not None
        assert np.array_equal(carried.nearest.listed, english.tables.nearest.listed)
