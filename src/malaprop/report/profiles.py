"""What pages show of a mechanism's profile: plots by ε and by occurrences, and a table."""

from collections.abc import Callable

from malaprop.measure.profile import Profile

_UNIFORM = "All words are equally likely."
HEAD = "a word occurs, with as many draws"
_BOUNDED = (
    "Right guesses, by occurrences of a word. The best guess lies in the band: it reaches from "
    "what an attack on drawn words achieves to the most that is possible for an observer of the "
    "noisy vectors themselves, which tell more than words. All words are equally likely."
)


def profile_plots(profile: Profile) -> list[tuple[Callable[[], str], str]]:
    """Return what draws each plot, and its caption."""
    from malaprop.report import plots

    least = ", at least" if profile.chosen.at_least else ""
    figures: list[tuple[Callable[[], str], str]] = [
        (
            lambda: plots.kept_by_epsilon(profile),
            "Words that stay, by ε (N_w). The dotted line is the ε of this page.",
        ),
        (
            lambda: plots.distinct_by_epsilon(profile),
            "Different outputs of a word, by ε (S_w).",
        ),
        (
            lambda: plots.success_by_epsilon(profile),
            f"Right guesses without context{least}, by ε. {_UNIFORM}",
        ),
    ]
    if profile.occurrences:
        caption = _occurrence_caption(profile)
        figures.append((lambda: plots.success_by_occurrences(profile), caption))
    return figures


def _occurrence_caption(profile: Profile) -> str:
    if bounded(profile):
        return _BOUNDED
    least = ", at least" if profile.occurrences[0].at_least else ""
    return f"Right guesses{least}, by occurrences of a word. {_UNIFORM}"


def bounded(profile: Profile) -> bool:
    """Whether only bounds on the best guess by occurrences are known."""
    return any(one.bounds for one in profile.occurrences)


def occurrence_table(profile: Profile) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the head and the rows of the table by occurrences."""
    known = not bounded(profile)
    head = ("guessed right", "95 % interval") if known else ("by an attack", "95 % bounds")
    rows: list[tuple[str, ...]] = [
        (
            str(one.occurrences),
            f"{'at least ' if one.at_least and known else ''}{one.value:.0%}",
            f"{one.interval[0]:.0%}–{one.interval[1]:.0%}",
        )
        for one in profile.occurrences
    ]
    return (HEAD, *head), rows
