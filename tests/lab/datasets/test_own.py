"""Sets from files of the user's own: tables, and XML in PAN's form, made here."""

from pathlib import Path

import pytest
from tests.lab.datasets.serving import Write, described

from malaprop import DataError, ParameterError
from malaprop.cli.main import run
from malaprop.lab.datasets import add
from malaprop.lab.datasets.own import own_file, read_own
from malaprop.lab.studies.scale import run_of

WORD = "whisper"  # what no error may say
TRAINING = f"""<?xml version="1.0" encoding="UTF-8"?>
<training>
<text file="Train/1.txt">
<author id="x1"/>
<body>
<![CDATA[{WORD} <NAME/> & more]]>
</body>
</text>
<text file="Train/2.txt"><author id="x2"/><body>you &amp; me <NAME/> é</body></text>
</training>
"""
TESTING = """<testing><text file="Test/3.txt"><body>third</body></text></testing>"""
RESULTS = """<results><text file="Test/3.txt"><author id="x1"/></text></results>"""
BOMB = """<?xml version="1.0"?><!DOCTYPE training [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>
<training><text file="1"><author id="x"/><body>&b;</body></text></training>"""
NAME = "pan11-small"

pytestmark = pytest.mark.usefixtures("home")


def _written(folder: Path, *contents: str) -> list[Path]:
    paths = [folder / f"{number}.xml" for number, _ in enumerate(contents)]
    for path, content in zip(paths, contents, strict=True):
        path.write_text(content, "utf-8")
    return paths


def test_texts_have_their_authors_from_one_file_or_two(tmp_path: Path) -> None:
    data = read_own(NAME, _written(tmp_path, TRAINING, RESULTS, TESTING))
    assert data.texts == (f"{WORD} <NAME/> & more", "you & me  é", "third")
    assert data.labels == ("x1", "x2", "x1")


def test_other_encodings_are_read(tmp_path: Path) -> None:
    (path,) = _written(tmp_path, "")
    path.write_bytes(TRAINING.replace("UTF-8", "UTF-16").encode("utf-16"))
    assert read_own(NAME, [path]).texts[1] == "you & me  é"


@pytest.mark.parametrize(
    ("contents", "said"),
    [
        ([BOMB], "line 1: a document type .DOCTYPE. is refused"),
        ([TRAINING.replace("training", "corpus")], "line 2: this is no file of PAN 2011"),
        ([TRAINING.replace("</training>", "")], "line 11: no XML .no element found"),
        ([TRAINING.replace("UTF-8", "none-such")], "unknown encoding|encoding that cannot be"),
        ([TRAINING.replace('id="x2"', "")], "line 9: the element has no attribute 'id'"),
        ([TRAINING.replace("2.txt", "1.txt")], "line 9: a second text has the same name"),
        ([TRAINING.replace("you", "<a>" * 9)], "line 9: elements stand more than 8 deep"),
        ([TRAINING, TRAINING], "the text of a name that another file has"),
        ([TRAINING, TESTING], "1 of 3 texts have no author: give the file of the answers"),
        ([TRAINING.replace("x2", "x1")], "two labels or more"),
        ([TRAINING, "text,label\na,b\nc,d\n"], "must all be XML, or all be tables"),
    ],
)
def test_what_is_wrong_is_told_without_the_text(
    tmp_path: Path, contents: list[str], said: str
) -> None:
    paths = _written(tmp_path, *contents)
    with pytest.raises(DataError, match=said) as error:
        add(paths, name=NAME)
    assert WORD not in str(error.value)
    assert not own_file(NAME).exists()


def test_a_file_of_no_known_kind_is_told_of_without_a_flag_that_there_is_not(
    tmp_path: Path,
) -> None:
    (tmp_path / "train.label").write_text("text,label\na,b\n")
    with pytest.raises(ParameterError, match=r"must end in \.csv") as caught:
        read_own("imdb", [tmp_path / "train.label"])
    assert "--format" not in str(caught.value)


def test_a_large_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("malaprop.lab.datasets.own._LARGEST", 100)
    with pytest.raises(DataError, match="more than 100 bytes"):
        read_own(NAME, _written(tmp_path, TRAINING))


def test_a_study_takes_what_was_added(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert NAME not in run_of(study="hyperbolic").sets
    paths = _written(tmp_path, TRAINING, TESTING, RESULTS)
    assert run(["data", "add", *map(str, paths), "--as", NAME]) == 0
    assert capsys.readouterr().out == f"added        texts.jsonl of {NAME}\n"
    assert own_file(NAME).stat().st_mode & 0o777 == 0o600
    assert run(["data", "list"]) == 0
    (row,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith(NAME)]
    assert " yes " in row
    own = run_of(study="hyperbolic")
    assert own.data(NAME) == read_own(NAME, paths)
    assert own.versions[f"data {NAME}"].startswith("3 rows, SHA-256 ")
    assert not run_of(study="tem").sets
    assert not run_of().sets


def test_tables_are_added_too(tmp_path: Path) -> None:
    path = tmp_path / "authors.csv"
    path.write_text("text,label\none,a\ntwo,b\n")
    add([path], name="pan12-A")
    assert read_own("pan12-A", [own_file("pan12-A")]).labels == ("a", "b")


def test_data_of_another_set_are_refused(tmp_path: Path, write_catalogue: Write) -> None:
    write_catalogue("small", [described("s", b"known\n")])
    small = (tmp_path / "catalogue.toml").read_text()
    write_catalogue("other", [described("o", b"text,label\na,b\nc,d\n")])
    with (tmp_path / "catalogue.toml").open("a") as file:
        file.write("\n" + small)
    (tmp_path / "s").write_bytes(b"known\n")
    (tmp_path / "o").write_bytes(b"text,label\na,b\nc,d\n")
    (tmp_path / "mine").write_bytes(b"mine\n")
    assert [name for name, _ in add([tmp_path / "s"], name="small")] == ["small"]
    with pytest.raises(DataError, match=r"data set small, not of other\. Nothing was kept"):
        add([tmp_path / "o", tmp_path / "s"], name="other")
    with pytest.raises(DataError, match="o is of the data set other, not of pan11-small"):
        add([tmp_path / "o"], name=NAME)
    with pytest.raises(DataError, match="malaprop reproduce STUDY --data other=FILE"):
        add([tmp_path / "mine"], name="other")
    with pytest.raises(DataError, match=r"one of pan11-small, .*, say so with --as"):
        add([tmp_path / "mine"])
    with pytest.raises(ParameterError, match="PAN's are pan11-small, pan11-large"):
        add([tmp_path / "mine"], name="pan11")
