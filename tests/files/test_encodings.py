"""Encodings that nobody named: UTF-8 first, else what a detector finds; a named one wins."""

import codecs
import gzip
import json
from pathlib import Path

import pytest
from tests.cli.conftest import VECTORS

from malaprop import DataError, Lexicon, privatize_files

TINY = Lexicon(list(VECTORS), list(VECTORS.values()))
# In each, most words are none of the lexicon; the column that is kept shows how it was read.
SAMPLES = [
    ("cp1252", "Größe des Patienten: 180 cm, er fühlt sich müde"),
    ("cp1252", "Le patient est allé à l'hôpital, très fatigué"),
    ("cp1252", "He said “no” – and left the café"),
    ("cp1252", "café"),
    ("cp1252", "The café — naïve “quote” costs £5 in Zürich, señor"),
    ("cp1252", "O coração do João não dói, pois ficará até amanhã"),
    ("cp1250", "Pacjent źle się czuje, boli go głowa i ręka. Zażył aspirynę"),
    ("cp1251", "Пациент чувствует себя плохо, болит голова"),
    ("koi8-r", "Пациент чувствует себя плохо, болит голова"),
    ("cp932", "患者は頭が痛いと言っています。アスピリンを服用しました。"),
    ("gb18030", "病人说他头痛,已经服用了阿司匹林。"),
    ("cp850", "Elle a été opérée à l'hôpital, très fatiguée, le garçon naïf"),
    ("iso8859-2", "Zażółć gęślą jaźń, chory pacjent leży w łóżku"),
    ("euc_jp", "患者は頭が痛いと言っています。アスピリンを服用しました。"),
    ("iso2022_jp", "患者は頭が痛いと言っています。アスピリンを服用しました。"),
    ("utf-16-le", "The patient is fine today, and feels no pain"),
]


def run(folder: Path, data: bytes, **options: object) -> dict[str, object]:
    """Privatize a CSV file; return what the report says about it."""
    (folder / "in.csv").write_bytes(data)
    privatize_files(
        folder / "in.csv", folder / "out.csv", columns=["note"], mechanism="tem", epsilon=1.0,
        lexicon=TINY, workers=1, report=folder / "r.json", force=True, **options,  # type: ignore[arg-type]
    )  # fmt: skip
    told: dict[str, object] = json.loads((folder / "r.json").read_text())["files"][0]
    return told


@pytest.mark.parametrize(("encoding", "text"), SAMPLES)
def test_an_encoding_is_found_and_named(tmp_path: Path, encoding: str, text: str) -> None:
    rows = f"other,note\n{text.replace(',', ' ')},cold\n" * 3
    told = run(tmp_path, rows.encode(encoding))
    assert (told["encoding"], told["guessed"]) == (codecs.lookup(encoding).name, True)
    # What was not to be privatized stays, to the byte.
    kept = (tmp_path / "out.csv").read_bytes()
    assert f"\n{text.replace(',', ' ')},".encode(encoding) in kept
    report = json.loads((tmp_path / "r.json").read_text())
    assert any("which is a guess" in warning for warning in report["warnings"])


def test_it_is_found_in_packed_files_too(tmp_path: Path) -> None:
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress("très fatigué, café\n".encode("cp1252")))
    report = privatize_files(
        tmp_path / "a.txt.gz", tmp_path / "b.txt.gz", mechanism="tem", epsilon=1.0, lexicon=TINY
    )
    assert (report.files[0].encoding, report.files[0].guessed) == ("cp1252", True)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_utf8_comes_first(tmp_path: Path, encoding: str) -> None:
    told = run(tmp_path, "note\ncold é ü €\n".encode(encoding))
    assert (told["encoding"], told["guessed"]) == ("utf-8", False)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_a_mark_says_the_encoding(tmp_path: Path, encoding: str) -> None:
    told = run(tmp_path, "note\ncold é ü €\n".encode(encoding))
    assert (told["encoding"], told["guessed"]) == (encoding, False)
    assert (tmp_path / "out.csv").read_bytes().decode(encoding).startswith("note\n")


def test_a_named_encoding_wins(tmp_path: Path) -> None:
    told = run(tmp_path, "note\nПациент\n".encode("koi8-r"), encoding="latin-1")
    assert (told["encoding"], told["guessed"]) == ("latin-1", False)
    with pytest.raises(DataError, match="cannot be read as utf-8"):
        run(tmp_path, "note\nPatiënt\n".encode("cp1252"), encoding="utf-8")


def test_utf8_with_broken_bytes_stays_utf8(tmp_path: Path) -> None:
    data = "note\ncold é ü\n".encode() + b"hot \xff\n" + "warm ß\n".encode()
    with pytest.raises(DataError, match="cannot be read as utf-8"):
        run(tmp_path, data)
    told = run(tmp_path, data, on_error="skip")
    assert (told["encoding"], told["faulty_records"]) == ("utf-8", 1)


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    data = b"note\n" + bytes(range(128, 256)) * 40 + b"\x81\x8d\x8f\x90\x9d\xff\xfe\n"
    with pytest.raises(DataError, match="cannot be read as"):
        run(tmp_path, data)


@pytest.mark.parametrize("data", [b"note\n\0\n", b"note\ncold\0\nhot\0\0\0\0\n"])
def test_a_nul_is_no_sign_of_utf16(tmp_path: Path, data: bytes) -> None:
    told = run(tmp_path, data, on_error="skip")
    assert (told["encoding"], told["guessed"]) == ("utf-8", False)


def test_bytes_far_from_the_start_count(tmp_path: Path) -> None:
    data = b"note\n" + b"cold\n" * 300_000 + "très fatigué\n".encode("cp1252")
    assert run(tmp_path, data)["encoding"] == "cp1252"


@pytest.mark.parametrize("encoding", ["cp437", "cp850", "iso2022_jp"])
def test_letters_are_not_shown_as_signs(tmp_path: Path, encoding: str) -> None:
    """Wherever an encoding is guessed, all letters are of words, which are drawn."""
    text = (
        "頭が痛い\n" if encoding == "iso2022_jp" else "elle est opérée à l'hôpital, naïf, garçon\n"
    )
    (tmp_path / "a.txt").write_bytes(text.encode(encoding) * 9)
    privatize_files(
        tmp_path / "a.txt", tmp_path / "b.txt", mechanism="tem", epsilon=1.0, lexicon=TINY
    )
    private = (tmp_path / "b.txt").read_bytes().decode(encoding)
    assert not {sign for sign in private if not sign.isascii()}


@pytest.mark.parametrize(
    ("encoding", "text"), [("tis-620", "ผมเป็นหวัดและอยากไปโรงพยาบาล"), ("cp866", "болит голова")]
)
def test_an_encoding_that_is_not_known_is_not_guessed(
    tmp_path: Path, encoding: str, text: str
) -> None:
    with pytest.raises(DataError, match="cannot be read as utf-8"):
        run(tmp_path, f"note\n{text}\n".encode(encoding) * 3)
