"""`malaprop release` and `malaprop embed`: private vectors from vectors, and from texts."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from malaprop.cli import options as cli
from malaprop.cli.options import argument, option
from malaprop.cli.terminal import Display, check_ending, command_line, say, show_report, warn

if TYPE_CHECKING:
    from malaprop.report.vector_report import VectorReport

_DEFAULT = "priv-emb"

_Epsilon = Annotated[
    str,
    option(
        "--epsilon -e NUMBER",
        "ε, the privacy loss per unit of distance: smaller is more private. It depends on how far "
        "apart the vectors are: malaprop calibrate --vectors finds one.",
    ),
]
_Mechanism = Annotated[
    str,
    option(
        "--mechanism -m NAME",
        "What adds noise to vectors: priv-emb, laplace, mahalanobis or another one.",
    ),
]
_Public = Annotated[
    str | None,
    option(
        "FILE",
        "Vectors of the same kind that everybody may know: for mechanisms that follow a cloud of "
        "vectors, and to say how the noise compares with them.",
    ),
]
_Scale = Annotated[
    float | None,
    option(
        "NUMBER",
        "A typical distance of two vectors, above 0, to say how the noise compares with it.",
    ),
]
_Report = Annotated[
    Path | None,
    option(
        "FILE",
        "Write the report to this file, with keyed digests of input and output: as JSON (.json), "
        "Markdown (.md) or a web page (.html).",
        callback=check_ending(),
    ),
]


def release(
    context: typer.Context,
    source: Annotated[
        str, argument("INPUT", "A file of vectors: .npy, .npz, .safetensors, .txt, .vec, .parquet.")
    ],
    epsilon: _Epsilon,
    output: Annotated[str, option("--output -o OUTPUT", "The output file, of the same format.")],
    mechanism: _Mechanism = _DEFAULT,
    param: cli.Parameters = None,
    column: Annotated[
        str | None,
        option(
            "--column -c NAME",
            "The array of an archive, or the column of a table, if there are several.",
        ),
    ] = None,
    public: _Public = None,
    scale: _Scale = None,
    report: _Report = None,
    seed: cli.Seed = None,
    resume: cli.Resume = False,
    force: cli.Force = False,
    verbose: cli.Verbose = False,
    quiet: cli.Quiet = False,
) -> None:
    """Release vectors of words, sentences or documents, each with noise of its own.

    Words in a text file and other columns of a table stay as they are; other arrays of an archive
    are left out. The output gets its name only when it is complete. Resume an interrupted run with
    --resume. It warns if the noise is far longer, or far shorter, than the distances of --scale or
    --public.
    """
    from malaprop.files.release_vectors import release_files

    with Display() as display:
        summary = release_files(
            source,
            output,
            mechanism=cli.make_mechanism(mechanism, epsilon, param),
            column=column,
            public=public,
            scale=scale,
            seed=seed,
            resume=resume,
            force=force,
            report=report,
            progress=display,
            command=command_line(context),
        )
    _show(summary, report, verbose=verbose, quiet=quiet)


def embed(
    context: typer.Context,
    source: Annotated[
        str, argument("INPUT", "A file of texts: .txt, .csv, .tsv, .jsonl, .parquet.")
    ],
    epsilon: _Epsilon,
    output: Annotated[
        str,
        option(
            "--output -o OUTPUT",
            "The output file, a matrix with a row for each text: .npy, .npz or .safetensors.",
        ),
    ],
    mechanism: _Mechanism = _DEFAULT,
    param: cli.Parameters = None,
    lexicon: cli.LexiconName = "english",
    column: Annotated[
        str | None, option("--column -c NAME", "The column that holds the texts.")
    ] = None,
    format_: cli.FormatName = None,
    encoding: cli.Encoding = "utf-8",
    public: _Public = None,
    scale: _Scale = None,
    report: _Report = None,
    seed: cli.Seed = None,
    resume: cli.Resume = False,
    force: cli.Force = False,
    verbose: cli.Verbose = False,
    quiet: cli.Quiet = False,
) -> None:
    """Turn each text into one private vector: the centroid of its words' vectors, with noise.

    The guarantee is between any two texts, by the distance of their centroids. Two texts of n
    words that differ in one of them are d/n apart, d being the distance of the two words. How many
    texts there are, and in which order, is not hidden. Resume an interrupted run with --resume.
    """
    from malaprop.files.release_vectors import embed_files

    with Display() as display:
        summary = embed_files(
            source,
            output,
            mechanism=cli.make_mechanism(mechanism, epsilon, param),
            lexicon=lexicon,
            column=column,
            format=format_,
            encoding=encoding,
            public=public,
            scale=scale,
            seed=seed,
            resume=resume,
            force=force,
            report=report,
            progress=display,
            command=command_line(context),
        )
    _show(summary, report, verbose=verbose, quiet=quiet)


def _show(summary: "VectorReport", page: Path | None, *, verbose: bool, quiet: bool) -> None:
    if not summary.already:
        show_report(summary, page, verbose=verbose, quiet=quiet)
        return
    if not quiet:
        say(f"{summary.output} is complete already: there is nothing to resume.", err=True)
    if page:
        warn(f"nothing was done, so no report was written to {page}")
