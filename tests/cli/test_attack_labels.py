"""`malaprop attack` on labels and on vectors."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from tests.cli.conftest import Cli

OF_AUTHOR = {"ann": ("cold", "cool", "mild", "the"), "bob": ("doctor", "nurse", "patient", "is")}


def write(path: Path, rows: int = 12, authors: tuple[str, ...] = ("ann", "bob")) -> None:
    rng = np.random.Generator(np.random.PCG64(1))
    lines = [
        f"{author},{' '.join(rng.choice(OF_AUTHOR[author], 9))}{'!' if author == 'bob' else '.'}\n"
        for _ in range(rows)
        for author in authors
    ]
    path.write_text("author,note\n" + "".join(lines))


def command(lexicon: Path, name: str, *more: str, epsilon: str = "30") -> list[str]:
    common = ["attack", name, "notes.csv", "-c", "note", "-e", epsilon]
    return [*common, "-l", str(lexicon), "--seed", "1", *more]


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("authorship", ()),
        ("authorship", ("--model", "regression", "--adaptive", "--no-punctuation")),
        ("attribute", ("--adaptive",)),
        ("membership", ("--repeats", "1")),
    ],
)
def test_labels_are_inferred(
    cli: Cli, folder: Path, lexicon_file: Path, name: str, more: tuple[str, ...]
) -> None:
    write(folder / "notes.csv")
    label = ("--label", "author", "-m", "tem")
    ended = cli(*command(lexicon_file, name, *label, *more))
    assert (ended.code, ended.err) == (0, "")
    assert f"by the attack {name}" in ended.text
    trained = "private text" if "--adaptive" in more else "clean text"
    assert trained in ended.text
    for part in ("baseline", "unprotected", "random words", "interval"):
        assert part in ended.text
    for word in ("ann", "bob", "cold", "nurse"):
        assert word not in ended.text.split()
    ended = cli(*command(lexicon_file, name, *label, *more, "--json", "-"))
    found = json.loads(ended.text)
    assert (found["attack"], found["texts"], found["labels"]) == (name, 24, 2)
    if name != "membership":
        assert found["score"] == found["unprotected"] == 1.0
        assert found["options"]["punctuation"] is ("--no-punctuation" not in more)


def test_vectors_are_attacked(cli: Cli, folder: Path, lexicon_file: Path) -> None:
    write(folder / "notes.csv")
    for name in ("inversion", "float"):
        ended = cli(*command(lexicon_file, name, "-m", "laplace", "--json", "-"))
        assert (ended.code, ended.err) == (0, "")
        found = json.loads(ended.text)
        assert found["score"] > 0.9
        assert found["candidates"] == 13


def test_words_are_attacked_adaptively(cli: Cli, folder: Path, lexicon_file: Path) -> None:
    write(folder / "notes.csv")
    ended = cli(*command(lexicon_file, "bayes", "-m", "tem", "--adaptive", epsilon="1"))
    assert (ended.code, ended.err) == (0, "")
    assert "adapted to the private text" in " ".join(ended.text.split())


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("authorship",), 2, "name it with --label"),
        (("bayes", "--label", "author"), 2, "takes no --label"),
        (("inversion", "-m", "laplace", "--label", "author"), 2, "takes no --label"),
        (("inversion", "-m", "tem"), 2, "releases words only"),
        (("float", "-m", "tem"), 2, "releases words only"),
        (("attribute", "--label", "nothing"), 2, "'nothing'"),
        (("attribute", "--label", "note"), 2, "name another"),
        (("attribute", "--label", "author", "-c", "id"), 2, "the one column"),
        (("attribute", "--label", "empty"), 1, "24 of 24 texts have no label"),
        (("attribute", "--label", "same"), 1, "All texts have the same label"),
        (("authorship", "--label", "id"), 1, "Of 24 authors, 0 have as many"),
        (("authorship", "--label", "author", "--model", "svm"), 2, "koppel, regression"),
        (("attribute", "--label", "author", "--model", "x"), 2, "no option 'model'"),
        (("attribute", "--label", "author", "--draws", "9"), 2, "no option 'draws'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_and_nothing_is_written(
    cli: Cli,
    folder: Path,
    lexicon_file: Path,
    arguments: tuple[str, ...],
    code: int,
    message: str,
) -> None:
    write(folder / "notes.csv")
    lines = (folder / "notes.csv").read_text().splitlines()
    rows = [f"{line},{i},,x" for i, line in enumerate(lines[1:])]
    (folder / "notes.csv").write_text("\n".join([f"{lines[0]},id,empty,same", *rows]) + "\n")
    name, *more = arguments
    ended = cli(*command(lexicon_file, name, *more, "--json", "result.json"))
    assert ended.code == code
    assert message in ended.flat
    assert len(ended.err.splitlines()) == 1
    assert "patient" not in ended.err
    assert sorted(os.listdir(folder)) == ["notes.csv"]
