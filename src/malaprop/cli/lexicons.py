"""`malaprop lexicon`: list, info, import, neighbours."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from malaprop.cli.audit import audit_lexicon
from malaprop.cli.graph import graph_lexicon
from malaprop.cli.help import App
from malaprop.cli.messages import console, say
from malaprop.cli.options import LexiconName
from malaprop.cli.train import train_poincare
from malaprop.core.errors import ParameterError, printable

if TYPE_CHECKING:
    from malaprop.lexicon.lexicon import Lexicon

app = App(help="List, inspect and import lexicons.")
app.command("train-poincare", short_help="Train vectors from IS-A relations.")(train_poincare)
app.command("audit", short_help="Find how large TEM's exponent may be.")(audit_lexicon)
app.command("graph", short_help="Build the graph of near words.")(graph_lexicon)
Name = Annotated[str, typer.Argument(metavar="NAME", help="A lexicon's name or file.")]


@app.command("list")
def list_() -> None:
    """List the embedded and the imported lexicons."""
    from rich.table import Table

    from malaprop.lexicon import catalogue, store

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("lexicon", "words", "dimensions", "metric", "where"):
        table.add_column(heading, justify="right" if heading in ("words", "dimensions") else "left")
    for where, folders in (("embedded", catalogue.embedded()), ("imported", catalogue.imported())):
        for name, folder in folders.items():
            about = store.load(folder).meta
            size = f"{about['count']:,}", str(about["dimension"])
            table.add_row(printable(name), *size, str(about["metric"]), where)
    console().print(table)


@app.command(short_help="Show a lexicon's size, scale, provenance and fingerprint.")
def info(name: Name) -> None:
    """Show a lexicon's size, scale, provenance and recomputed fingerprint."""
    from malaprop.lexicon import catalogue, store
    from malaprop.lexicon.lexicon import Lexicon
    from malaprop.measure.figures import nearest_distances

    lexicon = Lexicon.open(name)
    words, dimension = lexicon.vectors.shape
    say(f"lexicon      {lexicon.name or name}")
    say(f"words        {words:,}, the first of them: {', '.join(lexicon.words[:8])}")
    say(f"vectors      {dimension} dimensions, {lexicon.metric} metric")
    _print_fingerprints(lexicon)
    if words > 1:
        low, middle, high = nearest_distances(lexicon)
        say(
            f"scale        nearest word at {middle:.3g} (median; {low:.3g} to {high:.3g} for 9 in "
            f"10): at ε = {1 / middle:.2g}, the odds between such words change by at most e"
        )
    folder = catalogue.resolve(name)
    if folder.is_dir():
        about = store.load(folder).meta
        for file, digest in about["sources"].items():
            say(f"source       {file}, SHA-256 {digest}")
        say(f"licence      {about['licence'] or 'not stated'}")
        _print_repairs(about)


def _print_fingerprints(lexicon: "Lexicon") -> None:
    """Show the fingerprint, and that with the word graph, in the words of reports and audits."""
    from malaprop.core.errors import LexiconError
    from malaprop.core.metrics.graph import graph_of
    from malaprop.lexicon.graph.lookup import with_known_graph

    say(f"fingerprint  {lexicon.fingerprint}")
    if graph_of(lexicon.metric) is not None:
        say("             fingerprint with graph, of words, vectors and its own word graph")
        return
    say(
        f"             of words, vectors and {lexicon.metric} metric: reports and audits name it "
        '"fingerprint"'
    )
    try:
        graph = with_known_graph(lexicon).fingerprint
    except LexiconError:
        return  # balanced cannot be used either, and says why
    say(f"with graph   {graph}")
    say(
        "             of words, vectors and word graph: those of balanced name it "
        '"fingerprint with graph"'
    )


def _print_repairs(about: Mapping[str, Any]) -> None:
    for fault, repair in about["repairs"].items():
        first = ", ".join(map(str, repair["first"]))
        say(f"repaired     {fault}: {repair['count']:,}, first in {repair['unit']} {first}")


@app.command("import", short_help="Compile a file of word vectors into a lexicon.")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file of word vectors.")],
    name: Annotated[str, typer.Option(metavar="NAME", help="The name of the new lexicon.")],
    metric: Annotated[
        str,
        typer.Option(metavar="NAME", help="euclidean, angular, manhattan, chebyshev or poincare."),
    ] = "euclidean",
    vocabulary: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="For .npy and .safetensors: the words in order, one per line."
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", min=1, help="Import only the first NUMBER rows."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a lexicon of that name.")] = False,
) -> None:
    """Compile a file of word vectors into a lexicon that opens at once.

    It reads GloVe, word2vec and fastText text (also .gz and .zip), word2vec binary, and
    .npy and .safetensors with a vocabulary. It leaves out faulty rows and reports
    them.
    """
    from malaprop.cli.progress import bar
    from malaprop.core.metrics.named import as_metric
    from malaprop.lexicon import store
    from malaprop.lexicon.importer import import_lexicon

    known = str(as_metric(metric))
    with bar(f"importing {name}") as progress:
        report = import_lexicon(
            file,
            name,
            metric=known,
            vocabulary=vocabulary,
            limit=limit,
            force=force,
            progress=progress.to,
        )
    say(f"imported     {name}: {report.count:,} words × {report.dimension} dimensions")
    _print_repairs(store.load(report.folder).meta)


@app.command()
def neighbours(
    word: Annotated[str, typer.Argument(metavar="WORD", help="A word of the lexicon.")],
    lexicon: LexiconName = "english",
    count: Annotated[
        int, typer.Option("--count", "-k", metavar="NUMBER", min=1, help="How many words to list.")
    ] = 10,
) -> None:
    """List the words nearest to a word, with their distances."""
    from malaprop.lexicon.lexicon import Lexicon
    from malaprop.text import WordMap

    opened = Lexicon.open(lexicon)
    words = WordMap(opened.words)
    own = words.lookup(word)
    if own is None:
        near = opened.words[words.map(word)]
        raise ParameterError(f"That word is not in the lexicon. Did you mean {near!r}?")
    for other, distance in opened.neighbours(opened.words[own], count):
        say(f"{distance:9.4f}  {other}")
