"""A page about an attack on the owner's own texts."""

from typing import Final

from malaprop.measure.attacking.result import AttackResult, Group, RecoveredWords
from malaprop.report.measured.common import Setting, not_said
from malaprop.report.page import Facts, Grid, Page, Plot, Section

_AUDIENCE: Final = (
    "For the owner of the text, not for publication: the figures depend on the text in ways that "
    "the guarantee does not cover."
)
_OTHERS: Final = (
    "Other observers know more: a better model of language, or facts about the author. The figure "
    "is what this attack achieves, not the most that anyone can."
)
_TITLE: Final = "An attack on privatized texts"
_NAMES: Final = 13  # columns of names in the text of a result


def attack_page(result: AttackResult, setting: Setting) -> Page:
    """Return the page of `malaprop attack`."""
    if isinstance(result, RecoveredWords):
        return _recovered(result, setting)
    low, high = result.interval
    lines = ((line[:_NAMES].strip(), line[_NAMES:].strip()) for line in str(result).splitlines())
    return Page(
        title=_TITLE,
        audience=_AUDIENCE,
        figures=(
            (f"{result.score:.3g}", f"is the score of the attack “{result.attack}”"),
            (f"{low:.3g} to {high:.3g}", f"is the 95 % interval ({result.spread or 'over texts'})"),
            (f"{result.baseline:.3g}", "is the score without an attack"),
        ),
        sections=(
            Section("What was inferred", (Facts(tuple(lines)),)),
            not_said(_OTHERS),
            setting.method(("attack", result.attack)),
        ),
    )


def _recovered(result: RecoveredWords, setting: Setting) -> Page:
    from malaprop.report import plots

    low, high = result.interval
    groups = [
        Group(name="all words", words=result.words, score=result.score, kept=result.kept),
        result.content,
        *result.occurrences,
    ]
    rows = tuple(
        (each.name, f"{each.words:,}", f"{each.kept:.1%}", f"{each.score:.1%}") for each in groups
    )
    head = ("words", "how many", "came out unchanged", "recovered")
    by_occurrence = Plot(
        lambda: plots.recovered_by_occurrences(result.occurrences),
        "By how often a word occurs in its text.",
    )
    return Page(
        title=_TITLE,
        audience=_AUDIENCE,
        figures=(
            (f"{result.score:.0%}", f"of words were recovered by the attack “{result.attack}”"),
            (f"{low:.0%}–{high:.0%}", f"is the 95 % interval ({result.spread})"),
            (f"{result.kept:.0%}", "came out unchanged"),
            (f"{result.words:,}", f"words of {result.texts:,} texts were attacked"),
        ),
        sections=(
            Section(
                "What was recovered",
                (
                    Grid(head, rows, frozenset({1, 2, 3})),
                    *([by_occurrence] if result.occurrences else []),
                ),
            ),
            not_said(_OTHERS, _about_draws(len(result.values))),
            setting.method(
                ("attack", result.attack),
                ("channel", result.likelihoods),
                ("prior", result.prior),
                ("model", result.model),
                ("guess without the text", f"{result.floor:.1%}"),
                ("repeat", result.repeat),
            ),
        ),
    )


def _about_draws(draws: int) -> str:
    if draws == 1:
        return "The figures are about one draw of the noise for these texts."
    return f"The figures are means over {draws} draws of the noise. An observer sees one of them."
