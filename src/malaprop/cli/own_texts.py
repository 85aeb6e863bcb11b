"""Options and steps of the commands that measure on the owner's own texts."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from malaprop.cli.messages import say_text
from malaprop.cli.options import PIPE

if TYPE_CHECKING:
    from malaprop.jobs.labelled import Pair
    from malaprop.jobs.reading import Listener

TextFile = Annotated[
    str, typer.Argument(metavar="FILE", help="The file of texts, or - for standard input.")
]
Repeat = Annotated[
    Literal["fresh", "document"],
    typer.Option(
        metavar="fresh|document",
        help="A fresh draw for each word, or one draw for each distinct word of a text.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the files of --json and --report.")]


def read_pairs(
    file: str,
    columns: list[str],
    label: str | None,
    format_: str | None,
    encoding: str,
    progress: "Listener",
) -> "Iterator[Pair]":
    """Return the texts of a file with their labels, which are empty if no column is named."""
    from malaprop.jobs.labelled import read_labelled
    from malaprop.jobs.reading import read_texts

    common: Any = {"format": format_, "encoding": encoding, "progress": progress}
    if label is not None:
        return read_labelled(file, column="".join(columns[:1]), label=label, **common)
    return ((text, "") for text in read_texts([file], columns=columns, **common))


def write_for_owner(
    value: Mapping[str, Any],
    json_: str | None,
    pages: Callable[[], Mapping[Path, bytes]],
    *,
    force: bool,
) -> None:
    """Write a result and its pages to files that only their owner can read: all or none."""
    from malaprop.pipeline.outputs.access import OWNER_ONLY
    from malaprop.pipeline.outputs.staging import Staging
    from malaprop.report.written import as_text

    text = as_text(value, indent=1)
    files = dict(pages())
    if json_ not in (None, PIPE):
        files[Path(str(json_))] = text.encode()
    with Staging() as stage:
        for path, data in files.items():
            stage.open(path, force=force, limits=[OWNER_ONLY]).write(data)
    if json_ == PIPE:
        say_text(text)
