"""`malaprop lexicon train-poincare`: vectors in the Poincaré ball, from IS-A relations."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from malaprop.cli.messages import say

if TYPE_CHECKING:
    from malaprop.lexicon.poincare.relations import Hierarchy


def train_poincare(
    name: Annotated[str, typer.Option(metavar="NAME", help="The name of the new lexicon.")],
    relations: Annotated[
        Path | None,
        typer.Argument(
            metavar="RELATIONS", help="A file: a word, a tab and its parent on each line."
        ),
    ] = None,
    wordnet: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Train on the nouns of WordNet in this folder, not on a file."
        ),
    ] = None,
    words: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="With --wordnet: only nouns of this lexicon, and nouns above them.",
        ),
    ] = None,
    dim: Annotated[
        int, typer.Option(metavar="NUMBER", min=1, help="The number of dimensions.")
    ] = 10,
    epochs: Annotated[
        int, typer.Option(metavar="NUMBER", min=1, help="The number of passes over all words.")
    ] = 200,
    rate: Annotated[
        float,
        typer.Option(
            metavar="NUMBER", help="The length of the first steps, in the ball: above 0, up to 1."
        ),
    ] = 0.3,
    negatives: Annotated[
        int,
        typer.Option(
            metavar="NUMBER", min=1, help="How many words to sample against in each batch."
        ),
    ] = 200,
    seed: Annotated[
        int,
        typer.Option(
            metavar="NUMBER", min=0, help="The random seed. Other seeds give other vectors."
        ),
    ] = 0,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume a training that was interrupted.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a lexicon of that name, or start again.")
    ] = False,
) -> None:
    """Train vectors in the Poincaré ball from IS-A relations (Nickel & Kiela 2017).

    Words that are above many others end up near the origin. The command prints how well the vectors
    reproduce the relations. If it is interrupted, --resume continues where it stopped.
    """
    from malaprop.cli.progress import bar
    from malaprop.lexicon.poincare.compiling import check_training, sha256_of, train_lexicon
    from malaprop.lexicon.poincare.training import TrainingSettings

    settings = TrainingSettings(
        dimension=dim, epochs=epochs, rate=rate, negatives=negatives, seed=seed
    )
    check_training(name, resume=resume, force=force)
    hierarchy, files = _hierarchy(relations, wordnet, words)
    with bar(f"training {name}") as progress:
        report = train_lexicon(
            hierarchy,
            name,
            settings,
            sources=sha256_of(*files),
            licence="WordNet 3.0" if wordnet else None,
            resume=resume,
            force=force,
            progress=progress.to,
        )
    say(f"trained      {name}: {report.count:,} words × {report.dimension} dimensions")
    say(
        f"quality      MAP {report.quality.average_precision:.3f}, mean rank "
        f"{report.quality.mean_rank:.2f}, over {report.pairs:,} pairs of a word and one above it"
    )


def _hierarchy(
    relations: Path | None, wordnet: Path | None, words: str | None
) -> "tuple[Hierarchy, list[Path]]":
    """Return what to train on, and the files that it comes from."""
    from malaprop.core.errors import ParameterError
    from malaprop.lexicon.lexicon import Lexicon
    from malaprop.lexicon.poincare.relations import Hierarchy, read_pairs
    from malaprop.lexicon.poincare.wordnet import WordNet

    if wordnet is not None and relations is None:
        source = WordNet(wordnet)
        vocabulary = None if words is None else Lexicon.open(words).words
        return Hierarchy.of(source.relations(vocabulary), vocabulary or ()), source.files
    if relations is None or wordnet is not None:
        raise ParameterError("name a file of relations, or a folder with --wordnet: one of them")
    if words is not None:
        raise ParameterError("--words goes with --wordnet: a file has the words that it has")
    return Hierarchy.of(read_pairs(relations)), [relations]
