"""`malaprop evaluate`: privacy beside utility on the owner's own texts."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from malaprop.cli.measuring import PIPE, JsonFile
from malaprop.cli.options import DEFAULT, FormatName, LexiconName

if TYPE_CHECKING:
    from malaprop.core.mechanism import Mechanism
    from malaprop.lexicon.lexicon import Lexicon
    from malaprop.measure.evaluating.evaluation import Evaluation
    from malaprop.measure.evaluating.run import EvaluationProgress
    from malaprop.text import TextOptions

Labels = list[object] | None


def evaluate(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="The file of texts, or - for standard input.")
    ],
    column: Annotated[
        str | None, typer.Option("--column", "-c", metavar="NAME", help="The column of texts.")
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The column of labels: a classifier learns them from private texts.",
        ),
    ] = None,
    epsilon: Annotated[
        str,
        typer.Option("--epsilon", "-e", metavar="NUMBERS", help="Values of ε, such as 1,1.5,2."),
    ] = "1,1.5,2",
    mechanism: Annotated[
        str,
        typer.Option(
            "--mechanism",
            "-m",
            metavar="NAMES",
            help="Mechanisms, such as balanced,tem. Each is measured at each ε, unless it has its "
            "own, as in balanced,tem:4,tem:6.",
        ),
    ] = DEFAULT,
    lexicon: LexiconName = "english",
    most: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            help="The recommended setting lets no attack recover more than this share of words.",
        ),
    ] = 0.5,
    attack: Annotated[
        str | None,
        typer.Option(
            "--attacks",
            metavar="NAMES",
            help="Attacks, such as bayes,context; by default bayes, context and majority.",
        ),
    ] = None,
    classifier: Annotated[
        str,
        typer.Option("--classifiers", metavar="NAMES", help="Classifiers: centroids, ngrams."),
    ] = "centroids,ngrams",
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL",
            help="A bigram model for the attacks, as malaprop lm train writes it; by default the "
            "one that ships for english.",
        ),
    ] = None,
    sample: Annotated[
        int,
        typer.Option(metavar="NUMBER", min=1, help="How many texts to draw at random, at most."),
    ] = 2000,
    runs: Annotated[
        int,
        typer.Option(
            metavar="NUMBER", min=1, help="How many noise draws, each with a split of its own."
        ),
    ] = 5,
    repeat: Annotated[
        Literal["fresh", "document"],
        typer.Option(
            metavar="fresh|document",
            help="A fresh draw for each word, or one draw for each distinct word of a text.",
        ),
    ] = "fresh",
    format_: FormatName = None,
    encoding: Annotated[
        str, typer.Option(metavar="NAME", help="The encoding of text files.")
    ] = "utf-8",
    show: Annotated[
        int,
        typer.Option(
            metavar="NUMBER",
            min=0,
            help="Show this many of your texts beside what each setting makes of them.",
        ),
    ] = 0,
    json_: JsonFile = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a page: .html, or .md with a picture beside it."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite the files of --json and --report.")
    ] = False,
    fresh: Annotated[
        bool,
        typer.Option("--fresh", help="Measure again what an earlier run has measured."),
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", min=0, help="Repeat a measurement exactly."),
    ] = None,
) -> None:
    """Measure privacy beside utility on your own texts, and recommend a mechanism and its ε.

    Each setting is measured on a sample: the words kept, the similarity of words and of texts, how
    often a classifier is right that was trained on private texts, and what attacks recover. What
    bounds them stands beside: clean texts, random words, the most frequent class. The figures of
    each setting are kept in your state folder, without any text: after a stop, or with another ε,
    the same command measures what is missing. The figures are for you: do not publish them.
    """
    from malaprop.core.randomness import secure_rng, seeded_rng
    from malaprop.measure.evaluating.settings import EvaluationSettings, mechanisms_at, number
    from malaprop.report.evaluation.written import files_of

    made = mechanisms_at(_names(mechanism), [number(each) for each in _names(epsilon)])
    settings = EvaluationSettings(
        sample=sample,
        runs=runs,
        most=most,
        attacks=None if attack is None else tuple(_names(attack)),
        models=tuple(_names(classifier)),
        model=model,
    )
    _check_outputs(json_, () if report is None else files_of(report), file, force=force)
    if label is not None:
        from malaprop.measure.tasks.models import require_sklearn

        require_sklearn()
    texts, labels = _read(file, column, label, format_, encoding)
    opened = _opened(lexicon)
    options: TextOptions = {"repeat": repeat}
    result = _measured(
        texts,
        labels,
        made,
        opened,
        settings,
        options,
        fresh=fresh,
        rng=secure_rng() if seed is None else seeded_rng(seed),
    )
    if json_ != PIPE:
        _print(result)
    if show:
        _show(texts, made, opened, options, show)
    _write(result, json_, report, force=force)


def _names(listed: str) -> list[str]:
    return [name.strip() for name in listed.split(",") if name.strip()]


def _opened(name: str) -> "Lexicon":
    from malaprop.cli.progress import working
    from malaprop.lexicon.lexicon import Lexicon

    with working(f"opening {name}"):
        return Lexicon.open(name)


def _read(
    file: str, column: str | None, label: str | None, format_: str | None, encoding: str
) -> tuple[list[str], Labels]:
    """Return all texts of the file, with their labels if a column of labels is named."""
    from malaprop.cli.progress import bar
    from malaprop.core.errors import ParameterError
    from malaprop.jobs.labelled import read_labelled
    from malaprop.jobs.reading import read_texts

    with bar("reading the texts") as progress:
        if label is None:
            columns = [] if column is None else [column]
            texts = read_texts(
                [file], columns=columns, format=format_, encoding=encoding, progress=progress.to
            )
            return list(texts), None
        if column is None:
            raise ParameterError("--label needs the column of texts beside it: name it in --column")
        pairs = list(
            read_labelled(
                file,
                column=column,
                label=label,
                format=format_,
                encoding=encoding,
                progress=progress.to,
            )
        )
        return [text for text, _ in pairs], [value for _, value in pairs]


def _measured(
    texts: list[str],
    labels: Labels,
    made: "Sequence[Mechanism]",
    lexicon: "Lexicon",
    settings: object,
    options: "TextOptions",
    *,
    fresh: bool,
    rng: object,
) -> "Evaluation":
    """Measure all settings; show how far it is, and how long it will take."""
    from typing import Any

    from malaprop.cli.messages import warn
    from malaprop.cli.progress import bar
    from malaprop.core.errors import SecretError
    from malaprop.measure import evaluate as measure
    from malaprop.pipeline.outputs.keys import subkey

    try:
        subkey("evaluate")
        resume = True
    except SecretError as error:
        warn(f"figures are not kept for another run: {error}")
        resume = False
    with bar("evaluating") as shown:

        def listen(progress: "EvaluationProgress") -> None:
            if progress.seconds is not None:
                shown.say(_estimate(progress.seconds))
            shown.to(progress.done, progress.total, progress.note)

        arguments: Any = {"settings": settings, "rng": rng, **options}
        result = measure(
            texts,
            labels,
            mechanisms=made,
            lexicon=lexicon,
            resume=resume,
            fresh=fresh,
            progress=listen,
            **arguments,
        )
    if result.earlier:
        typer.echo(
            f"{result.earlier} of {len(result.cells)} settings were measured by an earlier run: "
            "--fresh measures them again",
            err=True,
        )
    return result


def _estimate(seconds: float) -> str:
    long = f"{seconds:.0f} seconds" if seconds < 100 else f"{seconds / 60:.0f} minutes"
    return f"about {long} more, going by the first setting; what is measured is kept if you stop it"


def _print(result: "Evaluation") -> None:
    from shutil import get_terminal_size

    from malaprop.report.evaluation.terminal import readable

    typer.echo(readable(result, get_terminal_size().columns), nl=False)


def _show(
    texts: list[str],
    made: "Sequence[Mechanism]",
    lexicon: "Lexicon",
    options: "TextOptions",
    number: int,
) -> None:
    """Show some texts beside what each setting makes of them, on stderr: nothing else has text."""
    from malaprop.lexicon.graph.lookup import with_graph_if_needed
    from malaprop.pipeline.privatizer import Privatizer

    chosen = [" ".join(text.split()) for text in texts if text.strip()][:number]
    private = [
        Privatizer(with_graph_if_needed(lexicon, each), each, **options).texts(chosen)
        for each in made
    ]
    typer.echo("\nYour own texts, and what each setting makes of them:", err=True)
    for place, text in enumerate(chosen):
        typer.echo(f"\n{'your text':<22}{_printable(text)}", err=True)
        for mechanism, lines in zip(made, private, strict=True):
            title = f"{mechanism.name}, ε = {mechanism.epsilon:g}"
            typer.echo(f"{title:<22}{_printable(lines[place])}", err=True)


def _printable(text: str) -> str:
    return "".join(sign if sign.isprintable() else " " for sign in text)


def _check_outputs(json_: str | None, pages: tuple[Path, ...], file: str, *, force: bool) -> None:
    """Refuse outputs that cannot be written, before any work."""
    from malaprop.core.errors import OutputError, ParameterError

    paths = [*pages, *([Path(json_)] if json_ not in (None, PIPE) else [])]
    if len(set(paths)) < len(paths):
        raise ParameterError("--json and --report name the same file: name another one")
    for path in paths:
        if file != PIPE and path.exists() and Path(file).exists() and path.samefile(file):
            raise ParameterError(f"{path} is the input: name another file")
        if not path.parent.is_dir():
            raise OutputError(f"there is no folder {path.parent}: create it first")
        if os.path.lexists(path) and not force:
            raise OutputError(f"{path} already exists: use --force to overwrite it")


def _write(result: "Evaluation", json_: str | None, report: Path | None, *, force: bool) -> None:
    """Write the result to files that only their owner can read; all of them or none."""
    import json

    from malaprop.pipeline.outputs.access import OWNER_ONLY
    from malaprop.pipeline.outputs.staging import Staging
    from malaprop.report.evaluation.written import rendered

    text = json.dumps(result.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
    files = {} if report is None else rendered(result, report)
    if json_ not in (None, PIPE):
        files[Path(str(json_))] = f"{text}\n".encode()
    with Staging() as stage:
        for path, data in files.items():
            stage.open(path, force=force, limits=[OWNER_ONLY]).write(data)
    if json_ == PIPE:
        typer.echo(text)
