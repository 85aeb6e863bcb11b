"""`malaprop lexicon extend` and `malaprop lexicon subset`; what a run says without a balance."""

from pathlib import Path

import pytest
from tests.cli.conftest import VECTORS, Cli

from malaprop import Lexicon
from malaprop.mechanisms import balance

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def terms(folder: Path) -> Path:
    path = folder / "terms.txt"
    path.write_text("Metformin\ncold\n\ntwo words\nfebrile\nmetformin\n")
    return path


def test_words_are_added_counted_and_used(cli: Cli, lexicon_file: Path, terms: Path) -> None:
    cli("lexicon", "import", lexicon_file, "--name", "small")
    ended = cli("lexicon", "extend", "small", terms, "--name", "clinical")
    assert (ended.code, ended.err) == (0, "")
    lines = ended.text.splitlines()
    assert lines[0] == "extended     clinical: 15 words × 2 dimensions"
    assert lines[1].startswith(f"made of      small (13 words, fingerprint {source_of('small')}), ")
    assert "with 2 words added, which are declared public; vectors: " in lines[1]
    assert lines[2:] == [
        "left out     blank line: 1, first in line 3",
        "left out     duplicate word: 1, first in line 6",
        "left out     no single word, or a value such as a number: 1, first in line 4",
        "left out     word that the lexicon has already: 1, first in line 2",
    ]
    info = cli("lexicon", "info", "clinical").text.splitlines()
    assert set(lines[1:]) <= set(info)
    assert any(line.startswith("source       terms.txt, SHA-256 ") for line in info)
    assert Lexicon.open("clinical").words == (*VECTORS, "metformin", "febrile")
    for mechanism in ("balanced", "tem", "laplace"):
        used = cli(
            *("privatize", "-", "-v", "-e", "2", "-l", "clinical", "-m", mechanism),
            stdin=b"METFORMIN febrile\n",
        )
        assert used.code == 0
        assert "lexicon clinical, 15 words" in used.flat


def source_of(name: str) -> str:
    return Lexicon.open(name).fingerprint


def test_vectors_come_from_a_file_of_the_same_dimension(
    cli: Cli, lexicon_file: Path, terms: Path, folder: Path
) -> None:
    extend = ("lexicon", "extend", lexicon_file, terms, "--name", "clinical", "--vectors")
    (folder / "v.vec").write_text("metformin 9.5 2.5\n")
    assert "1 taken from v.vec" in cli(*extend, "v.vec").text
    assert Lexicon.open("clinical").vectors[13].tolist() == [9.5, 2.5]
    (folder / "w.vec").write_text("metformin 9 2 1\n")
    refused = cli(*extend, "w.vec", "--force")
    assert refused.code == 1
    assert "w.vec has vectors of 3 numbers, and the lexicon those of 2" in refused.flat
    assert "--force" in cli(*extend, "v.vec").flat


def test_a_file_without_a_new_word_is_refused(cli: Cli, lexicon_file: Path, folder: Path) -> None:
    (folder / "old.txt").write_text("cold\nHOT\nzyx canary\n")
    ended = cli("lexicon", "extend", lexicon_file, "old.txt", "--name", "clinical")
    assert ended.code == 1
    assert "No word of old.txt can be added: no single word, or a value" in ended.flat
    assert "word that the lexicon has already: 2" in ended.flat
    assert "canary" not in ended.err


def test_help_and_note_say_that_the_words_are_public(cli: Cli) -> None:
    assert "you declare them public" in " ".join(cli("lexicon", "extend", "--help").text.split())


def test_a_subset_keeps_or_leaves_out(cli: Cli, lexicon_file: Path, folder: Path) -> None:
    (folder / "some.txt").write_text("Warm\ncold\nunknown\n")
    whole = Lexicon.open(lexicon_file)
    kept = cli("lexicon", "subset", lexicon_file, "--keep", "some.txt", "--name", "few")
    assert kept.text.splitlines()[0] == "stored       few: 2 words × 2 dimensions"
    assert "left out     word that the lexicon lacks: 1, first in line 3\n" in kept.text
    assert Lexicon.open("few").words == ("cold", "warm")
    left = cli("lexicon", "subset", lexicon_file, "--without", "some.txt", "--name", "rest")
    assert left.code == 0
    rest = Lexicon.open("rest")
    assert rest.words == tuple(word for word in VECTORS if word not in ("cold", "warm"))
    ids = [whole.index[word] for word in rest.words]
    assert rest.vectors.tobytes() == whole.vectors[ids].tobytes()
    for options in ((), ("--keep", "some.txt", "--without", "some.txt")):
        refused = cli("lexicon", "subset", lexicon_file, *options, "--name", "none")
        assert refused.code == 2
        assert "one of them" in refused.flat


def balanced_for(name: str) -> list[float]:
    table = Lexicon.open(name).with_graph().tables.balances
    assert table is not None
    return [law["epsilon"] for law in table.laws]


def test_a_run_says_before_the_work_what_a_balance_would_give(
    cli: Cli, lexicon_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("lexicon", "import", lexicon_file, "--name", "small")
    monkeypatch.setattr(balance, "SMALL", 5)
    monkeypatch.setattr("malaprop.lexicon.graph.SMALL", 5)

    def run(epsilon: str) -> str:
        ended = cli("privatize", "-", "-q", "-e", epsilon, "-l", "small", stdin=b"cold\n")
        return ended.flat

    assert "malaprop lexicon graph small --epsilon NUMBER once, with the ε of your" in run("1.5")
    built = cli("lexicon", "graph", "small", "--epsilon", "1.5", "-e", "2.5")
    assert built.code == 0
    assert [line.split()[2] for line in built.text.splitlines()[-2:]] == ["1.5", "2.5"]
    assert balanced_for("small") == [1.5, 2.5]
    for epsilon in ("1.5", "2.5"):
        assert "malaprop lexicon" not in run(epsilon)
    assert "no balance for ε = 0.8" in run("0.8")
    assert "run malaprop lexicon graph small --epsilon 0.8 for about 0.8" in run("0.8")
    again = cli("lexicon", "graph", "small", "--epsilon", "0.8")
    assert again.code == 0
    assert balanced_for("small") == [0.8, 1.5, 2.5]
    assert "malaprop lexicon" not in run("0.8")
    alone = cli("lexicon", "graph", "small", "--epsilon", "2", "--force")
    assert alone.code == 0
    assert balanced_for("small") == [2.0]
    refused = cli("lexicon", "graph", "small", "--epsilon", "0")
    assert refused.code == 2
    assert "'epsilon' of a balance must be from 0.1 to 50" in refused.flat
