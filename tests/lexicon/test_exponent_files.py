"""Files of audited exponents: whose they are, and which are refused."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from malaprop import TEM, Lexicon, LexiconError
from malaprop.lexicon import store
from malaprop.lexicon.store import SHIPPED
from malaprop.lexicon.tables import ExponentTable, keep

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Lexicon:
    """A lexicon that counts as too large to be audited in passing."""
    monkeypatch.setattr("malaprop.mechanisms.tem_exponents._SMALL", 10)
    rng = np.random.Generator(np.random.PCG64(8))
    return Lexicon([f"w{i}" for i in range(30)], np.round(rng.normal(size=(30, 6)), 2))


def table_for(lexicon: Lexicon, loss: float = 1.5) -> ExponentTable:
    return ExponentTable(
        fingerprint=lexicon.fingerprint, diameter=9.0, exponents=(1.0,), losses=(loss,)
    )


def test_a_table_belongs_to_its_lexicon_only(home: Path, cloud: Lexicon) -> None:
    path = keep(table_for(cloud))
    assert path == home / "exponents" / f"{cloud.fingerprint}.json"
    assert cloud.with_kept_tables().tables.exponents == (table_for(cloud),)
    other = Lexicon(cloud.words, cloud.vectors * np.float32(1.01))
    assert not other.with_kept_tables().tables.all
    assert not cloud.with_metric("manhattan").tables.all
    (home / "exponents" / f"{other.fingerprint}.json").write_text(path.read_text())
    assert not other.with_kept_tables().tables.all


def test_a_shipped_table_that_was_changed_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Losses that are said to be smaller than they are would give exponents that break ε."""
    english = Lexicon.open("english")
    shipped = store.embedded()["english"] / ExponentTable.shipped
    note = json.loads(shipped.read_text(encoding="utf-8"))
    note["losses"] = [[t, t] for t, _ in note["losses"]]
    (tmp_path / ExponentTable.shipped).write_text(json.dumps(note), encoding="utf-8")
    assert ExponentTable.shipped in SHIPPED["tables"][english.fingerprint]
    assert TEM(epsilon=1.0).on(english).law.audited
    monkeypatch.setattr(store, "embedded", lambda: {"english": tmp_path})
    assert TEM(epsilon=1.0).on(english.with_kept_tables()).law.exponent == 0.5


@pytest.mark.parametrize("damage", ["", "{}", "[1]", '{"format": 99, "losses": []}'])
def test_a_damaged_table_is_refused_when_it_is_needed(
    home: Path, cloud: Lexicon, damage: str
) -> None:
    path = home / "exponents" / f"{cloud.fingerprint}.json"
    path.parent.mkdir(parents=True)
    path.write_text(damage)
    damaged = cloud.with_kept_tables()
    with pytest.raises(LexiconError, match="remove it"):
        TEM(epsilon=1.0).on(damaged)
    assert TEM(epsilon=1.0, exponent="half").on(damaged).law.exponent == 0.5


@pytest.mark.parametrize("loss", [0.99, 2.01, math.nan, 0.0])
def test_a_table_that_no_lexicon_can_have(cloud: Lexicon, loss: float) -> None:
    """t ≤ L(t) ≤ 2t, whatever the words are."""
    keep(table_for(cloud, loss))
    with pytest.raises(LexiconError, match="remove it"):
        TEM(epsilon=1.0).on(cloud.with_kept_tables())
