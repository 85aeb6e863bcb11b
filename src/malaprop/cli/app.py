"""The commands of `malaprop`, put together."""

from dataclasses import MISSING
from typing import Annotated

import typer

from malaprop._version import __version__
from malaprop.cli import (
    attack,
    audit,
    calibrate,
    data,
    evaluate,
    explain,
    keys,
    ledger,
    lexicon,
    lm,
    mcp,
    privatize,
    reproduce,
    serve,
    smooth,
    stats,
    vectors,
)
from malaprop.cli.options import RESEARCH, App, Command, option
from malaprop.cli.terminal import say, show

app = App(
    name="malaprop",
    help="Private text under metric differential privacy, with guarantees that can be checked.",
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _name, _command, _about in (
    ("privatize", privatize.privatize, "Privatize files of text, or standard input."),
    ("smooth", smooth.smooth, "Make private texts readable, at the reader's side."),
    ("explain", explain.explain, "Show what a word may become, and what that gives away."),
    ("audit", audit.audit, "Check a guarantee on all pairs of words, exactly."),
    ("stats", stats.stats, "Show statistics of single words under a mechanism."),
    ("calibrate", calibrate.calibrate, "Find the ε that keeps to a target."),
    ("attack", attack.attack, "Measure how many words an observer recovers."),
    ("evaluate", evaluate.evaluate, "Measure privacy beside utility on your own texts."),
    ("release", vectors.release, "Release vectors from a file, with noise."),
    ("embed", vectors.embed, "Turn texts into private vectors."),
    ("mcp", mcp.mcp, "Serve tools for language models."),
    ("serve", serve.serve, "Serve all of this as a REST API, with budgets."),
):
    _class = attack.AttackCommand if _name == "attack" else Command
    app.command(_name, short_help=_about, cls=_class)(_command)
app.add_typer(lexicon.app, name="lexicon")
app.add_typer(keys.app, name="keys")
app.add_typer(ledger.app, name="ledger")
app.command(
    "reproduce", short_help="Run the experiments of five papers again.", rich_help_panel=RESEARCH
)(reproduce.reproduce)
app.add_typer(reproduce.app, name="bench", rich_help_panel=RESEARCH)
app.add_typer(data.app, name="data", rich_help_panel=RESEARCH)
app.add_typer(lm.app, name="lm", rich_help_panel=RESEARCH)


@app.command(short_help="List the mechanisms to choose from; with --all, the others, too.")
def mechanisms(
    every: Annotated[
        bool, option("--all", "List the others, too, for research and comparison.")
    ] = False,
) -> None:
    """List the mechanisms to choose from: when to take each, and what it guarantees.

    The others are for research: the papers' variants and baselines, for comparison.
    """
    from malaprop.cli.own_mechanism import mechanism_class, packaged
    from malaprop.mechanisms import registry
    from malaprop.report.page import Facts, Page, Section

    known = dict(registry)
    if every:
        known |= {name: mechanism_class(name) for name in packaged()}
    sections = []
    for name, cls in sorted(known.items(), key=lambda item: (not item[1].choose_for, item[0])):
        if cls.choose_for or every:
            parameters = [
                field.name if field.default is MISSING else f"{field.name}={field.default}"
                for field in cls.parameters()
            ]
            rows = (
                ("  for", cls.choose_for),
                ("  guarantee", cls.promise),
                ("  what", cls.summary()),
                ("  parameters", ", ".join(parameters)),
            )
            sections.append(Section(name, (Facts(rows),)))
    show(Page(title="", sections=tuple(sections)))
    if not every:
        say(f"malaprop mechanisms --all  lists all {len(registry)}, for research and comparison.")


def _version(wanted: bool) -> None:
    if wanted:
        say(f"malaprop {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, option("--version", "Show the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    pass
