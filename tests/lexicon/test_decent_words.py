"""No slur, sexual or crude word is an output: see tools/indecent_words.tsv."""

from collections.abc import Callable
from pathlib import Path

import pytest

from malaprop import Lexicon
from malaprop.lexicon.bigrams import shipped_model, words_digest
from malaprop.text import vocabulary
from malaprop.text.english import STAND_INS
from malaprop.text.word_map import WordMap

ROOT = Path(__file__).resolve().parents[2]
LINES = (ROOT / "tools" / "indecent_words.tsv").read_text(encoding="utf-8").splitlines()
ROWS = [line.split("\t") for line in LINES if not line.startswith("#")]
LEFT_OUT = {word for word, *_ in ROWS}


def test_each_word_has_a_reason_and_a_decent_word(english: Lexicon) -> None:
    assert [row[0] for row in ROWS] == sorted(LEFT_OUT)
    assert {reason for _, reason, *_ in ROWS} == {"slur", "sexual", "crude"}
    assert all(lists.isdecimal() for _, _, lists, _ in ROWS)
    assert {row[3] for row in ROWS} <= english.index.keys()


def test_the_readme_counts_them() -> None:
    notes = (ROOT / "src/malaprop/data/english/README.md").read_text(encoding="utf-8")
    count = {name: sum(row[1] == name for row in ROWS) for name in ("slur", "sexual", "crude")}
    assert f"| words left out | {len(ROWS)}: slurs ({count['slur']})" in notes
    assert f"sexual words ({count['sexual']}) and crude words ({count['crude']})" in notes
    page = (ROOT / "docs/howto/lexicons.md").read_text(encoding="utf-8")
    assert f"{len(ROWS)} slurs, sexual words and crude words are left out" in page


def test_none_is_a_word_of_the_lexicon_or_of_what_depends_on_it(english: Lexicon) -> None:
    assert not LEFT_OUT & english.index.keys()
    assert not LEFT_OUT & set(vocabulary.target_words())
    assert not LEFT_OUT & set(STAND_INS.values())
    model = shipped_model(english)
    assert model is not None
    assert model.words == words_digest(english.words)


@pytest.mark.parametrize("written", [str, str.capitalize, str.upper])
def test_who_writes_one_gets_what_its_decent_word_gets(
    english: Lexicon, written: Callable[[str], str]
) -> None:
    words = WordMap(english.words)
    found = {word: english.words[words.map(written(word))] for word in sorted(LEFT_OUT)}
    assert found == {word: counts_as for word, *_, counts_as in ROWS}
