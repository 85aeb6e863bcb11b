"""`malaprop evaluate`."""

import json
import os
import signal
import stat
import time
from pathlib import Path

import pytest
from tests.cli.conftest import Cli, running

COLD = ("the patient is cold", "one nurse is cool")
HOT = ("the doctor is hot", "a patient is warm")
SECOND = """
from malaprop.measure.evaluation_run import EvaluationSample as Bench
cell, seen = Bench.cell, []
def marking(self, *arguments):
    seen.append(1)
    if len(seen) == 2:
        open("begun", "w").close()
        import time
        time.sleep(600)
    return cell(self, *arguments)
Bench.cell = marking
"""
"""Marks that the second setting has begun, and stays there."""


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MALAPROP_STATE", str(tmp_path / "state"))


@pytest.fixture
def notes(folder: Path) -> Path:
    rows = [
        f"{(COLD if i % 2 else HOT)[i // 2 % 2]},{'cold' if i % 2 else 'hot'}" for i in range(80)
    ]
    path = folder / "notes.csv"
    path.write_text("text,y\n" + "\n".join(rows) + "\n")
    return path


def command(lexicon: Path, *more: str) -> tuple[str, ...]:
    common = ("-m", "tem", "-e", "1,4", "-l", str(lexicon), "--runs", "5", "--seed", "1")
    return ("evaluate", "notes.csv", "-c", "text", *common, *more)


@pytest.mark.usefixtures("notes")
def test_a_table_a_page_and_json(cli: Cli, folder: Path, lexicon_file: Path) -> None:
    outputs = ("--json", "result.json", "--report", "page.html")
    ended = cli(*command(lexicon_file, "--label", "y", "--most", "0.99"), *outputs)
    assert ended.code == 0
    assert "Recommended: tem, exponent=audited at ε = " in ended.text
    for word in ("patient", "nurse", "doctor"):
        assert word not in ended.text + ended.err
    result = json.loads((folder / "result.json").read_text())
    assert [cell["epsilon"] for cell in result["cells"]] == [1.0, 4.0]
    assert set(result["floors"]) == {"random_words", "majority"}
    for name in ("result.json", "page.html"):
        assert stat.S_IMODE(os.stat(folder / name).st_mode) == 0o600
    again = cli(*command(lexicon_file, "--label", "y", "--json", "-"))
    assert "2 of 2 settings were measured by an earlier run" in again.err
    assert json.loads(again.text)["cells"] == result["cells"]


@pytest.mark.usefixtures("notes")
def test_it_ends_in_one_sentence(cli: Cli, lexicon_file: Path) -> None:
    ended = cli(*command(lexicon_file, "--label", "y", "--sample", "40"))
    assert "malaprop evaluate --sample all uses all." in " ".join(ended.text.split())
    ended = cli(*command(lexicon_file, "--label", "y", "--sample", "all"))
    assert "--sample all" not in ended.text
    assert "`" not in ended.text
    last = ended.text.split("In one sentence\n")[1]
    assert last.startswith("At ε = 1 a classifier trained on 60 private texts keeps ")


@pytest.mark.usefixtures("notes")
def test_own_texts_are_shown_only_when_asked_for(cli: Cli, lexicon_file: Path) -> None:
    ended = cli(*command(lexicon_file, "--show", "1"))
    assert "your text             the doctor is hot" in ended.err
    assert "tem, ε = 4 " in ended.err
    assert "doctor" not in ended.text
    assert "doctor" not in cli(*command(lexicon_file)).err


@pytest.mark.usefixtures("notes")
@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (("--label", "none"), 2, "no column is named 'none'"),
        (("--label", "text"), 2, "the label cannot be the text itself"),
        (("-m", "tme"), 2, "Did you mean 'tem'"),
        (("-e", "1,x"), 2, "ε must be a number. Got 'x'"),
        (("-e", "1,-1"), 2, "epsilon"),
        (("--most", "2"), 2, "--most must be a share"),
        (("--sample", "some"), 2, "--sample must be a whole number, 1 or more, or all"),
        (("--attacks", "contxt"), 2, "Did you mean 'context'"),
        (("--report", "page.pdf"), 2, ".md, .html"),
        (("--json", "notes.csv", "--force"), 2, "is the input"),
        (("--json", "taken.json"), 1, "exists already"),
        (("--json", "no/taken.json"), 1, "there is no folder no"),
    ],
)
def test_what_is_wrong_is_said_before_any_work(
    cli: Cli, folder: Path, lexicon_file: Path, more: tuple[str, ...], code: int, message: str
) -> None:
    (folder / "taken.json").write_text("mine")
    ended = cli(*command(lexicon_file), *more)
    assert (ended.code, ended.text) == (code, "")
    assert message in ended.flat
    assert len(ended.err.splitlines()) == 1
    assert sorted(os.listdir(folder)) == ["notes.csv", "taken.json"]
    assert (folder / "taken.json").read_text() == "mine"


def test_one_class_leaves_nothing(cli: Cli, folder: Path, lexicon_file: Path) -> None:
    rows = "".join(f"{COLD[i % 2]},secret\n" for i in range(40))
    (folder / "notes.csv").write_text("text,y\n" + rows)
    ended = cli(*command(lexicon_file, "--label", "y", "--report", "page.md"))
    assert (ended.code, ended.text) == (1, "")
    assert "All labels are the same" in ended.err
    assert "secret" not in ended.err
    assert os.listdir(folder) == ["notes.csv"]


@pytest.mark.usefixtures("notes")
def test_it_can_be_stopped_and_resumed(cli: Cli, folder: Path, lexicon_file: Path) -> None:
    arguments = command(lexicon_file, "--report", "page.md")
    with running(*arguments, before=SECOND) as process:
        while not (folder / "begun").exists():
            assert process.poll() is None
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=600)
        assert process.returncode == 130
    assert (out, err.splitlines()[-1]) == (b"", b"malaprop: stopped")
    assert sorted(os.listdir(folder)) == ["begun", "notes.csv"]
    ended = cli(*arguments)
    assert "1 of 2 settings were measured by an earlier run" in ended.err
    assert sorted(os.listdir(folder)) == ["begun", "notes.csv", "page.md", "page.svg"]
