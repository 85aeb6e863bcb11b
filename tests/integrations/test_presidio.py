"""Presidio: its recognizers as a detector, and the operator in its engines."""

import json
import pickle
from pathlib import Path

import pytest

pytest.importorskip("presidio_anonymizer")
pytest.importorskip("presidio_analyzer")

from presidio_anonymizer import AnonymizerEngine, BatchAnonymizerEngine, OperatorConfig
from presidio_anonymizer.entities import InvalidParamError, RecognizerResult
from presidio_anonymizer.operators import OperatorsFactory, OperatorType, operators_factory

from malaprop import ParameterError, Privatizer, privatize_files
from malaprop.cli.main import run
from malaprop.integrations import presidio
from malaprop.integrations.presidio import MalapropOperator, PresidioDetector, register

TEXT = (
    "Zinhle: 212-555-5555, zinhle@mthembu.org, IBAN GB29 NWBK 6016 1331 9268 19, card "
    "4095-2609-9393-4932 at 10.77.66.55."
)
# Whole or in halves: four digits stand in one of some hundred stand-ins by chance.
SECRETS = ("212-555-5555", "mthembu", "1331 9268", "4095-2609", "9393-4932", "10.77.66.55")


@pytest.fixture(scope="module")
def detector() -> PresidioDetector:
    return PresidioDetector()


def test_what_the_recognizers_find_becomes_stand_ins(detector: PresidioDetector) -> None:
    private = Privatizer(epsilon=1.5, detector=detector)
    release = private(TEXT)
    assert release.counts["entities"] == 5
    assert not [secret for secret in SECRETS if secret in release.text]
    assert "+1-" in release.text
    assert "@example.org" in release.text
    assert "presidio-analyzer" in str(release.policy["detector"])
    assert "where entities are" in str(release.guarantee)
    again = pickle.loads(pickle.dumps(private))  # noqa: S301
    assert again(TEXT).counts["entities"] == 5


def test_an_engine_of_presidio_is_a_detector(detector: PresidioDetector) -> None:
    engine = presidio._analyzer("", "en")
    release = Privatizer(epsilon=1.5, detector=engine)(TEXT)
    assert release.counts["entities"] == 5
    # Its results can be given, too.
    given = Privatizer(epsilon=1.5)(TEXT, entities=engine.analyze(text=TEXT, language="en"))
    assert given.counts["entities"] == 5


def test_only_what_scores_enough_counts() -> None:
    assert (
        Privatizer(epsilon=1.5, detector=PresidioDetector(least=0.9))(TEXT).counts["entities"] == 3
    )
    with pytest.raises(ParameterError, match="between 0 and 1"):
        PresidioDetector(least=2.0)
    with pytest.raises(ParameterError, match="spaCy has no model 'en_none'"):
        PresidioDetector("en_none")


def test_the_network_is_not_used(detector: PresidioDetector) -> None:
    import tldextract

    detector(TEXT)
    assert tldextract.tldextract.TLD_EXTRACTOR.suffix_list_urls == ()


# The operator.

FOUND = [
    RecognizerResult("PERSON", 0, 6, 0.9),
    RecognizerResult("EMAIL_ADDRESS", 22, 40, 1.0),
    RecognizerResult("SOMETHING", 75, 99, 1.0),
]


def test_the_operator_replaces_what_was_found() -> None:
    engine = register(AnonymizerEngine())
    assert engine is not None
    for params in ({"epsilon": 1.5}, {"privatizer": Privatizer(epsilon=1.5)}):
        result = engine.anonymize(TEXT, FOUND, {"DEFAULT": OperatorConfig("malaprop", params)})
        assert result.text.endswith("[ENTITY] at 10.77.66.55.") or "[ENTITY]" in result.text
        assert "Zinhle" not in result.text
        assert "mthembu" not in result.text
        assert "212-555-5555" in result.text  # not found: Presidio leaves it
        assert {item.operator for item in result.items} == {"malaprop"}


def test_types_of_class_words_go_through_the_mechanism() -> None:
    private = Privatizer(epsilon=50.0, entity_labels={"SOMETHING": "words"})
    operator = MalapropOperator()
    for kind in ({"entity_type": "SOMETHING"}, {}):
        assert operator.operate("the cold", {"privatizer": private, **kind}).lower() == "the cold"
    assert operator.operate("", {"privatizer": private, "entity_type": "PERSON"}) == ""


def test_the_operator_works_in_batches() -> None:
    engine = BatchAnonymizerEngine(register(AnonymizerEngine()))
    config = {"DEFAULT": OperatorConfig("malaprop", {"epsilon": 1.5})}
    texts = engine.anonymize_list([TEXT, None, 7, TEXT], [FOUND, [], [], FOUND], operators=config)
    assert texts[1] is None
    assert texts[0] != texts[3]
    assert not any("mthembu" in str(text) for text in texts)


def test_the_operator_is_known_to_engines_that_make_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As the engine of presidio-structured does, which gives no type, and asks for no validation.
    monkeypatch.setattr(operators_factory, "ANONYMIZERS", list(operators_factory.ANONYMIZERS))
    assert register() is None
    register()
    operator = OperatorsFactory().create_operator_class("malaprop", OperatorType.Anonymize)
    assert operators_factory.ANONYMIZERS.count(MalapropOperator) == 1
    params = {"epsilon": 1.5, "entity_type": "EMAIL_ADDRESS"}
    assert operator.operate(text="zinhle@mthembu.org", params=params).endswith("@example.org")


@pytest.mark.parametrize(
    "params",
    [
        *({}, {"epsilon": "1"}, {"epsilon": -1.0}, {"privatizer": 3}, {"epsilon": None}),
        *({"epsilon": 10**400}, {"epsilon": True}, {"epsilon": 1.5, "unknown": "drop"}),
    ],
)
def test_bad_parameters_are_refused(params: dict[str, object]) -> None:
    engine = register(AnonymizerEngine())
    assert engine is not None
    with pytest.raises(InvalidParamError, match="epsilon") as caught:
        engine.anonymize(TEXT, FOUND, {"DEFAULT": OperatorConfig("malaprop", params)})
    assert "mthembu" not in str(caught.value)


def test_dates_that_move_together_need_the_whole_text() -> None:
    config = OperatorConfig("malaprop", {"privatizer": Privatizer(epsilon=1.5, shift_dates=True)})
    engine = register(AnonymizerEngine())
    assert engine is not None
    with pytest.raises(InvalidParamError, match="without `shift_dates`"):
        engine.anonymize(TEXT, FOUND, {"DEFAULT": config})


# Files.


def test_files_go_through_the_detector(tmp_path: Path, detector: PresidioDetector) -> None:
    source, target, report = (tmp_path / name for name in ("a.txt", "b.txt", "r.json"))
    source.write_text(f"{TEXT}\nnothing here\n" * 40, "utf-8")
    code = run(
        [
            *("privatize", str(source), "-o", str(target), "--epsilon", "1.5", "--seed", "3", "-q"),
            *("--detector", "presidio", "--entity-label", "IP_ADDRESS=none"),
            *("--report", str(report)),
        ]
    )
    assert code == 0
    private = target.read_text("utf-8")
    assert not [secret for secret in SECRETS if secret in private]
    assert private.count("[ENTITY]") == 40
    told = json.loads(report.read_text("utf-8"))
    assert told["counts"]["entities"] == 160
    assert told["counts"]["masked"] == 40
    assert told["policy"]["entity_labels"] == {"IP_ADDRESS": None}
    assert any("where entities are" in each for each in told["visible"])
    again = privatize_files(
        source,
        tmp_path / "c.txt",
        epsilon=1.5,
        seed=3,
        detector=detector,
        entity_labels={"IP_ADDRESS": None},
        workers=1,
    )
    assert (tmp_path / "c.txt").read_text("utf-8") == private
    assert "entities" in "".join(again.in_brief)


def test_other_detectors_and_classes_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "a.txt"
    source.write_text("the cold\n", "utf-8")
    base = ("privatize", str(source), "-o", str(tmp_path / "b.txt"), "--epsilon", "1.5")
    for flags, message in (
        (("--detector", "other"), "--detector must be presidio"),
        (("--detector", "presidio:en_none"), "spaCy has no model"),
        (("--detector", "presidio", "--entity-label", "X=persn"), "--entity-label parameter must"),
        (("--detector", "presidio", "--entity-label", "X"), "LABEL=CLASS"),
        (("--entity-label", "X=person"), "it needs --detector"),
    ):
        assert run([*base, *flags]) != 0
        assert message in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "b.txt").exists()
