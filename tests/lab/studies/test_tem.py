"""The study of tem-2021 on a tiny lexicon: every item, its controls, and the claims."""

from dataclasses import replace

import numpy as np
import pytest

from malaprop import Lexicon, seeded_rng
from malaprop.lab import studies
from malaprop.lab.datasets import LabelledTexts
from malaprop.lab.studies.reproduction import Cells, Run, run_study
from malaprop.lab.studies.study import Line
from malaprop.lab.studies.tem import parts_of, share_exempt
from malaprop.lab.tasks.sources import Corpus
from malaprop.text.parser import TextParser
from malaprop.text.policy import Policy

STUDY = studies.study_named("tem")
WORDS, REVIEWS = 120, 400


@pytest.fixture(scope="module")
def run() -> Run:
    """Words in pairs of near neighbours; odd pairs are praise, and reviews have more of them."""
    rng = seeded_rng(2)
    centres = np.repeat(rng.normal(size=(WORDS // 2, 20)) * 2.0, 2, axis=0)
    lexicon = Lexicon([f"w{i}" for i in range(WORDS)], centres + rng.normal(size=(WORDS, 20)) / 2)
    praise = np.flatnonzero((np.arange(WORDS) // 2) % 2)
    texts = []
    for i in range(REVIEWS):
        ids = rng.integers(WORDS, size=12)
        ids[:6] = rng.choice(praise if i % 2 else praise - 2, size=6)
        texts.append(", ".join(lexicon.words[j] for j in ids))
    labels = tuple("pos" if i % 2 else "neg" for i in range(REVIEWS))
    imdb = LabelledTexts(name="imdb", texts=tuple(texts), labels=labels)
    return Run(quick=True, lexicons={"english": lexicon}, sets={"imdb": imdb})


@pytest.fixture(scope="module")
def lines(run: Run, tmp_path_factory: pytest.TempPathFactory) -> list[Line]:
    return run_study(STUDY, run, cells=Cells(tmp_path_factory.mktemp("cells")))


def value(lines: list[Line], item: str, measure: str, **wanted: object) -> float:
    """Return the one figure of these settings; None asks for a setting that is not there."""
    chosen = [
        line.ours
        for line in lines
        if line.item == item
        and line.measure == measure
        and all(line.setting.get(name) == value for name, value in wanted.items())
    ]
    (ours,) = chosen
    assert isinstance(ours, int | float)
    return float(ours)


def test_every_item_has_lines_and_the_papers_figures_stand_beside_them(lines: list[Line]) -> None:
    assert {line.item for line in lines} == {item.name for item in STUDY.items}
    printed = {(li.item, li.setting["mechanism"], li.paper) for li in lines if li.paper is not None}
    assert printed == {
        ("fig1a", "tem", 0.75),
        ("fig1a", "laplace", 0.52),
        ("fig1b", "tem", 0.5),
        ("fig1b", "laplace", 0.5),
    }
    assert not [line for line in lines if line.ours is None]


def test_parts_share_no_review_and_have_both_classes(run: Run) -> None:
    parts = parts_of(run, 0)
    texts = [text for part in parts.values() for text in part.corpus.texts]
    assert len(set(texts)) == len(texts) == REVIEWS
    assert {float(part.labels.mean()) for part in parts.values()} == {0.5}


def test_clean_reviews_are_told_apart_and_random_words_are_not(lines: list[Line]) -> None:
    assert value(lines, "fig1a", "accuracy", control="no noise") > 0.8
    assert value(lines, "fig1a", "accuracy", control="random words") < 0.7
    assert value(lines, "fig1a", "kept", control="no noise") == 1.0


def test_a_random_table_costs_nothing_if_tested_on_private_reviews(lines: list[Line]) -> None:
    clean = value(lines, "fig1a", "accuracy", control="no noise")
    private = value(lines, "fig1a", "accuracy_private", control="random table")
    assert private == pytest.approx(clean, abs=0.03)
    assert value(lines, "fig1a", "accuracy", control="random table") < 0.7


def test_a_model_that_learnt_by_heart_gives_members_away(lines: list[Line]) -> None:
    wanted = {"control": "no noise", "attacker": "loss alone"}
    assert value(lines, "fig1b", "auc", **wanted) > 0.6
    wanted["control"] = "random words"
    assert value(lines, "fig1b", "auc", **wanted) == pytest.approx(0.5, abs=0.1)


def test_only_what_is_no_word_stays_whatever_is_drawn(run: Run) -> None:
    part = parts_of(run, 0)["TR1"]
    assert share_exempt(part.corpus) == 0.0
    untouched = Corpus(["w1, w2 w3"], TextParser(["w1", "w2"], Policy(keep=("w3",))))
    assert share_exempt(untouched) == pytest.approx(1 / 3)


def test_words_are_in_clear_without_noise_only(lines: list[Line]) -> None:
    shares = {
        (str(line.setting.get("control")), line.ours)
        for line in lines
        if line.measure == "share_in_clear"
    }
    clear = {control for control, share in shares if share == 1.0}
    assert clear == {"no noise", "no noise, a classifier that learns less by heart"}
    assert {share for control, share in shares if control not in clear} == {0.0}


def test_every_attack_has_a_static_and_an_adaptive_attacker(lines: list[Line]) -> None:
    forms = [
        {"control": "punctuation kept", "mechanism": "tem"},
        {"control": "punctuation kept", "mechanism": "laplace"},
        {"control": "equal share kept, punctuation kept"},
        {"control": "random words, punctuation kept"},
        {"control": "equal share kept"},
    ]
    for form in forms:
        for attacker in ("static", "adaptive", "loss alone"):
            auc = value(lines, "fig1b", "auc", **form, attacker=attacker)
            assert 0.0 <= auc <= 1.0


def test_equal_shares_are_equal(lines: list[Line]) -> None:
    wanted = {"epsilon": 2, "noise": "each place"}
    tem = value(lines, "fig1a", "kept", mechanism="tem", exponent="half", control=None, **wanted)
    for control in ("equal share kept", "equal share kept, punctuation kept"):
        own = {**wanted, "control": control}
        assert value(lines, "fig1a", "kept", **own) == pytest.approx(tem, abs=0.08)
        assert value(lines, "fig1a", "epsilon_of_equal_share", **own) > 2.0


def test_errors_without_noise_are_over_splits_alone(lines: list[Line]) -> None:
    for item, measure in (("fig1a", "accuracy"), ("fig1b", "auc")):
        of = [line for line in lines if line.item == item and line.measure == measure]
        clean = [li for li in of if str(li.setting.get("control")).startswith("no noise")]
        assert {line.setting["spread"] for line in clean} == {"splits"}
        others = {line.setting["spread"] for line in of if line not in clean}
        assert others == {"noise draws and splits"}


def test_tem_is_compared_at_an_equal_share_with_and_without_punctuation(lines: list[Line]) -> None:
    judged = {
        line.setting["control"]
        for line in lines
        if line.item == "fig1a" and any("as many words" in each.claim for each in line.claims)
    }
    assert judged == {"equal share kept", "equal share kept, punctuation kept"}


def test_the_bound_of_theorem_3_is_tight_where_all_words_are_far(lines: list[Line]) -> None:
    wanted = {"control": "all words beyond γ", "beta": 0.01}
    assert value(lines, "theorem3", "tail_max", **wanted) == pytest.approx(0.01, rel=1e-6)
    full = studies.judged_again([replace(line, quick=False) for line in lines])
    assert {each.holds for li in full if li.item == "theorem3" for each in li.claims} == {True}


def test_the_audited_exponent_keeps_more_words_at_the_same_guarantee(lines: list[Line]) -> None:
    half, audited = (
        value(lines, "exponent_words", "kept", exponent=exponent, epsilon=2)
        for exponent in ("half", "audited")
    )
    assert audited > half
    share = value(lines, "exponent_words", "exponent_share", exponent="audited", epsilon=2)
    assert 0.5 < share <= 1.0


def test_an_attacker_who_is_worse_than_chance_does_not_contradict_the_paper() -> None:
    setting = {"mechanism": "laplace", "noise": "each place", "epsilon": 2, "attacker": "static"}
    figure = {"measure": "auc", "error": 0.002, "freedom": 4}
    lines = [
        Line(study="tem", item="fig1b", setting={**setting, "n": n}, ours=ours, **figure)  # type: ignore[arg-type]
        for n, ours in enumerate((0.482, 0.529))
    ]
    judged = studies.judged_again(lines)
    assert [[each.holds for each in line.claims] for line in judged] == [[True], [False]]
