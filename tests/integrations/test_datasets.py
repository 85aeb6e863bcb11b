"""Private text in Hugging Face's datasets: its cache, its processes, its hashes."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.spark.frames import ANYTHING, HUNDRED

from malaprop import TEM, Lexicon, ParameterError, Privatizer

datasets = pytest.importorskip("datasets")
pytestmark = pytest.mark.filterwarnings("ignore")  # of datasets and of multiprocess


@pytest.fixture
def privatizer(hundred: Lexicon) -> Privatizer:
    return Privatizer(hundred, ANYTHING)


def _stored(folder: Path, texts: list[str | None]) -> Any:
    """Return a data set in a file: what is mapped over one in memory is not cached."""
    kept = {"id": list(range(len(texts))), "text": texts}
    datasets.Dataset.from_dict(kept).save_to_disk(folder)
    return datasets.load_from_disk(folder)


def test_a_cached_result_is_the_same_release(privatizer: Privatizer, tmp_path: Path) -> None:
    data = _stored(tmp_path / "d", ["waa " * 30, None, "wbb"])
    one = data.map(privatizer.batched("text"), batched=True)
    assert one["id"] == [0, 1, 2]
    assert one["text"][1] is None
    assert set(one["text"][0].casefold().split()) <= set(HUNDRED)
    # Nothing is drawn: the same recipe, made anew, finds what was drawn.
    again = Privatizer(privatizer.lexicon, ANYTHING)
    two = data.map(again.batched("text"), batched=True)
    assert two["text"][:] == one["text"][:]
    # Another ε, or the wish to draw again, is another release.
    other = Privatizer(privatizer.lexicon, TEM(epsilon=0.002))
    assert data.map(other.batched("text"), batched=True)["text"][:] != one["text"][:]
    fresh = data.map(again.batched("text"), batched=True, load_from_cache_file=False)
    assert fresh["text"][:] != one["text"][:]


def test_processes_share_no_noise(privatizer: Privatizer, tmp_path: Path) -> None:
    data = _stored(tmp_path / "d", ["waa " * 20] * 40)
    private = data.map(privatizer.batched("text"), batched=True, batch_size=5, num_proc=2)
    assert len(set(private["text"])) == 40
    runs = [tuple(text.split()[i : i + 8]) for text in private["text"] for i in range(12)]
    assert len(set(runs)) == len(runs)


def test_the_hash_is_the_same_in_every_process() -> None:
    code = (
        "from datasets.fingerprint import Hasher; from malaprop import Privatizer;"
        "p = Privatizer(epsilon={}); p('a cold day'); print(Hasher.hash(p.batched('text')))"
    )
    hashes = [
        subprocess.check_output([sys.executable, "-c", code.format(epsilon)], text=True)
        for epsilon in (1.5, 1.5, 1.6)
    ]
    assert hashes[0] == hashes[1] != hashes[2]


def test_wrong_columns_are_refused(privatizer: Privatizer, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="names of the columns"):
        privatizer.batched()
    data = _stored(tmp_path / "d", ["zyx"])
    with pytest.raises(ParameterError, match="no column 'note'"):
        data.map(privatizer.batched("note"), batched=True)
    with pytest.raises(ParameterError, match="map with `batched=True`"):
        data.map(privatizer.batched("text"))
    with pytest.raises(ParameterError, match=r"must be a string.*Got int") as caught:
        data.map(privatizer.batched("id"), batched=True)
    assert "zyx" not in str(caught.value)
