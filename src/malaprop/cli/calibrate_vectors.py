"""`malaprop calibrate --vectors` and `--lambda-grid`, and how a calibration is shown."""

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from malaprop.cli.measuring import PIPE, GivenWords, Write, outputs
from malaprop.cli.messages import say, say_text
from malaprop.cli.options import DEFAULT, make_mechanism, open_lexicon
from malaprop.core.errors import ParameterError

if TYPE_CHECKING:
    from malaprop.core.mechanism import Mechanism
    from malaprop.lexicon.lexicon import Lexicon
    from malaprop.measure import Calibration, LambdaChoice
    from malaprop.pipeline.report import Clock
    from malaprop.report.measured.common import Setting

_BAR = 40
_ALL = "all"


@dataclass(frozen=True)
class Targets:
    """Where a result goes, and when the work began."""

    json_: str | None
    report: Path | None
    clock: "Clock"
    force: bool

    def open(self) -> "AbstractContextManager[Write]":
        """Open the files before any work."""
        return outputs(self.json_, self.report, force=self.force)

    def setting(
        self, mechanism: "Mechanism", lexicon: "Lexicon | None" = None, name: str = ""
    ) -> "Setting":
        """Return what a page says about the measurement."""
        from malaprop.report.measured.common import Setting

        return Setting(
            occasion=self.clock.occasion(),
            mechanism=mechanism.to_dict(),
            lexicon=lexicon,
            name=name,
        )


def vector_epsilon(
    mechanism: str,
    param: list[str] | None,
    vectors: str | None,
    *,
    correlation: float | None,
    inversion: float | None,
    targets: "Targets",
) -> None:
    """Find an ε for vectors, and show the curve around it."""
    from malaprop.cli.progress import bar
    from malaprop.measure import calibrate_vectors
    from malaprop.measure.vector_calibration import check_vector_target
    from malaprop.pipeline.vectors.opening import checked_file, read_some
    from malaprop.report.measured.calibration import calibration_page

    if vectors is None:
        raise ParameterError("--correlation and --inversion need vectors: name a file, --vectors")
    name = "priv-emb" if mechanism == DEFAULT else mechanism
    made = make_mechanism(name, "1", param)
    check_vector_target(made, correlation=correlation, inversion=inversion)
    checked_file(Path(vectors))
    with targets.open() as write:
        sample = read_some(Path(vectors))
        with bar(f"calibrating {name}") as progress:
            calibration = calibrate_vectors(
                made, sample, correlation=correlation, inversion=inversion, progress=progress.to
            )
        write(
            {"mechanism": name, "vectors": vectors, **calibration.to_dict()},
            lambda: calibration_page(
                calibration,
                targets.setting(replace(made, epsilon=calibration.epsilon)),
                vectors=True,
            ),
        )
    if targets.json_ != PIPE:
        print_curve(calibration)
        say("The figures are for public vectors: others may be nearer to each other.")


def regularization(
    mechanism: str,
    param: list[str] | None,
    lexicon: str,
    grid: str | None,
    epsilon: float | None,
    kept: float | None,
    similarity: float | None,
    words: str | None,
    targets: "Targets",
) -> None:
    """Choose λ of the Mahalanobis mechanism, and show the grid."""
    from malaprop.cli.progress import bar, working
    from malaprop.measure import best_lambda
    from malaprop.measure.regularization import GRID, check_grid
    from malaprop.report.measured.calibration import lambda_page

    if mechanism != "mahalanobis" or grid is None or epsilon is None or param:
        raise ParameterError(
            "--lambda-grid goes with  -m mahalanobis --epsilon NUMBER, and without other parameters"
        )
    made, given = make_mechanism(mechanism, str(epsilon), None), GivenWords.of(words)
    numbers = check_grid(GRID if grid == _ALL else _numbers(grid), kept, similarity)
    with targets.open() as write:
        with working(f"opening {lexicon}"):
            opened = open_lexicon(lexicon, made)
        chosen = given.on(opened)
        with bar("trying λ") as progress:
            choice = best_lambda(
                opened,
                epsilon,
                kept=kept,
                similarity=similarity,
                grid=numbers,
                words=chosen,
                progress=progress.to,
            )
        write(
            {"mechanism": mechanism, "lexicon": opened.to_dict(), **choice.to_dict()},
            lambda: lambda_page(
                choice,
                targets.setting(
                    make_mechanism(
                        mechanism, str(epsilon), [f"regularization={choice.regularization!r}"]
                    ),
                    opened,
                    lexicon,
                ),
            ),
        )
    if targets.json_ != PIPE:
        _print_grid(choice)


def _numbers(grid: str) -> list[float]:
    try:
        return [float(number) for number in grid.split(",")]
    except ValueError:
        raise ParameterError(
            "--lambda-grid is a list of numbers such as 0,0.25,0.5, or all"
        ) from None


def print_curve(calibration: "Calibration") -> None:
    """Show an ε, and the figures of all that were tried."""
    say_text(
        f"ε = {calibration.epsilon:.4g}\n\n"
        f"Target: {calibration.target}. At this ε: {calibration.figure}.\n\n"
    )
    top = max(abs(value) for _, value in calibration.curve) or 1.0
    for epsilon, value in calibration.curve:
        mark = "◄" if epsilon == calibration.epsilon else ""
        bar = "█" * round(_BAR * abs(value) / top)
        say(f"  ε = {epsilon:<8.4g} {value:>9.4g}  {bar} {mark}".rstrip())
    say("")
    for name, number in calibration.normalised.items():
        say(f"{name.replace('_', ' ')}: {number:.4g}")


def _print_grid(choice: "LambdaChoice") -> None:
    say_text(f"λ = {choice.regularization:g}\n\nTarget: {choice.target}.\n\n")
    say("  λ       ε       ε, Euclidean  kept    similarity")
    for row in choice.rows:
        mark = "◄" if row.regularization == choice.regularization else ""
        out = "" if row.within else "(beyond the bound)"
        line = (
            f"  {row.regularization:<7g} {row.epsilon:<7.4g} {row.euclidean:<13.4g} "
            f"{row.kept:<7.3f} {row.similarity:<10.3f} {out}{mark}"
        )
        say(line.rstrip())
    for value in choice.skipped:
        say(f"  {value:<7g} is not possible here: the covariance is singular")
    say_text(
        "\nThe rows differ in privacy: the guarantee of each in Euclidean distance is the ε in the "
        "third column."
    )
