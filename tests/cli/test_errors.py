"""Wrong input ends in one clear line, an exit code, and nothing else.

All data here is made of canaries: a word of the user's text in a message would be seen.
"""

import errno
import os
from pathlib import Path
from typing import IO, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.conftest import Cli, Ended

import malaprop.cli.main
from malaprop import Privatizer

CANARY = "zyxsecretcanary"
FILES = {
    "good.txt": f"{CANARY}\n".encode(),
    "good.csv": f"a {CANARY},text\n{CANARY},{CANARY}\n".encode(),
    "good.jsonl": f'{{"a {CANARY}": 1, "text": "{CANARY}"}}\n'.encode(),
    "named.csv": f"id,text\n{CANARY},{CANARY}\n".encode(),
    "named.jsonl": f'{{"id": 1, "text": "{CANARY}"}}\n'.encode(),
    "latin.txt": f"{CANARY} caf\xe9 {CANARY}\n".encode("latin-1"),
    "unclosed.csv": f'text\n"{CANARY}\n'.encode(),
    "trailing.csv": f'text\n"{CANARY}" {CANARY}\n'.encode(),
    "ragged.csv": f"{CANARY},text\n{CANARY}\n".encode(),
    "empty.csv": b"",
    "broken.jsonl": f'{{"text": "{CANARY}"\n'.encode(),
    "list.jsonl": f'["{CANARY}"]\n'.encode(),
    "number.jsonl": f'{{"text": 4711, "x": "{CANARY}"}}\n'.encode(),
    "deep.jsonl": ('{"text": ' + "[" * 100_000 + f'"{CANARY}"\n').encode(),
    "broken.parquet": f"PAR1{CANARY}PAR1".encode(),
    "notes.xyz": f"{CANARY}\n".encode(),
    "bad.vec": f"{CANARY} 1 2\n{CANARY}s 1\n".encode(),
    "noise.vec": f"{CANARY}\n\x00\xff{CANARY}".encode("latin-1"),
    "empty.vec": b"",
    "precious.txt": b"precious",
}


class Case(NamedTuple):
    code: int
    says: str
    arguments: str


def privatize(code: int, says: str, arguments: str) -> Case:
    return Case(code, says, f"privatize {arguments}")


GOOD = "good.txt -o out.txt"
CSV = "good.csv -c text -e 1"
CASES = [
    privatize(2, "there is no file missing.txt", "missing.txt -o out.txt -e 1"),
    privatize(2, "sub is a folder, and out.txt sounds like a file", "sub -o out.txt -e 1"),
    privatize(2, "an output is needed", "good.txt -e 1"),
    privatize(2, "Missing argument 'INPUT'", ""),
    privatize(2, "Missing option '--epsilon'", GOOD),
    *(
        privatize(2, "must be a finite number above 0", f"{GOOD} -e {epsilon}")
        for epsilon in ("0", "-1", "-0.0", "nan", "inf", "-inf", "1e999")
    ),
    *(
        privatize(2, "must be between 1e-30 and 1e+30", f"{GOOD} -e {epsilon} -m {mechanism}")
        for epsilon in ("1e300", "1e31", "1e-300", "1e-320")
        for mechanism in ("balanced", "tem", "laplace", "gaussian")
    ),
    privatize(2, "finite number above 0. Got 'much'", f"{GOOD} -e much"),
    privatize(2, "requires an argument", f"{GOOD} -l english -e"),
    privatize(2, "Did you mean 'tem'?", f"{GOOD} -e 1 -m tme"),
    privatize(2, "Did you mean 'laplace'?", f"{GOOD} -e 1 -m LaPlaze"),
    privatize(2, "Did you mean 'gamma'?", f"{GOOD} -e 1 -m tem -p gama=1"),
    privatize(2, "It has: gamma, beta", f"{GOOD} -e 1 -m tem -p epsilon=1"),
    privatize(2, "NAME=VALUE", f"{GOOD} -e 1 -m tem -p gamma"),
    privatize(2, "no parameter 'search'", f"{GOOD} -e 1 -m laplace -p search=approximate"),
    privatize(2, "'gamma' parameter", f"{GOOD} -e 1 -m tem -p gamma=-1"),
    privatize(2, "'beta' parameter", f"{GOOD} -e 1 -m tem -p beta=small"),
    privatize(2, "Did you mean 'english'?", f"{GOOD} -e 1 -l englsh"),
    privatize(2, "not a compiled lexicon", f"{GOOD} -e 1 -l sub"),
    privatize(1, "bad.vec, line 2", f"{GOOD} -e 1 -l bad.vec"),
    privatize(1, "noise.vec", f"{GOOD} -e 1 -l noise.vec"),
    privatize(1, "empty.vec is empty", f"{GOOD} -e 1 -l empty.vec"),
    privatize(2, "name it with --format", "notes.xyz -o out.xyz -e 1"),
    privatize(2, "'--format'", f"{GOOD} -e 1 --format word"),
    privatize(2, "out.csv says csv", "good.txt -o out.csv -e 1"),
    *(
        privatize(2, f"ends in {end}: name a file that ends in .csv", f"{CSV} -o {name}")
        for name, end in (
            *(("out.xlsx", ".xlsx"), ("out.docx", ".docx"), ("out.pst", ".pst")),
            *(("out.lst", ".lst"), ("out.csv.bak", ".bak"), ("out.xlsx.gz", ".xlsx")),
        )
    ),
    *(
        privatize(2, f"Malaprop writes no {what}", f"{CSV} -o out.{end} --format csv")
        for end, what in (("xlsx", "spreadsheets"), ("ODS", "spreadsheets"), ("docx", "such files"))
    ),
    privatize(2, "or name the format with --format txt", "good.txt -o out.lst -e 1"),
    privatize(2, "or name the format with --format txt", "- -o out.lst -e 1"),
    privatize(2, "'--format'", "good.txt -o out.xlsx -e 1 --format word"),
    privatize(2, "leave out --column", f"{GOOD} -e 1 -c text"),
    privatize(2, "2 columns: id, text", "named.csv -o out.csv -c nosuch -e 1"),
    privatize(2, "id, text. Did you mean 'text'?", "named.jsonl -o out.jsonl -c txt -e 1"),
    privatize(2, "name them with --column", "good.csv -o out.csv -e 1"),
    privatize(2, "unknown text encoding", f"{GOOD} -e 1 --encoding utf-9"),
    privatize(2, "unknown text encoding", f"{GOOD} -e 1 --encoding base64"),
    privatize(
        2, "delimiter must be one character", "good.csv -o o.csv -c text -e 1 --delimiter ab"
    ),
    privatize(2, "'--unknown'", f"{GOOD} -e 1 --unknown forget"),
    privatize(2, "'--seed'", f"{GOOD} -e 1 --seed -1"),
    privatize(2, "No such option: --colum", f"{GOOD} -e 1 --colum text"),
    privatize(2, "several inputs need files", "good.txt - -o out -e 1"),
    privatize(2, "several inputs need files", "good.txt latin.txt -o - -e 1"),
    privatize(2, "the same name", "good.txt sub/good.txt -o out -e 1"),
    privatize(2, "no column is named 'nosuch'", "good.csv -o out.csv -c nosuch -e 1"),
    privatize(2, "no record has the key 'nosuch'", "good.jsonl -o out.jsonl -c nosuch -e 1"),
    privatize(2, "no column is named 'nosuch'", "good.parquet -o out.parquet -c nosuch -e 1"),
    privatize(1, "only text can be privatized", "good.parquet -o out.parquet -c n -e 1"),
    privatize(1, "cannot be read as utf-8", "latin.txt -o out.txt -e 1 --encoding utf-8"),
    privatize(1, "cannot be read as utf-32", "good.txt -o out.txt -e 1 --encoding utf-32"),
    privatize(1, "not well-formed", "unclosed.csv -o out.csv -c text -e 1"),
    privatize(1, "record 1 is not well-formed", "trailing.csv -o out.csv -c text -e 1"),
    privatize(1, "record 1 has 1 field, the header has 2", "ragged.csv -o out.csv -c text -e 1"),
    privatize(1, "the input is empty", "empty.csv -o out.csv -c text -e 1"),
    privatize(1, "record 1 (line 1) is not a JSON object", "broken.jsonl -o o.jsonl -c text -e 1"),
    privatize(1, "not a JSON object", "list.jsonl -o o.jsonl -c text -e 1"),
    privatize(1, "not a JSON object", "deep.jsonl -o o.jsonl -c text -e 1"),
    privatize(1, "is a number, not a string", "number.jsonl -o o.jsonl -c text -e 1"),
    privatize(1, "not a Parquet file", "broken.parquet -o out.parquet -c text -e 1"),
    privatize(
        1,
        "cannot be written as iso8859-1",
        "good.txt -o out.txt -e 0.2 -l greek.vec --encoding latin-1",
    ),
    privatize(1, "precious.txt exists already", "good.txt -o precious.txt -e 1"),
    privatize(1, "there is no folder nowhere", "good.txt -o nowhere/out.txt -e 1"),
    privatize(1, "not a folder", "good.txt -o good.csv/out.txt -e 1"),
    privatize(1, "is a file: several inputs", "good.txt latin.txt -o precious.txt -e 1"),
    privatize(1, "cannot be made", "good.txt latin.txt -o nowhere/out -e 1"),
    privatize(
        2,
        "cannot go to out.md, which is an output",
        "good.txt --format txt -o out.md -e 1 --report out.md",
    ),
    privatize(1, "no folder nowhere", f"{GOOD} -e 1 --report nowhere/r.json"),
    Case(2, "Did you mean 'privatize'?", "privatise good.txt"),
    Case(2, "No such option", "--verion"),
    Case(2, "Missing option '--epsilon'", "explain cold"),
    Case(2, "must be a finite number above 0", "explain cold -e 0"),
    Case(2, "must be between 1e-30 and 1e+30", "explain cold -e 1e300"),
    Case(2, "must be between 1e-30 and 1e+30", "audit -e 1e300"),
    Case(2, "must be between 1e-30 and 1e+30", "lexicon audit english -e 1e300"),
    Case(2, "Give one word", f"explain {CANARY},{CANARY} -e 1 -l english"),
    Case(2, "Give one word", "explain !! -e 1 -l english"),
    Case(2, "unexpected extra argument", "explain cold hot -e 1"),
    Case(2, "'--top'", "explain cold -e 1 --top 0"),
    Case(2, "Did you mean 'english'?", "lexicon info englisch"),
    Case(2, "Did you mean 'english'?", "lexicon neighbours cold -l englisch"),
    Case(2, "Missing command", "lexicon"),
    Case(2, "No such command", "lexicon remove"),
    Case(2, "Missing option '--name'", "lexicon import bad.vec"),
    Case(1, "missing.vec cannot be read", "lexicon import missing.vec --name x"),
    Case(1, "is empty", "lexicon import empty.vec --name x"),
    Case(2, "must consist of", "lexicon import bad.vec --name ../x"),
    Case(2, "embedded lexicon", "lexicon import bad.vec --name english"),
    Case(2, "angular", "lexicon import bad.vec --name x --metric cosine"),
    Case(
        2,
        "'--limit': Input should be greater than or equal to 1",
        "lexicon import bad.vec --name x --limit 0",
    ),
]


@pytest.fixture
def data(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MALAPROP_HOME", str(folder / "home"))
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    (folder / "greek.vec").write_text("κρύο 1 2\nζέστη 3 4\nγάτα 2 3\nπόλη 4 1\n", encoding="utf-8")
    (folder / "sub").mkdir()
    (folder / "sub" / "good.txt").write_text(CANARY)
    table = {f"a {CANARY}": [CANARY], "text": [CANARY], "n": [1]}
    pq.write_table(pa.table(table), folder / "good.parquet")
    return folder


def everything(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in folder.rglob("*")
    }


def assert_one_line(ended: Ended, code: int, says: str = "") -> None:
    assert ended.code == code
    assert ended.out == b""
    assert ended.err.startswith("malaprop: ")
    assert ended.err.endswith("\n")
    assert len(ended.err.splitlines()) == 1
    assert says in ended.err
    assert CANARY not in ended.err
    assert "Traceback" not in ended.err
    assert "internal error" not in ended.err


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.arguments or "none")
def test_wrong_input_ends_in_one_line_and_changes_nothing(
    cli: Cli, data: Path, lexicon_file: Path, case: Case
) -> None:
    before = everything(data)
    arguments = case.arguments.split()
    if arguments[0] == "privatize" and not {"-l"} & set(arguments):
        arguments += ["--lexicon", str(lexicon_file)]
    assert_one_line(cli(*arguments), case.code, case.says)
    assert everything(data) == before


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("ragged.csv", "ragged.csv: record 1 has 1 field"),
        ("empty.csv", "empty.csv: the input is empty"),
        ("number.jsonl", "number.jsonl: record 1 (line 1)"),
        ("broken.parquet", "broken.parquet: the input cannot be read"),
        ("other.jsonl", "other.jsonl: no record has the key 'text'"),
    ],
)
def test_a_fault_says_which_of_several_inputs_has_it(
    cli: Cli, data: Path, name: str, says: str
) -> None:
    (data / "other.jsonl").write_text('{"id": 1}\n')
    ended = cli.privatize("good.csv", name, "-o", "out", "-c", "text")
    assert_one_line(ended, 2 if "no record" in says else 1, says)


def test_parquet_cannot_come_through_a_pipe(cli: Cli, data: Path) -> None:
    ended = cli.privatize("/dev/stdin", "-o", "o.parquet", "-c", "text", "--format", "parquet")
    assert ended.code == 1
    assert len(ended.err.splitlines()) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="everything is open to root")
def test_permissions(cli: Cli, data: Path) -> None:
    (data / "good.txt").chmod(0)
    assert_one_line(cli.privatize("good.txt", "-o", "out.txt"), 1, "good.txt: Permission denied")
    (data / "sub").chmod(0o500)
    ended = cli.privatize("latin.txt", "-o", "sub/out.txt", "--encoding", "latin-1")
    assert_one_line(ended, 1, "no permission to write sub/out.txt")


@pytest.mark.parametrize(
    ("number", "says"),
    [(errno.EACCES, "good.txt: Permission denied"), (errno.EIO, "good.txt: Input/output error")],
)
def test_an_input_that_cannot_be_opened(
    cli: Cli, data: Path, monkeypatch: pytest.MonkeyPatch, number: int, says: str
) -> None:
    def refuse(path: Path, mode: str = "r", **options: Any) -> IO[Any]:
        if path.name == "good.txt":
            raise OSError(number, os.strerror(number), str(path))
        return original(path, mode, **options)

    original = Path.open
    monkeypatch.setattr(Path, "open", refuse)
    assert_one_line(cli.privatize("good.txt", "-o", "out.txt"), 1, says)
    assert not (data / "out.txt").exists()


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError(CANARY),
        KeyError(CANARY),
        UnicodeEncodeError("utf-8", CANARY, 0, 1, CANARY),
        AssertionError(CANARY),
        RecursionError(CANARY),
    ],
    ids=lambda error: type(error).__name__,
)
def test_the_unexpected_shows_its_type_and_place_alone(
    cli: Cli, data: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(privatizer: Privatizer, texts: list[str]) -> None:
        raise error

    monkeypatch.setattr(Privatizer, "batch", fail)
    before = everything(data)
    ended = cli.privatize("good.txt", "-o", "out.txt")
    assert ended.code == 1
    kind = type(error).__name__
    assert ended.err.startswith(f"malaprop: internal error: {kind} at test_errors.py:")
    assert len(ended.err.splitlines()) == 1
    assert CANARY not in ended.err
    assert everything(data) == before


def test_no_part_of_the_command_line_shows_local_variables() -> None:
    """Whoever calls typer's own `app()` gets Python's traceback, not typer's with variables."""
    from malaprop.cli.app import app

    apps = [app, *(group.typer_instance for group in app.registered_groups)]
    assert len(apps) > 3
    for each in apps:
        assert each is not None
        assert each.pretty_exceptions_enable is False
        assert each.pretty_exceptions_show_locals is False


def test_out_of_memory(cli: Cli, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(privatizer: Privatizer, texts: list[str]) -> None:
        raise MemoryError

    monkeypatch.setattr(Privatizer, "batch", fail)
    assert_one_line(cli.privatize("good.txt", "-o", "out.txt"), 1, "out of memory")


def test_a_name_with_line_ends_makes_one_line(cli: Cli, data: Path) -> None:
    assert_one_line(
        cli.privatize("no\nsuch\x1b[31m.txt", "-o", "o.txt"), 2, r"no\nsuch\u001b[31m.txt"
    )


def test_no_arguments_show_the_help(cli: Cli, data: Path) -> None:
    ended = cli()
    assert ended.code == 0
    assert ended.text.startswith("Usage: malaprop")
    assert ended.err == ""


@pytest.mark.parametrize("arguments", [("--version",), ("lexicon", "list", "--help")])
def test_version_and_help_succeed(cli: Cli, arguments: tuple[str, ...]) -> None:
    ended = cli(*arguments)
    assert ended.code == 0
    assert ended.err == ""


def test_the_version(cli: Cli) -> None:
    assert cli("--version").text == f"malaprop {malaprop.__version__}\n"
