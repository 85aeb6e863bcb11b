"""Pages of audits, attacks, calibrations and statistics."""

import math
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
from typing import Final

from malaprop.lexicon.lexicon import Lexicon
from malaprop.measure.adversaries import AttackResult, Group, RecoveredWords
from malaprop.measure.audit import Audit
from malaprop.measure.audit_by_draws import PairLoss, SampledAudit
from malaprop.measure.bayes import BayesSuccess
from malaprop.measure.calibration import Calibration, LambdaChoice
from malaprop.measure.neighbourhoods import Density
from malaprop.measure.profile import Profile, context_figure
from malaprop.measure.word_statistics import WordStatistics
from malaprop.privacy.guarantee import Guarantee
from malaprop.privacy.mechanism import Mechanism
from malaprop.report import plots
from malaprop.report.page import Bullets, Facts, Page, Piece, Plot, Section, Table, named, opened
from malaprop.report.run_report import Clock, LexiconFacts, method

_PUBLIC: Final = "Computed from public data alone: the mechanism and the lexicon."
_LIMITS: Final = tomllib.loads(files("malaprop.report").joinpath("limits.toml").read_text("utf-8"))


@dataclass(frozen=True)
class Setting:
    """What was measured, when, and by which command."""

    clock: Clock
    mechanism: Mechanism
    lexicon: Lexicon | None = None
    name: str = ""
    guarantee: Guarantee | str = ""

    def page(
        self,
        title: str,
        figures: tuple[tuple[str, str], ...],
        *sections: Section,
        about: str,
        limit: str = "",
        how: tuple[tuple[str, str], ...] = (),
        audience: str = _PUBLIC,
        warnings: tuple[str, ...] = (),
        claimed: tuple[str, ...] = (),
    ) -> Page:
        """Return a page: what was found, what is guaranteed, what it does not say, how it was made.

        A terminal shows what was found, and what it does not say: what `limits.toml` has about
        such a measurement, and `limit`. It also shows a guarantee that is only `claimed`, as yet.
        """
        lexicon = None if self.lexicon is None else LexiconFacts.of(self.lexicon, self.name)
        limits = tuple(filter(None, [*_LIMITS[about], limit]))
        made = method(self.clock.occasion(), self.mechanism.to_dict(), lexicon, *how)
        return Page(
            title=title,
            audience=audience,
            figures=figures,
            warnings=warnings,
            sections=(
                *sections,
                Section("What is claimed", claimed)
                if claimed
                else Section("What is guaranteed", (str(self.guarantee),), on_terminal=False),
                Section("What this does not say", (Bullets(limits),)),
                replace(made, on_terminal=False),
            ),
        )


_OWNER: Final = (
    "For the owner of the text, not for publication: the figures depend on the text in ways that "
    "the guarantee does not cover."
)


def attack_page(result: AttackResult, setting: Setting) -> Page:
    score, low, high, baseline = (
        f"{figure:{result.spec}}" for figure in (result.score, *result.interval, result.baseline)
    )
    interval = (f"{low} to {high}", f"is the 95 % interval ({result.spread or 'over texts'})")
    title, how = "An attack on privatized texts", ("attack", result.attack)
    if not isinstance(result, RecoveredWords):
        return setting.page(
            title,
            (
                (score, f"is the score of the attack “{result.attack}”"),
                interval,
                (baseline, "is the score without an attack"),
            ),
            Section("What was inferred", (Facts(tuple(result.facts())),)),
            about="attack",
            how=(how,),
            audience=_OWNER,
        )
    every = Group(name="all words", words=result.words, score=result.score, kept=result.kept)
    rows = tuple(
        (each.name, f"{each.words:,}", f"{each.kept:.1%}", f"{each.score:.1%}")
        for each in (every, result.content, *result.occurrences)
    )
    by_occurrence = Plot(
        lambda: plots.recovered_by_occurrences(result.occurrences),
        "By how often a word occurs in its text.",
    )
    draws = len(result.values)
    told = "The figures are about one draw of the noise for these texts."
    if draws > 1:
        told = f"The figures are means over {draws} draws of the noise. An observer sees one."
    return setting.page(
        title,
        (
            (score, f"of words were recovered by the attack “{result.attack}”"),
            interval,
            (f"{result.kept:.1%}", "came out unchanged"),
            (f"{result.floor:.1%}", "are recovered by guessing the most frequent word"),
            (f"{result.words:,}", f"words of {result.texts:,} texts were attacked"),
        ),
        Section(
            "What was recovered",
            (
                Table(("words", "how many", "came out unchanged", "recovered"), rows),
                Facts((("channel", result.likelihoods), ("prior", result.prior))),
                by_occurrence if result.occurrences else "",
            ),
        ),
        about="attack",
        limit=told,
        how=(
            how,
            ("model", result.model),
            ("repeat", result.repeat),
        ),
        audience=_OWNER,
    )


_VERDICTS = {True: "holds", False: "FAILS", None: "not decided"}
_FALSE: Final = ("THE GUARANTEE IS FALSE: do not use this mechanism",)


def audit_page(result: Audit | SampledAudit, setting: Setting, hint: str = "") -> Page:
    """Return the page of `malaprop audit`, with or without draws; `hint` is the channel's."""
    claimed = (str(result.guarantee), opened(hint) if hint else "")
    if isinstance(result, SampledAudit):
        return _sampled(result, setting, claimed)
    rows = [("method", result.method)]
    if result.pair is not None:
        at_most = f"{result.at_most:.6g}" if math.isfinite(result.at_most) else "not proved"
        rows += [
            ("worst pair", " and ".join(map(named, result.pair))),
            ("at the output", named(result.output) if result.output else ""),
            ("its δ" if result.guarantee.delta else "its loss", f"{result.loss:.6g}"),
            ("allowed", f"{result.allowed:.6g}"),
            ("upper bound of the ratio", at_most),
        ]
    ratio = f"{result.worst_ratio:.6g}" if math.isfinite(result.worst_ratio) else "unknown"
    return setting.page(
        "Audit of a guarantee",
        (
            (_VERDICTS[result.holds], "is the verdict"),
            (ratio, "is the worst loss over what is allowed: at most 1 if the guarantee is true"),
        ),
        Section("The worst case", (Facts(tuple(rows)),)),
        about="audit",
        claimed=claimed,
        warnings=_FALSE if result.fails else (),
    )


_PAIRS = 8  # that a terminal shows, those first that come closest to what is allowed


def _margin(pair: PairLoss) -> float:
    return pair.allowed - pair.loss


def _sampled(result: SampledAudit, setting: Setting, claimed: tuple[str, ...]) -> Page:
    rows = tuple(
        (
            " and ".join(map(named, one.pair)),
            one.why,
            f"{one.allowed:.4g}",
            f"{one.loss:.4g}",
            f"{one.delta:.3g}",
            f"{one.draws:,}",
        )
        for one in sorted(result.pairs, key=_margin)
    )
    losses = Plot(
        lambda: plots.losses_of_pairs(result.pairs),
        "What draws show about each pair: points above the dotted line would contradict the "
        "guarantee.",
    )
    head = ("pair", "why", "allowed", "loss at least", "δ at least", "draws")
    return setting.page(
        "Audit by draws",
        (
            ("FAILS" if result.violated else "not contradicted", "is the verdict"),
            (f"{result.worst.loss:.3g}", f"nats are shown, of {result.worst.allowed:.3g} allowed"),
            (f"{result.draws:,}", f"draws at most of each word of {len(result.pairs)} pairs"),
            (f"{result.confidence:g}", "is the confidence of a violation"),
        ),
        Section("Pairs that are hard to hide", (Table(head, rows, most=_PAIRS), losses)),
        about="sampled",
        claimed=claimed,
        how=(
            ("how", "single words privatized as a black box; Clopper-Pearson bounds"),
            ("draws", result.how_often),
            ("limits", result.limit),
        ),
        warnings=_FALSE if result.violated else (),
    )


_FIGURE: Final = "the figure"


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
    figure = result.figure
    error = "" if figure.is_exact else f", and {figure.unsafe:.4g} with its error"
    rows = tuple(
        (
            f"{epsilon:.4g}",
            f"{value:.4g}",
            f"{bound:.4g}",
            "chosen" if epsilon == result.epsilon else "",
        )
        for (epsilon, value), bound in zip(result.curve, result.bounds, strict=True)
    )
    curve = Plot(
        lambda: plots.calibration_curve(result, _FIGURE),
        "The figure of the target by ε; the bars reach to the unsafe side of its error. The dotted "
        "lines meet at the choice.",
    )
    top = max(abs(value) for _, value in result.curve) or 1.0
    bars = tuple(abs(value) / top for _, value in result.curve)
    compared = ((n.replace("_", " "), f"{value:.4g}") for n, value in result.normalised.items())
    return setting.page(
        "The ε that keeps to a target",
        (
            (f"ε = {result.epsilon:.4g}", "keeps to the target"),
            (f"{result.value:.4g}", f"is {_FIGURE} at this ε{error}"),
            ("exact", "computed from the law, not from draws")
            if result.exact
            else ("estimated", "95 % one-sided, from a sample or draws"),
        ),
        Section("The target", (opened(result.target), _made_readable(setting) if context else "")),
        Section(
            "The curve around it",
            (
                Table(("ε", _FIGURE, "with its error", ""), rows, bars=bars),
                curve,
                *plots.profile_plots(profile),
            ),
        ),
        Section(
            "Figures that can be compared between lexicons and metrics",
            (Facts(tuple(compared)),),
        ),
        about="vectors" if vectors else "context" if context else "words",
        how=(
            ("how", "bisection of ε; the target is met on the unsafe side of the error"),
            ("channels tried", str(len(result.curve))),
        ),
        audience="Computed from public vectors." if vectors else _PUBLIC,
    )


def lambda_page(result: LambdaChoice, setting: Setting) -> Page:
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
    skipped = (
        f"λ = {value:g} is not possible here: the covariance is singular."
        for value in result.skipped
    )
    return setting.page(
        "The λ that keeps to a bound",
        (
            (f"λ = {result.regularization:g}", "is the best of the grid"),
            (f"ε = {result.best.euclidean:.4g}", "is its guarantee in Euclidean distance"),
        ),
        Section("The grid", (opened(result.target), Table(head, rows), *skipped)),
        about="lambda",
    )


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
    rows, worst = [], []
    for each in summary.values():
        low, high = each.interval
        interval = "exact" if low == high and result.exact else f"{_short(low)} to {_short(high)}"
        numbers = map(_short, (each.mean, each.p5, each.p50, each.p95))
        rows.append((each.title, *numbers, interval))
        words = (f"{named(word)} ({_short(value)})" for word, value in each.worst[:_WORST])
        worst.append((each.title, ", ".join(words)))
    head = ("statistic", "mean", "5 %", "median", "95 %", "95 % interval of the mean")
    how = f"estimated from {result.runs:,} draws of each word"
    if result.exact:
        how = "computed from the law, except means over drawn outputs on large lexicons (K_w)"
    shape = "" if skewness is None else f"; skewness {skewness:.3g}, no measure of privacy"
    isolated = ""
    if density is not None:
        isolated = (
            "By Euclidean distance of vectors, the nearest other word is "
            f"{density.median:.4g} away in the median, {density.densest:.4g} on average for the 50 "
            f"densest words and {density.sparsest:.4g} for the 50 sparsest: noise that hides a "
            "word among near ones leaves an isolated word as it is."
        )
    return setting.page(
        "What a mechanism does to words",
        (
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
        Section("The statistics", (Table(head, tuple(rows)), *_spreads(result))),
        Section(
            "The words protected least",
            (Table(("statistic", "words, with their values"), tuple(worst)),),
            on_terminal=False,
        ),
        Section("What an observer learns", tuple(_observer(guess, profile))),
        Section(
            "Neighbourhoods",
            (
                (
                    f"Of a word's 10 nearest words, what comes out shares {overlap:.1%} on average "
                    f"(one draw each{shape})."
                ),
                isolated,
            ),
            on_terminal=False,
        ),
        about="statistics",
        how=(("how", how), ("runs (R)", f"{result.runs:,}")),
    )


def _made_readable(setting: Setting) -> str:
    """Say what readable text has of the original words at this ε; nothing if not measured."""
    if setting.lexicon is None:
        return ""
    figure = context_figure(setting.mechanism, setting.lexicon)
    return opened(figure.made_readable()) if figure and figure.readable else ""


def _short(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"


def _spreads(result: WordStatistics) -> Iterator[Plot]:
    labels = {
        "kept": "chance that a word stays (N_w)",
        "distinct": f"different outputs in {result.runs:,} runs (S_w)",
    }
    for name, label in labels.items() if len(result.words) >= 3 else ():
        draw = partial(plots.over_words, result.values[name].tolist(), label)
        yield Plot(draw, f"Over words: {label}.")


def _observer(guess: BayesSuccess, profile: Profile | None) -> Iterator[Piece]:
    times = "once" if guess.occurrences == 1 else f"{guess.occurrences} times"
    times += ", all with one draw," if guess.reused else ""
    low, high = guess.interval
    interval = "" if guess.exact else f" (95 % interval {low:.3f} to {high:.3f})"
    yield (
        f"An observer without context who sees a word {times} guesses it right with probability "
        f"{guess.value:.4g}{interval}; without seeing it, {guess.prior_success:.3g}. The output "
        f"tells {guess.leakage:.3g} bits of min-entropy. Prior: {guess.prior}."
    )
    if guess.candidates is not None:
        yield (
            "The words with at least half the posterior probability of the best guess, itself "
            f"included, number {guess.candidates:.3g} on average over outputs."
        )
    if profile is not None:
        success = profile.chosen.success
        yield "By ε and by occurrences, with the prior: all words equally likely."
        yield plots.occurrence_table(
            profile, f"{'at least ' * bool(success.bound)}{success.value:.0%}"
        )
        yield from plots.profile_plots(profile)
