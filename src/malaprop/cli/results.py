"""What a measuring command writes: JSON, a page, the terminal."""

import gzip
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Literal

from malaprop.cli.options import PIPE, argument, option
from malaprop.cli.terminal import check_ending, rendered, say, say_text
from malaprop.privacy.errors import ParameterError

if TYPE_CHECKING:
    from malaprop.files.texts import Listener, Pair
    from malaprop.measure.profile import Profile
    from malaprop.privacy.mechanism import Mechanism
    from malaprop.privacy.metrics import MetricSpace
    from malaprop.report.page import Page


JsonFile = Annotated[
    str | None,
    option(
        "--json FILE",
        "Write the result as JSON to this file, or to standard output (-) instead of a table.",
    ),
]
ReportFile = Annotated[
    Path | None,
    option(
        "--report FILE",
        "Write a page with the result, the method and what it does not say: as a web page "
        "(.html), Markdown (.md) or JSON (.json).",
        callback=check_ending(),
    ),
]
PlottedReport = Annotated[
    Path | None,
    option(
        "--report FILE",
        "Write a page: .html, or .md with its plots beside it.",
        callback=check_ending(".md", ".html"),
    ),
]
Force = Annotated[bool, option("--force", "Overwrite the files of --json and --report.")]
Words = Annotated[
    str | None,
    option(
        "--words FILE|NUMBER|all",
        "The words to measure: a file with one word per line, a number of words, spread evenly "
        "over the lexicon, or all; by default all, or 1,000 of more than 10,000.",
    ),
]
WordCount = Annotated[
    str | None,
    option(
        "--words FILE|NUMBER|all",
        "The words to measure: a file with one word per line, a number of words, spread evenly "
        "over the lexicon, or all; by default all, or 256 of more than 10,000. With "
        "--lambda-grid, 256 at most by default.",
    ),
]
AuditedWords = Annotated[
    str | None,
    option(
        "--words FILE|NUMBER|all",
        "The words to audit, with their nearest words: a file with one word per line, a number of "
        "words drawn at random, or all (default). Up to 500 words, with --sampled any number. A "
        "sample can show that a guarantee is false, never that it holds.",
    ),
]
Prior = Annotated[
    str | None,
    option(
        "--prior uniform|frequency|FILE",
        "What the observer believes before: all words equally likely (default), by public word "
        "frequency (counts of the web for English words), or a file of lines  WORD NUMBER.",
    ),
]
_LARGEST = 1 << 26  # bytes of a file of words


Chosen = Callable[["MetricSpace"], list[str] | int | None]
"""Returns words of a lexicon, or how many; refuses words that it lacks."""


def given_words(option: str | None, *, least: int = 1, most: int | None = None) -> Chosen:
    """Read what --words names, before a lexicon is opened; refuse fewer or more words than that."""
    if option is None:
        return lambda lexicon: None
    if option == "all":
        return len
    if option.isdecimal():
        _check_count(int(option), least, most)
        return lambda lexicon: int(option)
    lines = {number: line for number, line in enumerate(_lines(option, "--words"), 1) if line}
    _check_count(len(set(lines.values())), 1, most)

    def words(lexicon: "MetricSpace") -> list[str]:
        known = set(lexicon.words)
        for number, line in lines.items():
            if line not in known:  # by its number: the file may be the user's text
                raise ParameterError(
                    f"Line {number:,} of {option} is not a word of the lexicon: --words needs one "
                    "word of it per line"
                )
        return list(lines.values())

    return words


def drawn_words(chosen: list[str] | int | None, lexicon: "MetricSpace") -> list[str] | None:
    """Return words, a number of them drawn at random; None for all."""
    if not isinstance(chosen, int):
        return chosen
    if chosen >= len(lexicon):
        return None
    from malaprop.privacy.randomness import secure_rng

    return [lexicon.words[i] for i in secure_rng().choice(len(lexicon), chosen, replace=False)]


def _check_count(number: int, least: int, most: int | None) -> None:
    if number < least:
        words = "1 word" if least == 1 else f"{least} words"
        raise ParameterError(f"--words needs {words} or more. Got {number}")
    if most is not None and number > most:
        raise ParameterError(f"--words takes up to {most} words, or all. Got {number:,}")


def prior_of(option: str | None) -> str | dict[str, float] | None:
    if option in (None, "uniform"):
        return None
    if option == "frequency":
        return option
    numbers = {}
    for line in filter(None, _lines(str(option), "--prior")):
        word, _, number = line.rpartition(" ")
        try:
            weight = float(number)
        except ValueError:
            weight = math.nan
        if not 0.0 <= weight < math.inf:
            raise ParameterError(
                f"A line of {option} does not read  WORD NUMBER: --prior needs a number of 0 or "
                "more for each word"
            )
        numbers[word.strip()] = weight
    return numbers


def page_profile(
    mechanism: "Mechanism", lexicon: "MetricSpace", report: Path | None
) -> "Profile | None":
    """Return the figures by ε and by occurrences that a web page has; None for other reports."""
    from malaprop.cli.terminal import bar
    from malaprop.measure.profile import profile_of
    from malaprop.report.page import is_web_page

    if not is_web_page(report):
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


Write = Callable[..., None]
"""Writes a whole result: an object for JSON, or lines of it, and the page.

The terminal shows the page, or a third argument in its place, or the JSON. `tables` are texts
for further files, which are among those that `outputs` was called with. A name that ends in `.gz`
is written so.
"""


@contextmanager
def outputs(
    json_: str | None,
    report: Path | None,
    *beside: Path,
    force: bool,
    source: str | None = None,
    plots: bool = False,
) -> Iterator[Write]:
    """Open the files of --json and --report before any work; yield what writes both, or none.

    `source` is the input: if there is one, only its owner can read the files. `plots` says that
    Markdown has its plots in files of their own, such as those `beside` it.
    """
    from malaprop.files.staging import Staging, check_output
    from malaprop.private_files import OWNER_ONLY
    from malaprop.report.page import json_text, page_file, page_files

    own = [] if json_ in (None, PIPE) else [Path(str(json_))]
    paths = [*own, *([] if report is None else [report])]
    checked = [*paths, *beside]
    if len(set(map(os.path.abspath, checked))) < len(checked):
        raise ParameterError("--json and --report name the same file: name another one")
    for path in checked:
        if source and path.exists() and Path(source).exists() and path.samefile(source):
            raise ParameterError(f"{path} is the input: name another file")
        check_output(path, force=force)
    shown: list[str] = []
    left_out: list[str] = []
    with Staging() as stage:

        def opened(path: Path) -> BinaryIO:
            return stage.open(path, force=force, limits=[OWNER_ONLY] if source else [])

        files = {path: opened(path) for path in paths}

        def write(
            value: Mapping[str, Any] | str,
            page: "Page",
            text: str = "",
            tables: Mapping[Path, str] | None = None,
        ) -> None:
            lines = value if isinstance(value, str) else json_text(value, indent=1)
            pages = dict.fromkeys(own, lines.encode())
            pages |= {path: content.encode() for path, content in (tables or {}).items()}
            if report is not None and plots:
                pages |= page_files(page, report)
            elif report is not None and not isinstance(value, str):
                pages[report] = page_file(page, report, value)
            for path, content in pages.items():
                packed = gzip.compress(content, mtime=0) if path.suffix == ".gz" else content
                (files.get(path) or opened(path)).write(packed)
            shown.append(lines if json_ == PIPE else text or rendered(page))
            left_out.extend(each.title for each in page.sections if not each.on_terminal)

        yield write
        stage.complete()
    say_text("".join(shown))
    if left_out and report is None and json_ != PIPE and sys.stdout.isatty():
        say(f"With --report FILE, a page also has: {', '.join(left_out)}.", err=True)


TextFile = Annotated[str, argument("FILE", "The file of texts, or - for standard input.")]
Repeat = Annotated[
    Literal["fresh", "document"],
    option(
        "fresh|document",
        "A fresh draw for each word, or one draw for each distinct word of a text.",
    ),
]


def read_pairs(
    file: str,
    columns: list[str],
    label: str | None,
    format_: str | None,
    encoding: str,
    progress: "Listener",
) -> "Iterator[Pair]":
    """Return the texts of a file with their labels, which are empty if no column is named."""
    from malaprop.files.texts import read_labelled, read_texts

    common: Any = {"format": format_, "encoding": encoding, "progress": progress}
    if label is not None:
        return read_labelled(file, column="".join(columns[:1]), label=label, **common)
    return ((text, "") for text in read_texts([file], columns=columns, **common))
