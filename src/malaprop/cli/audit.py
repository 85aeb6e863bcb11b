"""`malaprop audit` and `malaprop lexicon audit`: guarantees and exponents, computed exactly."""

from typing import Annotated

import typer

from malaprop.cli.options import (
    DEFAULT,
    Epsilon,
    LexiconName,
    MechanismName,
    Parameters,
    make_mechanism,
    open_lexicon,
)


def audit(
    epsilon: Epsilon,
    mechanism: MechanismName = DEFAULT,
    param: Parameters = None,
    lexicon: LexiconName = "english",
) -> None:
    """Compute the worst loss over all pairs of words, and whether the guarantee is true.

    After the verdict FAILS the exit code is 1; "not decided" is no failure. A whole lexicon takes
    minutes.
    """
    from malaprop.cli.progress import bar, working
    from malaprop.measure.audit import audit as compute

    made = make_mechanism(mechanism, epsilon, param)
    with working(f"preparing {mechanism} on {lexicon}"):
        channel = made.on(open_lexicon(lexicon, made))
    with bar(f"auditing {mechanism}") as progress:
        found = compute(channel, progress=progress.to)
    typer.echo(str(found))
    if channel.hint:
        typer.echo(f"hint         {channel.hint}")
    if found.holds is False:
        raise typer.Exit(1)


def audit_lexicon(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A lexicon's name or file.")],
    gamma: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", help="TEM's γ, a distance; by default there is none."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Audit it again, even if that was done before.")
    ] = False,
) -> None:
    """Find how large TEM's exponent may be on a lexicon, and keep that for later runs.

    With an audited exponent TEM keeps more of the text at the same ε. The result belongs to this
    very lexicon and to this γ. It takes minutes for 30,000 words, and grows with their square.
    """
    import math

    from malaprop.cli.progress import bar
    from malaprop.lexicon import exponents
    from malaprop.lexicon.lexicon import Lexicon

    lexicon = Lexicon.open(name)
    threshold = math.inf if gamma is None else gamma
    table = None if force else exponents.table_of(lexicon, threshold)
    if table is None:
        with bar(f"auditing {name}") as progress:
            table = exponents.build(lexicon, threshold, progress.to)
        exponents.keep(table)
    typer.echo(f"lexicon      {lexicon.name or name}, fingerprint {table.fingerprint}")
    if table.gamma < math.inf:
        typer.echo(f"threshold    γ = {table.gamma!r}; beyond it all words count as equal")
    else:
        typer.echo(f"diameter     {table.diameter:.6g}; the audit holds without a threshold")
    typer.echo("exponents    for a loss of ε per unit of distance, TEM's exponent may be")
    for loss in _round_losses(table.losses):
        t = table.largest(loss)
        typer.echo(
            f"             ε = {loss:<6g} t = {t:<8.4g} {2 * t / loss:.2f} times the paper's"
        )


def _round_losses(losses: tuple[float, ...]) -> list[float]:
    """Values 1, 2 and 5 times a power of ten, within what the table covers."""
    steps = [m * 10.0**k for k in range(-12, 13) for m in (1, 2, 5)]
    return [loss for loss in steps if min(losses) <= loss <= max(losses)]
