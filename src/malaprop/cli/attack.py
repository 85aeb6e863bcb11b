"""`malaprop attack`: what an observer recovers from the owner's own texts."""

from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any

import typer

from malaprop.cli import options as cli
from malaprop.cli import results
from malaprop.cli.options import argument, option
from malaprop.cli.terminal import command_line

if TYPE_CHECKING:
    from malaprop.measure.adversaries import Attack


class AttackCommand(cli.Command):
    """Its help tells of each attack in the registry, which is imported when it is asked for."""

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """Write the help of the command, and a line or two on each attack."""
        from malaprop.measure.adversaries import attacks

        super().format_help_text(ctx, formatter)
        for on in ("words", "labels", "vectors"):
            with formatter.section(f"Attacks on {on}"):
                told = [(name, each.summary()) for name, each in attacks.items() if each.on == on]
                formatter.write_dl(told)


def attack(
    context: typer.Context,
    name: Annotated[
        str,
        argument(
            "NAME",
            "The attack: the help of the command tells of each.",
        ),
    ],
    file: results.TextFile,
    epsilon: cli.Epsilon,
    mechanism: cli.MechanismName = cli.DEFAULT,
    param: cli.Parameters = None,
    lexicon: cli.LexiconName = "english",
    column: cli.TextColumns = None,
    label: Annotated[
        str | None,
        option(
            "NAME",
            "For attacks on labels: the column of the author or of another label.",
        ),
    ] = None,
    format_: cli.FormatName = None,
    encoding: cli.Encoding = "utf-8",
    repeat: results.Repeat = "fresh",
    model: Annotated[
        str | None,
        option(
            "MODEL",
            "For attacks on words, a bigram model, as malaprop lm train writes it; by default the "
            "one that ships for english. For language-model, a GGUF file or the folder of a "
            "Hugging Face model. For authorship, regression (default) or koppel.",
        ),
    ] = None,
    adaptive: Annotated[
        bool,
        option(
            "--adaptive",
            "The attacker trains on private text, not on clean text; on words, learns from it how "
            "frequent words are.",
        ),
    ] = False,
    no_punctuation: Annotated[
        bool, option("--no-punctuation", "For attacks on labels: the attacker ignores punctuation.")
    ] = False,
    repeats: Annotated[
        int | None,
        option(
            "NUMBER",
            "How many draws of the noise: for attacks on words 1 by default, for attacks on "
            "labels 5, each with a random split of its own.",
            min=1,
        ),
    ] = None,
    sample: Annotated[
        int, option("NUMBER", "How many texts to attack at most, drawn at random.", min=1)
    ] = 2000,
    draws: Annotated[
        int | None,
        option(
            "NUMBER",
            "How many words to draw to estimate a mechanism without a known law, such as laplace; "
            "by default 50,000.",
            min=1,
        ),
    ] = None,
    seed: Annotated[int | None, option("NUMBER", "Repeat a measurement exactly.", min=0)] = None,
    json_: results.JsonFile = None,
    report: results.ReportFile = None,
    force: results.Force = False,
) -> None:
    """Privatize texts, attack the result, and show how far the attack got.

    The observer knows everything public: mechanism, parameters, lexicon, and public text. Attacks
    on labels need --label and  pip install scikit-learn.

    The private texts are discarded. The figures are for you: do not publish them.
    """
    from malaprop.cli.terminal import bar, working
    from malaprop.measure import attack as run_attack
    from malaprop.measure.adversaries import attack_with, attacks
    from malaprop.measure.adversaries.words import WordAttack
    from malaprop.measure.evaluation_run import draw_sample
    from malaprop.privacy.errors import DataError, entry
    from malaprop.privacy.randomness import secure_rng, seeded_rng
    from malaprop.privatizer import Privatizer
    from malaprop.report.measurements import Setting, attack_page
    from malaprop.report.run_report import Clock

    clock = Clock(command_line(context))
    chosen = entry("attack", name, attacks)
    _check_label(chosen, column, label)
    options = _options(
        chosen,
        model=model,
        draws=draws,
        adaptive=adaptive or None,
        punctuation=False if no_punctuation else None,
        repeats=repeats,
    )
    made = cli.make_mechanism(mechanism, epsilon, param)
    if model is not None and issubclass(chosen, WordAttack):
        options["model"] = chosen.opened(model)
    attack_with(name, options).check(made, repeat)
    with results.outputs(json_, report, force=force, source=file) as write:
        # The attacker must not share the stream that the noise comes from.
        rng = secure_rng() if seed is None else seeded_rng(seed)
        noise = None if seed is None else seeded_rng(int(rng.integers(2**62)))
        with bar("reading the texts") as progress:
            pairs = results.read_pairs(file, column or [], label, format_, encoding, progress.to)
            drawn, _ = draw_sample((pair for pair in pairs if pair[0].strip()), sample, rng)
        if not drawn:
            raise DataError("the file has no texts to attack")
        texts = [text for text, _ in drawn]
        labels = None if label is None else [own for _, own in drawn]
        with working(f"preparing {mechanism} on {lexicon}"):
            privatizer = Privatizer(cli.open_lexicon(lexicon, made), made, repeat=repeat, rng=noise)
        with bar(f"attacking {len(texts):,} texts") as progress:
            result = run_attack(
                name, privatizer, texts, labels, rng=rng, progress=progress.to, **options
            )
        setting = Setting(clock, made, privatizer.lexicon, lexicon)
        write(result.to_dict(), attack_page(result, setting))


def _check_label(chosen: "type[Attack]", column: list[str] | None, label: str | None) -> None:
    """Refuse a label that the attack has no use for, or the lack of one that it needs."""
    from malaprop.privacy.errors import ParameterError

    name, on = chosen.name, chosen.on
    if on == "labels" and label is None:
        raise ParameterError(f"the attack {name} needs a label for each text: name it with --label")
    if on != "labels" and label is not None:
        raise ParameterError(f"the attack {name} is on {on}, and takes no --label")
    if label is not None and len(column or ()) != 1:
        raise ParameterError("with --label, name the one column of the texts with --column")


def _options(chosen: "type[Attack]", **given: Any) -> dict[str, Any]:
    """Return the options that were given; refuse those that the attack does not have."""
    from malaprop.privacy.errors import ParameterError

    known = {field.name for field in fields(chosen)}
    options = {name: value for name, value in given.items() if value is not None}
    for name in [each for each in options if each not in known]:
        flag = "--no-punctuation" if name == "punctuation" else f"--{name}"
        raise ParameterError(f"the attack {chosen.name} takes no {flag}")
    return options
