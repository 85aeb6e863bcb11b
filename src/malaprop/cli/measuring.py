"""Options and outputs that the measuring commands share."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from malaprop.cli.messages import check_ending, say_text
from malaprop.core.errors import ParameterError

if TYPE_CHECKING:
    from malaprop.core.mechanism import Mechanism
    from malaprop.core.space import MetricSpace
    from malaprop.measure.profile import Profile
    from malaprop.report.page import Page

PIPE = "-"

JsonFile = Annotated[
    str | None,
    typer.Option(
        "--json",
        metavar="FILE",
        help="Write the result as JSON to this file, or to standard output (-) instead of a table.",
    ),
]
ReportFile = Annotated[
    Path | None,
    typer.Option(
        "--report",
        metavar="FILE",
        callback=check_ending,
        help="Write a page with the result, the method and what it does not say: as a web page "
        "with plots (.html), Markdown (.md) or JSON (.json).",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the files of --json and --report.")]
Words = Annotated[
    str | None,
    typer.Option(
        "--words",
        metavar="FILE|NUMBER|all",
        help="The words to measure: a file with one word per line, a number of words, spread "
        "evenly over the lexicon, or all; by default all, or 1,000 of more than 10,000.",
    ),
]
WordCount = Annotated[
    str | None,
    typer.Option(
        "--words",
        metavar="FILE|NUMBER|all",
        help="The words to measure: a file with one word per line, a number of words, spread "
        "evenly over the lexicon, or all; by default all, or 256 of more than 10,000. With "
        "--lambda-grid, 256 at most by default.",
    ),
]
AuditedWords = Annotated[
    str | None,
    typer.Option(
        "--words",
        metavar="FILE|NUMBER|all",
        help="The words to audit, with their nearest words: a file with one word per line, a "
        "number of words drawn at random, or all (default). A sample can show that a guarantee is "
        "false, never that it holds.",
    ),
]
Prior = Annotated[
    str | None,
    typer.Option(
        "--prior",
        metavar="uniform|frequency|FILE",
        help="What the observer believes before: all words equally likely (default), by public "
        "word frequency (counts of the web for English words), or a file of lines  WORD NUMBER.",
    ),
]
_LARGEST = 1 << 26  # bytes of a file of words


def words_of(option: str | None, lexicon: "MetricSpace") -> list[str] | int | None:
    """Return the words that --words names."""
    if option is None:
        return None
    if option == "all":
        return len(lexicon)
    if option.isdecimal():
        return int(option)
    known = set(lexicon.words)
    lines = {number: line for number, line in enumerate(_lines(option, "--words"), 1) if line}
    for number, line in lines.items():
        if line not in known:  # by its number: the file may be the user's text
            raise ParameterError(
                f"Line {number:,} of {option} is not a word of the lexicon: --words needs one word "
                "of it per line"
            )
    return list(lines.values())


def words_to_audit(option: str | None, lexicon: "MetricSpace") -> list[str] | int | None:
    """Return the words that --words names for an audit; None for all words."""
    chosen = words_of(option, lexicon)
    if not isinstance(chosen, int) or chosen < 1:
        return chosen
    if chosen >= len(lexicon):
        return None
    from malaprop.core.randomness import secure_rng

    drawn = secure_rng().choice(len(lexicon), size=chosen, replace=False)
    return [lexicon.words[i] for i in drawn]


def prior_of(option: str | None) -> str | dict[str, float] | None:
    """Return the prior that --prior names."""
    if option in (None, "uniform"):
        return None
    if option == "frequency":
        return option
    numbers = {}
    for line in filter(None, _lines(str(option), "--prior")):
        word, _, number = line.rpartition(" ")
        try:
            numbers[word.strip()] = float(number)
        except ValueError:
            raise ParameterError(
                f"A line of {option} does not read  WORD NUMBER: --prior needs a number for each "
                "word"
            ) from None
    return numbers


def page_profile(
    mechanism: "Mechanism", lexicon: "MetricSpace", report: Path | None
) -> "Profile | None":
    """Return the figures by ε and by occurrences that a web page has; None for other reports."""
    from malaprop.cli.progress import bar
    from malaprop.measure.profile import profile_of
    from malaprop.report.written import is_page

    if not is_page(report):
        return None
    with bar("computing the figures of the page") as progress:
        return profile_of(mechanism, lexicon, progress=progress.to)


def finite(number: float) -> float | None:
    """Return a number as JSON can hold it: None for NaN and infinity."""
    return number if math.isfinite(number) else None


def _lines(path: str, flag: str) -> list[str]:
    file = Path(path)
    if not file.is_file():
        raise ParameterError(f"{flag} names a file that is not there: {path}")
    if file.stat().st_size > _LARGEST:
        raise ParameterError(f"{path} is too large for a list of words: {flag} takes up to 64 MB")
    try:
        return [line.strip() for line in file.read_text("utf-8").splitlines()]
    except UnicodeDecodeError:
        raise ParameterError(f"{path} is not text in UTF-8: {flag} needs a list of words") from None


Write = Callable[[dict[str, Any], "Callable[[], Page]"], None]
"""Writes a whole result: the object for JSON, and what makes the page."""


@contextmanager
def outputs(json_: str | None, report: Path | None, *, force: bool) -> Iterator[Write]:
    """Open the targets of --json and --report before any work; yield what writes both."""
    from malaprop.pipeline.outputs.staging import Staging

    with Staging() as stage:
        files = [stage.open(Path(json_), force=force)] if json_ not in (None, PIPE) else []
        page = None if report is None else stage.open(report, force=force)

        def write(value: dict[str, Any], made: "Callable[[], Page]") -> None:
            if json_ == PIPE:
                say_text(_text(value))
            for file in files:
                file.write(_text(value).encode())
            if page is not None and report is not None:
                from malaprop.report.written import rendered_page

                page.write(rendered_page(made(), value, report))

        yield write
        stage.complete()


def _text(value: dict[str, Any]) -> str:
    from malaprop.report.written import as_text

    return as_text(value, indent=1)
