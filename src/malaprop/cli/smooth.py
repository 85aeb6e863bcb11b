"""`malaprop smooth`: private texts, as they were drawn, in a readable form."""

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from malaprop.cli import options as cli
from malaprop.cli.options import argument, option
from malaprop.cli.terminal import bar, say
from malaprop.privacy.errors import ParameterError

# What a report says of how texts were treated that matters to who reads them.
_TOLD = ("repeat", "markup", "kinds", "dates", "decimals", "redraw", "placeholder")


def smooth(
    source: Annotated[str, argument("PRIVATE", "A file of private texts, or - for a pipe.")],
    output: Annotated[
        str, option("--output -o BETTER", "The readable file, or - for standard output.")
    ],
    epsilon: Annotated[
        str | None, option("--epsilon -e NUMBER", "The ε with which the texts were drawn.")
    ] = None,
    mechanism: cli.MechanismName = cli.DEFAULT,
    param: cli.Parameters = None,
    lexicon: cli.LexiconName = "english",
    column: cli.TextColumns = None,
    format_: cli.FormatName = None,
    delimiter: Annotated[str | None, option("SIGN", "What separates the fields of a .csv.")] = None,
    encoding: cli.Encoding = "utf-8",
    repeat: Annotated[
        Literal["fresh", "document"],
        option("fresh|document", "Whether equal words of a text shared one draw."),
    ] = "fresh",
    markup: cli.MarkupChoice = None,
    fluent: cli.Fluent = False,
    model: cli.Model = None,
    from_report: Annotated[
        Path | None,
        option(
            "FILE",
            "The JSON report of the run that drew the texts: it names ε, mechanism, lexicon, "
            "columns and what was public.",
        ),
    ] = None,
    force: cli.Force = False,
    quiet: cli.Quiet = False,
) -> None:
    """Make private texts readable: words become those that public English expects.

    It reads what was released as drawn, and public tables, so the guarantee stays what it is. What
    comes out reads better and is nearer to the original on average, but fluent text can be wrong:
    do not take a sentence for what somebody wrote. Words that are not in the lexicon stay.
    """
    from malaprop.files.smooth import smooth_file
    from malaprop.privatizer import Privatizer

    if (epsilon is None) == (from_report is None):
        raise ParameterError("how were the texts drawn? Name --epsilon, or --from-report FILE")
    options: dict[str, Any] = {"repeat": repeat, "markup": markup}
    if from_report is None:
        made = cli.make_mechanism(mechanism, str(epsilon), param)
    else:
        told = _report(from_report)
        made, lexicon, options = told["mechanism"], told["lexicon"], told["options"]
        column = column or told["columns"]
    options |= cli.how_readable(True, fluent=fluent, model=model)
    privatizer = Privatizer(lexicon, made, unknown="mask", **options)
    with bar("smoothing", "bytes") as progress:
        counts = smooth_file(
            source,
            output,
            privatizer,
            columns=column or (),
            format=format_,
            delimiter=delimiter,
            encoding=encoding,
            force=force,
            progress=progress.to,
        )
    if not quiet:
        say(
            f"{counts['changed']:,} of {counts['words']:,} words changed; {counts['left']:,} that "
            "are no words of the lexicon, or values, were left alone",
            err=True,
        )
        say(
            "The text is fluent even where it is wrong: it shows what an observer could infer.",
            err=True,
        )


def _report(path: Path) -> dict[str, Any]:
    """Return what a report says of a run: the mechanism, the lexicon, the columns and options."""
    from malaprop.lexicon.graph import with_graph_if_needed
    from malaprop.lexicon.lexicon import Lexicon
    from malaprop.mechanisms import mechanism_named

    try:
        told = json.loads(path.read_text("utf-8"))
        values, policy = dict(told["mechanism"]), dict(told["policy"])
        made = mechanism_named(values.pop("name"))(**values)
        name, fingerprint = str(told["lexicon"]["name"]), told["lexicon"]["fingerprint"]
        columns = [column for file in told["files"] for column in file["protected_columns"]]
        kept = policy.get("keep", [])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise ParameterError(f"{path} is no JSON report of malaprop privatize") from None
    if policy.get("readable"):
        raise ParameterError("the texts of this report are readable already")
    if not isinstance(kept, list):
        raise ParameterError("the report does not list the kept words: leave out --from-report")
    lexicon = with_graph_if_needed(Lexicon.open(name), made)
    if lexicon.fingerprint != fingerprint:
        raise ParameterError(f"the lexicon {name} is not the one of the report")
    options = {name: policy[name] for name in _TOLD if name in policy} | {"keep": kept}
    columns = list(dict.fromkeys(columns))
    return {"mechanism": made, "lexicon": lexicon, "columns": columns, "options": options}
