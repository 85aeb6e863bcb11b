"""Verdicts: a difference within two standard errors decides nothing."""

from malaprop.studies import Line
from malaprop.studies.framework.claims import Results, above, alike, below, every


def line(ours: float | None, error: float | None = 0.1, **setting: object) -> Line:
    return Line(study="s", item="i", setting=setting, measure="m", ours=ours, error=error)


def test_verdicts_need_a_clear_difference() -> None:
    assert below(line(1.0), line(2.0)) is True
    assert below(line(2.0), line(1.0)) is False
    assert above(line(2.0), line(1.0)) is True
    assert below(line(1.0), line(1.2)) is None
    assert below(line(1.0, None), line(1.2, None)) is True


def test_verdicts_need_both_figures() -> None:
    assert below(line(None), line(1.0)) is None
    assert above(line(1.0), None) is None
    assert alike(line(1.0), None) is None


def test_alike_is_within_errors_or_a_margin() -> None:
    assert alike(line(1.0), line(1.2)) is True
    assert alike(line(1.0), line(2.0)) is False
    assert alike(line(1.0), line(2.0), margin=1.5) is True
    assert alike(line(1.0), line(3.0), margin=1.5) is False


def test_errors_beyond_the_margin_confirm_nothing() -> None:
    assert alike(line(1.0, 0.5), line(1.1, 0.5), margin=0.2) is None
    assert alike(line(1.0, 0.01), line(1.1, 0.01), margin=0.2) is True
    assert alike(line(1.0, 0.5), line(4.0, 0.5), margin=0.2) is False


def test_every_is_false_before_it_is_undecided() -> None:
    assert every([True, None, False]) is False
    assert every([True, None]) is None
    assert every([True, True]) is True
    assert every([]) is None


def test_results_look_up_lines_that_differ_in_one_value() -> None:
    here, there = line(1.0, tau=0.1, epsilon=1), line(2.0, tau=0.5, epsilon=1)
    far = line(3.0, tau=0.5, epsilon=9)
    results = Results([here, there, far])
    assert results.like(here, tau=0.5) is there
    assert results.like(here, tau=0.7) is None
    assert results.others(here, "tau") == [there]
