"""`malaprop attack`: what an observer recovers from the owner's own texts."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from malaprop.cli.measuring import ReportFile
from malaprop.cli.messages import command_line
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
    from malaprop.report.measured.common import Setting

Item = TypeVar("Item")


def attack(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="On words: bayes, context, majority or frequency. On labels: authorship, "
            "attribute or membership. On vectors: inversion or float.",
        ),
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
    label: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="For authorship, attribute and membership: the column of the author or of "
            "another label.",
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
        str | None,
        typer.Option(
            metavar="MODEL",
            help="For attacks on words, a bigram model, as malaprop lm train writes it; by default "
            "the one that ships for english. For authorship, koppel (default) or regression.",
        ),
    ] = None,
    adaptive: Annotated[
        bool,
        typer.Option(
            "--adaptive",
            help="The attacker trains on private text, not on clean text; on words, learns from it "
            "how frequent words are.",
        ),
    ] = False,
    no_punctuation: Annotated[
        bool,
        typer.Option(
            "--no-punctuation", help="For attacks on labels: the attacker ignores punctuation."
        ),
    ] = False,
    repeats: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            min=1,
            help="For attacks on labels: how many random splits, each with noise of its own; by "
            "default 5.",
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
    report: ReportFile = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite the files of --json and --report.")
    ] = False,
) -> None:
    """Privatize texts, attack the result, and show how far the attack got.

    The observer knows everything public: mechanism, parameters, lexicon, and public text.

    On words: bayes looks at each word alone, context at the words around it, majority at all draws
    of the same word of a text, frequency at how often a word occurs where one draw is reused.

    On labels: authorship infers who wrote a text, attribute any other label, membership which texts
    a classifier was trained on. They need --label and  pip install 'malaprop[evaluate]'.

    On vectors: inversion takes the nearest word to a released vector, float looks at its last bits.

    The private texts are discarded. The figures are for you: do not publish them.
    """
    from malaprop.cli.progress import bar, working
    from malaprop.core.randomness import secure_rng, seeded_rng
    from malaprop.jobs.labelled import read_labelled
    from malaprop.measure import attack as run_attack
    from malaprop.measure.attacking.base import attack_named
    from malaprop.pipeline.privatizer import Privatizer
    from malaprop.pipeline.report import Clock
    from malaprop.report.measured.common import Setting

    clock = Clock(command_line(context))
    _check_label(attack_named(name).on, name, column, label)
    for flag, target in (("--json", json_), ("--report", report)):
        _check_output(flag, target, file, force=force)
    made = make_mechanism(mechanism, epsilon, param)
    labels: list[str] | None = None
    with bar("reading the texts") as progress:
        if label is None:
            texts = _sampled(
                _texts(file, column, format_, encoding, progress.to), sample, seed, str.strip
            )
        else:
            pairs = read_labelled(
                file, column=_only(column), label=label, format=format_, encoding=encoding
            )
            chosen = _sampled(pairs, sample, seed, lambda pair: pair[0].strip())
            texts = [text for text, _ in chosen]
            labels = ["" if own is None else str(own) for _, own in chosen]
    with working(f"preparing {mechanism} on {lexicon}"):
        privatizer = Privatizer(
            open_lexicon(lexicon, made),
            made,
            repeat=repeat,
            rng=None if seed is None else seeded_rng(seed),
        )
    options: dict[str, Any] = {
        "model": model,
        "draws": draws,
        "adaptive": adaptive or None,
        "punctuation": False if no_punctuation else None,
        "repeats": repeats,
    }
    with bar(f"attacking {len(texts):,} texts") as progress:
        result = run_attack(
            name,
            privatizer,
            texts,
            labels,
            rng=secure_rng() if seed is None else seeded_rng(seed),
            progress=progress.to,
            **{key: value for key, value in options.items() if value is not None},
        )
    if json_ != PIPE:
        typer.echo(str(result))
    setting = Setting(
        occasion=clock.occasion(),
        mechanism=made.to_dict(),
        lexicon=privatizer.lexicon,
        name=lexicon,
    )
    _write(result, json_, report, setting, force=force)


def _check_label(on: str, name: str, column: list[str] | None, label: str | None) -> None:
    """Refuse a label that the attack has no use for, or the lack of one that it needs."""
    from malaprop.core.errors import ParameterError

    if on == "labels" and label is None:
        raise ParameterError(f"the attack {name} needs a label for each text: name it with --label")
    if on != "labels" and label is not None:
        raise ParameterError(f"the attack {name} is on {on}, and takes no --label")
    if label is not None and len(column or ()) != 1:
        raise ParameterError("with --label, name the one column of the texts with --column")


def _only(column: list[str] | None) -> str:
    return (column or [""])[0]


def _texts(
    file: str,
    column: list[str] | None,
    format_: str | None,
    encoding: str,
    progress: "Listener",
) -> Iterator[str]:
    from malaprop.jobs.reading import read_texts

    return read_texts(
        [file], columns=column or (), format=format_, encoding=encoding, progress=progress
    )


def _sampled(
    items: Iterable[Item], sample: int, seed: int | None, filled: Callable[[Item], object]
) -> list[Item]:
    """Return the items that have something in them, or as many of them as are wanted."""
    from malaprop.core.errors import DataError
    from malaprop.core.randomness import secure_rng, seeded_rng

    rng = secure_rng() if seed is None else seeded_rng(seed)
    chosen: list[Item] = []
    for seen, item in enumerate(filter(filled, items), 1):
        if len(chosen) < sample:
            chosen.append(item)
        elif (place := int(rng.integers(seen))) < sample:  # each text with the same chance
            chosen[place] = item
    if not chosen:
        raise DataError("the file has no texts to attack")
    return chosen


def _check_output(flag: str, target: str | Path | None, file: str, *, force: bool) -> None:
    """Refuse an output that cannot be written, before any work."""
    import os

    from malaprop.core.errors import OutputError, ParameterError

    if target in (None, PIPE):
        return
    path = Path(str(target))
    if file != PIPE and os.path.exists(path) and os.path.exists(file) and path.samefile(file):
        raise ParameterError(f"{flag} names the input: name another file")
    if os.path.lexists(path) and not force:
        raise OutputError(f"{path} already exists: use --force to overwrite it")


def _write(
    result: "AttackResult",
    json_: str | None,
    report: Path | None,
    setting: "Setting",
    *,
    force: bool,
) -> None:
    """Write the result: to stdout, or to files that only their owner can read."""
    import json

    from malaprop.pipeline.outputs.access import OWNER_ONLY
    from malaprop.pipeline.outputs.staging import Staging
    from malaprop.report.measured.attacks import attack_page
    from malaprop.report.written import rendered_page

    text = json.dumps(result.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
    if json_ == PIPE:
        typer.echo(text)
    with Staging() as stage:
        if json_ not in (None, PIPE):
            file = stage.open(Path(str(json_)), force=force, limits=[OWNER_ONLY])
            file.write(f"{text}\n".encode())
        if report is not None:
            page = rendered_page(attack_page(result, setting), result.to_dict(), report)
            stage.open(report, force=force, limits=[OWNER_ONLY]).write(page)
