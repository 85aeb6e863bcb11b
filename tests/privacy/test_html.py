"""What a notebook shows: escaped, without anything to load, and nothing but what may be seen."""

import pytest
from tests.report.test_explanation import parsed

from malaprop import TEM, Balanced, Guarantee, Laplace, Lexicon, Privatizer
from malaprop.privacy import notebook
from malaprop.privacy.mechanism import Mechanism

ODD = Lexicon(["<b>", "a&b", "cold"], [[0.0], [1.0], [2.0]])
EVIL = '<script>alert("x")</script> & more'


def test_everything_is_escaped() -> None:
    for shown in (
        notebook.paragraph(EVIL),
        notebook.paragraph(EVIL, bold=True),
        notebook.facts([(EVIL, EVIL)]),
    ):
        assert EVIL in parsed(shown).text
        assert "<script" not in shown


def test_facts_without_a_value_are_left_out() -> None:
    assert "nothing" not in notebook.facts([("nothing", ""), ("something", "1")])


@pytest.mark.parametrize("mechanism", [TEM(epsilon=1.0), Balanced(epsilon=1.0), Laplace(epsilon=1)])
def test_channels_and_guarantees_show_what_they_promise(mechanism: Mechanism) -> None:
    lexicon = ODD.with_graph() if mechanism.needs else ODD
    channel = mechanism.on(lexicon)
    shown = parsed(channel._repr_html_()).text
    assert str(channel.guarantee) in shown
    assert type(channel).__name__ in shown
    assert repr(lexicon) in repr(channel)
    assert " at 0x" not in repr(channel)
    promise = parsed(channel.guarantee._repr_html_()).text
    assert str(channel.guarantee) in promise
    assert channel.guarantee.proof in promise


def test_a_guarantee_from_anywhere_is_escaped() -> None:
    from malaprop import Kind

    guarantee = Guarantee(kind=Kind.NONE, epsilon=1.0, metric="euclidean", reason=EVIL)
    assert EVIL in parsed(guarantee._repr_html_()).text


def test_a_release_shows_what_may_be_published_and_no_more() -> None:
    privatizer = Privatizer(ODD, TEM(epsilon=0.1), unknown="mask", placeholder="<i>x</i>")
    release = privatizer("zyxsecret < cold & cold\n  cold")
    strict = parsed(release._repr_html_())
    assert "zyxsecret" not in release._repr_html_()
    assert release.text.split("\n")[0] in strict.text
    assert str(release.guarantee) in strict.text
    assert "in_lexicon" not in strict.text
    assert "secure" in strict.text


def test_a_release_of_signs_alone_warns() -> None:
    release = Privatizer(ODD, TEM(epsilon=1.0))("... --- ...")
    assert release.warnings[0] in parsed(release._repr_html_()).text
