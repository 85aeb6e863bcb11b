"""The report of a run: one frozen value, three renderings."""

import json
from dataclasses import FrozenInstanceError
from datetime import UTC, datetime

import pytest
from tests.cli.conftest import VECTORS

from malaprop import TEM, Laplace, Lexicon, Privatizer
from malaprop.report.page import Form, json_text, render
from malaprop.report.run_report import Occasion, RunReport, run_report
from malaprop.report.run_report import visible as visible_of
from malaprop.text.policy import Readable, Repeat


def shown(report: RunReport, to: Form, width: int = 10_000) -> str:
    return render(report.page(), to, width)


def test_a_report_is_a_value(privatizer: Privatizer) -> None:
    occasion = Occasion(started=datetime(2030, 1, 2, tzinfo=UTC), seconds=1.0, command="malaprop")
    report = run_report(privatizer, [], {"protected": 1}, occasion)
    assert report == run_report(privatizer, [], {"protected": 1}, occasion)
    with pytest.raises(FrozenInstanceError):
        report.hint = "x"  # type: ignore[misc]
    assert report.to_dict()["date"] == "2030-01-02T00:00:00+00:00"
    # Three renderings of one value.
    assert json.loads(json_text(report.to_dict())) == report.to_dict()
    assert "words protected" in shown(report, "terminal")
    assert "words protected" in shown(report, "markdown")
    # And a short one for notebooks.
    notebook = report._repr_html_()
    assert "words protected" in notebook
    assert "not for publication" in notebook


def test_all_renderings_say_how_many_words_are_guessed(privatizer: Privatizer) -> None:
    occasion = Occasion(started=datetime(2030, 1, 2, tzinfo=UTC), seconds=1.0)
    report = run_report(privatizer, [], {"protected": 1}, occasion)
    share = f"{report.to_dict()['expected_share_guessed']:.0%}"
    told = "of single words are guessed right by an observer without context"
    for page in (shown(report, "terminal"), shown(report, "markdown")):
        assert f"about {share} {told}" in page.lower()
    assert f"<b>{share}</b> {told}" in shown(report, "html")
    assert f"About {share} of single words" in report._repr_html_()
    noisy = run_report(
        Privatizer(privatizer.lexicon, Laplace(epsilon=1.0)), [], {"protected": 1}, occasion
    )
    assert "guessed" not in vars(noisy)  # nobody has asked for it yet
    assert noisy.to_dict()["guessed_at_least"] is True
    assert "at least" in " ".join(shown(noisy, "terminal").split())
    assert "At least" in shown(noisy, "markdown")
    assert "<b>at least " in shown(noisy, "html")


@pytest.fixture
def privatizer() -> Privatizer:
    return Privatizer(Lexicon(list(VECTORS), list(VECTORS.values())), TEM(epsilon=1.0))


@pytest.mark.parametrize("repeat", ["fresh", "document"])
def test_the_report_says_how_often_content_words_occur(repeat: Repeat) -> None:
    lexicon = Lexicon(list(VECTORS), list(VECTORS.values()))
    privatizer = Privatizer(lexicon, TEM(epsilon=1.0), repeat=repeat)
    occasion = Occasion(started=datetime(2030, 1, 2, tzinfo=UTC), seconds=1.0)
    _, counts = privatizer.batch(["nurse " * 12 + "hot", "hot " * 5, "hot hot hot", "cold " * 50])
    report = run_report(privatizer, [], counts, occasion)
    # The first word of the thirteen is too frequent to count as content.
    facts = report.repetition
    assert (facts.most, facts.texts, facts.common) == (12, 2, 1)
    assert not any(name.startswith("repeats") for name in report.counts)
    assert [k for k, _ in facts.recovered] == ([3, 5, 10] if repeat == "fresh" else [])
    shares = [share for _, share in facts.recovered]
    assert shares == sorted(shares)
    plain = report.to_dict()["repetition"]
    assert plain["most_occurrences_of_a_content_word_in_a_text"] == 12
    assert plain["texts_with_a_content_word_5_times_or_more"] == 2
    page, screen = shown(report, "markdown"), " ".join(shown(report, "terminal").split())
    for told in (page.casefold(), screen.casefold(), shown(report, "html").casefold()):
        assert "a content word occurs up to 12 times in one text, and 2 texts have one" in told
        assert ("an observer without context recovers from 3 draws" in told) == bool(shares)
        assert ("all its places share one draw" in told) == (repeat == "document")
        assert ("which places of a text hold equal words" in told) == (repeat == "document")
        assert "nurse" not in told
    assert "all but the first 1 of the lexicon" in page
    assert "all but the first 1 of the lexicon" in shown(report, "html")


def test_without_repeated_words_nothing_is_said_of_them(privatizer: Privatizer) -> None:
    occasion = Occasion(started=datetime(2030, 1, 2, tzinfo=UTC), seconds=1.0)
    report = run_report(privatizer, [], privatizer.batch(["hot hot"])[1], occasion)
    assert (report.repetition.most, report.repetition.recovered) == (0, ())
    assert "Repeated" not in shown(report, "terminal") + shown(report, "markdown") + shown(
        report, "html"
    )


def test_every_rendering_says_what_was_declared_public() -> None:
    lexicon = Lexicon(list(VECTORS), list(VECTORS.values()))
    privatizer = Privatizer(lexicon, TEM(epsilon=1.0), keep=["aspirin"], markup="html")
    occasion = Occasion(started=datetime(2030, 1, 2, tzinfo=UTC), seconds=1.0)
    _, counts = privatizer.batch(["<b>hot</b> aspirin", "cold"])
    report = run_report(privatizer, [], counts, occasion)
    assert report.to_dict()["counts"]["public_words"] == 1
    named = "what you declared public, as it is: the tags of HTML; the kept word “aspirin”"
    assert named in report.to_dict()["visible"]
    for page in (shown(report, "terminal"), shown(report, "markdown"), shown(report, "html")):
        assert named in page
        assert "words shown as they are, declared public" in page
        assert "pieces of markup shown as they are, declared public" in page


def test_gaps_beside_what_is_public_are_visible_where_others_are_dropped() -> None:
    lexicon = Lexicon(list(VECTORS), list(VECTORS.values()))
    privatizer = Privatizer(lexicon, TEM(epsilon=1.0), keep=["aspirin"], punctuation="drop")
    named = "what you declared public, as it is, and gaps beside it: the kept word “aspirin”"
    assert named in visible_of(privatizer)


def test_after_a_run_three_lines_say_what_matters(privatizer: Privatizer) -> None:
    occasion = Occasion(started=datetime(2030, 1, 2, tzinfo=UTC), seconds=1.0)
    report = run_report(privatizer, [], {"protected": 1}, occasion)
    promised, visible, where = render(report.summary("see r.html"), width=10_000).splitlines()
    assert promised.startswith("Promised    ε = 1: what comes out shifts the odds between “")
    assert visible == "Visible     places of words, punctuation, order of records"
    assert where == "Report      1 word in 0 records of 0 files; see r.html"
    assert "guessed" not in vars(report)  # nobody waits for what nobody sees


@pytest.mark.parametrize(("setting", "made"), [("faithful", "readable"), ("fluent", "fluent")])
def test_a_readable_run_is_told_from_others(
    privatizer: Privatizer, setting: Readable, made: str
) -> None:
    occasion = Occasion(started=datetime(2030, 1, 2, tzinfo=UTC), seconds=1.0)
    smoothing = Privatizer(epsilon=1.5, readable=setting)
    report = run_report(smoothing, [], {"protected": 1}, occasion)
    assert smoothing.smoother is not None
    model = smoothing.smoother.model.fingerprint
    assert report.to_dict()["smoothed_by"] == model
    shares = report.to_dict()["readable"]
    assert shares["as_drawn"] < shares["share_of_original_words"] < 1
    assert "film reviews" in shares["measured_on"]
    for page in (shown(report, "terminal"), shown(report, "markdown"), shown(report, "html")):
        told = " ".join(page.split())
        assert "Readable texts" in told
        assert "Fluent text can be wrong" in told
        assert "guessed right refer to the drawn words, too" in told
        assert model in told
        share = f"{shares['share_of_original_words']:.0%}"
        assert f"{share} are the original ones when the text is made {made}, and" in told
        assert ("rare words give way" in told) == (setting == "fluent")
    assert (
        render(report.summary("see r.html"), width=10_000)
        .splitlines()[-1]
        .endswith(f"1 word in 0 records of 0 files, readable ({setting}); see r.html")
    )
    plain = run_report(privatizer, [], {"protected": 1}, occasion)
    assert not {"smoothed_by", "readable"} & plain.to_dict().keys()
    assert "Fluent" not in shown(plain, "terminal") + shown(plain, "html")
