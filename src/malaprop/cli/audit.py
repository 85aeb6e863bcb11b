"""`malaprop audit` and `malaprop lexicon audit`: guarantees and exponents, computed exactly."""

from typing import Annotated

import typer

from malaprop.cli.options import Epsilon, LexiconName, MechanismName, Parameters, make_mechanism


def audit(
    epsilon: Epsilon,
    mechanism: MechanismName = "tem",
    param: Parameters = None,
    lexicon: LexiconName = "english",
) -> None:
    """Compute the worst loss over all pairs of words, and whether the guarantee is true.

    Exit code 1 says that it is not; "not decided" is no failure. A whole lexicon takes minutes.
    """
    from malaprop.cli.progress import bar, working
    from malaprop.lexicon.lexicon import Lexicon
    from malaprop.measure.audit import audit as compute

    made = make_mechanism(mechanism, epsilon, param)
    with working(f"preparing {mechanism} on {lexicon}"):
        channel = made.on(Lexicon.open(lexicon))
    with bar(f"auditing {mechanism}") as progress:
        found = compute(channel, progress=progress.to)
    typer.echo(str(found))
    if channel.hint:
        typer.echo(f"hint         {channel.hint}")
    if found.holds is False:
        raise typer.Exit(1)


def audit_lexicon(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A lexicon's name or file.")],
    force: Annotated[
        bool, typer.Option("--force", help="Audit it again, even if that was done before.")
    ] = False,
) -> None:
    """Find how large TEM's exponent may be on a lexicon, and keep that for later runs.

    With an audited exponent TEM keeps more of the text at the same ε. The result belongs to this
    very lexicon. It takes minutes for 30,000 words, and grows with their square.
    """
    from malaprop.cli.progress import bar
    from malaprop.lexicon import exponents
    from malaprop.lexicon.lexicon import Lexicon

    lexicon = Lexicon.open(name)
    table = None if force else exponents.table_of(lexicon)
    if table is None:
        with bar(f"auditing {name}") as progress:
            table = exponents.build(lexicon, progress.to)
        exponents.keep(table)
    typer.echo(f"lexicon      {lexicon.name or name}, fingerprint {table.fingerprint}")
    typer.echo(f"diameter     {table.diameter:.6g}")
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
