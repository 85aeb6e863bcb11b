"""The report of a run as one page of HTML, for whoever has to sign it.

The page holds everything that it shows: no script, no font, no picture from elsewhere. It reads
on a phone and prints on paper.
"""

from collections.abc import Sequence
from html import escape

from malaprop.core.errors import MissingExtraError
from malaprop.core.guarantee import Kind
from malaprop.measure.profile import Comparison, Profile
from malaprop.pipeline.guessing import Guessed
from malaprop.pipeline.passwords import without_passwords
from malaprop.pipeline.report import AUDIENCE, FileRecord, RunReport, counted
from malaprop.report.page import bullets, document, key_figures, opened, table
from malaprop.report.phrases import (
    OTHERWISE,
    PROTECTED,
    UNIFORM,
    content_words,
    fingerprint_of,
    named,
    parameters,
    repetition,
    setting,
)
from malaprop.report.profiles import occurrence_table, profile_plots

_MOST_FAULTS = 100
_NUMBERS = frozenset({1, 2})  # columns of numbers
_TITLE = "Report on a privatized text"


def as_html(report: RunReport, profile: Profile | None = None) -> str:
    """Return the report as a page; `profile` adds the figures of the mechanism."""
    parts = [
        f"<h1>{_TITLE}</h1>",
        f'<p class="audience">{escape(AUDIENCE)}</p>',
        _key_figures(report, profile),
        *(f'<p class="warning">{escape(opened(w))}.</p>' for w in report.warnings),
        *_guarantee(report, profile),
        *_unprotected(report),
        *(_observer(profile) if profile else ()),
        *_treatment(report),
        *_repeated(report),
        *_files(report),
        *_method(report, profile),
    ]
    return document(_TITLE, parts)


def _key_figures(report: RunReport, profile: Profile | None) -> str:
    records = sum(file.counts.records for file in report.files)
    none = report.guarantee.kind is Kind.NONE
    figures = [
        (f"{report.counts.get('protected', 0):,}", "words replaced" if none else "words protected"),
        (f"{records:,}", f"records in {counted(len(report.files), 'file')}"),
        ("none" if none else f"ε = {report.guarantee.epsilon:g}", "guarantee"),
        (f"{report.keeping.share:.0%}", "of words are expected to stay as they are"),
    ]
    guessed = _guessed(profile) if profile else report.guessed
    least = "at least " if guessed.at_least else ""
    figures.append(
        (
            f"{least}{guessed.share:.0%}",
            f"of single words are guessed right by {UNIFORM}",
        )
    )
    if profile and profile.context:
        figure = profile.context
        recovered, known = f"of the words of {figure.sample} are recovered", figure.prior
        figures += [
            (f"{figure.alone:.0%}", f"{recovered} word by word, from word frequencies in {known}"),
            (f"{figure.context:.0%}", f"{recovered} with context, from bigrams of {known}"),
        ]
    return key_figures(figures)


def _guessed(profile: Profile) -> Guessed:
    return Guessed(profile.chosen.success, profile.chosen.at_least)


def _guarantee(report: RunReport, profile: Profile | None) -> list[str]:
    parts = ["<h2>What is guaranteed</h2>", f"<p>{escape(str(report.guarantee))}</p>"]
    if report.guarantee.kind is Kind.NONE:
        return parts
    if profile:
        parts.append("<p>For example:</p>")
        parts.append(bullets(map(_example, profile.comparisons)))
    parts.append(
        "<p>Where texts differ in several words, the losses add up. Privatizing the same text "
        "again doubles the loss.</p>"
    )
    return parts


def _example(pair: Comparison) -> str:
    words = f"“{pair.word}” and “{pair.other}”, {pair.distance:.4g} apart"
    if pair.loss is None:
        return f"{words}: nothing is promised."
    factor = f"{_factor(pair.loss)}"
    verdict = " That is next to no protection." if pair.loss > 6.0 else ""
    return (
        f"{words}: whatever comes out, it changes the odds between them by a factor of at most "
        f"{factor}.{verdict}"
    )


def _factor(loss: float) -> str:
    from math import exp

    from malaprop.core.guarantee import rounded_up

    if loss > 12.0:
        return f"e^{rounded_up(loss)}"
    factor = rounded_up(exp(loss), 3)
    return f"{float(factor):,.0f}" if "e" in factor else factor


def _unprotected(report: RunReport) -> list[str]:
    others = sorted({name for file in report.files for name in file.counts.other_columns})
    shown = [*report.visible, "what the text is about: near words stay near"]
    if others:
        shown.append(f"the columns that were not named, as they are: {_names(others)}")
    return ["<h2>What is not protected</h2>", bullets(shown)]


def _observer(profile: Profile) -> list[str]:
    point, how = profile.chosen, "computed from the law" if profile.exact else "estimated by draws"
    least = "at least " if point.at_least else ""
    told = (
        "<p>An observer who knows the mechanism and sees one word, without context, guesses it "
        f"right in {least}{point.success:.1%} of cases, all words being equally likely. <b>Context "
        "raises that, sometimes to twice as much, and so does repetition</b>: language lets an "
        "observer rule out words that do not fit. <code>malaprop attack context</code> measures it "
        "on your own text.</p>"
    )
    parts = ["<h2>What an observer learns</h2>", told]
    if profile.context:
        parts.append(f"<p>{escape(opened(str(profile.context)))}.</p>")
    if profile.occurrences:
        parts.append(table(*occurrence_table(profile), _NUMBERS))
    words = ", ".join(f"{escape(word)} ({share:.0%})" for word, share in profile.worst_words)
    parts.append(
        f"<p>Of {profile.words:,} words spread over the lexicon, these stay as they are most "
        f"often: {words}. These shares are {how}. The shares of right guesses may be estimates.</p>"
    )
    return [*parts, _plots(profile)]


def _plots(profile: Profile) -> str:
    try:
        figures = [(paint(), caption) for paint, caption in profile_plots(profile)]
    except MissingExtraError as error:
        return f"<p>Without plots: {escape(str(error))}</p>"
    cells = (
        f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>"
        for svg, caption in figures
    )
    return f'<div class="plots">{"".join(cells)}</div>'


def _treatment(report: RunReport) -> list[str]:
    done = "replaced" if report.guarantee.kind is Kind.NONE else "protected"
    names = {"protected": f"words {done}"}
    names |= {tag: f"of these, {text}" for tag, text in PROTECTED.items()} | OTHERWISE
    names |= {
        "punctuation": "runs of punctuation",
        "wordless": "texts without words, shown as they are",
        "mostly_signs": "texts with more signs than words",
    }
    rows = [
        (text, f"{report.counts[tag]:,}") for tag, text in names.items() if report.counts.get(tag)
    ]
    return [f"<h2>What was {done}</h2>", table(("what", "how many"), rows, _NUMBERS)]


def _repeated(report: RunReport) -> list[str]:
    lines = repetition(report.repetition, report.policy["repeat"])
    if not lines:
        return []
    listed = bullets(f"{opened(line)}." for line in lines)
    return [
        "<h2>Repeated words</h2>",
        listed,
        f"<p>{escape(content_words(report.repetition))}</p>",
    ]


def _files(report: RunReport) -> list[str]:
    parts = ["<h2>Files</h2>"]
    for file in report.files:
        parts.append(f"<h3>{_name(file.input)} → {_name(file.output)}</h3>")
        parts.append(table((), _file(file)))
        if file.counts.faults:
            parts.append(table(("record", "what is wrong with it"), _faults(file)))
    return parts


def _file(file: FileRecord) -> list[tuple[str, str]]:
    counts, layout = file.counts, file.layout
    done = "left out" if layout.on_error == "skip" else "texts masked"
    rows = [
        ("format", layout.format),
        ("records", f"{counts.records:,}"),
        ("texts", f"{counts.cells:,}"),
        ("protected columns", _names(layout.columns)),
        ("not protected", _names(counts.other_columns)),
        ("records without a column asked for", f"{counts.missing:,}" if counts.missing else ""),
        (f"faulty records, {done}", f"{counts.faulty:,}" if counts.faulty else ""),
        ("digest of the input (keyed)", file.input_digest or ""),
        ("digest of the output (keyed)", file.output_digest or ""),
    ]
    return [(what, value) for what, value in rows if value]


def _faults(file: FileRecord) -> list[tuple[str, str]]:
    shown = file.counts.faults[:_MOST_FAULTS]
    rows = [(f"{fault.record:,}", fault.reason) for fault in shown]
    if file.counts.faulty > len(shown):
        rows.append(("…", f"and {file.counts.faulty - len(shown):,} more"))
    return rows


def _method(report: RunReport, profile: Profile | None) -> list[str]:
    occasion, lexicon = report.occasion, report.lexicon
    rows = [
        ("date", occasion.started.isoformat(timespec="seconds")),
        ("seconds", f"{occasion.seconds:,.1f}"),
        ("command", named(occasion.command) if occasion.command else ""),
        ("malaprop", report.version),
        ("mechanism", parameters(report.mechanism)),
        ("lexicon", f"{named(lexicon.name)}, {lexicon.words:,} words, {lexicon.metric}"),
        (f"its {fingerprint_of(lexicon.metric)}", lexicon.fingerprint),
        *((f"policy: {name}", setting(value)) for name, value in report.policy.items()),
        ("randomness", report.randomness),
        *((f"engine: {name}", str(value)) for name, value in report.engine.items()),
        ("taken to be public", "; ".join(report.guarantee.public)),
        ("arithmetic", report.guarantee.numerics),
        ("proof", report.guarantee.proof),
        ("hint", report.hint),
    ]
    return ["<h2>Method and versions</h2>", table((), [row for row in rows if row[1]])]


def _names(names: Sequence[str]) -> str:
    return ", ".join(named(without_passwords(name)) for name in names)


def _name(name: str) -> str:
    return escape(named(without_passwords(name)))
