"""`malaprop lexicon`: list, info, import, extend, subset, neighbours, graph, train-poincare."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from malaprop.cli.audit import audit_lexicon
from malaprop.cli.options import RESEARCH, App, LexiconName, argument, option
from malaprop.cli.terminal import bar, print_table, say, working
from malaprop.privacy.errors import ParameterError, printable

if TYPE_CHECKING:
    from malaprop.lab.poincare import Hierarchy
    from malaprop.lexicon.lexicon import Lexicon
    from malaprop.lexicon.tables import BalanceTable
    from malaprop.privacy.word_graph import WordGraph

app = App(help="List, inspect and import lexicons.")
app.command("audit", short_help="Find how large TEM's exponent may be.")(audit_lexicon)

Name = Annotated[str, argument("NAME", "A lexicon's name or file.")]
NewName = Annotated[str, option("NAME", "The name of the new lexicon.")]


@app.command("graph", short_help="Build the graph of near words.")
def graph_lexicon(
    name: Name,
    epsilon: Annotated[
        list[float] | None,
        option(
            "--epsilon -e NUMBER",
            "Balance the graph for this ε alone, in a tenth of the time; may be repeated.",
        ),
    ] = None,
    force: Annotated[bool, option("--force", "Build it again, even if it exists.")] = False,
) -> None:
    """Build the word graph of a lexicon and its balances, and store them for later runs.

    The mechanism  balanced  works on this graph. If the lexicon was saved with a graph of its own,
    the command keeps that graph and adds the balances. For 30,000 words it takes about a minute
    with --epsilon, and a quarter of an hour without it, when 56 ε are balanced. The time grows with
    the square of the number of words. Beyond 75,000 words it stores no weights, only what the
    mechanism needs without them.
    """
    from malaprop.lexicon.graph import GraphOptions, build_graph, find_kept_graph, keep_graph
    from malaprop.lexicon.lexicon import Lexicon
    from malaprop.lexicon.tables import keep
    from malaprop.mechanisms.balance import build_table, missing_balances
    from malaprop.privacy.word_graph import Steps, graph_of

    lexicon = Lexicon.open(name)
    graph = graph_of(lexicon.metric)
    wanted = missing_balances(None, len(lexicon), epsilon)  # refuses numbers before the work
    if graph is None and not force:
        graph = find_kept_graph(lexicon, GraphOptions())
    if graph is None:
        with bar(f"finding near words of {lexicon.name or 'the lexicon'}") as progress:
            graph = build_graph(lexicon, GraphOptions(), progress.to)
        keep_graph(graph, lexicon.fingerprint)
    lexicon = lexicon.with_metric(Steps(graph))
    fingerprint, table = lexicon.fingerprint, None
    if not force:
        lexicon.tables.check("balances")
        table = lexicon.tables.balances
        wanted = missing_balances(table, len(lexicon), epsilon)
    if table is None or wanted:
        del lexicon  # its arrays may be mapped from the files that are replaced
        with bar(f"balancing {name}") as progress:
            table = build_table(graph, fingerprint, wanted, progress.to, known=table)
        keep(table)
    _print_graph(name, graph, table, epsilon)


def _print_graph(
    name: str, graph: "WordGraph", table: "BalanceTable", epsilons: list[float] | None
) -> None:
    from malaprop.mechanisms.balance import best_balance

    whole = int((graph.weights == graph.weights.min()).sum())
    say(f"lexicon      {name} with its word graph, fingerprint {table.fingerprint}")
    say(
        f"graph        {graph.size:,} words, {whole:,} edges of {graph.weights.min():g} step, "
        f"{len(graph.edges) - whole:,} longer ones, cut off at {graph.cutoff:g} steps"
    )
    say("balance      ε a step, and the share of words that stay as they are")
    for epsilon in sorted(set(epsilons or (0.8, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0))):
        law = best_balance(table, graph, epsilon)
        say(f"             ε = {epsilon:<6g} {100 * law.kept:5.1f}%  {law.form}")


@app.command("list")
def list_() -> None:
    """List the embedded and the imported lexicons."""
    from malaprop.lexicon import store

    rows = []
    for where, folders in (("embedded", store.embedded()), ("imported", store.imported())):
        for name, folder in folders.items():
            about = store.load(folder).meta
            size = f"{about['count']:,}", str(about["dimension"])
            rows.append((printable(name), *size, str(about["metric"]), where))
    print_table(("lexicon", "words", "dimensions", "metric", "where"), rows)


@app.command(short_help="Show a lexicon's size, scale, provenance and fingerprint.")
def info(name: Name) -> None:
    """Show a lexicon's size, scale, provenance and recomputed fingerprint."""
    from malaprop.lexicon import store
    from malaprop.lexicon.lexicon import Lexicon
    from malaprop.measure.neighbourhoods import nearest_distances

    lexicon = Lexicon.open(name)
    words, dimension = lexicon.vectors.shape
    say(f"lexicon      {lexicon.name or name}")
    say(f"words        {words:,}, the first of them: {', '.join(lexicon.words[:8])}")
    say(f"vectors      {dimension} dimensions, {lexicon.metric} metric")
    _print_fingerprints(lexicon)
    if words > 1:
        low, middle, high = nearest_distances(lexicon)
        say(
            f"scale        nearest word at {middle:.3g} (median; {low:.3g} to {high:.3g} for 9 in "
            f"10): at ε = {1 / middle:.2g}, the odds between such words change by at most e"
        )
    folder = store.resolve(name)
    if folder.is_dir():
        about = store.load(folder).meta
        for file, digest in about["sources"].items():
            say(f"source       {file}, SHA-256 {digest}")
        for step in lexicon.made:
            say(f"made of      {step}")
        say(f"licence      {about['licence'] or 'not stated'}")
        _print_repairs(about["repairs"], "left out" if lexicon.made else "repaired")


def _print_fingerprints(lexicon: "Lexicon") -> None:
    from malaprop.lexicon.graph import with_known_graph
    from malaprop.privacy.errors import LexiconError
    from malaprop.privacy.word_graph import graph_of

    say(f"fingerprint  {lexicon.fingerprint}")
    if graph_of(lexicon.metric) is not None:
        say("             fingerprint with graph, of words, vectors and its own word graph")
        return
    say(
        f"             of words, vectors and {lexicon.metric} metric: reports and audits name it "
        '"fingerprint"'
    )
    try:
        graph = with_known_graph(lexicon).fingerprint
    except LexiconError:
        return  # balanced cannot be used either, and says why
    say(f"with graph   {graph}")
    say(
        "             of words, vectors and word graph: those of balanced name it "
        '"fingerprint with graph"'
    )


def _print_repairs(repairs: Mapping[str, Any], done: str = "repaired") -> None:
    for fault, repair in repairs.items():
        first = ", ".join(map(str, repair["first"]))
        say(f"{done:<12} {fault}: {repair['count']:,}, first in {repair['unit']} {first}")


@app.command("import", short_help="Compile a file of word vectors into a lexicon.")
def import_(
    file: Annotated[Path, argument("FILE", "The file of word vectors.")],
    name: NewName,
    metric: Annotated[
        str, option("NAME", "euclidean, angular, manhattan, chebyshev or poincare.")
    ] = "euclidean",
    vocabulary: Annotated[
        Path | None, option("FILE", "For .npy and .safetensors: the words in order, one per line.")
    ] = None,
    limit: Annotated[
        int | None, option("NUMBER", "Import only the first NUMBER rows.", min=1)
    ] = None,
    force: Annotated[bool, option("--force", "Replace a lexicon of that name.")] = False,
) -> None:
    """Compile a file of word vectors into a lexicon that opens at once.

    It reads GloVe, word2vec and fastText text (also .gz and .zip), word2vec binary, and
    .npy and .safetensors with a vocabulary. It leaves out faulty rows and reports
    them.
    """
    from malaprop.lexicon import store
    from malaprop.privacy.metrics import as_metric

    known = str(as_metric(metric))
    with bar(f"importing {name}") as progress:
        stored = store.import_lexicon(
            file,
            name,
            metric=known,
            vocabulary=vocabulary,
            limit=limit,
            force=force,
            progress=progress.to,
        )
    count, dimension = stored.vectors.shape
    say(f"imported     {name}: {count:,} words × {dimension} dimensions")
    _print_repairs(stored.meta["repairs"])


@app.command(short_help="Add words of your own to a lexicon, under a new name.")
def extend(
    source: Name,
    words: Annotated[
        Path,
        argument("WORDS", "A file with a word on each line, in UTF-8: words that are public."),
    ],
    name: NewName,
    vectors: Annotated[
        Path | None,
        option("FILE", "A file of vectors for the new words, of the lexicon's own space."),
    ] = None,
    force: Annotated[bool, option("--force", "Replace a lexicon of that name.")] = False,
) -> None:
    """Add words to a lexicon, and store the result as a new lexicon.

    By adding words you declare them public: the list of a lexicon's words protects nobody, and any
    of them may come out for any other word. Do not take them from the texts that you protect.

    Words that --vectors lacks get a vector that is made up, from the words that a public vocabulary
    names as nearest in meaning, or else from their spelling. Capitals are folded. What the lexicon
    has already, what comes again, and what no token can be (several words, numbers) is left out
    and counted.
    """
    from malaprop.lexicon.extend import store_extended

    with bar(f"extending {source}") as progress:
        stored, repairs = store_extended(
            source, words, name, vectors=vectors, force=force, progress=progress.to
        )
    _print_stored("extended", stored, repairs.to_dict())


@app.command(short_help="Keep some words of a lexicon, under a new name.")
def subset(
    source: Name,
    name: NewName,
    keep: Annotated[
        Path | None, option("FILE", "Keep only the words of this file, one on each line.")
    ] = None,
    without: Annotated[
        Path | None, option("FILE", "Leave out the words of this file, one on each line.")
    ] = None,
    force: Annotated[bool, option("--force", "Replace a lexicon of that name.")] = False,
) -> None:
    """Keep only some words of a lexicon, or leave some out, and store the result as a new lexicon.

    Words left out never come out of a mechanism; in texts, they count as others, as unknown words
    do. The vectors and the order of the rest stay as they are. The file is public: see extend.
    """
    from malaprop.lexicon.extend import store_subset

    with working(f"choosing words of {source}"):
        stored, repairs = store_subset(source, name, keep=keep, without=without, force=force)
    _print_stored("stored", stored, repairs.to_dict())


def _print_stored(done: str, lexicon: "Lexicon", repairs: Mapping[str, Any]) -> None:
    from malaprop.lexicon.graph import SMALL

    words, dimension = lexicon.vectors.shape
    say(f"{done:<12} {lexicon.name}: {words:,} words × {dimension} dimensions")
    say(f"made of      {lexicon.made[-1]}")
    _print_repairs(repairs, "left out")
    if words > SMALL:
        say(
            f"next         for balanced: malaprop lexicon graph {lexicon.name} --epsilon NUMBER; "
            f"for tem: malaprop lexicon audit {lexicon.name} --epsilon NUMBER"
        )


@app.command()
def neighbours(
    word: Annotated[str, argument("WORD", "A word of the lexicon.")],
    lexicon: LexiconName = "english",
    count: Annotated[int, option("--count -k NUMBER", "How many words to list.", min=1)] = 10,
) -> None:
    """List the words nearest to a word, with their distances."""
    from malaprop.lexicon.lexicon import Lexicon
    from malaprop.text.word_map import WordMap

    opened = Lexicon.open(lexicon)
    words = WordMap(opened.words)
    own = words.lookup(word)
    if own is None:
        near = opened.words[words.map(word)]
        raise ParameterError(f"That word is not in the lexicon. Did you mean {near!r}?")
    for other, distance in opened.neighbours(opened.words[own], count):
        say(f"{distance:9.4f}  {other}")


@app.command(
    "train-poincare", short_help="Train vectors from IS-A relations.", rich_help_panel=RESEARCH
)
def train_poincare(
    name: NewName,
    relations: Annotated[
        Path | None, argument("RELATIONS", "A file: a word, a tab and its parent on each line.")
    ] = None,
    wordnet: Annotated[
        Path | None,
        option("FOLDER", "Train on the nouns of WordNet in this folder, not on a file."),
    ] = None,
    words: Annotated[
        str | None,
        option("NAME", "With --wordnet: only nouns of this lexicon, and nouns above them."),
    ] = None,
    dim: Annotated[int, option("NUMBER", "The number of dimensions.", min=1)] = 10,
    epochs: Annotated[int, option("NUMBER", "The number of passes over all words.", min=1)] = 200,
    rate: Annotated[
        float, option("NUMBER", "The length of the first steps, in the ball: above 0, up to 1.")
    ] = 0.3,
    negatives: Annotated[
        int, option("NUMBER", "How many words to sample against in each batch.", min=1)
    ] = 200,
    seed: Annotated[
        int, option("NUMBER", "The random seed. Other seeds give other vectors.", min=0)
    ] = 0,
    resume: Annotated[bool, option("--resume", "Resume a training that was interrupted.")] = False,
    force: Annotated[
        bool, option("--force", "Replace a lexicon of that name, or start again.")
    ] = False,
) -> None:
    """Train vectors in the Poincaré ball from IS-A relations (Nickel & Kiela 2017).

    Words that are above many others end up near the origin. The command prints how well the vectors
    reproduce the relations. If it is interrupted, --resume continues where it stopped.
    """
    from malaprop.lab.poincare import TrainingSettings, check_training, train_lexicon

    settings = TrainingSettings(
        dimension=dim, epochs=epochs, rate=rate, negatives=negatives, seed=seed
    )
    check_training(name, resume=resume, force=force)
    hierarchy, files = _hierarchy(relations, wordnet, words)
    with bar(f"training {name}") as progress:
        quality = train_lexicon(
            hierarchy,
            name,
            settings,
            sources=files,
            licence="WordNet 3.0" if wordnet else None,
            resume=resume,
            force=force,
            progress=progress.to,
        )
    say(f"trained      {name}: {len(hierarchy.words):,} words × {dim} dimensions")
    say(
        f"quality      MAP {quality.average_precision:.3f}, mean rank {quality.mean_rank:.2f}, "
        f"over {len(hierarchy.above):,} pairs of a word and one above it"
    )


def _hierarchy(
    relations: Path | None, wordnet: Path | None, words: str | None
) -> "tuple[Hierarchy, list[Path]]":
    from malaprop.lab.poincare import Hierarchy, WordNet, read_pairs
    from malaprop.lexicon.lexicon import Lexicon

    if wordnet is not None and relations is None:
        source = WordNet(wordnet)
        vocabulary = None if words is None else Lexicon.open(words).words
        return Hierarchy.of(source.relations(vocabulary), vocabulary or ()), source.files
    if relations is None or wordnet is not None:
        raise ParameterError("name a file of relations, or a folder with --wordnet: one of them")
    if words is not None:
        raise ParameterError("--words goes with --wordnet: a file has the words that it has")
    return Hierarchy.of(read_pairs(relations)), [relations]
