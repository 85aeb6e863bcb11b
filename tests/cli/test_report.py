"""What a run says of itself: for people on stderr, as JSON or Markdown in a file."""

import gzip
import hashlib
import json
import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.conftest import VECTORS, Cli

import malaprop
from malaprop._version import __version__

TOP = {
    "audience": str,
    "malaprop": str,
    "date": str,
    "seconds": float,
    "command": str,
    "guarantee": dict,
    "randomness": str,
    "expected_share_unchanged": float,
    "expected_share_guessed": float,
    "guessed_at_least": bool,
    "warnings": list,
    "hint": str,
    "counts": dict,
    "visible": list,
    "files": list,
    "mechanism": dict,
    "policy": dict,
    "lexicon": dict,
    "repetition": dict,
}


def report_of(cli: Cli, *options: str, epsilon: str = "1", stdin: bytes = b"cold\n") -> Any:
    ended = cli.privatize(
        "-", "--report", "r.json", "--force", *options, epsilon=epsilon, stdin=stdin
    )
    assert ended.code == 0

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(Path("r.json").read_text(encoding="utf-8"), parse_constant=refuse)


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("-m", "laplace"),
        ("-m", "tem", "-p", "gamma=inf"),
        ("--unknown", "keep"),
        ("--unknown", "mask", "--punctuation", "drop"),
    ],
)
def test_the_json_report_is_complete(cli: Cli, folder: Path, options: tuple[str, ...]) -> None:
    report = report_of(cli, *options)
    assert {name: type(value) for name, value in report.items()} == TOP
    assert report["guessed_at_least"] is ("laplace" in options)
    assert report["guarantee"]["statement"]
    assert report["lexicon"]["words"] == len(VECTORS)
    assert report["lexicon"]["dimension"] == 2
    assert len(report["lexicon"]["fingerprint"]) == 64
    digests = [report["files"][0].pop(f"{side}put_digest") for side in ("in", "out")]
    assert [len(digest) for digest in digests] == [32, 32]
    assert report["files"] == [
        {
            "input": "-",
            "output": "-",
            "format": "txt",
            "encoding": "utf-8",
            "guessed": False,
            "protected_columns": [],
            "unprotected_columns": [],
            "records": 1,
            "texts": 1,
            "records_without_the_column": 0,
            "on_error": "fail",
            "faulty_records": 0,
            "faults": [],
        }
    ]
    assert 0 <= report["expected_share_unchanged"] <= 1


def test_the_counts_add_up(cli: Cli, folder: Path) -> None:
    text = "Cold zyx 12 a@b.org www.x.org @me #hot 😀, hot.\u200b\n".encode()
    counts = report_of(cli, "--kinds", "words", stdin=text)["counts"]
    kinds = ("in_lexicon", "mapped", "numbers", "urls", "emails", "mentions", "hashtags", "emoji")
    assert {kind: counts[kind] for kind in kinds} == {**dict.fromkeys(kinds, 1), "in_lexicon": 2}
    assert counts["protected"] == 9
    assert counts["removed"] == 1


def test_the_readable_report(cli: Cli, folder: Path) -> None:
    (folder / "in.csv").write_text("id,text,note\n1,cold zyx,zyxnote\n")
    ended = cli.privatize("in.csv", "-o", "out.csv", "-c", "text")
    assert ended.out == b""
    for part in (
        "ε = 1 (metric-dp)",
        "any two texts that differ in one word",
        "such factors multiply",
        "balanced(epsilon=1.0)",
        "% of words are expected to stay as they are",
        "% of single words are guessed right by an observer without context, to whom",
        "2 words protected",
        "of these, in the lexicon 1 of these, mapped to words of it 1 ",
        "- how many words there are, and in which places - which of them are numbers, dates,",
        "and their formats - punctuation and spacing",
        "the columns that were not named, as they are: id, note",
        "in.csv → out.csv csv 1 1 text id, note",
    ):
        assert part in ended.flat
    assert "zyx" not in ended.err
    own = [line for line in ended.err.splitlines() if str(folder.parent) not in line]
    assert all(len(line) <= 100 for line in own)


def test_without_verbose_three_lines_are_enough(cli: Cli, folder: Path) -> None:
    (folder / "in.csv").write_text("id,text,note\n1,cold zyx,zyxnote\n")
    command = ("privatize", "in.csv", "-o", "out.csv", "-c", "text", "-e", "1", "--force")
    ended = cli(*command)
    names = [line.split(" ")[0] for line in ended.err.splitlines() if line[0] != " "]
    assert names == ["Promised", "Visible", "Report"]
    assert len(ended.err.splitlines()) <= 8
    assert "“aspirin” and “ibuprofen” by a factor of at most 2.72" in ended.flat
    assert "punctuation, order of records, other columns: id, note" in ended.flat
    assert "2 words in 1 record of 1 file; --report FILE or -v for all of it" in ended.flat
    assert "the whole report is in r.md" in cli(*command, "--report", "r.md").flat


def test_the_unchanged_share_is_the_mean_of_staying(cli: Cli, folder: Path) -> None:
    vectors = list(VECTORS.values())
    gamma = 2 / 2 * math.log(0.999 * (len(vectors) - 1) / 0.001)
    shares = [
        1 / sum(math.exp(-min(math.dist(here, there), gamma)) for there in vectors)
        for here in vectors
    ]
    report = report_of(cli, "-m", "tem", "-p", "exponent=half", epsilon="2")
    assert report["expected_share_unchanged"] == round(sum(shares) / len(shares), 4)


@pytest.mark.parametrize(
    ("epsilon", "warning"),
    [
        ("50", "THIS EPSILON PROTECTS NEXT TO NOTHING: 100% of words are expected to stay"),
        (
            "2",
            "guesses about 60% of them right. Take a smaller one: about 1.13 would keep a third",
        ),
        ("1", None),
    ],
)
def test_a_warning_where_epsilon_protects_nothing(
    cli: Cli, folder: Path, epsilon: str, warning: str | None
) -> None:
    ended = cli.privatize("-", epsilon=epsilon, stdin=b"cold\n")
    assert ended.code == 0
    if warning:
        assert ended.err.startswith("warning: ")
        assert warning in ended.flat
        assert report_of(cli, epsilon=epsilon)["warnings"]
    else:
        assert "warning:" not in ended.err.lower()
        assert report_of(cli, epsilon=epsilon)["warnings"] == []


def test_a_warning_where_epsilon_leaves_nothing(cli: Cli, folder: Path) -> None:
    ended = cli("privatize", "-", "-e", "0.1", stdin=b"cold\n")
    assert "leaves next to nothing" in ended.flat


def test_quiet_leaves_the_warnings(cli: Cli, folder: Path) -> None:
    assert cli.privatize("-", "-q", stdin=b"cold\n").err == ""
    ended = cli.privatize("-", "--quiet", "--seed", "1", stdin=b"cold\n")
    assert ended.err.startswith("warning: made with a seed: NOT PRIVATE")
    assert "Promised" not in ended.err


def test_names_from_the_file_cannot_command_the_terminal(cli: Cli, folder: Path) -> None:
    head = "\x1b[31mred,,text"
    ended = cli.privatize("-", "--format", "csv", "-c", "text", stdin=f"{head}\n,,x\n".encode())
    assert ended.code == 0
    assert "\x1b" not in ended.err
    assert r"as they are: \u001b[31mred, ''" in ended.flat


def test_many_columns_are_counted_for_people_and_named_in_json(cli: Cli, folder: Path) -> None:
    names = [f"c{i}" for i in range(50)]
    stdin = f"text,{','.join(names)}\ncold{',' * 50}\n".encode()
    options = ("--format", "csv", "-c", "text")
    ended = cli.privatize("-", *options, stdin=stdin)
    assert "c19, and 30 more" in ended.flat
    report = report_of(cli, *options, stdin=stdin)
    assert report["files"][0]["unprotected_columns"] == names


def test_half_characters_in_names_are_valid_json(cli: Cli, folder: Path) -> None:
    stdin = b'{"text": "cold", "\\ud800": 1}\n'
    report = report_of(cli, "--format", "jsonl", "-c", "text", stdin=stdin)
    assert report["files"][0]["unprotected_columns"] == ["\ud800"]


@pytest.mark.parametrize(
    ("report", "kind"),
    [
        ("b.json", "an input"),
        ("../work/b.json", "an input"),
        ("soft.md", "an input"),
        ("hard.json", "an input"),
        ("out/a.json", "an output"),
    ],
)
def test_a_report_takes_no_place_of_an_input_or_an_output(
    cli: Cli, folder: Path, report: str, kind: str
) -> None:
    for name in ("a.json", "b.json"):
        (folder / name).write_text("cold\n")
    (folder / "soft.md").symlink_to("b.json")
    (folder / "hard.json").hardlink_to("b.json")
    command = ("a.json", "b.json", "-o", "out", "--format", "txt")
    assert cli.privatize(*command).code == 0
    made = (folder / "out" / "a.json").read_bytes()
    (folder / "c.txt").write_text("cold\n")
    ended = cli.privatize("c.txt", *command, "--resume", "--report", report, "--force")
    assert ended.code == 2
    assert f"the report cannot go to {report}, which is {kind}" in ended.err
    assert (folder / "b.json").read_text() == "cold\n"
    assert (folder / "out" / "a.json").read_bytes() == made


@pytest.mark.parametrize("name", ["r.htm", "r.txt", "r", "r.json.gz", "md"])
def test_other_endings_are_refused_before_any_work(cli: Cli, folder: Path, name: str) -> None:
    ended = cli.privatize("-", "--report", name, "-l", "no-such-lexicon", stdin=b"cold\n")
    assert ended.code == 2
    assert ended.err == (
        f"malaprop: a report is written as JSON, as Markdown or as a web page: {name} ends in none "
        "of .json, .md, .html\n"
    )
    assert list(folder.iterdir()) == []


def test_the_report_says_when_and_how_it_was_made(cli: Cli, folder: Path) -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    report = report_of(cli, "--unknown", "mask")
    made = datetime.fromisoformat(report["date"])
    assert made.tzinfo is not None
    passed = datetime.now(UTC) - before
    assert before <= made <= before + passed
    assert 0 < report["seconds"] <= passed.total_seconds()
    assert report["malaprop"] == __version__
    assert report["command"].startswith("malaprop privatize - --report r.json --force --unknown")


def files_and_report(cli: Cli, folder: Path, source: str, *options: str) -> Any:
    ended = cli.privatize(source, "-o", f"out-{source}", *options, "--report", "r.json", "--force")
    assert ended.code == 0
    return json.loads((folder / "r.json").read_text())["files"][0]


@pytest.mark.parametrize("kind", ["txt", "csv", "csv.gz", "csv.zst", "parquet"])
def test_digests_are_of_the_files_and_need_the_users_key(
    cli: Cli, folder: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = f"in.{kind}"
    if kind == "parquet":
        pq.write_table(pa.table({"text": ["cold, hot"] * 5_000, "n": [1] * 5_000}), source)
    else:
        data = b"n,text\n" + b"1,cold\n" * 20_000
        if kind.endswith(".gz"):
            data = gzip.compress(data) + b"\0" * 9  # padding, which gzip allows
        if kind.endswith(".zst"):
            data = pa.compress(data, codec="zstd", asbytes=True)
        Path(source).write_bytes(data)
    columns = () if kind == "txt" else ("-c", "text")
    file = files_and_report(cli, folder, source, *columns)
    assert file["input_digest"] == malaprop.file_digest(source)
    assert file["output_digest"] == malaprop.file_digest(f"out-{source}")
    data = Path(source).read_bytes()
    for plain in ("blake2b", "sha256", "md5"):
        assert file["input_digest"] not in hashlib.new(plain, data).hexdigest()
    assert file["input_digest"] != hashlib.blake2b(data, digest_size=16).hexdigest()
    monkeypatch.setenv("MALAPROP_STATE", str(folder / "another-user"))
    assert file["input_digest"] != malaprop.file_digest(source)


def test_without_a_key_there_are_no_digests(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "state").write_text("no folder")
    monkeypatch.setenv("MALAPROP_STATE", str(folder / "state"))
    report = report_of(cli)
    assert report["files"][0]["input_digest"] is None
    assert report["files"][0]["output_digest"] is None
    assert any("no digests of the files" in warning for warning in report["warnings"])


def test_texts_without_words_are_counted_and_warned_of(cli: Cli, folder: Path) -> None:
    stdin = b"... --- ...\ncold\n\n  \n||||\na: . . .\n"
    ended = cli.privatize("-", "--quiet", stdin=stdin)
    warning = "NOTHING IS PROMISED for 2 texts that have no words: their signs are shown"
    assert ended.err.startswith(f"warning: {warning}")
    report = report_of(cli, stdin=stdin)
    assert (report["counts"]["wordless"], report["counts"]["mostly_signs"]) == (2, 1)
    assert [one for one in report["warnings"] if one.startswith(warning)]
    assert "texts without words, shown as they are 2 " in cli.privatize("-", stdin=stdin).flat
    assert "warning" not in cli.privatize("-", "--punctuation", "drop", stdin=stdin).err


def test_texts_of_another_language_are_warned_of_once_with_the_share(cli: Cli) -> None:
    unknown, known = b"qzvx\n" * 12, b"cold\n" * 18
    ended = cli.privatize("-", "--quiet", stdin=unknown + known)
    assert ended.err.startswith("warning: 40% of the words are not in the lexicon.")
    assert ended.err.count("warning") == 1
    dropping = cli.privatize("-", "--quiet", "--unknown", "drop", stdin=unknown + known)
    assert dropping.err.startswith("warning: 40%")
    assert "warning" not in cli.privatize("-", "--quiet", stdin=unknown + known * 2).err
    assert "warning" not in cli.privatize("-", "--quiet", stdin=unknown).err  # too few to tell


def page_of(cli: Cli, *arguments: str, stdin: bytes = b"cold\n", epsilon: str = "1") -> str:
    ended = cli.privatize(*arguments, "--report", "r.md", "--force", stdin=stdin, epsilon=epsilon)
    assert ended.code == 0
    return Path("r.md").read_text(encoding="utf-8")


def test_the_page_says_all_that_matters(cli: Cli, folder: Path) -> None:
    (folder / "in.csv").write_text("id,text,note\n1,cold zyx,zyxnote\n2,...,b\n")
    page = page_of(cli, "in.csv", "-o", "out.csv", "-c", "text", epsilon="50")
    for part in (
        "# Report on a privatized text",
        "not for publication",
        "## Warnings",
        "- **THIS EPSILON PROTECTS NEXT TO NOTHING",
        "- **NOTHING IS PROMISED for 1 text that has no words",
        "## What is guaranteed",
        "ε = 50",
        "## What is not protected",
        "- punctuation and spacing",
        "| file | format | records | texts | protected columns | not protected |",
        "| in.csv → out.csv | csv | 2 | 2 | text | id, note |",
        "| in.csv → out.csv | `",
        "| command | `malaprop privatize in.csv -o out.csv",
    ):
        assert part in page
    assert "zyx" not in page
    tables = [line for line in page.splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in tables} == {3, 4, 7}


def test_names_in_the_page_are_no_markup(cli: Cli, folder: Path) -> None:
    head = "\x1b[31mred,<script>,a|b,*x*,text"
    data = f"{head}\n,,,,x\n".encode()
    page = page_of(cli, "-", "--format", "csv", "-c", "text", stdin=data)
    assert "\x1b" not in page
    assert "<script>" not in page.replace("\\<script\\>", "")
    assert r"a\|b" in page
    assert r"\*x\*" in page


def test_without_a_guarantee_the_page_says_so(cli: Cli, folder: Path) -> None:
    page = page_of(cli, "-", "--unknown", "keep", stdin=b"cold zyx\n")
    assert "- **NOTHING IS GUARANTEED" in page
    assert "words replaced" in page
    assert "## What was replaced" in page
    assert "| KEPT AS THEY ARE, without protection | 1 |" in page
