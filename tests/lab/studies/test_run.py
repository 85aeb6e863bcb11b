"""What a run opens: lexicons, vectors of the catalogue of data sets, and how to get what lacks."""

import io

import numpy as np
import pytest
from tests.lab.datasets.serving import Write, described, write_catalogue

from malaprop import Lexicon
from malaprop.lab.datasets import add
from malaprop.lab.studies.reproduction import Cells, MissingDataError, Run, run_study
from malaprop.lab.studies.study import Item, Measurement, Study

__all__ = ["write_catalogue"]

pytestmark = pytest.mark.usefixtures("home")


def test_vectors_that_are_not_kept_name_the_command_that_fetches_them(run: Run) -> None:
    with pytest.raises(MissingDataError) as raised:
        run.lexicon("glove-6b-50d")
    assert raised.value.command == "malaprop data fetch glove-6b-50d"


def test_vectors_of_the_catalogue_are_those_of_the_lexicons_words(
    run: Run, tiny: Lexicon, write_catalogue: Write, tmp_path_factory: pytest.TempPathFactory
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    matrix, listed = io.BytesIO(), io.BytesIO()
    vectors = np.arange(6, dtype=np.float32).reshape(3, 2)
    np.save(matrix, vectors)
    pq.write_table(pa.table({"index": [tiny.words[1], "elsewhere", tiny.words[0]]}), listed)
    files = {"v.npy": matrix.getvalue(), "w.parquet": listed.getvalue()}
    described_files = [described(name, content) for name, content in files.items()]
    page = "https://owner.example"
    write_catalogue("some-vectors", described_files, "glove-6b-50d", page=page)
    folder = tmp_path_factory.mktemp("files")
    for name, content in files.items():
        (folder / name).write_bytes(content)
        add([folder / name])
    lexicon = run.lexicon("some-vectors")
    assert lexicon.words == tiny.words[:2]
    np.testing.assert_array_equal(lexicon.vectors, vectors[[2, 0]])
    fingerprint = run.fingerprint({"lexicon": "some-vectors"})
    assert all(file["sha256"] in fingerprint for file in described_files)
    assert tiny.fingerprint in fingerprint


def test_only_the_figures_that_lack_data_are_null(run: Run, cells: Cells) -> None:
    def cell(run: Run, setting: object, rng: object) -> list[Measurement]:
        raise MissingDataError("An encoder", "a run of it", ("accuracy",))

    item = Item(name="t", grid=[{}], cell=cell, key="cell", measures=("accuracy", "kept"))
    (line,) = run_study(Study(name="nadp", items=(item,)), run, cells=cells)
    assert (line.measure, line.ours, line.command) == ("accuracy", None, "a run of it")
