"""A page about statistics of words."""

from malaprop.measure.bayes import BayesSuccess
from malaprop.measure.neighbourhoods import Density
from malaprop.measure.profile import Profile
from malaprop.measure.words.statistics import Summary, WordStatistics
from malaprop.report.measured.common import DESCRIPTIVE, NO_CONTEXT, PUBLIC, Setting, not_said
from malaprop.report.page import Grid, Page, Paragraph, Piece, Plot, Section
from malaprop.report.phrases import named
from malaprop.report.profiles import occurrence_table, profile_plots

_WORST = 5


def statistics_page(
    result: WordStatistics,
    guess: BayesSuccess,
    setting: Setting,
    *,
    overlap: float,
    skewness: float | None,
    density: Density | None,
    profile: Profile | None = None,
) -> Page:
    """Return the page of `malaprop stats`; `profile` adds figures by ε and by occurrences."""
    summary = result.summary()
    return Page(
        title="What a mechanism does to words",
        audience=PUBLIC,
        figures=(
            (f"{summary['kept'].mean:.0%}", "of words stay as they are, on average (N_w)"),
            (
                f"{guess.value:.0%}",
                f"are guessed right by an observer without context (prior: {guess.prior})",
            ),
            (
                f"{summary['distinct'].mean:,.3g}",
                f"different outputs in {result.runs:,} runs (S_w)",
            ),
            (f"{len(result.words):,}", f"words measured, of {result.size:,}"),
        ),
        sections=(
            Section("The statistics", (_table(summary, exact=result.exact), *_plots(result))),
            Section("The words protected least", (_worst(summary),)),
            Section("What an observer learns", (*map(Paragraph, _observer(guess)), *_by(profile))),
            Section(
                "Neighbourhoods",
                tuple(map(Paragraph, _neighbourhoods(overlap, skewness, density))),
            ),
            setting.promise(),
            not_said(
                DESCRIPTIVE,
                NO_CONTEXT,
                "S_w grows with the number of runs, so it compares mechanisms only at the same R.",
                "Skewness describes the shape of a distribution and says nothing about privacy.",
            ),
            setting.method(("how", _how(result)), ("runs (R)", f"{result.runs:,}")),
        ),
    )


def _table(summary: dict[str, Summary], *, exact: bool) -> Grid:
    head = ("statistic", "mean", "5 %", "median", "95 %", "95 % interval of the mean")
    rows = []
    for each in summary.values():
        low, high = each.interval
        interval = "exact" if low == high and exact else f"{_short(low)} to {_short(high)}"
        numbers = (_short(number) for number in (each.p5, each.p50, each.p95))
        rows.append((each.title, _short(each.mean), *numbers, interval))
    return Grid(head, tuple(rows), frozenset(range(1, 6)))


def _worst(summary: dict[str, Summary]) -> Grid:
    rows = tuple(
        (
            each.title,
            ", ".join(f"{named(word)} ({_short(value)})" for word, value in each.worst[:_WORST]),
        )
        for each in summary.values()
    )
    return Grid(("statistic", "words, with their values"), rows)


def _short(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"


def _plots(result: WordStatistics) -> tuple[Plot, ...]:
    def spread(name: str, label: str) -> Plot:
        from malaprop.report import plots

        values = result.values[name].tolist()
        return Plot(lambda: plots.over_words(values, label), f"Over words: {label}.")

    if len(result.words) < 3:
        return ()
    return (
        spread("kept", "chance that a word stays (N_w)"),
        spread("distinct", f"different outputs in {result.runs:,} runs (S_w)"),
    )


def _by(profile: Profile | None) -> tuple[Piece, ...]:
    """Return what is known by ε and by occurrences."""
    if profile is None:
        return ()
    head, rows = occurrence_table(profile)
    plots = (Plot(paint, caption) for paint, caption in profile_plots(profile))
    uniform = Paragraph("By ε and by occurrences, with the prior: all words equally likely.")
    return (uniform, Grid(head, tuple(rows), frozenset({1, 2})), *plots)


def _observer(guess: BayesSuccess) -> list[str]:
    times = "once" if guess.occurrences == 1 else f"{guess.occurrences} times"
    times += ", all with one draw," if guess.reused else ""
    low, high = guess.interval
    interval = "" if guess.exact else f" (95 % interval {low:.3f} to {high:.3f})"
    told = (
        f"An observer without context who sees a word {times} guesses it right with probability "
        f"{guess.value:.4g}{interval}; without seeing it, {guess.prior_success:.3g}. The output "
        f"tells {guess.leakage:.3g} bits of min-entropy. Prior: {guess.prior}."
    )
    sentences = [told]
    if guess.candidates is not None:
        sentences.append(
            "The words with at least half the posterior probability of the best guess, itself "
            f"included, number {guess.candidates:.3g} on average over outputs."
        )
    return sentences


def _neighbourhoods(overlap: float, skewness: float | None, density: Density | None) -> list[str]:
    shape = "" if skewness is None else f"; skewness {skewness:.3g}"
    shared = f"what comes out shares {overlap:.1%} on average (one draw each{shape})"
    sentences = [f"Of a word's 10 nearest words, {shared}."]
    if density is not None:
        near, far = f"{density.densest:.4g}", f"{density.sparsest:.4g}"
        sentences.append(
            "By Euclidean distance of vectors, the nearest other word is "
            f"{density.median:.4g} away in the median, {near} on average for the 50 densest words "
            f"and {far} for the 50 sparsest: noise that hides a word among near ones leaves an "
            "isolated word as it is."
        )
    return sentences


def _how(result: WordStatistics) -> str:
    if result.exact:
        return "computed from the law, except means over drawn outputs on large lexicons (K_w)"
    return f"estimated from {result.runs:,} draws of each word"
