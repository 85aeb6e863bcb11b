"""`malaprop audit` and `malaprop lexicon audit`: guarantees and exponents, computed exactly."""

from typing import Annotated

import typer

from malaprop.cli import options as cli
from malaprop.cli import results
from malaprop.cli.options import argument, option
from malaprop.cli.terminal import command_line, refuse_given, say


def audit(
    context: typer.Context,
    epsilon: cli.Epsilon,
    mechanism: cli.MechanismName = cli.DEFAULT,
    param: cli.Parameters = None,
    lexicon: cli.LexiconName = "english",
    sampled: Annotated[
        bool,
        option(
            "--sampled",
            "Believe nothing that the code states: privatize single words as a black box, and "
            "bound the loss from below.",
        ),
    ] = False,
    pairs: Annotated[int, option("NUMBER", "With --sampled: pairs of words to try.", min=1)] = 24,
    draws: Annotated[
        int,
        option(
            "NUMBER",
            "With --sampled: draws of each word. From 8,000 on, words that are unlikely to show a "
            "fault get an eighth.",
            min=1000,
        ),
    ] = 20_000,
    words: results.AuditedWords = None,
    json_: results.JsonFile = None,
    report: results.ReportFile = None,
    force: results.Force = False,
) -> None:
    """Compute the worst loss over all pairs of words, and whether the guarantee is true.

    If the verdict is FAILS, the exit code is 1. "Not decided" is not a failure, and "not
    contradicted" is what a sampled audit can say at best. A whole lexicon takes a few minutes at
    most. With --words it is a sample: if no pair of it fails, the verdict is "not decided".
    """
    from malaprop.cli.terminal import bar, working
    from malaprop.measure.audit import MOST, Audit, audit_words
    from malaprop.measure.audit import audit as compute
    from malaprop.measure.audit_by_draws import SampledAudit, sampled_audit
    from malaprop.privatizer import Privatizer
    from malaprop.report.measurements import Setting, audit_page
    from malaprop.report.run_report import Clock

    made = cli.make_mechanism(mechanism, epsilon, param)
    if not sampled:
        refuse_given(context, "--sampled", "pairs", "draws")
    given = results.given_words(words, most=None if sampled else MOST)
    clock = Clock(command_line(context))
    with results.outputs(json_, report, force=force) as write:
        with working(f"preparing {mechanism} on {lexicon}"):
            privatizer = Privatizer(cli.open_lexicon(lexicon, made), made)
        channel = privatizer.channel
        some = results.drawn_words(given(channel.lexicon), channel.lexicon)
        result: Audit | SampledAudit
        with bar(f"auditing {mechanism}") as progress:
            if sampled:
                result = sampled_audit(
                    privatizer, pairs=pairs, draws=draws, words=some, progress=progress.to
                )
            elif some is None:
                result = compute(channel, progress=progress.to)
            else:
                result = audit_words(channel, some, progress=progress.to)
        setting = Setting(clock, made, privatizer.lexicon, lexicon, channel.guarantee)
        about = {"mechanism": made.to_dict()}
        about["lexicon"] = {**privatizer.lexicon.to_dict(), "name": lexicon}
        write(about | result.to_dict(), audit_page(result, setting, channel.hint))
    if result.fails:
        raise typer.Exit(1)


def audit_lexicon(
    name: Annotated[str, argument("NAME", "A lexicon's name or file.")],
    gamma: Annotated[
        float | None, option("NUMBER", "TEM's threshold γ, a distance above 0; by default none.")
    ] = None,
    epsilon: Annotated[
        float | None,
        option(
            "--epsilon -e NUMBER", "Find the exponent for this ε alone, in less than half the time."
        ),
    ] = None,
    force: Annotated[
        bool, option("--force", "Audit it again, even if a result is stored.")
    ] = False,
) -> None:
    """Find how large TEM's exponent may be on a lexicon, and store the result for later runs.

    With an audited exponent, TEM keeps more of the text at the same ε. The result is valid for
    exactly this lexicon and this γ, and with --epsilon for this ε only. It takes minutes for 30,000
    words, and the time grows with the square of their number.
    """
    import math

    from malaprop.cli.terminal import bar
    from malaprop.lexicon.lexicon import Lexicon
    from malaprop.lexicon.tables import keep
    from malaprop.mechanisms.tem_exponents import build_table, check_numbers

    threshold = math.inf if gamma is None else gamma
    check_numbers(threshold, epsilon)
    lexicon = Lexicon.open(name)
    tables = [] if force else lexicon.tables.exponents_for(threshold, epsilon)
    tables = [table for table in tables if epsilon is None or table.covers(epsilon)]
    if not tables:
        with bar(f"auditing {name}") as progress:
            tables = [build_table(lexicon, threshold, progress.to, epsilon=epsilon)]
        keep(tables[0])
    table = tables[0]
    say(f"lexicon      {lexicon.name or name}, fingerprint {table.fingerprint}")
    if table.gamma < math.inf:
        say(f"threshold    γ = {table.gamma!r}; beyond it all words count as equal")
    else:
        say(f"diameter     {table.diameter:.6g}; the audit holds without a threshold")
    if epsilon is not None:
        largest = max(each.largest(epsilon) for each in tables)
        say(f"exponent     {_exponent_line(epsilon, largest)}")
        return
    say("exponents    for a loss of ε per unit of distance, TEM's exponent may be")
    for loss in (m * 10.0**k for k in range(-12, 13) for m in (1, 2, 5)):
        if min(table.losses) <= loss <= max(table.losses):
            say(f"             {_exponent_line(loss, table.largest(loss))}")


def _exponent_line(epsilon: float, exponent: float) -> str:
    times = f"{2 * exponent / epsilon:.2f} times the paper's"
    return f"ε = {epsilon:<6g} t = {exponent:<8.4g} {times}"
