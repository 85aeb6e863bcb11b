"""`malaprop ledger`: what has been released about whom, and limits."""

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from malaprop.cli import options as cli
from malaprop.cli.options import App, option
from malaprop.cli.terminal import say, show, working
from malaprop.privacy.errors import LedgerError, OutputError, ParameterError

if TYPE_CHECKING:
    from malaprop.ledger import Ledger

app = App(help="Show what has been released about whom; set limits; check the sums.")
_NONE = "none"

Database = Annotated[
    str | None,
    option(
        "--database URL",
        "The ledger's database, sqlite:///FILE or postgresql://USER@HOST/NAME; by default what "
        "MALAPROP_DATABASE says, else the one of malaprop serve on this machine.",
    ),
]
Secret = Annotated[
    Path | None,
    option(
        "--secret FILE",
        "The file of the server's secret; by default what MALAPROP_LEDGER_SECRET says, else the "
        "one in your state folder.",
    ),
]
Subject = Annotated[
    str | None,
    option(
        "--subject NAME",
        "A subject; or - to read its name from standard input, where no list of processes shows "
        "it.",
    ),
]
Key = Annotated[str | None, option("--key NAME", "The name of a key.")]


def _limit(of: str, what: str) -> Any:
    return option(
        "NUMBER|none", f"The largest Σ{what} of each account of {of}; none removes the limit."
    )


@app.command("show", short_help="Show what was spent, and what is left.")
def show_(
    database: Database = None,
    secret: Secret = None,
    subject: Subject = None,
    key: Key = None,
    distance: Annotated[float, option("D", "The distance at which to show the loss.")] = 1.0,
    delta: Annotated[float, option("NUMBER", "The δ at which to show the loss.")] = 1e-6,
) -> None:
    """Show what all releases together have spent, or those about a subject or with a key."""
    from malaprop.report.budgets import budget_page

    with _opened(database, secret) as ledger:
        budget = ledger.budget(subject=_subject(subject), key=key)
        show(budget_page(budget, distance, delta))


@app.command(short_help="Show the limits, or set some.")
def limits(
    database: Database = None,
    secret: Secret = None,
    subject_epsilon: Annotated[str | None, _limit("each subject", "ε")] = None,
    key_epsilon: Annotated[str | None, _limit("each key, over all its subjects", "ε")] = None,
    total_epsilon: Annotated[str | None, _limit("the ledger, over all keys", "ε")] = None,
    subject_delta: Annotated[str | None, _limit("each subject", "δ")] = None,
    key_delta: Annotated[str | None, _limit("each key", "δ")] = None,
    total_delta: Annotated[str | None, _limit("the ledger", "δ")] = None,
    subject: Subject = None,
    key: Key = None,
) -> None:
    """Show the limits, or set those that are named.

    Each limit counts by account: words under one lexicon, and each kind of values, have that budget
    of their own. With --subject or --key, it is that of one subject or key, in place of the limit
    of all others. A budget is never reset by time. Under a limit, nothing is released in an account
    that is not on the ledger's list: see malaprop ledger allow.
    """
    from malaprop.report.budgets import limits_page

    given = {
        "subject_epsilon": subject_epsilon,
        "key_epsilon": key_epsilon,
        "total_epsilon": total_epsilon,
        "subject_delta": subject_delta,
        "key_delta": key_delta,
        "total_delta": total_delta,
    }
    wanted: dict[str, Any] = {
        name: None if value.lower() == _NONE else value
        for name, value in given.items()
        if value is not None
    }
    with _opened(database, secret) as ledger:
        name = _subject(subject)
        if wanted:
            ledger.set_limits(**wanted, subject=name, key=key)
        show(limits_page(ledger.limits(subject=name, key=key), subject=name, key=key))


@app.command(short_help="Put a lexicon and a mechanism on the list.")
def allow(
    epsilon: Annotated[str, option("--epsilon -e NUMBER", "An ε of the mechanism: any will do.")],
    database: Database = None,
    secret: Secret = None,
    mechanism: cli.MechanismName = cli.DEFAULT,
    param: cli.Parameters = None,
    lexicon: cli.LexiconName = "english",
    kinds: cli.KindsChoice = None,
    kind_epsilon: cli.KindEpsilon = None,
    step: cli.StepSizes = None,
    dates: cli.DatesChoice = "mdy",
    decimals: cli.DecimalsChoice = "point",
) -> None:
    """Put the accounts of a lexicon and a mechanism on the ledger's list.

    The first account of each kind gets there by itself. Another one, such as that of an extended
    lexicon, has a budget of its own: what is released about a subject there adds to what was
    released before, and no limit sees both.
    """
    from malaprop.privatizer import Privatizer

    made = cli.make_mechanism(mechanism, epsilon, param)
    with working("preparing"):
        privatizer = Privatizer(
            lexicon,
            made,
            kinds=kinds,
            kind_epsilon=kind_epsilon,
            steps=cli.step_sizes(step),
            dates=dates,
            decimals=decimals,
        )
    with _opened(database, secret) as ledger:
        new = ledger.allow(privatizer)
    for account in new:
        say(f"allowed      {account}")
    if not new:
        say("All its accounts are on the list already.")


@app.command(short_help="Compute all sums again, and find changes.")
def verify(
    database: Database = None,
    secret: Secret = None,
    accept: Annotated[
        bool,
        option(
            "--accept",
            "Go on with this database, though it is older than what this machine has seen. What "
            "was released since then is forgotten.",
        ),
    ] = False,
) -> None:
    """Compute all sums again from the entries, and check the mark of each entry.

    It finds entries that were changed, added or removed, balances and limits that do not follow
    from them, and a database that was restored from a backup. It fails if it finds anything.
    """
    with _opened(database, secret) as ledger:
        if accept:
            ledger.accept()
        with working("checking"):
            found = ledger.verify()
        for finding in found:
            say(finding)
        if found:
            raise LedgerError(
                f"the ledger is not as it should be: {len(found)} finding{'s' * (len(found) != 1)}"
            )
        say("The sums follow from the entries, and every entry has its mark.")


@app.command(short_help="Write all entries as CSV.")
def export(
    output: Annotated[Path, option("--output -o FILE", "The file, or - for standard output.")],
    database: Database = None,
    secret: Secret = None,
    force: cli.Force = False,
) -> None:
    """Write all entries as CSV, oldest first; subjects as they are stored, as keyed hashes."""
    from malaprop.private_files import atomic_write, set_mode

    with _opened(database, secret) as ledger:
        if str(output) == cli.PIPE:
            _write(ledger, sys.stdout)
            return
        if output.exists() and not force:
            raise OutputError(
                f"{output} exists already: choose another name, or replace it with `force=True`"
            )
        with atomic_write(output) as part, part.open("x", newline="", encoding="utf-8") as file:
            set_mode(file.fileno(), 0o600)
            count = _write(ledger, file)
        say(f"{count:,} entries in {output}")


def _write(ledger: "Ledger", file: Any) -> int:
    count = 0
    writer = None
    for row in ledger.rows():
        if writer is None:
            writer = csv.DictWriter(file, list(row), lineterminator="\n")
            writer.writeheader()
        writer.writerow(row)
        count += 1
    return count


def _opened(database: str | None, secret: Path | None) -> "Ledger":
    from malaprop.ledger import Ledger, default_database

    return Ledger.open(database or default_database(), secret=secret)


def _subject(name: str | None) -> str | None:
    if name != cli.PIPE:
        return name
    if sys.stdin is None or not (read := sys.stdin.readline().rstrip("\r\n")):
        raise ParameterError("The subject's name is expected on standard input.")
    return read
