"""Pages of audits, attacks, calibrations, statistics, explanations."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from malaprop.measure.adversaries import AttackResult, Group, RecoveredWords
from malaprop.measure.audit import Audit
from malaprop.measure.audit_by_draws import SampledAudit
from malaprop.measure.bayes import BayesSuccess
from malaprop.measure.calibration import Calibration, LambdaChoice
from malaprop.measure.neighbourhoods import Density
from malaprop.measure.profile import Profile
from malaprop.measure.word_statistics import Summary, WordStatistics
from malaprop.privacy.guarantee import Guarantee
from malaprop.privacy.metrics import MetricSpace
from malaprop.report.page import (
    Bullets,
    Facts,
    Page,
    Piece,
    Plot,
    Section,
    Table,
    named,
    opened,
)
from malaprop.report.plots import occurrence_table, profile_plots
from malaprop.report.run_report import LexiconFacts, Occasion, method

# What all pages about measurements share.


PUBLIC: Final = "Computed from public data alone: the mechanism and the lexicon."
DESCRIPTIVE: Final = (
    "The figures describe what the mechanism does to words. The guarantee is another matter: it "
    "holds for every word, also where a figure looks bad, and a good figure proves none."
)
NO_CONTEXT: Final = (
    "The observer here sees one word at a time. Context and repetition raise what is learned, "
    "sometimes to twice as much: malaprop attack context measures it on your own text."
)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What was measured, when, and by which command."""

    occasion: Occasion
    mechanism: Mapping[str, Any]
    lexicon: MetricSpace | None = None
    name: str = ""
    """What the lexicon was called."""
    guarantee: Guarantee | str = ""

    def method(self, *rows: tuple[str, str]) -> Section:
        """Return how it was measured, and with which versions."""
        space = self.lexicon
        about = (
            None
            if space is None
            else LexiconFacts(
                name=self.name,
                words=len(space),
                dimension=0,
                metric=str(space.metric),
                fingerprint=str(getattr(space, "fingerprint", "")),
            )
        )
        return method(self.occasion, self.mechanism, about, *rows)

    def promise(self) -> Section:
        """Return what is guaranteed."""
        return Section("What is guaranteed", (str(self.guarantee),))


def not_said(*lines: str) -> Section:
    """Return what a page does not say."""
    return Section("What this does not say", (Bullets(lines),))


# A page about an attack on the owner's own texts.


_AUDIENCE: Final = (
    "For the owner of the text, not for publication: the figures depend on the text in ways that "
    "the guarantee does not cover."
)
_OTHERS: Final = (
    "Other observers know more: a better model of language, or facts about the author. The figure "
    "is what this attack achieves, not the most that anyone can."
)
_TITLE: Final = "An attack on privatized texts"


def attack_page(result: AttackResult, setting: Setting) -> Page:
    """Return the page of `malaprop attack`."""
    if isinstance(result, RecoveredWords):
        return _recovered(result, setting)
    low, high = result.interval
    return Page(
        title=_TITLE,
        audience=_AUDIENCE,
        figures=(
            (f"{result.score:.3g}", f"is the score of the attack “{result.attack}”"),
            (f"{low:.3g} to {high:.3g}", f"is the 95 % interval ({result.spread or 'over texts'})"),
            (f"{result.baseline:.3g}", "is the score without an attack"),
        ),
        sections=(
            Section("What was inferred", (Facts(tuple(result.facts())),)),
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
                    Table(head, rows),
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


# Pages about audits: exact ones, and ones by draws.


_VERDICTS = {True: "holds", False: "FAILS", None: "not decided"}


def audit_page(result: Audit | SampledAudit, setting: Setting) -> Page:
    """Return the page of `malaprop audit`, with or without draws."""
    return _exact(result, setting) if isinstance(result, Audit) else _sampled(result, setting)


def _exact(result: Audit, setting: Setting) -> Page:
    delta = bool(result.guarantee.delta)
    rows = [("method", result.method)]
    if result.pair is not None:
        rows += [
            ("worst pair", " and ".join(map(named, result.pair))),
            ("at the output", named(result.output) if result.output else ""),
            ("its δ" if delta else "its loss", f"{result.loss:.6g}"),
            ("allowed", f"{result.allowed:.6g}"),
            ("at most", f"{result.at_most:.6g}" if math.isfinite(result.at_most) else "not proved"),
        ]
    ratio = f"{result.worst_ratio:.4g}" if math.isfinite(result.worst_ratio) else "unknown"
    return Page(
        title="Audit of a guarantee",
        audience=PUBLIC,
        figures=(
            (_VERDICTS[result.holds], "is the verdict"),
            (ratio, "is the worst loss over what is allowed: at most 1 if the guarantee is true"),
        ),
        warnings=("THE GUARANTEE IS FALSE: do not use this mechanism",) if result.fails else (),
        sections=(
            Section("The worst case", (Facts(tuple(rows)),)),
            setting.promise(),
            not_said(
                "The audit is about the law that the code states and the numbers it computes. "
                "malaprop audit --sampled compares the draws themselves.",
                "A guarantee that holds may still protect little: see malaprop stats.",
            ),
            setting.method(),
        ),
    )


def _sampled(result: SampledAudit, setting: Setting) -> Page:
    from malaprop.report import plots

    setting = replace(setting, guarantee=result.guarantee)
    head = ("pair", "why", "allowed", "loss at least", "δ at least", "draws")
    rows = tuple(
        (
            " and ".join(map(named, one.pair)),
            one.why,
            f"{one.allowed:.4g}",
            f"{one.loss:.4g}",
            f"{one.delta:.3g}",
            f"{one.draws:,}",
        )
        for one in result.pairs
    )
    verdict = "FAILS" if result.violated else "not contradicted"
    return Page(
        title="Audit by draws",
        audience=PUBLIC,
        figures=(
            (verdict, "is the verdict"),
            (f"{result.worst.loss:.3g}", f"nats are shown, of {result.worst.allowed:.3g} allowed"),
            (f"{result.draws:,}", f"draws at most of each word of {len(result.pairs)} pairs"),
            (f"{result.confidence:g}", "is the confidence of a violation"),
        ),
        warnings=("THE GUARANTEE IS FALSE: do not use this mechanism",) if result.violated else (),
        sections=(
            Section(
                "Pairs that are hard to hide",
                (
                    Table(head, rows),
                    Plot(
                        lambda: plots.losses_of_pairs(result.pairs),
                        "What draws show about each pair: points above the dotted line would "
                        "contradict the guarantee.",
                    ),
                ),
            ),
            setting.promise(),
            not_said(
                "A lower bound that stays below the guarantee does not prove it: more draws, or "
                "other pairs, may show more. malaprop audit computes exact losses.",
                "Faults that change probabilities by less than the draws can show go unnoticed.",
            ),
            setting.method(
                ("how", "single words privatized as a black box; Clopper-Pearson bounds"),
                ("draws", result.how_often),
                ("limits", result.limit),
            ),
        ),
    )


# Pages about the choice of ε, and of λ.


_FIGURE = "the figure"
_OF_VECTORS = (
    "The figures are for public vectors. Others may be nearer to each other, and then more, or "
    "less, is left of them."
)
_WITH_CONTEXT = (
    "The figures are for an observer with a bigram model, and hold for texts like those. A large "
    "language model, or words that occur often, raise what is learned."
)
_OF_ONE_LEXICON = "An ε is about one lexicon and one metric: compare the figures above, not the ε."
_OF_WORDS = "The target is about words of the lexicon, taken alike. Your text may use others more."


def calibration_page(
    result: Calibration,
    setting: Setting,
    profile: Profile | None = None,
    *,
    vectors: bool = False,
    context: bool = False,
) -> Page:
    """Return the page of `malaprop calibrate`; `profile` adds what the mechanism does around ε.

    The target is about `vectors`, or about an observer with `context`, or else about single words.
    """
    return Page(
        title="The ε that keeps to a target",
        audience=_audience(vectors),
        figures=(
            (f"ε = {result.epsilon:.4g}", "keeps to the target"),
            (f"{result.value:.4g}", f"is {_FIGURE} at this ε{_error(result)}"),
            ("exact", "computed from the law, not from draws")
            if result.exact
            else ("estimated", "95 % one-sided, from a sample or draws"),
        ),
        sections=(
            Section("The target", (opened(result.target),)),
            Section("The curve around it", (_curve(result), *_plots(result, profile))),
            *_compared(result),
            not_said(*_limits(vectors=vectors, context=context)),
            setting.method(
                ("how", "bisection of ε; the target is met on the unsafe side of the error"),
                ("channels tried", str(len(result.curve))),
            ),
        ),
    )


def _error(result: Calibration) -> str:
    figure = result.figure
    return "" if figure.is_exact else f", and {figure.unsafe:.4g} with its error"


def _compared(result: Calibration) -> tuple[Section, ...]:
    if not result.normalised:
        return ()
    rows = ((name.replace("_", " "), f"{value:.4g}") for name, value in result.normalised.items())
    title = "Figures that can be compared between lexicons and metrics"
    return (Section(title, (Facts(tuple(rows)),)),)


def lambda_page(result: LambdaChoice, setting: Setting) -> Page:
    """Return the page of `malaprop calibrate --lambda-grid`."""
    head = ("λ", "ε", "ε, Euclidean", "kept", "similarity", "within the bound")
    rows = tuple(
        (
            f"{row.regularization:g}",
            f"{row.epsilon:.4g}",
            f"{row.euclidean:.4g}",
            f"{row.kept:.3f}",
            f"{row.similarity:.3f}",
            "yes" if row.within else "no",
        )
        for row in result.rows
    )
    return Page(
        title="The λ that keeps to a bound",
        audience=PUBLIC,
        figures=(
            (f"λ = {result.regularization:g}", "is the best of the grid"),
            (f"ε = {result.best.euclidean:.4g}", "is its guarantee in Euclidean distance"),
        ),
        sections=(
            Section(
                "The grid",
                (opened(result.target), Table(head, rows)),
            ),
            not_said(
                "The rows differ in privacy: the guarantee of each in Euclidean distance is the ε "
                "in the third column.",
                NO_CONTEXT,
            ),
            setting.method(),
        ),
    )


def _audience(vectors: bool) -> str:
    return "Computed from public vectors." if vectors else PUBLIC


def _curve(result: Calibration) -> Table:
    head = ("ε", _FIGURE, "with its error", "")
    rows = tuple(
        (
            f"{epsilon:.4g}",
            f"{value:.4g}",
            f"{bound:.4g}",
            "chosen" if epsilon == result.epsilon else "",
        )
        for (epsilon, value), bound in zip(result.curve, result.bounds, strict=True)
    )
    return Table(head, rows)


def _plots(result: Calibration, profile: Profile | None) -> tuple[Piece, ...]:
    from malaprop.report import plots

    own = Plot(
        lambda: plots.calibration_curve(result, _FIGURE),
        "The figure of the target by ε; the bars reach to the unsafe side of its error. The dotted "
        "lines meet at the choice.",
    )
    return (own, *profile_plots(profile))


def _limits(*, vectors: bool, context: bool) -> tuple[str, ...]:
    if vectors:
        return (_OF_VECTORS,)
    if context:
        return (_WITH_CONTEXT,)
    return (NO_CONTEXT, _OF_ONE_LEXICON, _OF_WORDS)


# A page about statistics of words.


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
            Section(
                "The statistics", (_table(summary, exact=result.exact), *_statistics_plots(result))
            ),
            Section("The words protected least", (_worst(summary),)),
            Section("What an observer learns", (*(_observer(guess)), *_by(profile))),
            Section(
                "Neighbourhoods",
                tuple(_neighbourhoods(overlap, skewness, density)),
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


def _table(summary: dict[str, Summary], *, exact: bool) -> Table:
    head = ("statistic", "mean", "5 %", "median", "95 %", "95 % interval of the mean")
    rows = []
    for each in summary.values():
        low, high = each.interval
        interval = "exact" if low == high and exact else f"{_short(low)} to {_short(high)}"
        numbers = (_short(number) for number in (each.p5, each.p50, each.p95))
        rows.append((each.title, _short(each.mean), *numbers, interval))
    return Table(head, tuple(rows))


def _worst(summary: dict[str, Summary]) -> Table:
    rows = tuple(
        (
            each.title,
            ", ".join(f"{named(word)} ({_short(value)})" for word, value in each.worst[:_WORST]),
        )
        for each in summary.values()
    )
    return Table(("statistic", "words, with their values"), rows)


def _short(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"


def _statistics_plots(result: WordStatistics) -> tuple[Plot, ...]:
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
    uniform = "By ε and by occurrences, with the prior: all words equally likely."
    once = f"{'at least ' * bool(profile.chosen.success.bound)}{profile.chosen.success.value:.0%}"
    return (uniform, occurrence_table(profile, once), *profile_plots(profile))


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
