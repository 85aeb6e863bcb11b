"""Malaprop in a pipeline of spaCy: needs the extra `spacy`.

>>> import spacy
>>> pipeline = spacy.blank("en")
>>> ruler = pipeline.add_pipe("entity_ruler")
>>> ruler.add_patterns([{"label": "PERSON", "pattern": "Zinhle Mthembu"}])
>>> _ = pipeline.add_pipe("malaprop", config={"epsilon": 1.5})
>>> doc = pipeline("Zinhle Mthembu was seen on the 4th.")
>>> "Zinhle" in doc._.private, "Mthembu" in doc._.private
(False, False)

The component stands last: what the components before it took for entities becomes stand-ins, and
all other words go through the mechanism. spaCy finds it by its name, without an import.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from malaprop.privacy.errors import MissingExtraError
from malaprop.privacy.guarantee import Guarantee
from malaprop.privatizer import Privatizer

try:
    from spacy.language import Language
    from spacy.tokens import Doc
except ImportError:
    raise MissingExtraError("spacy", "spacy", "spaCy") from None

EXTENSION = "private"


class PrivateText:
    """Sets `doc._.private` to the private text of a document.

    A document that is saved or sent keeps its own text and the private one: do not publish it.
    """

    def __init__(self, privatizer: Privatizer) -> None:
        self.privatizer = privatizer
        if not Doc.has_extension(EXTENSION):
            Doc.set_extension(EXTENSION, default=None)

    @property
    def guarantee(self) -> Guarantee:
        """What is promised for texts that differ in one word, entities being where they are."""
        return self.privatizer("", entities=()).guarantee

    def __call__(self, doc: Doc) -> Doc:
        """Set the private text of one document."""
        return self._set([doc])[0]

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 100) -> Iterator[Doc]:
        """Set the private texts of many documents, a batch at a time."""
        docs = iter(stream)
        while batch := list(islice(docs, batch_size)):
            yield from self._set(batch)

    def _set(self, docs: list[Doc]) -> list[Doc]:
        texts = self.privatizer.texts([doc.text for doc in docs], entities=[d.ents for d in docs])
        for doc, text in zip(docs, texts, strict=True):
            doc._.set(EXTENSION, text)
        return docs


@Language.factory("malaprop", assigns=[f"doc._.{EXTENSION}"], default_config={"options": {}})
def private_text(nlp: Language, name: str, epsilon: float, options: dict[str, Any]) -> PrivateText:
    """Return the component for `nlp.add_pipe("malaprop", config={"epsilon": 1.5})`.

    `options` are others that `Privatizer` takes, such as `{"entity_labels": {"NORP": "words"}}`.
    """
    return PrivateText(Privatizer(epsilon=epsilon, **options))
