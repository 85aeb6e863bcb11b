"""`malaprop attack`: how many words of the owner's own texts an observer recovers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from malaprop.cli.options import (
    DEFAULT,
    PIPE,
    Epsilon,
    FormatName,
    LexiconName,
    MechanismName,
    Parameters,
    make_mechanism,
    open_lexicon,
)

if TYPE_CHECKING:
    from malaprop.jobs.reading import Listener
    from malaprop.measure import AttackResult


def attack(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="bayes, context, majority or frequency."),
    ],
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="The file of texts, or - for standard input.")
    ],
    epsilon: Epsilon,
    mechanism: MechanismName = DEFAULT,
    param: Parameters = None,
    lexicon: LexiconName = "english",
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column", "-c", metavar="NAME", help="A column that holds text; may be repeated."
        ),
    ] = None,
    format_: FormatName = None,
    encoding: Annotated[
        str, typer.Option(metavar="NAME", help="The encoding of text files.")
    ] = "utf-8",
    repeat: Annotated[
        Literal["fresh", "document"],
        typer.Option(
            metavar="fresh|document",
            help="A fresh draw for each word, or one draw for each distinct word of a text.",
        ),
    ] = "fresh",
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL",
            help="A bigram model, as malaprop lm train writes it; by default the one that ships "
            "for english.",
        ),
    ] = None,
    sample: Annotated[
        int,
        typer.Option(
            metavar="NUMBER", min=1, help="How many texts to attack at most, drawn at random."
        ),
    ] = 2000,
    draws: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            min=1,
            help="How many words to draw to estimate a mechanism without a known law, such as "
            "laplace; by default 50,000.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", min=0, help="Repeat a measurement exactly."),
    ] = None,
    json_: Annotated[
        str | None,
        typer.Option("--json", metavar="FILE", help="Write the result as JSON; - is stdout."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file of --json.")] = False,
) -> None:
    """Privatize texts, attack the result, and show the share of words that was recovered.

    The observer knows everything public: mechanism, parameters, lexicon, and a model of public
    text. bayes looks at each word alone, context at the words around it, majority at all draws of
    the same word of a text, frequency at how often a word occurs where one draw is reused. The
    private texts are discarded. The figures are for you: do not publish them.
    """
    from malaprop.cli.progress import bar, working
    from malaprop.core.randomness import secure_rng, seeded_rng
    from malaprop.measure import attack as run_attack
    from malaprop.measure.attacking.base import attack_named
    from malaprop.pipeline.privatizer import Privatizer

    attack_named(name)
    _check_output(json_, file, force=force)
    made = make_mechanism(mechanism, epsilon, param)
    with bar("reading the texts") as progress:
        texts = _sampled(file, column, format_, encoding, sample, seed, progress.to)
    with working(f"preparing {mechanism} on {lexicon}"):
        privatizer = Privatizer(
            open_lexicon(lexicon, made),
            made,
            repeat=repeat,
            rng=None if seed is None else seeded_rng(seed),
        )
    options: dict[str, Any] = {"model": model, "draws": draws}
    with bar(f"attacking {len(texts):,} texts") as progress:
        result = run_attack(
            name,
            privatizer,
            texts,
            rng=secure_rng() if seed is None else seeded_rng(seed),
            progress=progress.to,
            **{key: value for key, value in options.items() if value is not None},
        )
    if json_ != PIPE:
        typer.echo(str(result))
    if json_ is not None:
        _write(result, json_, force=force)


def _sampled(
    file: str,
    column: list[str] | None,
    format_: str | None,
    encoding: str,
    sample: int,
    seed: int | None,
    progress: "Listener",
) -> list[str]:
    """Return the texts of a file that have something in them, or as many of them as are wanted."""
    from malaprop.core.errors import DataError
    from malaprop.core.randomness import secure_rng, seeded_rng
    from malaprop.jobs.reading import read_texts

    rng = secure_rng() if seed is None else seeded_rng(seed)
    chosen: list[str] = []
    texts = read_texts(
        [file],
        columns=column or (),
        format=format_,
        encoding=encoding,
        progress=progress,
    )
    for seen, text in enumerate(filter(str.strip, texts), 1):
        if len(chosen) < sample:
            chosen.append(text)
        elif (place := int(rng.integers(seen))) < sample:  # each text with the same chance
            chosen[place] = text
    if not chosen:
        raise DataError("the file has no texts to attack")
    return chosen


def _check_output(json_: str | None, file: str, *, force: bool) -> None:
    """Refuse an output that cannot be written, before any work."""
    import os

    from malaprop.core.errors import OutputError, ParameterError

    if json_ in (None, PIPE):
        return
    path = Path(str(json_))
    if file != PIPE and os.path.exists(path) and os.path.exists(file) and path.samefile(file):
        raise ParameterError("--json names the input: name another file")
    if os.path.lexists(path) and not force:
        raise OutputError(f"{path} already exists: use --force to overwrite it")


def _write(result: "AttackResult", json_: str, *, force: bool) -> None:
    """Write the result as JSON: to stdout, or to a file that only its owner can read."""
    import json

    from malaprop.pipeline.outputs.access import OWNER_ONLY
    from malaprop.pipeline.outputs.staging import Staging

    text = json.dumps(result.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
    if json_ == PIPE:
        typer.echo(text)
        return
    with Staging() as stage:
        stage.open(Path(json_), force=force, limits=[OWNER_ONLY]).write(f"{text}\n".encode())
