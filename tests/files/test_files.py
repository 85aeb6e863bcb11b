"""`privatize_files`, as a program calls it: the command line does nothing else."""

from pathlib import Path

import pytest
from tests.cli.conftest import VECTORS

import malaprop
from malaprop import Lexicon, OutputError, ParameterError, privatize_files
from malaprop.files import KEPT, UNWRITTEN
from malaprop.files.formats import txt
from malaprop.files.run import RunProgress


@pytest.fixture
def lexicon(tmp_path: Path) -> str:
    path = tmp_path / "small.vec"
    path.write_text("".join(f"{word} {x} {y}\n" for word, (x, y) in VECTORS.items()))
    return str(path)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes.csv"
    path.write_text("id,note\n007,the patient is cold\n008,hot\n")
    return path


def test_a_file_in_a_private_file_out_and_nothing_printed(
    tmp_path: Path, notes: Path, lexicon: str, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.csv"
    report = privatize_files(
        notes, out, columns=["note"], mechanism="tem", epsilon=1.0, lexicon=lexicon, workers=1
    )
    assert isinstance(report, malaprop.RunReport)
    header, *rows = out.read_text().splitlines()
    assert header == "id,note"
    assert [row.partition(",")[0] for row in rows] == ["007", "008"]
    assert set(" ".join(row.partition(",")[2] for row in rows).casefold().split()) <= set(VECTORS)
    assert report.counts["protected"] == 5
    assert report.files[0].output == str(out)
    assert capfd.readouterr() == ("", "")


def test_several_inputs_go_to_a_folder(tmp_path: Path, lexicon: str) -> None:
    inputs = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for path in inputs:
        path.write_text("cold\nhot\n")
    out = tmp_path / "out"
    report = privatize_files(inputs, out, mechanism=malaprop.TEM(epsilon=1.0), lexicon=lexicon)
    assert [len((out / path.name).read_text().split()) for path in inputs] == [2, 2]
    assert [Path(file.input) for file in report.files] == inputs


def test_a_lexicon_in_memory_will_do(tmp_path: Path, notes: Path) -> None:
    tiny = Lexicon(["cold", "hot"], [[0.0], [1.0]])
    out = tmp_path / "out.csv"
    privatize_files(notes, out, columns=["note"], mechanism="tem", epsilon=1.0, lexicon=tiny)
    assert {"cold", "hot"} >= set(out.read_text().casefold().split("008,")[1].split())


def test_progress_is_told_and_warnings_with_it(tmp_path: Path, notes: Path, lexicon: str) -> None:
    told: list[RunProgress] = []
    privatize_files(
        notes,
        tmp_path / "out.csv",
        columns=["note"],
        mechanism="tem",
        epsilon=1.0,
        lexicon=lexicon,
        seed=1,
        progress=told.append,
    )
    stages = [progress.stage for progress in told]
    assert list(dict.fromkeys(stages)) == ["preparing", "warning", "drawing", "naming"]
    assert "NOT PRIVATE" in told[1].note
    last = told[-2]
    assert (last.done, last.total, last.words) == (notes.stat().st_size, notes.stat().st_size, 5)


def test_a_run_that_was_stopped_is_resumed(
    tmp_path: Path, lexicon: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was drawn is kept, and a note on the error says so."""
    monkeypatch.setattr(txt, "BATCH_RECORDS", 10)
    monkeypatch.setattr("malaprop.files.privatize.SMALLEST_BATCH", 10)
    source, out = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text("cold\n" * 50)

    def stop(progress: RunProgress) -> None:
        if progress.stage == "drawing" and progress.words > 20:
            raise KeyboardInterrupt

    def run(**options: object) -> malaprop.RunReport:
        tem = malaprop.TEM(epsilon=1.0)
        return privatize_files(source, out, mechanism=tem, lexicon=lexicon, workers=1, **options)  # type: ignore[arg-type]

    with pytest.raises(KeyboardInterrupt) as stopped:
        run(progress=stop)
    assert stopped.value.__notes__ == [UNWRITTEN, KEPT]
    with pytest.raises(OutputError, match=r"`resume=True`, or start over with `force=True`"):
        run()
    report = run(resume=True)
    assert len(out.read_text().split()) == 50
    assert report.already == ()
    assert run(resume=True).already == (str(out),)


PARAMETERS = [
    ({}, ParameterError, "name it with `epsilon`"),
    ({"epsilon": 1.0}, ParameterError, "name them with `columns`"),
    ({"epsilon": 1.0, "columns": "note"}, ParameterError, "columns must be a list"),
    ({"epsilon": 1.0, "columns": None}, ParameterError, "name them with `columns`"),
    ({"epsilon": 1.0, "columns": 3}, ParameterError, "columns must be a list of names, or None"),
    ({"epsilon": 1.0, "columns": [0]}, ParameterError, "columns must be a list of names, or None"),
    ({"epsilon": 1.0, "columns": ["nte"]}, ParameterError, "Did you mean 'note'"),
    ({"epsilon": 1.0, "columns": ["note"], "seed": -1}, ParameterError, "seed must be 0 or more"),
    ({"epsilon": 1.0, "columns": ["note"], "workers": 0}, ParameterError, "workers must be 1"),
    ({"epsilon": 1.0, "columns": ["note"], "format": "xml"}, ParameterError, "format must be"),
    ({"epsilon": 1.0, "columns": ["note"], "report": "r.pdf"}, ParameterError, "none of .json"),
    (
        {"epsilon": 1.0, "columns": ["note"], "encoding": "utf-99"},
        ParameterError,
        "`encoding` ",
    ),
    ({"mechanism": malaprop.TEM(epsilon=1.0), "epsilon": 1.0}, ParameterError, "leave out `eps"),
]


@pytest.mark.parametrize(("options", "kind", "message"), PARAMETERS)
def test_errors_name_parameters(
    tmp_path: Path,
    notes: Path,
    lexicon: str,
    options: dict[str, object],
    kind: type[Exception],
    message: str,
) -> None:
    usual = {"mechanism": "tem", "lexicon": lexicon, "workers": 1}
    out = tmp_path / "out.csv"
    with pytest.raises(kind, match=message) as caught:
        privatize_files(notes, out, **usual | options)  # type: ignore[arg-type]
    assert "--" not in str(caught.value)
    assert not out.exists()


def test_without_inputs_there_is_nothing_to_do(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="`inputs`"):
        privatize_files([], tmp_path / "out", epsilon=1.0)


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


@pytest.mark.parametrize("workers", [1, 2])
def test_equal_words_of_a_line_share_a_draw(tmp_path: Path, workers: int) -> None:
    """In every line, in batches and workers; lines are drawn independently."""
    words = [f"w{chr(97 + i // 10)}{chr(97 + i % 10)}" for i in range(100)]
    wide = Lexicon(words, [[float(i)] for i in range(100)])
    source, out = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text("wjj, wjj wjj wjj wjj!\n" * 8_000)
    report = privatize_files(
        source, out, mechanism="tem", epsilon=1e-4, lexicon=wide, workers=workers, repeat="document"
    )
    lines = [line.casefold().strip("!").replace(",", "").split() for line in _lines(out)]
    assert all(len(line) == 5 and len(set(line)) == 1 for line in lines)
    assert len({line[0] for line in lines}) == 100
    assert report.policy["repeat"] == "document"
    assert report.guarantee.per == "distinct word"
    assert (report.repetition.most, report.repetition.texts) == (5, 8_000)
