"""`malaprop privatize`: every format, the pipe, folders, outputs that appear when whole."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.conftest import Cli, assert_private, words_of

from malaprop import Privatizer, privatize_files

NOTES = "The doctor is Zyxcanary!\n\nPatient 4711: cold, cold; COLD.\n"


def entries(folder: Path) -> list[str]:
    """All names but those of the records that outputs leave, which have tests of their own."""
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(".malaprop"))


def test_a_line_of_a_txt_file_is_a_document(cli: Cli, folder: Path) -> None:
    (folder / "notes.txt").write_text(NOTES)
    ended = cli.privatize("notes.txt", "-o", "out.txt", "--report", "r.json")
    assert ended.code == 0
    assert ended.out == b""
    out = (folder / "out.txt").read_text()
    assert_private(out)
    assert [len(words_of(line)) for line in out.split("\n")] == [4, 0, 5, 0]
    assert out.split("\n")[2][-1] == "."
    file = json.loads((folder / "r.json").read_text())["files"][0]
    assert (file["records"], file["texts"]) == (3, 3)


def test_a_txt_file_can_be_one_document(cli: Cli, folder: Path) -> None:
    (folder / "notes.txt").write_text("cold\n\nhot, cold")
    ended = cli.privatize("notes.txt", "-o", "out.txt", "--document", "file", "--report", "r.json")
    assert ended.code == 0
    assert json.loads((folder / "r.json").read_text())["files"][0]["records"] == 1
    out = (folder / "out.txt").read_text()
    assert_private(out)
    assert out.count("\n") == 2


@pytest.mark.parametrize(("suffix", "sign"), [(".csv", ","), (".tsv", "\t")])
def test_other_columns_of_separated_values_stay_exactly(
    cli: Cli, folder: Path, suffix: str, sign: str
) -> None:
    rows = [
        ["id", "text", "when", "big", "quoted"],
        ["007", "cold zyxcanary", "2024-02-30", "123456789012345678901234567890", '"a\n""b"" c"'],
        ["NA", '"hot\ndoctor"', " ", "1.50", '""'],
    ]
    source = "".join(sign.join(row) + "\r\n" for row in rows)
    (folder / f"in{suffix}").write_bytes(source.encode())
    ended = cli.privatize(f"in{suffix}", "-o", f"out{suffix}", "-c", "text")
    assert ended.code == 0
    assert "as they are: id, when, big, quoted" in ended.flat
    made = (folder / f"out{suffix}").read_bytes().decode()
    # With the private cells put back, the copy is the original to the byte.
    cells = [line.split(sign)[1] for line in made.split("\r\n")[1:2]]
    assert_private(cells[0])
    second = made.split(f"NA{sign}")[1].split(f"{sign} {sign}")[0]
    assert_private(second)
    assert made.replace(cells[0], rows[1][1], 1).replace(second, rows[2][1], 1) == source


def test_another_delimiter(cli: Cli, folder: Path) -> None:
    (folder / "in.csv").write_text("id;text\n1,5;cold, hot\n")
    ended = cli.privatize("in.csv", "-o", "out.csv", "-c", "text", "--delimiter", ";")
    assert ended.code == 0
    head, row = (folder / "out.csv").read_text().splitlines()
    assert head == "id;text"
    assert row.startswith("1,5;")
    assert_private(row.removeprefix("1,5;"))


def test_json_lines_keep_all_other_values(cli: Cli, folder: Path) -> None:
    lines = [
        '{"id": 12345678901234567890, "text": "cold zyxcanary", "n": {"deep": [1.10, null]}}',
        '{"text":null,"extra":"\\u00e9"}',
        '{"id":1e400}',
    ]
    (folder / "in.jsonl").write_text("\n".join(lines) + "\n")
    ended = cli.privatize("in.jsonl", "-o", "out.jsonl", "-c", "text")
    assert ended.code == 0
    assert "as they are: id, n, extra" in ended.flat
    assert "records without a column asked for" in ended.flat
    made = (folder / "out.jsonl").read_text().splitlines()
    assert made[1:] == lines[1:]
    private = json.loads(made[0])["text"]
    assert_private(private)
    assert made[0].replace(private, "cold zyxcanary") == lines[0]


def test_parquet_keeps_types_values_and_other_columns(cli: Cli, folder: Path) -> None:
    table = pa.table(
        {
            "id": pa.array([1, None], pa.int64()),
            "text": ["cold zyxcanary", None],
            "tags": pa.array([["a", "b"], []], pa.list_(pa.string())),
        }
    )
    pq.write_table(table, folder / "in.parquet")
    ended = cli.privatize("in.parquet", "-o", "out.parquet", "--column", "text")
    assert ended.code == 0
    made = pq.read_table(folder / "out.parquet")
    assert made.schema == table.schema
    assert made.drop_columns("text") == table.drop_columns("text")
    assert made["text"][1].as_py() is None
    assert_private(made["text"][0].as_py())


def test_several_columns(cli: Cli, folder: Path) -> None:
    (folder / "in.csv").write_text("a,b,c\nzyxa,zyxb,zyxc\n")
    assert cli.privatize("in.csv", "-o", "out.csv", "-c", "a", "-c", "c").code == 0
    a, b, c = (folder / "out.csv").read_text().splitlines()[1].split(",")
    assert b == "zyxb"
    assert_private(f"{a} {c}")


def test_a_pipe_in_and_out(cli: Cli, folder: Path) -> None:
    ended = cli.privatize("-", stdin=b"cold zyxcanary\nhot\n")
    assert ended.code == 0
    assert_private(ended.text)
    assert ended.text.count("\n") == 2
    assert ended.err.startswith("Report on a privatized text")
    assert entries(folder) == []


def test_a_pipe_of_another_format(cli: Cli, folder: Path) -> None:
    ended = cli.privatize("-", "--format", "csv", "-c", "text", stdin=b"id,text\n01,zyxcanary\n")
    assert ended.code == 0
    assert ended.text.startswith("id,text\n01,")
    assert_private(ended.text.split("01,")[1])


def test_a_pipe_into_a_file_and_a_file_into_a_pipe(cli: Cli, folder: Path) -> None:
    assert cli.privatize("-", "-o", "out.txt", stdin=b"cold\n").code == 0
    assert_private((folder / "out.txt").read_text())
    ended = cli.privatize("out.txt", "-o", "-")
    assert ended.code == 0
    assert_private(ended.text)


@pytest.mark.parametrize(
    ("source", "arguments", "output"),
    [
        ("notes.log", "", "notes.private.log"),
        ("notes.lst", "--format txt", "notes.private.lst"),
        ("notes.lst", "--format txt", "out.bak"),
        ("notes.txt", "", "private"),
        ("notes.txt", "", "private.gz"),
        ("notes.txt", "", ".private"),
        ("notes.txt", "", "private.TEXT"),
        ("notes.xlsx", "--format txt", "private.xlsx"),  # which says what it is
    ],
)
def test_endings_of_outputs_that_are_fine(
    cli: Cli, folder: Path, source: str, arguments: str, output: str
) -> None:
    (folder / source).write_text("cold\n")
    ended = cli.privatize(source, *arguments.split(), "-o", output)
    assert ended.code == 0, ended.err
    assert (folder / output).exists()


def test_several_inputs_make_a_folder(cli: Cli, folder: Path) -> None:
    (folder / "a.txt").write_text("zyxa\n")
    (folder / "b.csv").write_text("text\nzyxb\n")
    # A column makes sense for one of the two only, so the formats have to agree.
    assert cli.privatize("a.txt", "b.csv", "-o", "out", "-c", "text").code == 2
    assert entries(folder) == ["a.txt", "b.csv"]
    (folder / "c.txt").write_text("zyxc zyxc\n")
    assert cli.privatize("a.txt", "c.txt", "-o", "out").code == 0
    assert entries(folder / "out") == ["a.txt", "c.txt"]
    for name, count in (("a.txt", 1), ("c.txt", 2)):
        made = (folder / "out" / name).read_text()
        assert_private(made)
        assert len(words_of(made)) == count


def test_one_input_goes_into_an_existing_folder(cli: Cli, folder: Path) -> None:
    (folder / "a.txt").write_text("cold\n")
    (folder / "out").mkdir()
    assert cli.privatize("a.txt", "-o", "out").code == 0
    assert_private((folder / "out" / "a.txt").read_text())


def test_an_existing_output_stays_unless_forced(cli: Cli, folder: Path) -> None:
    (folder / "in.txt").write_text("cold\n")
    (folder / "out.txt").write_text("precious")
    refused = cli.privatize("in.txt", "-o", "out.txt")
    assert refused.code == 1
    assert "--force" in refused.err
    assert (folder / "out.txt").read_text() == "precious"
    assert cli.privatize("in.txt", "-o", "out.txt", "--force").code == 0
    assert_private((folder / "out.txt").read_text())
    assert entries(folder) == ["in.txt", "out.txt"]


def test_an_existing_report_stays_unless_forced(cli: Cli, folder: Path) -> None:
    (folder / "in.txt").write_text("cold\n")
    (folder / "r.json").write_text("precious")
    assert cli.privatize("in.txt", "-o", "out.txt", "--report", "r.json").code == 1
    assert (folder / "r.json").read_text() == "precious"
    assert entries(folder) == ["in.txt", "r.json"]


@pytest.mark.parametrize("error", [RuntimeError("zyxcanary"), KeyboardInterrupt(), MemoryError()])
def test_a_failure_midway_leaves_nothing(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    calls = 0

    def private(privatizer: Privatizer, texts: list[str]) -> tuple[list[str], dict[str, int]]:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise error
        return original(privatizer, texts)

    original = Privatizer.batch
    monkeypatch.setattr(Privatizer, "batch", private)
    (folder / "a.txt").write_text("cold\n" * 10_000)
    (folder / "b.txt").write_text("cold\n")
    options = ("--report", "r.json", "--workers", "1")
    ended = cli.privatize("a.txt", "b.txt", "-o", "out", *options)
    assert calls == 2
    assert ended.code == (130 if isinstance(error, KeyboardInterrupt) else 1)
    assert ended.err.count("\n") == 1
    assert "zyxcanary" not in ended.err
    assert entries(folder) == ["a.txt", "b.txt"]


def test_a_broken_record_late_in_the_file_leaves_nothing(cli: Cli, folder: Path) -> None:
    (folder / "in.csv").write_text("text\n" + "cold\n" * 9_000 + '"zyxcanary" x\n')
    ended = cli.privatize("in.csv", "-o", "out.csv", "-c", "text")
    assert ended.code == 1
    assert "record 9001" in ended.err
    assert entries(folder) == ["in.csv"]


def test_a_seed_repeats_and_says_so(cli: Cli, folder: Path) -> None:
    (folder / "in.txt").write_text("the doctor is cold, the patient is hot\n" * 5)

    def made(name: str, *options: str) -> str:
        ended = cli.privatize("in.txt", "-o", name, "--report", f"{name}.json", *options)
        assert ended.code == 0
        randomness = json.loads((folder / f"{name}.json").read_text())["randomness"]
        assert ("NOT PRIVATE" in ended.err) == (randomness == "seeded: not private")
        assert randomness == ("seeded: not private" if options else "secure")
        assert f"randomness {randomness}" in ended.flat
        return (folder / name).read_text()

    first, again, other = made("1.txt", "--seed", "7"), made("2.txt", "--seed", "7"), made("3.txt")
    assert first == again
    assert other != first
    assert made("4.txt") != other


def test_an_encoding(cli: Cli, folder: Path) -> None:
    (folder / "in.csv").write_bytes("größe;text\näöü;kühl\n".encode("cp1252"))
    options = ("--encoding", "cp1252", "--delimiter", ";", "-c", "text")
    assert cli.privatize("in.csv", "-o", "out.csv", *options).code == 0
    made = (folder / "out.csv").read_bytes().decode("cp1252")
    assert made.startswith("größe;text\näöü;")
    assert_private(made.split("äöü;")[1])


def test_unknown_words_can_be_masked_dropped_or_kept(cli: Cli, folder: Path) -> None:
    text = b"cold zyxcanary, hot 4711\n"
    masked = cli.privatize("-", "--unknown", "mask", stdin=text)
    assert masked.text.count("[masked]") == 1
    assert " masked 1 " in masked.flat
    assert "of these, as numbers 1 " in masked.flat
    masked = cli.privatize("-", "--unknown", "mask", "--kinds", "words", stdin=text)
    assert masked.text.count("[masked]") == 2
    assert " masked 2 " in masked.flat
    dropped = cli.privatize("-", "--unknown", "drop", "--kinds", "words", stdin=text)
    assert len(words_of(dropped.text)) == 2
    assert_private(dropped.text)
    kept = cli.privatize("-", "--unknown", "keep", "--kinds", "words", stdin=text)
    assert "zyxcanary" in kept.text
    assert "4711" not in kept.text
    assert "No guarantee" in kept.err
    assert "KEPT AS THEY ARE, without protection 1 " in kept.flat


def test_punctuation_can_be_dropped(cli: Cli, folder: Path) -> None:
    ended = cli.privatize("-", "--punctuation", "drop", stdin=b'"cold", (hot)!  Two?\n')
    assert ended.text.strip().replace(" ", "").isalpha()
    assert "punctuation and spacing" not in ended.err


def test_the_mechanism_and_its_parameters(cli: Cli, folder: Path) -> None:
    for options in (("-m", "laplace"), ("-m", "TEM", "-p", "gamma=3", "-p", "beta=0.01")):
        ended = cli.privatize("-", *options, "--report", "r.json", "--force", stdin=b"cold\n")
        assert ended.code == 0
        assert_private(ended.text)
        assert (
            json.loads((folder / "r.json").read_text())["mechanism"]["name"] == options[1].lower()
        )
    assert json.loads((folder / "r.json").read_text())["mechanism"]["gamma"] == 3.0
    assert json.loads((folder / "r.json").read_text())["guarantee"]["cap"] == 3.0


def test_the_embedded_lexicon_is_the_default(cli: Cli, folder: Path) -> None:
    ended = cli("privatize", "-", "-v", "-e", "2", stdin=b"The patient takes aspirin.\n")
    assert ended.code == 0
    assert len(words_of(ended.text)) == 4
    assert "lexicon english, 32,528 words" in ended.flat


def test_an_empty_input_makes_an_empty_output(cli: Cli, folder: Path) -> None:
    (folder / "in.txt").write_bytes(b"")
    ended = cli.privatize("in.txt", "-o", "out.txt")
    assert ended.code == 0
    assert (folder / "out.txt").read_bytes() == b""
    assert "0 words protected" in ended.flat


def test_a_slash_at_the_end_means_a_folder(cli: Cli, folder: Path) -> None:
    """Also for a single input: a pattern may match one file today and two tomorrow."""
    Path("one.txt").write_text("cold\n", encoding="utf-8")
    assert cli.privatize("one.txt", "-o", "private/").code == 0
    assert Path("private/one.txt").is_file()


def test_warnings_come_before_the_work(cli: Cli, folder: Path) -> None:
    Path("one.txt").write_text("cold\n", encoding="utf-8")
    lines = cli.privatize("one.txt", "-o", "out.txt", epsilon="500").err.splitlines()
    assert lines[0].startswith("warning: THIS EPSILON PROTECTS NEXT TO NOTHING")


def test_the_command_line_makes_the_same_files(cli: Cli, folder: Path, lexicon_file: Path) -> None:
    notes = folder / "notes.csv"
    notes.write_text("id,note\n007,the patient is cold\n008,hot\n")
    asked = ("-c", "note", "-m", "tem", "--seed", "5", "--report", "cli.json")
    assert cli.privatize(notes, "-o", "cli.csv", *asked).code == 0
    privatize_files(
        notes,
        "library.csv",
        columns=["note"],
        mechanism="tem",
        epsilon=1.0,
        lexicon=str(lexicon_file),
        seed=5,
        report="library.json",
    )
    assert (folder / "cli.csv").read_bytes() == (folder / "library.csv").read_bytes()
    told, said = (json.loads((folder / f"{name}.json").read_text()) for name in ("cli", "library"))
    differs = {"command", "date", "seconds", "files"}
    assert {k: v for k, v in told.items() if k not in differs} == {
        k: v for k, v in said.items() if k not in differs
    }
    assert said["command"] == ""


def test_equal_words_of_a_line_can_share_a_draw(cli: Cli, folder: Path) -> None:
    text = b"cold, cold cold\n" * 200
    shared = cli.privatize("-", "--repeat", "document", stdin=text, epsilon="0.01")
    lines = [set(line.casefold().replace(",", "").split()) for line in shared.text.splitlines()]
    assert all(len(words) == 1 for words in lines)
    assert len(set.union(*lines)) > 5
    assert "differ in one distinct word or value, in all its places" in shared.flat
    assert "which places of a text hold equal words" in shared.flat
    fresh = cli.privatize("-", stdin=text, epsilon="0.01")
    assert any(len(set(line.casefold().split())) > 1 for line in fresh.text.splitlines())
    assert "distinct" not in fresh.flat
    assert cli.privatize("-", "--repeat", "never", stdin=text).code == 2
