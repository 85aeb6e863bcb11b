"""Pages about the choice of ε, and of λ."""

from malaprop.measure.profile import Profile
from malaprop.measure.regularization import LambdaChoice
from malaprop.measure.searching import Calibration
from malaprop.report.measured.common import NO_CONTEXT, PUBLIC, Setting, not_said
from malaprop.report.page import Facts, Grid, Page, Paragraph, Piece, Plot, Section, opened
from malaprop.report.profiles import profile_plots

_FIGURE = "the figure"
_OF_VECTORS = (
    "The figures are for public vectors. Others may be nearer to each other, and then more, or "
    "less, is left of them."
)
_WITH_CONTEXT = (
    "The figures are for an observer with a bigram model, and hold for texts like those. A large "
    "language model, or words that occur often, raise what is learned."
)
_OF_ONE_LEXICON = "An ε is about one lexicon and one metric: compare the figures above, not the ε."
_OF_WORDS = "The target is about words of the lexicon, taken alike. Your text may use others more."


def calibration_page(
    result: Calibration,
    setting: Setting,
    profile: Profile | None = None,
    *,
    vectors: bool = False,
    context: bool = False,
) -> Page:
    """Return the page of `malaprop calibrate`; `profile` adds what the mechanism does around ε.

    The target is about `vectors`, or about an observer with `context`, or else about single words.
    """
    return Page(
        title="The ε that keeps to a target",
        audience=_audience(vectors),
        figures=(
            (f"ε = {result.epsilon:.4g}", "keeps to the target"),
            (f"{result.value:.4g}", f"is {_FIGURE} at this ε{_error(result)}"),
            ("exact", "computed from the law, not from draws")
            if result.exact
            else ("estimated", "95 % one-sided, from a sample or draws"),
        ),
        sections=(
            Section("The target", (Paragraph(f"{opened(result.target)}."),)),
            Section("The curve around it", (_curve(result), *_plots(result, profile))),
            *_compared(result),
            not_said(*_limits(vectors=vectors, context=context)),
            setting.method(
                ("how", "bisection of ε; the target is met on the unsafe side of the error"),
                ("channels tried", str(len(result.curve))),
            ),
        ),
    )


def _error(result: Calibration) -> str:
    figure = result.figure
    return "" if figure.is_exact else f", and {figure.unsafe:.4g} with its error"


def _compared(result: Calibration) -> tuple[Section, ...]:
    if not result.normalised:
        return ()
    rows = ((name.replace("_", " "), f"{value:.4g}") for name, value in result.normalised.items())
    title = "Figures that can be compared between lexicons and metrics"
    return (Section(title, (Facts(tuple(rows)),)),)


def lambda_page(result: LambdaChoice, setting: Setting) -> Page:
    """Return the page of `malaprop calibrate --lambda-grid`."""
    head = ("λ", "ε", "ε, Euclidean", "kept", "similarity", "within the bound")
    rows = tuple(
        (
            f"{row.regularization:g}",
            f"{row.epsilon:.4g}",
            f"{row.euclidean:.4g}",
            f"{row.kept:.3f}",
            f"{row.similarity:.3f}",
            "yes" if row.within else "no",
        )
        for row in result.rows
    )
    return Page(
        title="The λ that keeps to a bound",
        audience=PUBLIC,
        figures=(
            (f"λ = {result.regularization:g}", "is the best of the grid"),
            (f"ε = {result.best.euclidean:.4g}", "is its guarantee in Euclidean distance"),
        ),
        sections=(
            Section(
                "The grid",
                (Paragraph(f"{opened(result.target)}."), Grid(head, rows, frozenset(range(5)))),
            ),
            not_said(
                "The rows differ in privacy: the guarantee of each in Euclidean distance is the ε "
                "in the third column.",
                NO_CONTEXT,
            ),
            setting.method(),
        ),
    )


def _audience(vectors: bool) -> str:
    return "Computed from public vectors." if vectors else PUBLIC


def _curve(result: Calibration) -> Grid:
    head = ("ε", _FIGURE, "with its error", "")
    rows = tuple(
        (
            f"{epsilon:.4g}",
            f"{value:.4g}",
            f"{bound:.4g}",
            "chosen" if epsilon == result.epsilon else "",
        )
        for (epsilon, value), bound in zip(result.curve, result.bounds, strict=True)
    )
    return Grid(head, rows, frozenset({1, 2}))


def _plots(result: Calibration, profile: Profile | None) -> tuple[Piece, ...]:
    from malaprop.report import plots

    own = Plot(
        lambda: plots.calibration_curve(result, _FIGURE),
        "The figure of the target by ε; the bars reach to the unsafe side of its error. The dotted "
        "lines meet at the choice.",
    )
    if profile is None:
        return (own,)
    return (own, *(Plot(paint, caption) for paint, caption in profile_plots(profile)))


def _limits(*, vectors: bool, context: bool) -> tuple[str, ...]:
    if vectors:
        return (_OF_VECTORS,)
    if context:
        return (_WITH_CONTEXT,)
    return (NO_CONTEXT, _OF_ONE_LEXICON, _OF_WORDS)
