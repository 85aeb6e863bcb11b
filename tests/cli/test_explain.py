"""`malaprop explain` and `malaprop mechanisms`."""

import math
import re
from pathlib import Path

import pytest
from tests.cli.conftest import VECTORS, WORDS, Cli, Ended

from malaprop import registry


def explain(cli: Cli, lexicon: Path, word: str, *options: str, epsilon: str = "2") -> Ended:
    return cli("explain", word, "-e", epsilon, "-l", lexicon, *options)


def rows(ended: Ended) -> dict[str, tuple[float, float, str]]:
    """Of each word listed: distance, probability, bar."""
    found = re.findall(r"^(\S+) +([\d.]+) +([\d.e-]+)% *(\S*) *$", ended.text, re.MULTILINE)
    return {word: (float(d), float(p) / 100, bar) for word, d, p, bar in found}


def test_the_law_is_exact_for_tem(cli: Cli, lexicon_file: Path) -> None:
    ended = explain(
        cli,
        lexicon_file,
        "cold",
        "--top",
        "13",
        "-m",
        "tem",
        "-p",
        "gamma=inf",
        "-p",
        "exponent=half",
    )
    assert ended.code == 0
    assert ended.err == ""
    found = rows(ended)
    assert set(found) == WORDS
    weights = {word: math.exp(-math.dist(VECTORS["cold"], at)) for word, at in VECTORS.items()}
    for word, (distance, probability, _) in found.items():
        assert distance == pytest.approx(math.dist(VECTORS["cold"], VECTORS[word]), abs=0.005)
        assert probability == pytest.approx(weights[word] / sum(weights.values()), rel=0.006)
    assert next(iter(found)) == "cold"
    assert "other words" not in ended.text


def test_bars_are_as_long_as_probabilities(cli: Cli, lexicon_file: Path) -> None:
    found = rows(explain(cli, lexicon_file, "cold", "-m", "tem"))
    lengths = {word: len(bar) for word, (_, _, bar) in found.items()}
    assert lengths["cold"] == 30
    assert lengths["cool"] == math.ceil(30 * found["cool"][1] / found["cold"][1])
    assert list(lengths.values()) == sorted(lengths.values(), reverse=True)


def test_what_an_observer_can_infer(cli: Cli, lexicon_file: Path) -> None:
    flat = " ".join(explain(cli, lexicon_file, "cold", "--top", "3", "-m", "tem").text.split())
    distance = math.dist(VECTORS["cold"], VECTORS["cool"])
    assert "“cold” stays as it is with probability" in flat
    assert f"against “cool” (distance {distance:.2f}) change by a factor of at most" in flat
    # A bound is rounded up, in three digits.
    stated = float(re.findall(r"“cool” \(.*?\) change by a factor of at most ([\d.]+)", flat)[0])
    assert math.exp(2 * distance) <= stated <= math.exp(2 * distance) * 1.01
    assert "10 other words" in flat
    assert "ε = 2 (metric-dp): between any two words of the lexicon" in flat


def test_the_law_is_estimated_for_laplace(cli: Cli, lexicon_file: Path) -> None:
    ended = explain(cli, lexicon_file, "cold", "-m", "laplace", epsilon="500")
    assert ended.code == 0
    assert "Estimated from 4,000 draws" in ended.text
    assert "in fact" not in ended.text
    assert rows(ended)["cold"][1] == 1.0


def test_a_word_that_is_not_in_the_lexicon(cli: Cli, lexicon_file: Path) -> None:
    ended = explain(cli, lexicon_file, "doctors")
    assert "Not in the lexicon: it counts as doctor" in ended.text
    assert next(iter(rows(ended))) == "doctor"
    loud = explain(cli, lexicon_file, " COLD ")
    assert "Not in the lexicon" not in loud.text
    assert next(iter(rows(loud))) == "cold"


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("Metformin", "it counts as warfarin: the nearest word by meaning"),
        ("metforminn", "it counts as warfarin: read as “metformin”"),
        ("#worldnews", "it counts as news: read as words put together, of which “news” counts"),
        ("germany's", "it counts as germany: the word that it is a form of"),
        ("qzxkv", "it counts as quake: the nearest spelling"),
    ],
)
def test_how_a_word_is_mapped(cli: Cli, word: str, said: str) -> None:
    ended = cli("explain", word, "-e", "1.5", "--top", "1")
    assert f"Not in the lexicon: {said}" in " ".join(ended.text.split())


@pytest.mark.parametrize("phrase", ["cold hot", "cold,", "", " ", "zyx zyx", "3 4"])
def test_a_phrase_is_refused(cli: Cli, lexicon_file: Path, phrase: str) -> None:
    ended = explain(cli, lexicon_file, phrase)
    assert ended.code == 2
    assert ended.err == ("malaprop: Give one word to explain, without spaces or punctuation.\n")


def test_words_that_look_like_markup(cli: Cli, tmp_path: Path) -> None:
    lexicon = tmp_path / "odd.vec"
    lexicon.write_text("[/b] 0\n[red]x 1\n:smile: 2\nplain 3\n")
    ended = explain(cli, lexicon, "plain")
    assert ended.code == 0
    for word in ("[/b]", "[red]x", ":smile:"):
        assert word in ended.text


def test_nothing_is_wider_than_the_terminal(
    cli: Cli, lexicon_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for ended in (explain(cli, lexicon_file, "cold"), cli("mechanisms"), cli("lexicon", "list")):
        assert max(map(len, ended.text.splitlines())) <= 80


def test_the_embedded_lexicon(cli: Cli) -> None:
    for mechanism in ("balanced", "tem"):
        ended = cli("explain", "aspirin", "-e", "2", "-m", mechanism)
        assert ended.code == 0
        assert next(iter(rows(ended))) == "aspirin"
        assert "ibuprofen" in list(rows(ended))
        assert "32,516 other words" in ended.text


def test_four_mechanisms_to_choose_from_are_listed_first(cli: Cli) -> None:
    ended = cli("mechanisms")
    names = re.findall(r"^([a-z-]+)$", ended.text, re.MULTILINE)
    assert names == ["balanced", "laplace", "priv-emb", "tem"]
    assert "mechanisms --all" in ended.text
    everything = re.findall(r"^([a-z-]+)$", cli("mechanisms", "--all").text, re.MULTILINE)
    assert everything[:4] == names


def test_commands_for_research_stand_together(cli: Cli) -> None:
    commands, research = cli("--help").text.split("Commands:")[1].split("Research:")
    assert re.findall(r"^  ([a-z]+) ", research, re.MULTILINE) == [
        "reproduce",
        "bench",
        "data",
        "lm",
    ]
    assert "privatize" in commands
    assert "train-poincare" in cli("lexicon", "--help").text.split("Research:")[1]


def test_all_mechanisms_are_listed(cli: Cli) -> None:
    ended = cli("mechanisms", "--all")
    assert ended.code == 0
    flat = " ".join(ended.text.split())
    for name, mechanism in registry.items():
        assert re.search(rf"^{name}$", ended.text, re.MULTILINE)
        for field in mechanism.parameters():
            assert field.name in flat
    assert "metric-dp" in flat
    assert "beta=0.001" in flat


def test_a_warning_where_epsilon_protects_little(cli: Cli, lexicon_file: Path) -> None:
    def explained(epsilon: str) -> str:
        return " ".join(cli("explain", "cold", "-e", epsilon, "-l", lexicon_file).text.split())

    few, many, most = map(explained, ("1", "2", "50"))
    assert "On average over the lexicon, 29.6% of words stay as they are, and an observer" in few
    assert "guesses more" in few
    assert "WARNING" not in few
    assert "WARNING: This epsilon protects little: 60% of words" in many
    assert "about 1.13 would keep a third" in many
    assert "WARNING: THIS EPSILON PROTECTS NEXT TO NOTHING: 100% of words" in most
