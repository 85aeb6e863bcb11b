"""Presidio and Malaprop, both ways round: needs the extra `presidio`.

Presidio finds, and Malaprop protects the whole text. What is found becomes a stand-in, and all
other words go through the mechanism; any `AnalyzerEngine` will do for a detector:

>>> from malaprop import Privatizer
>>> from malaprop.integrations.presidio import PresidioDetector
>>> private = Privatizer(epsilon=1.5, detector=PresidioDetector())
>>> release = private("Write to zinhle@mthembu.org, or call 212-555-5555.")
>>> release.counts["entities"], "mthembu" in release.text
(2, False)

Or Presidio's `AnonymizerEngine` does its work with the operator `malaprop`, and all that was not
found stays as it is:

>>> from presidio_anonymizer import AnonymizerEngine, OperatorConfig
>>> from presidio_anonymizer.entities import RecognizerResult
>>> from malaprop.integrations.presidio import register
>>> engine = register(AnonymizerEngine())
>>> found = [RecognizerResult("EMAIL_ADDRESS", 9, 27, 1.0)]
>>> chosen = {"DEFAULT": OperatorConfig("malaprop", {"epsilon": 1.5})}
>>> engine.anonymize("Write to zinhle@mthembu.org", found, chosen).text
'Write to ...@example.org'
"""

from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from malaprop.privacy.errors import MissingExtraError, ParameterError
from malaprop.privatizer import Privatizer

try:
    from presidio_anonymizer.entities import InvalidParamError
    from presidio_anonymizer.operators import Operator, OperatorType, operators_factory
except ImportError:
    raise MissingExtraError("presidio-anonymizer", "presidio", "Presidio") from None

if TYPE_CHECKING:
    from presidio_analyzer import AnalyzerEngine
    from presidio_anonymizer import AnonymizerEngine


class MalapropOperator(Operator):
    """Replaces a piece of a text that Presidio found by a stand-in of its class.

    Parameters: either `privatizer`, a `Privatizer`, or `epsilon`, which makes the default one. The
    class of Presidio's entity types is that of `Privatizer(entity_labels=…)`: one that is not
    declared becomes `[ENTITY]`, and one of class `words` goes through the mechanism. So does a
    piece without a type, such as a cell of a table.

    Presidio asks for each piece by itself: equal ones do not share a stand-in, and dates do not
    move together.
    """

    def operate(self, text: str, params: dict[str, Any] | None = None) -> str:
        """Return what stands for the piece."""
        private, kind = _privatizer(params or {}), (params or {}).get("entity_type")
        if not text or kind is None:
            return str(private(text))
        return str(private(text, entities=[(0, len(text), kind)]))

    def validate(self, params: dict[str, Any] | None = None) -> None:
        """Refuse parameters that make no privatizer; nothing is drawn."""
        try:
            _privatizer(params or {})
        except ParameterError as error:
            raise InvalidParamError(str(error)) from None

    def operator_name(self) -> str:
        """Return the name of the operator: `malaprop`."""
        return "malaprop"

    def operator_type(self) -> OperatorType:
        """Return that it anonymizes; nothing brings a text back."""
        return OperatorType.Anonymize


_PARAMETERS = {"epsilon", "privatizer", "entity_type"}  # Presidio adds the last one


def _privatizer(params: dict[str, Any]) -> Privatizer:
    match params.get("privatizer"), params.get("epsilon"):
        case _ if params.keys() - _PARAMETERS:
            pass
        case Privatizer() as private, None:
            if private.policy.shift_dates:
                raise ParameterError(
                    "The operator malaprop gets each date by itself, so that dates do not move "
                    "together: take a privatizer without `shift_dates`."
                )
            return private
        case None, int() | float() as epsilon if not isinstance(epsilon, bool):
            return _of_epsilon(epsilon)
    raise ParameterError(
        "The operator malaprop takes either 'epsilon', a number above 0, or 'privatizer', a "
        "malaprop.Privatizer with all other options; and 'entity_type'."
    )


@lru_cache(maxsize=8)  # Presidio makes an operator for each piece
def _of_epsilon(epsilon: float) -> Privatizer:
    return Privatizer(epsilon=epsilon)


def register(engine: "AnonymizerEngine | None" = None) -> "AnonymizerEngine | None":
    """Make the operator `malaprop` known to an engine of Presidio, and return it.

    Without one, it is known to all that are made later in this process, also to those that make
    their own, as the engine of presidio-structured does. On Spark, call it in the function that
    the workers run.
    """
    if engine is not None:
        engine.add_anonymizer(MalapropOperator)
    elif MalapropOperator not in operators_factory.ANONYMIZERS:
        operators_factory.ANONYMIZERS.append(MalapropOperator)
    return engine


@dataclass(frozen=True)
class PresidioDetector:
    """Presidio's recognizers as a `detector`: a value, of which each process makes its own engine.

    `model` names a model of spaCy that is installed, such as `en_core_web_lg`, or a folder of one.
    Without one, the recognizers of patterns work alone: they find addresses, numbers and dates, no
    names. Only what has a score of `least` or more counts. The network is not used.
    """

    model: str = ""
    language: str = "en"
    least: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.least, int | float) or not 0.0 <= self.least <= 1.0:
            raise ParameterError(f"The `least` score must be between 0 and 1. Got {self.least!r}.")
        _analyzer(self.model, self.language)  # it tells what is missing before there is a text

    @property
    def described(self) -> str:
        """What reports call it."""
        loaded: Any = _analyzer(self.model, self.language).nlp_engine
        meta = loaded.nlp[self.language].meta  # not the path of a folder, which may name somebody
        model = f"{meta['name']} {meta['version']}" if self.model else "without a model"
        return f"presidio-analyzer {version('presidio-analyzer')}, {self.language}, {model}"

    def __call__(self, text: str) -> list[Any]:
        """Return what Presidio finds in a text."""
        engine = _analyzer(self.model, self.language)
        found: list[Any] = engine.analyze(
            text=text, language=self.language, score_threshold=self.least
        )
        return found


@lru_cache(maxsize=4)
def _analyzer(model: str, language: str) -> "AnalyzerEngine":
    """Return an engine with all recognizers of a language."""
    try:
        import spacy
        import tldextract
        from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
        from presidio_analyzer.nlp_engine import SpacyNlpEngine
    except ImportError:
        raise MissingExtraError("presidio-analyzer", "presidio", "Presidio") from None
    # Or else it would fetch the list of top-level domains, and tell that somebody works here.
    tldextract.tldextract.TLD_EXTRACTOR.suffix_list_urls = ()
    try:
        pipeline = spacy.load(model) if model else spacy.blank(language)
    except (OSError, ImportError):
        raise ParameterError(
            f"spaCy has no model {model or language!r} here: install one, such as en_core_web_lg "
            "for English, or leave it out, and no names are found."
        ) from None
    nlp = SpacyNlpEngine(models=[{"lang_code": language, "model_name": model or "blank"}])
    nlp.nlp = {language: pipeline}  # type: ignore[assignment]  # loaded already
    registry = RecognizerRegistry(supported_languages=[language])
    registry.load_predefined_recognizers(languages=[language], nlp_engine=nlp)
    return AnalyzerEngine(nlp_engine=nlp, registry=registry, supported_languages=[language])
