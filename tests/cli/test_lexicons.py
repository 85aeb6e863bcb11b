"""`malaprop lexicon`: list, info, import, neighbours."""

import json
import math
import re
from pathlib import Path

import pytest
from tests.cli.conftest import VECTORS, Cli

from malaprop import Lexicon

pytestmark = pytest.mark.usefixtures("home")


def test_what_is_imported_is_listed_and_used(cli: Cli, folder: Path, lexicon_file: Path) -> None:
    assert "small" not in cli("lexicon", "list").text
    ended = cli("lexicon", "import", lexicon_file, "--name", "small")
    assert ended.code == 0
    assert ended.err == ""
    assert ended.text == "imported     small: 13 words × 2 dimensions\n"
    listed = cli("lexicon", "list").text
    assert re.search(r"^english +32,528 +300 +euclidean +embedded", listed, re.MULTILINE)
    assert re.search(r"^small +13 +2 +euclidean +imported", listed, re.MULTILINE)
    used = cli("privatize", "-", "-v", "-e", "2", "-l", "small", stdin=b"cold\n")
    assert used.code == 0
    assert "lexicon small, 13 words" in used.flat


def test_a_taken_name_is_kept_unless_forced(cli: Cli, folder: Path, lexicon_file: Path) -> None:
    (folder / "other.vec").write_text("x 1\ny 2\n")
    assert cli("lexicon", "import", lexicon_file, "--name", "n").code == 0
    refused = cli("lexicon", "import", "other.vec", "--name", "n")
    assert refused.code == 1
    assert refused.err.startswith("malaprop: A lexicon named n exists already")
    assert len(Lexicon.open("n")) == 13
    assert cli("lexicon", "import", "other.vec", "--name", "n", "--force").code == 0
    assert Lexicon.open("n").words == ("x", "y")


def test_repairs_are_told_without_the_rows(cli: Cli, folder: Path, home: Path) -> None:
    (folder / "bad.vec").write_text("x 1 2\nzyxcanary 3\nx 5 6\n\ny 7 nan\nz 8 9\na 1 1\nb 1 3\n")
    ended = cli("lexicon", "import", "bad.vec", "--name", "mended")
    assert ended.code == 0
    lines = ended.text.splitlines()
    assert lines[0] == "imported     mended: 4 words × 2 dimensions"
    assert "repaired     wrong number of columns: 1, first in line 2" in lines
    assert "repaired     duplicate word: 1, first in line 3" in lines
    assert "zyxcanary" not in ended.text
    # The lexicon remembers them.
    assert set(lines[1:]) <= set(cli("lexicon", "info", "mended").text.splitlines())


def test_metric_limit_and_vocabulary(cli: Cli, folder: Path, lexicon_file: Path) -> None:
    options = ("--metric", "manhattan", "--limit", "5")
    assert cli("lexicon", "import", lexicon_file, "--name", "city", *options).code == 0
    city = Lexicon.open("city")
    assert (len(city), str(city.metric)) == (5, "manhattan")
    assert "manhattan metric" in cli("lexicon", "info", "city").text


def test_info(cli: Cli, lexicon_file: Path) -> None:
    cli("lexicon", "import", lexicon_file, "--name", "small")
    opened = Lexicon.open("small")
    for name in ("small", str(lexicon_file)):
        text = cli("lexicon", "info", name).text
        assert f"lexicon      {name}\n" in text
        assert "13, the first of them: cold, cool, mild" in text
        assert "2 dimensions, euclidean metric" in text
        assert opened.fingerprint in text
        assert "nearest word at" in text
    assert "SHA-256" in cli("lexicon", "info", "small").text


def test_info_of_one_word(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "one.vec").write_text("alone 1 2\n")
    ended = cli("lexicon", "info", tmp_path / "one.vec")
    assert ended.code == 0
    assert "scale" not in ended.text


def test_info_sees_changed_files(cli: Cli, lexicon_file: Path, home: Path) -> None:
    cli("lexicon", "import", lexicon_file, "--name", "small")
    words = home / "lexicons" / "small" / "words.txt"
    words.write_text(words.read_text().replace("mild", "milk"))
    ended = cli("lexicon", "info", "small")
    assert ended.code == 1
    assert "somebody changed them" in ended.err


def test_neighbours(cli: Cli, lexicon_file: Path) -> None:
    ended = cli("lexicon", "neighbours", "COLD", "-l", lexicon_file, "-k", "3")
    assert ended.code == 0
    near = sorted((math.dist(VECTORS["cold"], at), word) for word, at in VECTORS.items())[1:4]
    assert ended.text == "".join(f"{distance:9.4f}  {word}\n" for distance, word in near)


def test_neighbours_of_an_unknown_word(cli: Cli, lexicon_file: Path) -> None:
    ended = cli("lexicon", "neighbours", "doctr", "-l", lexicon_file)
    assert ended.code == 2
    assert ended.err == "malaprop: That word is not in the lexicon. Did you mean 'doctor'?\n"


def _named_fingerprints(info: str) -> dict[str, str]:
    """Return the fingerprints that `lexicon info` prints, by the names that it gives them."""
    found = re.findall(r"^(fingerprint|with graph) +([0-9a-f]{64})$", info, re.MULTILINE)
    return dict(found)


def test_info_names_every_fingerprint_that_is_printed(
    cli: Cli, folder: Path, lexicon_file: Path
) -> None:
    named = _named_fingerprints(cli("lexicon", "info", lexicon_file).text)
    assert named.keys() == {"fingerprint", "with graph"}
    (folder / "texts.txt").write_text("the doctor is cold\na patient is warm\n" * 3)
    common = ("-l", lexicon_file, "--force")
    for mechanism, name in (("balanced", "with graph"), ("tem", "fingerprint")):
        chosen = ("-e", "2", "-m", mechanism, *common)
        runs = {
            "audit": ("audit", *chosen),
            "stats": ("stats", *chosen),
            "calibrate": ("calibrate", "--kept", "0.3", "-m", mechanism, *common),
            "privatize": ("privatize", "texts.txt", "-o", "out.txt", "-v", *chosen),
        }
        label = "its fingerprint with graph" if mechanism == "balanced" else "its fingerprint"
        for run, call in runs.items():
            ended = cli(*call, "--report", "page.md")
            assert ended.code == 0, run
            page = (folder / "page.md").read_text()
            assert re.search(rf"\| {label} \| `?{named[name]}", page), run
            cli(*call, *(("--report",) if run == "privatize" else ("--json",)), "value.json")
            value = json.loads((folder / "value.json").read_text())["lexicon"]
            assert value["fingerprint"] == named[name], run
            assert value["metric"] == ("graph" if mechanism == "balanced" else "euclidean"), run
            if run == "privatize":
                beside = label.removeprefix("its ")
                assert f"{beside} {named[name][:12]}" in ended.flat
    ended = cli("evaluate", "texts.txt", "-e", "2", "--json", "value.json", "--runs", "1", *common)
    assert ended.code == 0
    assert f"fingerprint {named['fingerprint'][:12]}" in " ".join(ended.text.split())
    value = json.loads((folder / "value.json").read_text())["lexicon"]
    assert value["fingerprint"] == named["fingerprint"]


def test_info_names_the_fingerprints_of_english(cli: Cli) -> None:
    named = _named_fingerprints(cli("lexicon", "info", "english").text)
    english = Lexicon.open("english")
    assert named == {
        "fingerprint": english.fingerprint,
        "with graph": english.with_graph().fingerprint,
    }
