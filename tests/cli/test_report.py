"""What a run says of itself: for people on stderr, as JSON in a file."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import VECTORS, Cli

TOP = {
    "audience": str,
    "malaprop": str,
    "guarantee": dict,
    "randomness": str,
    "expected_share_unchanged": float,
    "warnings": list,
    "hint": str,
    "counts": dict,
    "visible": list,
    "files": list,
    "mechanism": dict,
    "policy": dict,
    "lexicon": dict,
}


def report_of(cli: Cli, *options: str, epsilon: str = "2", stdin: bytes = b"cold\n") -> Any:
    ended = cli.privatize(
        "-", "--report", "r.json", "--force", *options, epsilon=epsilon, stdin=stdin
    )
    assert ended.code == 0

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(Path("r.json").read_text(encoding="utf-8"), parse_constant=refuse)


def test_an_approximate_search_is_in_the_report(cli: Cli, folder: Path) -> None:
    for search in ("exact", "approximate"):
        report = report_of(cli, "-m", "laplace", "-p", f"search={search}")
        assert report["mechanism"]["search"] == search


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
    assert report["guarantee"]["statement"]
    assert report["lexicon"]["words"] == len(VECTORS)
    assert report["lexicon"]["dimension"] == 2
    assert len(report["lexicon"]["fingerprint"]) == 64
    assert report["files"] == [
        {
            "input": "-",
            "output": "-",
            "format": "txt",
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
    counts = report_of(cli, stdin=text)["counts"]
    kinds = ("in_lexicon", "mapped", "numbers", "urls", "emails", "mentions", "hashtags", "emoji")
    assert {kind: counts[kind] for kind in kinds} == {**dict.fromkeys(kinds, 1), "in_lexicon": 2}
    assert counts["protected"] == 9
    assert counts["removed"] == 1


def test_the_readable_report(cli: Cli, folder: Path) -> None:
    (folder / "in.csv").write_text("id,text,note\n1,cold zyx,zyxnote\n")
    ended = cli.privatize("in.csv", "-o", "out.csv", "-c", "text")
    assert ended.out == b""
    for part in (
        "ε = 2 (metric-dp)",
        "any two texts that differ in one word",
        "the losses add up",
        "balanced(epsilon=2.0)",
        "% of words, expected over the lexicon",
        "Protected 2 words: 1 in the lexicon, 1 mapped to words of it",
        "Visible how many words there are, and in which places; punctuation and spacing",
        "File in.csv → out.csv: 1 record not protected: id, note",
    ):
        assert part in ended.flat
    assert "zyx" not in ended.err
    assert all(len(line) <= 100 for line in ended.err.splitlines())


def test_the_unchanged_share_is_the_mean_of_staying(cli: Cli, folder: Path) -> None:
    vectors = list(VECTORS.values())
    gamma = 2 / 2 * math.log(0.999 * (len(vectors) - 1) / 0.001)
    shares = [
        1 / sum(math.exp(-min(math.dist(here, there), gamma)) for there in vectors)
        for here in vectors
    ]
    report = report_of(cli, "-m", "tem", "-p", "exponent=half")
    assert report["expected_share_unchanged"] == round(sum(shares) / len(shares), 4)


@pytest.mark.parametrize(
    ("epsilon", "warning"),
    [("50", "protects next to nothing"), ("2", None)],
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
        assert "warning" not in ended.err
        assert report_of(cli, epsilon=epsilon)["warnings"] == []


def test_a_warning_where_epsilon_leaves_nothing(cli: Cli, folder: Path) -> None:
    ended = cli("privatize", "-", "-e", "0.1", stdin=b"cold\n")
    assert "leaves next to nothing" in ended.flat


def test_quiet_leaves_the_warnings(cli: Cli, folder: Path) -> None:
    assert cli.privatize("-", "-q", stdin=b"cold\n").err == ""
    ended = cli.privatize("-", "--quiet", "--seed", "1", stdin=b"cold\n")
    assert ended.err.startswith("warning: made with a seed: NOT PRIVATE")
    assert "Guarantee" not in ended.err


def test_names_from_the_file_cannot_command_the_terminal(cli: Cli, folder: Path) -> None:
    head = "\x1b[31mred,,text"
    ended = cli.privatize("-", "--format", "csv", "-c", "text", stdin=f"{head}\n,,x\n".encode())
    assert ended.code == 0
    assert "\x1b" not in ended.err
    assert r"not protected: '\x1b[31mred', ''" in ended.flat


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
        ("b.txt", "an input"),
        ("../work/b.txt", "an input"),
        ("soft", "an input"),
        ("hard", "an input"),
        ("out/a.txt", "an output"),
    ],
)
def test_a_report_takes_no_place_of_an_input_or_an_output(
    cli: Cli, folder: Path, report: str, kind: str
) -> None:
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text("cold\n")
    (folder / "soft").symlink_to("b.txt")
    (folder / "hard").hardlink_to("b.txt")
    command = ("a.txt", "b.txt", "-o", "out")
    assert cli.privatize(*command).code == 0
    made = (folder / "out" / "a.txt").read_bytes()
    (folder / "c.txt").write_text("cold\n")
    ended = cli.privatize("c.txt", *command, "--resume", "--report", report, "--force")
    assert ended.code == 2
    assert f"the report cannot go to {report}, which is {kind}" in ended.err
    assert (folder / "b.txt").read_text() == "cold\n"
    assert (folder / "out" / "a.txt").read_bytes() == made
