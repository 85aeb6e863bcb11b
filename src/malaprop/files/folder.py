"""A folder of files: which of them are taken, and where their outputs go."""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Final

from malaprop.files.formats.file_format import Layout, format_named, registry, way_out
from malaprop.files.run import PIPE, TextJob
from malaprop.privacy.errors import DataError, OutputError, ParameterError
from malaprop.private_files import Access, make_folder
from malaprop.report.run_report import FolderFacts, LeftOut, reasons_of

AT_ONCE: Final = 128
"""How many outputs get their names together: each is an open file until then."""
LINK: Final = "a link, which is not followed"
HIDDEN: Final = "hidden"
OTHER: Final = "neither a file nor a folder"
UNKNOWN: Final = "of unknown format"
UNMATCHED: Final = "not matched by the pattern"


@dataclass(frozen=True, kw_only=True)
class FolderPlan:
    """The jobs of a folder, file by file, and what is left out."""

    source: Path
    target: Path
    jobs: tuple[TextJob, ...]
    left_out: tuple[LeftOut, ...]

    def check_free(self) -> None:
        """Refuse outputs that exist already, before any is made."""
        taken = [job.target for job in self.jobs if os.path.lexists(job.target)]
        if taken:
            raise OutputError(
                f"{len(taken):,} of the outputs exist already, such as {taken[0]}: choose another "
                "folder, or replace them with `force=True`; `resume=True` goes on with a run that "
                "was stopped"
            )

    @property
    def facts(self) -> FolderFacts:
        """What a report says about the folder."""
        return FolderFacts(str(self.source), str(self.target), self.left_out)

    @contextmanager
    def folders(self) -> Iterator[None]:
        """Make the folders of the outputs; remove those that stay empty."""
        with ExitStack() as made:
            for folder in sorted({self.target, *(Path(job.target).parent for job in self.jobs)}):
                missing = [each for each in (folder, *folder.parents) if not each.exists()]
                for each in reversed(missing):
                    self._make(each)
                    made.callback(_remove_empty, each)
            yield

    def _make(self, folder: Path) -> None:
        """Make a folder with the permissions of the one that it stands for, or fewer."""
        with suppress(ValueError):  # one that is above the target
            own = self.source / folder.relative_to(self.target)
            make_folder(folder, [Access.of(own.stat())])
            return
        raise OutputError(f"there is no folder {self.target.parent}: create it first")


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def parts_of(jobs: Sequence[TextJob]) -> Iterator[tuple[int, Sequence[TextJob]]]:
    """Yield jobs whose outputs get their names together, and the number of the first one."""
    for start in range(0, len(jobs), AT_ONCE):
        yield start, jobs[start : start + AT_ONCE]


def is_folder(inputs: Sequence[str]) -> bool:
    """Whether the input is one folder."""
    return len(inputs) == 1 and inputs[0] != PIPE and Path(inputs[0]).is_dir()


def check_page(page: Path | None, plan: FolderPlan) -> None:
    """Refuse a report in the input, which is read again, or in the output, which is passed on."""
    if page is None:
        return
    for kind, folder in (("input", plan.source), ("output", plan.target)):
        if Path(os.path.realpath(folder)) in Path(os.path.realpath(page)).parents:
            raise ParameterError(
                f"the report cannot go to {page}, which is in the {kind} folder: name another file "
                "with `report`"
            )


def plan_folder(
    source: str,
    output: str,
    pattern: str | None,
    format_: str | None,
    layout: "partial[Layout]",
) -> FolderPlan:
    """Find the files of a folder, and plan a job for each; `layout` lacks the format alone."""
    folder, target = Path(source), Path(output)
    _check_places(folder, output)
    if format_ and pattern is None:
        raise ParameterError(
            "the format of all files of a folder is named: say of which ones, with `glob`, such as "
            '`glob="*.log"`'
        )
    jobs, left_out = [], []
    for path, reason in _walk(folder):
        name = path.relative_to(folder).as_posix()
        if not reason and pattern is not None and not _matches(name, pattern):
            reason = UNMATCHED
        known = format_ or format_named(path)
        if not reason and known is None:
            hint = way_out(path)
            reason = f"{path.suffix.lower()}: {hint}" if hint else UNKNOWN
        if reason or known is None:
            left_out.append(LeftOut(path.as_posix(), reason))
            continue
        if not os.access(path, os.R_OK):
            raise DataError(f"{path} cannot be read: you lack the permission")
        made = _fitted(layout, known, path)
        jobs.append(TextJob(str(path), str(target / path.relative_to(folder)), made))
    _check_columns(jobs, layout)
    if not jobs and not left_out:
        raise ParameterError(f"the folder {folder} holds no files")
    if not jobs:
        raise ParameterError(
            f"no file in {folder} is taken, of {len(left_out):,}: {reasons_of(left_out)}"
        )
    return FolderPlan(source=folder, target=target, jobs=tuple(jobs), left_out=tuple(left_out))


def _check_places(folder: Path, output: str) -> None:
    """Refuse an output that is no folder, or one that holds the input or lies in it."""
    if output == PIPE:
        raise ParameterError("a folder needs a folder as its output: a pipe carries one file")
    if Path(output).exists() and not Path(output).is_dir():
        raise OutputError(f"{output} is a file: a folder needs a folder as its output")
    if not Path(output).exists() and format_named(output):
        raise ParameterError(
            f"{folder} is a folder, and {output} sounds like a file: name a folder with `output`"
        )
    real, there = Path(os.path.realpath(folder)), Path(os.path.realpath(output))
    if real == there or real in there.parents or there in real.parents:
        raise ParameterError(
            f"{output} is the input, or one of them lies in the other: choose another folder with "
            "`output`"
        )


def _walk(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield what is in a folder, in order, with the reason why it is left out, if it is."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        raise DataError(f"the folder {folder} cannot be read: {error.strerror}") from None
    for entry in entries:
        path = folder / entry.name
        if entry.is_symlink():
            yield path, LINK
        elif entry.name.startswith("."):
            yield path, HIDDEN
        elif entry.is_dir(follow_symlinks=False):
            yield from _walk(path)
        else:
            regular = stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode)
            yield path, "" if regular else OTHER


def _matches(name: str, pattern: str) -> bool:
    """Whether a pattern matches a file's name, or its path if there is a slash in it."""
    return fnmatchcase(name if "/" in pattern else name.rsplit("/", 1)[-1], pattern)


def _fitted(layout: "partial[Layout]", format_: str, path: Path) -> Layout:
    """Return the layout of a file, without what is for files of other formats."""
    options = dict(layout.keywords)
    kind = registry.get(format_)
    if kind is not None and not kind.has_columns:
        options["columns"] = ()
    elif kind is not None:
        options["document"] = "line"
        if not options["columns"]:
            raise ParameterError(
                f"{path} is {format_}, of which the columns to privatize must be named: name them "
                "with `columns`, or leave such files out with `glob`"
            )
    if kind is not None and not kind.separator:
        options["delimiter"] = None
    return Layout(format=format_, **options)


def _check_columns(jobs: Sequence[TextJob], layout: "partial[Layout]") -> None:
    if layout.keywords["columns"] and not any(job.layout.columns for job in jobs):
        raise ParameterError("none of the files that are taken has columns: leave out `columns`")
