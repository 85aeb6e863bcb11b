"""Options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

from malaprop.files.formats import FORMATS
from malaprop.privacy.errors import ParameterError
from malaprop.privacy.mechanism import Mechanism

if TYPE_CHECKING:
    from malaprop.lexicon.lexicon import Lexicon
    from malaprop.text.policy import TextOptions


# Commands that start without pydantic.
#
# typer has pydantic validate every argument, also those that nobody gave, and loading it takes a
# tenth of the time of a short run. Text, one of a few choices, and what was left out need no
# validation. All else goes through typer's own.


class Plain:
    """Converts the values of a parameter; typer's own conversion is made when a value needs it."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        kind = param.type_descriptor
        if kind.parameter_info.parser is None and _is_plain(value, kind.annotation):
            return list(value) if kind.annotation == list[str] else value
        param._runtime_param = None
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


def _is_plain(value: Any, annotation: Any) -> bool:
    if annotation is str:
        return isinstance(value, str)
    if annotation == list[str]:
        return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
    return get_origin(annotation) is Literal and value in get_args(annotation)


class _Late:
    """A command or a group; versions of typer that convert in another way are left alone."""

    def get_params(self, ctx: Any) -> list[Any]:
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "_runtime_param", param) is None:
                param._runtime_param = Plain()
        return params


class _Group(_Late, TyperGroup):
    def format_commands(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for name, command in self.commands.items():
            title = getattr(command, "rich_help_panel", None)
            line = (name, command.get_short_help_str(formatter.width))
            sections.setdefault(title if isinstance(title, str) else "Commands", []).append(line)
        for title, lines in sections.items():
            with formatter.section(title):
                formatter.write_dl(lines)


class Command(_Late, TyperCommand): ...


class App(typer.Typer):
    """A group of such commands. Its errors never show local variables, which hold texts."""

    def __init__(self, **settings: Any) -> None:
        hidden = {"pretty_exceptions_enable": False, "pretty_exceptions_show_locals": False}
        super().__init__(**{"cls": _Group} | settings | hidden)

    def command(self, *args: Any, **settings: Any) -> Callable[[Any], Any]:
        return super().command(*args, **{"cls": Command} | settings)


def option(usage: str, text: str, **settings: Any) -> Any:
    """Return an option with its help; `usage` has its names, if it needs any, and its value.

    Without names, it is called as its parameter is; without a value, it is a flag.
    """
    names = [word for word in usage.split() if word.startswith("-")]
    metavar = next((word for word in usage.split() if word not in names), None)
    return typer.Option(*names, metavar=metavar, help=text, **settings)


def argument(metavar: str, text: str) -> Any:
    return typer.Argument(metavar=metavar, help=text)


RESEARCH = "Research"
"""The section of the help for commands that experiments need."""
DEFAULT = "balanced"
PIPE = "-"
"""Standard input or output, in the place of a path."""

Epsilon = Annotated[
    str,
    option(
        "--epsilon -e NUMBER",
        "ε, the privacy loss per unit of distance: smaller is more private. For balanced on "
        "english, where it is the loss per step, the useful range is 0.8 to 2.5.",
    ),
]
MechanismName = Annotated[
    str,
    option(
        "--mechanism -m NAME",
        "The mechanism that replaces words, such as balanced, tem or laplace: malaprop mechanisms "
        "--all lists them. Or one of your own, as FILE.py:CLASS, which runs the file.",
    ),
]
Parameters = Annotated[
    list[str] | None,
    option("--param -p NAME=VALUE", "Another parameter of the mechanism; may be repeated."),
]
LexiconName = Annotated[
    str, option("--lexicon -l NAME", "A lexicon's name, or a file of word vectors.")
]

KindsChoice = Annotated[
    Literal["typed", "words"] | None,
    option(
        "--kinds typed|words",
        "Numbers, dates, times, identifiers and addresses: draw them as what they are, or turn "
        "them into words; by default typed for balanced, and words for mechanisms that do not "
        "count in steps.",
    ),
]
KindEpsilon = Annotated[
    float | None,
    option(
        "--kind-epsilon NUMBER",
        "With --kinds typed: the ε, above 0, of one step of a number, a date or a time; by "
        "default that of balanced.",
    ),
]
StepSizes = Annotated[
    list[str] | None,
    option(
        "--step KIND=STEP",
        "With --kinds typed: how long a step is, such as date='3 days' or number='20 %'; may be "
        "repeated. Kinds: number, year, date, time, money, percentage, ordinal.",
    ),
]
DatesChoice = Annotated[
    Literal["mdy", "dmy"],
    option("--dates mdy|dmy", "With --kinds typed: whether 03/04/2023 is in March or in April."),
]
DecimalsChoice = Annotated[
    Literal["point", "comma"],
    option(
        "--decimals point|comma",
        "With --kinds typed: whether numbers are written like 12,299.00 or like 12.299,00.",
    ),
]

FormatName = Annotated[
    Literal[FORMATS] | None,  # type: ignore[valid-type]  # what is registered is known at run time
    option(
        "--format FORMAT",
        f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}; by default, the ending of the input's "
        "name, and txt for standard input.",
    ),
]
TextColumns = Annotated[
    list[str] | None, option("--column -c NAME", "A column that holds text; may be repeated.")
]
Encoding = Annotated[str, option("NAME", "The encoding of text files.")]
OnErrorChoice = Annotated[
    Literal["fail", "skip", "mask"],
    option(
        "--on-error fail|skip|mask",
        "What to do with records that cannot be processed (broken encoding, NUL characters, no "
        "JSON, too long): stop, leave them out, or mask their texts. The report counts them.",
    ),
]
Seed = Annotated[
    int | None, option("NUMBER", "Repeat a demonstration. The output is NOT private.", min=0)
]
Force = Annotated[bool, option("--force", "Overwrite existing outputs.")]
Workers = Annotated[
    int | None, option("NUMBER", "The number of processes; by default one per core.", min=1)
]
Resume = Annotated[
    bool, option("--resume", "Resume an earlier run of the same command, if it was stopped.")
]
Verbose = Annotated[
    bool, option("--verbose -v", "Show the whole report on stderr, not three lines.")
]
Quiet = Annotated[bool, option("--quiet -q", "No report on stderr; warnings only.")]
Engine = Annotated[
    Literal["local", "spark"],
    option(
        "--engine local|spark",
        "Run on this machine, or on a Spark cluster, which reads a folder of parquet, csv, tsv or "
        "jsonl files and writes another folder.",
    ),
]
Master = Annotated[
    str | None,
    option(
        "--master URL",
        "With --engine spark: the cluster, such as spark://HOST:7077, yarn or k8s://HOST; by "
        "default all cores of this machine.",
    ),
]


DetectorName = Annotated[
    str | None,
    option(
        "--detector presidio[:MODEL]",
        "Replace what Presidio finds by stand-ins, and protect all other words as always; MODEL is "
        "one of spaCy that is installed, such as en_core_web_lg, without which no names are found. "
        "See docs/howto/people.md.",
    ),
]
EntityLabels = Annotated[
    list[str] | None,
    option(
        "--entity-label LABEL=CLASS",
        "With --detector: the class of what it labels so; may be repeated. Classes: person, place, "
        "organisation, date, phone, email, url, identifier; words, which leaves it to the "
        "mechanism; or none, which makes it [ENTITY], like labels of which nothing is known.",
    ),
]
KeptWords = Annotated[
    list[str] | None,
    option(
        "--keep WORD",
        "A word or phrase that is public and stays as it is, or placeholders, for those on a "
        "closed list; may be repeated.",
    ),
]
KeepFile = Annotated[
    Path | None, option("--keep-file FILE", "More words and phrases to keep, one on each line.")
]
Readable = Annotated[
    bool | None,
    typer.Option(
        "--readable/--as-drawn",
        help="Smooth what was drawn by public bigrams, so that it reads like English; the "
        "guarantee stays. Or leave it as it was drawn.",
    ),
]
Fluent = Annotated[
    bool,
    option("--fluent", "Readable, and more fluent: it reads better, and rare words suffer."),
]
Model = Annotated[
    Path | None,
    option(
        "--model FOLDER",
        "A bigram model to smooth with, as malaprop lm train writes it from public text; by "
        "default the one that comes with english.",
    ),
]
MarkupChoice = Annotated[
    Literal["html", "markdown"] | None,
    option(
        "html|markdown",
        "The texts have markup: tags of HTML stay, without attributes; of Markdown, the signs at "
        "the starts of lines. By default, markup is text. Files of HTML, Markdown and mails need "
        "no such option.",
    ),
]


def how_readable(readable: bool | None, *, fluent: bool, model: Path | None) -> "TextOptions":
    """Return the parameters of a policy for --readable, --as-drawn, --fluent and --model."""
    if fluent and readable is False:
        raise ParameterError("--fluent makes text readable: leave out --as-drawn, or that")
    return {"readable": "fluent" if fluent else readable, "model": model}


def kept_words(words: list[str] | None, path: Path | None) -> list[str]:
    """Return the words to keep, of the command line and of a file."""
    if path is None:
        return words or []
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeError) as error:
        raise ParameterError(
            f"The file {path} of --keep-file cannot be read: "
            f"{getattr(error, 'strerror', None) or 'it is not in UTF-8'}."
        ) from None
    return [*(words or []), *filter(None, map(str.strip, lines))]


def make_mechanism(name: str, epsilon: str, parameters: list[str] | None) -> Mechanism:
    """Return the mechanism of a name, or of a file or package, with ε and other parameters."""
    from malaprop.cli.own_mechanism import mechanism_class
    from malaprop.recipe import made, parameter_value, written

    cls, values = written(name, parameters or (), named=mechanism_class)
    return made(cls, {"epsilon": parameter_value(epsilon), **values})


def listed(mechanisms: str) -> list[str]:
    """Return the mechanisms of a list; NAME=VALUE is a parameter of what stands before it.

    >>> listed("balanced, tem:2,exponent=half")
    ['balanced', 'tem:2,exponent=half']
    """
    every: list[str] = []
    for part in filter(None, map(str.strip, mechanisms.split(","))):
        if "=" in part and every:
            every[-1] += f",{part}"
        else:
            every.append(part)
    return every


def make_detector(name: str | None) -> object:
    """Return the detector of a name, with the model behind a colon if there is one."""
    kind, _, model = (name or "").partition(":")
    if not kind:
        return None
    if kind != "presidio":
        raise ParameterError(f"`detector` must be presidio, or presidio:MODEL. Got {name!r}.")
    from malaprop.integrations.presidio import PresidioDetector

    return PresidioDetector(model)


def entity_labels(labels: list[str] | None, detector: str | None) -> dict[str, str | None]:
    """Return the class of each label that was given as LABEL=CLASS."""
    if labels and detector is None:
        raise ParameterError("`entity_labels` is for what a detector finds: it needs `detector`.")
    chosen: dict[str, str | None] = {}
    for text in labels or []:
        label, equals, kind = text.partition("=")
        if not equals:
            raise ParameterError(f"A label is given as LABEL=CLASS. Got {text!r}.")
        chosen[label.strip()] = None if kind.strip() == "none" else kind.strip()
    return chosen


def step_sizes(steps: list[str] | None) -> dict[str, str]:
    """Return the step of each kind that was given as KIND=STEP."""
    chosen = {}
    for text in steps or []:
        kind, equals, step = text.partition("=")
        if not equals:
            raise ParameterError(f"A step is given as KIND=STEP. Got {text!r}.")
        chosen[kind.strip()] = step
    return chosen


def open_lexicon(name: str, mechanism: Mechanism) -> "Lexicon":
    """Open the lexicon of that name, with its word graph if the mechanism counts steps."""
    from malaprop.lexicon.graph import with_graph_if_needed
    from malaprop.lexicon.lexicon import Lexicon

    return with_graph_if_needed(Lexicon.open(name), mechanism)
