"""`malaprop lm`: bigram models of public text, for attacks with context and for smoothing."""

from pathlib import Path
from typing import Annotated

from malaprop.cli import options as cli
from malaprop.cli.options import argument, option
from malaprop.cli.terminal import bar, say
from malaprop.privacy.errors import printable

# With a callback, it stays a group, though it has one command.
app = cli.App(
    help="Train models of public text, for attacks with context and smoothing.",
    callback=lambda: None,
)


@app.command(short_help="Train a bigram model on a public corpus.")
def train(
    corpus: Annotated[
        list[str], argument("CORPUS", "Files of public text, or - for standard input.")
    ],
    output: Annotated[Path, option("--output -o MODEL", "The folder of the new model.")],
    lexicon: cli.LexiconName = "english",
    column: cli.TextColumns = None,
    format_: cli.FormatName = None,
    encoding: cli.Encoding = "utf-8",
    force: Annotated[bool, option("--force", "Replace an existing model.")] = False,
) -> None:
    """Train a bigram model: count the words and the pairs of words of a public corpus.

    The corpus must be public, and must not contain the texts that will be attacked or smoothed: the
    model holds its counts. In a .txt file, each line is a text. Words are mapped to the lexicon's,
    as they are before they are protected.
    """
    from malaprop.files.texts import read_texts
    from malaprop.lexicon.bigrams import check_model_folder, corpus_digest
    from malaprop.lexicon.lexicon import Lexicon
    from malaprop.measure import save_model, train_model

    check_model_folder(output, force=force)
    with bar(f"training on {len(corpus)} files" if len(corpus) > 1 else "training") as progress:
        texts = read_texts(
            corpus, columns=column or (), format=format_, encoding=encoding, progress=progress.to
        )
        sources = {
            printable(Path(path).name)[:200]: "a pipe" if path == cli.PIPE else corpus_digest(path)
            for path in corpus
        }
        model = train_model(texts, Lexicon.open(lexicon), sources=sources)
    save_model(model, output, force=force)
    say(f"words        {int(model.unigrams.sum()):,} of the corpus")
    say(f"pairs        {len(model.counts):,} different ones")
    say(f"fingerprint  {model.fingerprint}")
