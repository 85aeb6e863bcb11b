"""A little WordNet, in the format of the real one."""

from pathlib import Path

import pytest

from malaprop import LexiconError
from malaprop.lab.poincare import WordNet

# offset: lemmas, what is above; the last two columns of data.noun's pointers are of no interest
SYNSETS = {
    "00000001": (["entity"], []),
    "00000002": (["physical_entity"], ["@ 00000001"]),
    "00000003": (["animal", "beast", "fauna"], ["@ 00000002"]),
    "00000004": (["dog", "domestic_dog"], ["@ 00000003", "~ 00000005"]),
    "00000005": (["poodle", "poodle_dog"], ["@ 00000004"]),
    "00000006": (["city", "metropolis"], ["@ 00000002"]),
    "00000007": (["London", "Greater_London"], ["@i 00000006", "#p 00000001"]),
    "00000008": (["helium", "He"], ["@ 00000002"]),
    "00000009": (["run", "tally"], ["@ 00000001"]),
    "00000010": (["frump", "dog"], ["@ 00000001"]),
    "00000011": (["score"], ["@ 00000009"]),
}
SENSES = {
    "animal": ["00000003"],
    "beast": ["00000003"],
    "city": ["00000006"],
    "dog": ["00000004", "00000010"],
    "domestic_dog": ["00000004"],
    "entity": ["00000001"],
    "fauna": ["00000003"],
    "frump": ["00000010"],
    "he": ["00000008"],
    "helium": ["00000008"],
    "london": ["00000007"],
    "metropolis": ["00000006"],
    "physical_entity": ["00000002"],
    "poodle": ["00000005"],
    "run": ["00000009"],
    "score": ["00000011"],
    "tally": ["00000009"],
}
COUNTS = "dog%1:05:00:: 1 42\nrun%1:04:00:: 1 5\nrun%2:38:00:: 1 106\ntally%5:00:00:x:00 1 3\n"
LICENCE = "  1 This software and database is being provided to you, the LICENSEE, by\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    data = ""
    for offset, (lemmas, pointers) in SYNSETS.items():
        listed = " ".join(f"{lemma} 0" for lemma in lemmas)
        listed_pointers = "".join(f" {pointer} n 0000" for pointer in pointers)
        data += f"{offset} 03 n {len(lemmas):02x} {listed} {len(pointers):03d}{listed_pointers}"
        data += " | a gloss; @ 00000003 n 0000\n"
    index = ""
    for lemma, senses in SENSES.items():
        index += f"{lemma} n {len(senses)} 2 @ ~ {len(senses)} 0 {' '.join(senses)}  \n"
    (tmp_path / "data.noun").write_text(LICENCE + data)
    (tmp_path / "index.noun").write_text(LICENCE + index)
    (tmp_path / "cntlist.rev").write_text(COUNTS)
    return tmp_path


def test_a_vocabulary_and_what_is_above_it(folder: Path) -> None:
    wordnet = WordNet(folder)
    found = wordnet.relations(["poodle", "city", "london", "he", "run", "the", "tally"])
    # No word stands for "physical entity": its hyponyms belong to "entity". "animal" and "dog" are
    # added, for they are above a word of the vocabulary; "beast" is not: one name is enough.
    assert found == [
        ("animal", "entity"),
        ("city", "entity"),
        ("dog", "animal"),
        ("london", "city"),
        ("poodle", "dog"),
    ]
    assert [path.name for path in wordnet.files] == ["index.noun", "data.noun", "cntlist.rev"]


def test_words_of_one_sense_are_all_parents(folder: Path) -> None:
    found = WordNet(folder).relations(["dog", "animal", "beast"])
    assert ("dog", "animal") in found
    assert ("dog", "beast") in found
    assert ("animal", "beast") not in found


def test_the_first_sense_counts(folder: Path) -> None:
    """A dog is an animal before it is a frump."""
    above = {parent for child, parent in WordNet(folder).relations() if child == "dog"}
    assert above == {"animal", "beast", "fauna"}


def test_symbols_and_words_that_are_rather_verbs_are_no_nouns(folder: Path) -> None:
    words = {word for pair in WordNet(folder).relations() for word in pair}
    assert {"helium", "london", "metropolis"} <= words
    assert not {"he", "run", "tally", "domestic_dog", "physical_entity"} & words
    # What was below "run" is below what is above it.
    assert ("score", "entity") in WordNet(folder).relations()


def test_without_counts_every_noun_is_one(folder: Path) -> None:
    (folder / "cntlist.rev").unlink()
    found = WordNet(folder).relations()
    assert ("score", "run") in found
    assert ("run", "entity") in found


def test_what_is_no_wordnet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LexiconError, match=r"index\.noun and data\.noun"):
        WordNet(tmp_path)
    (tmp_path / "index.noun").write_text("nonsense\n")
    (tmp_path / "data.noun").write_text("nonsense\n")
    with pytest.raises(LexiconError, match="WordNet"):
        WordNet(tmp_path)
