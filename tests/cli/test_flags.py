"""Messages of the library name parameters, and the command line says them as flags."""

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import get_type_hints

import typer

import malaprop
from malaprop.cli.app import app
from malaprop.cli.main import FLAGS, with_flag_names
from malaprop.files.texts import read_labelled
from malaprop.ledger import Ledger
from malaprop.server.settings import Settings
from malaprop.text.policy import TextOptions

PACKAGE = Path(malaprop.__file__).parent
FLAG = re.compile(r"(?<![\w-])(--[a-z][a-z-]*|-o)(?![\w-])")
PARAMETERS = {
    name
    for call in (malaprop.privatize_files, malaprop.release_files, malaprop.embed_files)
    for name in inspect.signature(call).parameters
} | set(get_type_hints(TextOptions))
MEASURED = {
    name
    for call in (
        malaprop.measure.evaluate,
        malaprop.measure.calibrate,
        malaprop.measure.EvaluationSettings,
        read_labelled,
    )
    for name in inspect.signature(call).parameters
}
LEDGER = {
    name for call in (Ledger.open, Ledger.set_limits) for name in inspect.signature(call).parameters
}
# These run other programs, with flags of theirs.
OTHER_PROGRAMS = {"lab/datasets/download.py"}
# A command that the user is told to run has its flags.
COMMAND = re.compile(
    r"malaprop (attack|audit|bench|calibrate|data|evaluate|ledger|lexicon|lm|privatize|reproduce"
    r"|serve) "
    r"|as with  (jq|pandoc|pdftotext|soffice) |with  readpst "
)


def test_parameters_become_flags_and_all_else_stays() -> None:
    assert with_flag_names("use `force=True`") == "use --force"
    assert with_flag_names('use `output="-"`, or `columns`') == "use -o -, or --column"
    assert with_flag_names("`malaprop` and `notes.csv` and `x=1`") == (
        "`malaprop` and `notes.csv` and `x=1`"
    )


def test_each_flag_is_one_of_the_command_and_each_parameter_one_of_the_call() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    named = ("privatize", "release", "embed", "evaluate", "calibrate", "serve")
    of_ledgers = commands["ledger"].commands.values()
    options = {
        flag
        for command in (*map(commands.get, named), *of_ledgers)
        for parameter in command.params
        for flag in parameter.opts
    }
    assert set(FLAGS.values()) <= options
    settings = {field.name for field in fields(Settings)}
    assert set(FLAGS) <= PARAMETERS | MEASURED | settings | LEDGER


def test_each_parameter_in_a_message_has_a_flag() -> None:
    """A parameter in backticks that has none would reach the user of the command line."""
    named = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        for text in messages(path):
            named |= set(re.findall(r"`(\w+)(?:=[^`]*)?`", text)) & PARAMETERS
    assert named - {"inputs"} <= set(FLAGS)


def test_no_message_outside_the_command_line_names_a_flag() -> None:
    named = {
        f"{path.relative_to(PACKAGE)}: {flags}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).parts[0] != "cli"
        if path.relative_to(PACKAGE).as_posix() not in OTHER_PROGRAMS
        for text in messages(path)
        if (flags := FLAG.findall(text)) and not COMMAND.search(text)
    }
    # These complete a command that another string begins.
    pages = ("lab/studies/study_page.py", "lab/studies/frontier/frontier_page.py")
    completing = ("mechanisms/tem_exponents.py", *pages)
    assert {name for name in named if not name.startswith(completing)} == set()


def messages(path: Path) -> Iterator[str]:
    """All strings in a file, f-strings with their values left out; without docstrings."""
    tree = ast.parse(path.read_text("utf-8"))
    inner = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in ast.walk(node)
        if part is not node
    }
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if id(node) in inner | docs:
            continue
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(p.value) for p in node.values if isinstance(p, ast.Constant))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
