"""The call behind `malaprop privatize`."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, Unpack

from malaprop.files.formats.file_format import Layout, OnError
from malaprop.files.plan import (
    Listener,
    RunProgress,
    check_names,
    check_piped,
    check_report,
    folder_for,
    ignore,
    plan_jobs,
)
from malaprop.files.run import Run
from malaprop.files.staging import Staging, check_output
from malaprop.files.workers import Recipe
from malaprop.lexicon.lexicon import Lexicon
from malaprop.privacy.errors import ParameterError
from malaprop.privacy.mechanism import Mechanism
from malaprop.private_files import OWNER_ONLY
from malaprop.recipe import chosen_mechanism
from malaprop.report.page import is_web_page, report_path
from malaprop.report.run_report import Clock, RunReport, rendered
from malaprop.text.policy import TextOptions, policy_with

if TYPE_CHECKING:
    from malaprop.measure.profile import Profile


# Files in, private files out: the call behind `malaprop privatize`.


StrPath = str | os.PathLike[str]


def privatize_files(
    inputs: StrPath | Sequence[StrPath],
    output: StrPath,
    *,
    epsilon: float | None = None,
    mechanism: Mechanism | str = "balanced",
    lexicon: Lexicon | str = "english",
    columns: Sequence[str] | None = None,
    format: str | None = None,  # noqa: A002  what everybody calls it
    document: Literal["line", "file"] = "line",
    delimiter: str | None = None,
    encoding: str = "utf-8",
    on_error: OnError = "fail",
    seed: int | None = None,
    workers: int | None = None,
    resume: bool = False,
    force: bool = False,
    report: StrPath | None = None,
    progress: Listener | None = None,
    command: str = "",
    **options: Unpack[TextOptions],
) -> RunReport:
    """Privatize files of text, and return the report of the run.

    Every word of the texts is replaced by one that the mechanism draws; everything else in the
    files stays as it is. An output appears under its name only when it is whole. A run that was
    stopped can be resumed: what was drawn for a text is kept, and never drawn again.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from malaprop import privatize_files
    >>> folder = Path(tempfile.mkdtemp())
    >>> vectors = folder / "tiny.vec"
    >>> _ = vectors.write_text("cold 0\\ncool 1\\nhot 9\\n")
    >>> notes = folder / "notes.csv"
    >>> _ = notes.write_text("id,note\\n007,cold\\n")
    >>> report = privatize_files(
    ...     notes, folder / "out.csv", columns=["note"],
    ...     mechanism="tem", epsilon=50.0, lexicon=str(vectors), workers=1,
    ... )
    >>> (folder / "out.csv").read_text()
    'id,note\\n007,Cold\\n'
    >>> report.counts["protected"], report.files[0].counts.other_columns
    (1, ('id',))

    Parameters:

    - `inputs`: a file or several; `"-"` is standard input. `output`: a file, or `"-"` for standard
      output; for several inputs, a folder.
    - `epsilon`: ε, the privacy loss per unit of distance. `mechanism`: the name of one, which takes
      that ε, or a mechanism with its parameters, which has its own.
    - `lexicon`: a lexicon, the name of one, or a file of word vectors.
    - `columns`: the columns that hold text; of JSON lines also `msg.text` or `turns[].text`. A
      format without columns takes none.
    - `format`: one of `malaprop.files.formats.FORMATS`; by default, what the input's name says.
    - `document`, `delimiter`, `encoding`, `on_error`: as for `malaprop.files.formats.Layout`.
    - `seed`: repeats a demonstration; the output is *not private*.
    - `workers`: the number of processes, by default one for each core.
    - `resume`: go on where an earlier run with the same parameters was stopped, if one was.
    - `force`: replace existing outputs.
    - `report`: a file for the report, `.json`, `.md` or `.html`, with keyed digests of inputs and
      outputs. A page of HTML also shows what an observer learns; that takes a minute on `english`.
    - `progress`: is called with each `malaprop.files.plan.RunProgress`, warnings included.
    - `command`: what the report states as the command that was given.
    - `options`: `unknown`, `punctuation` and whatever else `Privatizer` takes for texts.

    Raises ParameterError for parameters that do not fit, DataError for an input and OutputError
    for an output that cannot be read or written. No output is changed then; if draws were kept to
    be resumed, a note on the error says so.
    """
    recipe = Recipe(
        lexicon=lexicon,
        mechanism=chosen_mechanism(mechanism, epsilon),
        policy=policy_with(options, privatize_files),
        seed=_at_least(0, "seed", seed),
    )

    names = _names(columns)

    def layout(name: str) -> Layout:
        return Layout(
            format=name,
            columns=names,
            document=document,
            delimiter=delimiter,
            encoding=encoding,
            on_error=on_error,
        )

    clock, listener = Clock(command), progress or ignore
    sources, target = _paths(inputs), os.fspath(output)
    page = None if report is None else report_path(Path(report))
    check_piped(sources, format, names)
    with folder_for(sources, target):
        jobs = plan_jobs(sources, target, format, layout)
        check_report(page, jobs)
        check_names(jobs, page)
        if page is not None:  # a run that is resumed may find that there is nothing to write
            check_output(page, force=force or resume)
        with Run(
            jobs,
            recipe,
            clock,
            listener,
            workers=_at_least(1, "workers", workers),
            resume=resume,
            force=force,
            digests=page is not None,
        ) as run:
            with Staging() as stage:
                run.prepare(stage)
                file = open_report(stage, page if run.left else None, force=force)
                summary = run.complete()
                if file and page:
                    file.write(rendered(summary, page, _profile(recipe, page, listener)))
                run.seal(stage)
                listener(RunProgress(stage="naming"))
            run.conclude()
    return summary


def open_report(stage: Staging, report: Path | None, *, force: bool) -> BinaryIO | None:
    """Open the file of a report, for its owner alone: it tells more than the output."""
    return stage.open(report, force=force, limits=[OWNER_ONLY]) if report else None


def _profile(recipe: Recipe, page: Path, listener: Listener) -> "Profile | None":
    """Compute the figures that a web page shows; they depend on public data alone."""
    if not is_web_page(page):
        return None
    from malaprop.measure.profile import profile_of

    listener(RunProgress(stage="preparing", note="computing the figures of the page"))
    privatizer = recipe.privatizer()
    return profile_of(privatizer.mechanism, privatizer.lexicon)


def _paths(inputs: StrPath | Sequence[StrPath]) -> list[str]:
    several = [inputs] if isinstance(inputs, str | os.PathLike) else inputs
    paths = [os.fspath(path) for path in several]
    if not paths:
        raise ParameterError("privatize_files needs an input: name a file in `inputs`")
    return paths


def _names(columns: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of columns; None is no name."""
    if columns is None:
        return ()
    if isinstance(columns, str):
        raise ParameterError("columns must be a list of names, not one string")
    names = tuple(columns) if isinstance(columns, Iterable) else (columns,)
    for name in names:
        if not isinstance(name, str):
            raise ParameterError(
                f"columns must be a list of names, or None. Got {type(name).__name__}"
            )
    return names


def _at_least(least: int, name: str, value: int | None) -> int | None:
    if value is not None and value < least:
        raise ParameterError(f"{name} must be {least} or more, got {value}")
    return value


# The file of a report that appears only when the run has succeeded.


@contextmanager
def staged_report(path: Path | None, *, force: bool) -> Iterator[Callable[[RunReport], None]]:
    """Claim the file of a report; yield the function that writes it.

    The file gets its name when the context ends without an error. Without a path, the function
    does nothing.
    """
    with Staging() as stage:
        file = open_report(stage, path, force=force)

        def write(report: RunReport) -> None:
            if file and path:
                file.write(rendered(report, path))

        yield write
        stage.complete()
