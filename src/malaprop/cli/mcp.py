"""`malaprop mcp`: tools for language models."""

from malaprop.cli import options as cli


def mcp(
    epsilon: cli.Epsilon,
    mechanism: cli.MechanismName = cli.DEFAULT,
    param: cli.Parameters = None,
    lexicon: cli.LexiconName = "english",
    readable: cli.Readable = None,
    fluent: cli.Fluent = False,
    model: cli.Model = None,
) -> None:
    """Serve tools for language models on standard input and output, until the input ends.

    The tools are privatize, explain and calibrate, over the Model Context Protocol. The ε is that
    of this command: a model cannot change it. Programs that talk to models start this command; see
    docs/howto/frames.md for how they are told to.
    """
    from malaprop.cli.terminal import warn, working
    from malaprop.integrations.mcp import serve
    from malaprop.privatizer import Privatizer

    made = cli.make_mechanism(mechanism, epsilon, param)
    options = cli.how_readable(readable, fluent=fluent, model=model)
    with working(f"preparing {mechanism} on {lexicon}"):
        privatizer = Privatizer(lexicon, made, **options)
    warn(*privatizer.warnings)
    serve(privatizer)
