"""§6: λ by a grid, the largest utility under a bound on privacy; with both ε."""

from collections.abc import Iterator

from numpy.random import Generator

from malaprop.core.errors import ParameterError
from malaprop.measure import best_lambda
from malaprop.studies.framework.items import Figure, Item, crossed
from malaprop.studies.framework.lines import Setting
from malaprop.studies.framework.measuring import share_in_clear
from malaprop.studies.framework.run import Run
from malaprop.studies.mahalanobis.channels import LAMBDAS, channel_of


def lambda_grid(run: Run, setting: Setting, rng: Generator) -> Iterator[Figure]:
    """Look for the λ of the largest similarity with at most a share of words kept."""
    lexicon = run.lexicon()
    shapes = run.pick(quick=(0.0, 1.0), full=LAMBDAS)
    words = min(len(lexicon), run.pick(quick=8, full=200))
    bound = setting["kept_at_most"]
    try:
        choice = best_lambda(
            lexicon, setting["epsilon"], kept=bound, grid=shapes, words=words, rng=rng
        )
    except ParameterError:  # no λ keeps to the bound
        yield Figure("chosen_lambda", None)
        return
    yield Figure("chosen_lambda", choice.regularization)
    yield Figure("chosen_euclidean_epsilon", choice.best.euclidean)
    for row in choice.rows:
        own = {"lambda": row.regularization}
        yield Figure("kept", row.kept, None, own)
        yield Figure("similarity", row.similarity, None, own)
        yield Figure("euclidean_epsilon", row.euclidean, None, own)
        channel = channel_of(run, {**own, "epsilon": setting["epsilon"]})
        yield Figure("share_in_clear", share_in_clear(channel), None, own)


GRID = Item(
    name="grid",
    grid=lambda run: crossed(
        mechanism=["mahalanobis"],
        epsilon=run.pick(quick=[10], full=[10, 20]),
        kept_at_most=[0.5, 0.999],
    ),
    cell=lambda_grid,
    key="lambda_grid",
    revision=3,
    measures=(
        "chosen_lambda",
        "chosen_euclidean_epsilon",
        "kept",
        "share_in_clear",
        "similarity",
        "euclidean_epsilon",
    ),
)
