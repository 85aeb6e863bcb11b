"""Texts of files, for measurements."""

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from malaprop import DataError, ParameterError
from malaprop.files.texts import read_texts

TEXTS = ["one, two", "", "three"]


def files(folder: Path) -> dict[str, Path]:
    """The same texts in every format."""
    paths = {name: folder / f"texts.{name}" for name in ("txt", "csv", "jsonl", "parquet")}
    paths["txt"].write_text("\n".join(TEXTS) + "\n")
    paths["csv"].write_text('id,text\n1,"one, two"\n2,\n3,three\n')
    paths["jsonl"].write_text("".join(f'{{"text": "{text}"}}\n' for text in TEXTS))
    pq.write_table(pa.table({"text": TEXTS}), paths["parquet"])
    packed = folder / "packed.csv.gz"
    packed.write_bytes(gzip.compress(paths["csv"].read_bytes()))
    return {**paths, "gz": packed}


@pytest.mark.parametrize("name", ["txt", "csv", "jsonl", "parquet", "gz"])
def test_every_format_is_read(tmp_path: Path, name: str) -> None:
    path = files(tmp_path)[name]
    told: list[tuple[int, int | None]] = []
    columns = () if name == "txt" else ("text",)
    found = list(read_texts([str(path)], columns=columns, progress=lambda *step: told.append(step)))
    assert [text for text in found if text] == ["one, two", "three"]
    assert told
    assert all(total == path.stat().st_size for _, total in told)


def test_several_files_follow_each_other(tmp_path: Path) -> None:
    path = str(files(tmp_path)["txt"])
    assert list(read_texts([path, path])) == TEXTS * 2


def test_errors_name_the_file_and_not_the_text(tmp_path: Path) -> None:
    path = files(tmp_path)["csv"]
    with pytest.raises(ParameterError, match="columns"):
        list(read_texts([str(path)]))
    with pytest.raises((DataError, ParameterError), match=r"texts\.csv"):
        list(read_texts([str(path)], columns=["note"]))
    (tmp_path / "broken.txt").write_bytes(b"secret \xff\n")
    with pytest.raises(DataError, match=r"broken\.txt") as caught:
        list(read_texts([str(tmp_path / "broken.txt")]))
    assert "secret" not in str(caught.value)
