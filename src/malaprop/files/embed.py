"""Texts in, private vectors out."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import numpy as np

from malaprop.centroids import Centroids
from malaprop.files.compression import unpacked
from malaprop.files.formats import format_of
from malaprop.files.formats.file_format import Layout
from malaprop.files.plan import Listener, RunProgress, ignore
from malaprop.files.privatize import StrPath
from malaprop.files.release_vectors import (
    cautions,
    check_comparison,
    generator,
    is_long,
    public_sample,
    settings_of,
    staged_output,
    vector_job,
    vector_mechanism,
)
from malaprop.files.vector_blocks import BLOCK_CELLS, FLOAT32, VectorBlock
from malaprop.files.vector_formats import ARRAYS, array_writer, format_named
from malaprop.lexicon.lexicon import Lexicon
from malaprop.measure.neighbourhoods import nearest_distances
from malaprop.measure.vector_noise import noise_and_scale
from malaprop.mechanisms.decoders import VectorMechanism
from malaprop.privacy.arrays import Floats
from malaprop.privacy.errors import DataError, ParameterError
from malaprop.privacy.guarantee import Guarantee
from malaprop.privacy.mechanism import FreeVectors
from malaprop.privacy.metrics import require_euclidean
from malaprop.privacy.randomness import label
from malaprop.recipe import MechanismChoice
from malaprop.report.run_report import Clock, LexiconFacts
from malaprop.report.vector_report import EmbeddedTexts, VectorReport

# Texts of files.


def texts_in(path: Path, layout: Layout) -> Iterator[list[str]]:
    """Yield the texts of a file, one for each record; refuse a file with a record that has none."""
    with path.open("rb") as file:
        source = unpacked(file, str(path))
        copy = layout.kind(source, cast(BinaryIO, BytesIO()), layout, path.stat().st_size)
        before = 0
        try:
            for batch in copy.batches():
                texts, records = batch.texts, batch.records
                if len(texts) != records:
                    raise DataError(
                        f"one of the records {before + 1:,} to {before + records:,} has no text, "
                        "so that it would have no vector: remove it, or put a dash in its place"
                    )
                before += records
                yield texts
        finally:
            copy.abandon()


# Texts in, private vectors out: the call behind `malaprop embed`.


_PAIRS: Final = "any two texts, each counting as the centroid of its words' vectors"
_PUBLIC: Final = (
    "the mechanism and its parameters",
    "the lexicon, and the map of unknown words",
    "how many texts there are, and in which order",
)


def embed_files(
    source: StrPath,
    output: StrPath,
    *,
    epsilon: float | None = None,
    mechanism: MechanismChoice = "priv-emb",
    lexicon: Lexicon | str = "english",
    column: str | None = None,
    format: str | None = None,  # noqa: A002  what everybody calls it
    encoding: str = "utf-8",
    public: Any = None,
    scale: float | None = None,
    seed: int | None = None,
    resume: bool = False,
    force: bool = False,
    report: StrPath | None = None,
    progress: Listener | None = None,
    command: str = "",
) -> VectorReport:
    """Write a private vector for each text of a file, and return the report.

    The vector of a text is the centroid c of its words' vectors in the lexicon; the mechanism adds
    noise to it. The guarantee is ε·‖c − c'‖ between any two texts, whatever their lengths. Of two
    texts of n words that differ in one, the centroids are d/n apart, d being the distance of the
    two words: a word in a long text is protected more.

    >>> import tempfile
    >>> from malaprop import Lexicon
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "notes.txt").write_text("cold rain\\nhot\\n")
    >>> tiny = Lexicon(["cold", "hot", "rain"], [[0.0, 1.0], [4.0, 1.0], [1.0, 3.0]])
    >>> done = embed_files(
    ...     folder / "notes.txt", folder / "x.npy", mechanism="laplace", epsilon=5.0, lexicon=tiny
    ... )
    >>> done.rows, done.texts.words, done.guarantee.loss(1.0)
    (2, 3, 5.0)

    Parameters:

    - `source`: a file of texts, `.txt` (a text a line), `.csv`, `.tsv`, `.jsonl` or `.parquet`;
      `column` is the one that holds them. `format`, `encoding`: as for `privatize_files`.
    - `output`: a matrix, `.npy`, `.npz` or `.safetensors`, a row for each text, in order.
    - `lexicon`: a lexicon with Euclidean distances, the name of one, or a file of word vectors.
      What a mechanism needs to know about a cloud of vectors, it takes from the lexicon.
    - `public`, `scale`: centroids that everybody may know, or a typical distance of two of them, to
      say how the noise compares with it. All others: as for `release_files`, `resume` included.
    """
    clock, listener = Clock(command), progress or ignore
    check_comparison(public, scale)
    job = vector_job(source, output, report, force=force, resume=resume)
    kind = format_named(Path(job.target))
    if kind not in ARRAYS:
        raise ParameterError(
            f"vectors of texts are written as {', '.join(ARRAYS)}: name such a file with `output`"
        )
    columns = () if column is None else (column,)
    layout = Layout(format=format or format_of(job.source), columns=columns, encoding=encoding)
    made, rng = vector_mechanism(mechanism, epsilon), generator(seed)
    listener(RunProgress(stage="preparing", note=f"preparing {made.name}"))
    known = Lexicon.open(lexicon) if isinstance(lexicon, str) else lexicon
    free = _bound(made, known)
    compared = noise_and_scale(free, scale=scale, public=public_sample(public))
    said = cautions(free, rng, scaled=compared is not None)
    for warning in (*said, *(compared.warnings if compared else ())):
        listener(RunProgress(stage="warning", note=warning))
    facts: dict[str, Any] = {
        "guarantee": free.guarantee,
        "randomness": label(rng),
        "mechanism": made.to_dict(),
        "input": job.source,
        "output": job.target,
        "format": kind,
        "part": column or "",
        "columns": free.columns,
        "released_columns": free.onto,
        "beside": (),
        "left_out": (),
        "scale": compared,
    }
    settings = settings_of(
        made,
        seed,
        None,
        the_lexicon=known.fingerprint,
        the_columns_the_format_or_the_encoding=asdict(layout),
    )
    with staged_output(job, report, listener, settings, resume=resume, force=force) as target:
        if target.whole:
            return VectorReport(occasion=clock.occasion(), rows=0, already=True, **facts)
        reader = _Reader(Path(job.source), layout, Centroids(known), known.vectors.shape[1])
        total, batches = reader.count()
        rows = target.draw(
            reader.blocks(),
            array_writer(kind, target.target, total, free.onto),
            free,
            rng,
            total,
            FLOAT32,
            keep=batches > 1 or is_long(total, free.columns),
        )
        before, after = target.digests()
        return target.tell(
            VectorReport(
                occasion=clock.occasion(),
                rows=rows,
                cautions=(*said, *target.cautions),
                texts=EmbeddedTexts(
                    lexicon=_facts(known),
                    words=reader.words,
                    wordless=reader.wordless,
                    nearest_words=nearest_distances(known)[1],
                ),
                input_digest=before,
                output_digest=after,
                **facts,
            )
        )


def _bound(mechanism: VectorMechanism, lexicon: Lexicon) -> FreeVectors:
    """Bind a mechanism to centroids of a lexicon's vectors, which serve it as public ones."""
    require_euclidean(lexicon, mechanism)
    vectors: Floats = lexicon.vectors.astype(np.float64)
    free = mechanism.for_vectors(vectors.shape[1], vectors)
    return replace(free, guarantee=_for_texts(free.guarantee))


def _for_texts(guarantee: Guarantee) -> Guarantee:
    own = [fact for fact in guarantee.public if fact.startswith("the projection")]
    return replace(guarantee, pairs=_PAIRS, public=(*_PUBLIC, *own))


def _facts(lexicon: Lexicon) -> LexiconFacts:
    return LexiconFacts(
        name=lexicon.name,
        words=len(lexicon),
        dimension=lexicon.vectors.shape[1],
        metric=str(lexicon.metric),
        fingerprint=lexicon.fingerprint,
    )


@dataclass
class _Reader:
    """Reads the texts of a file twice: a matrix says how many rows it has before it has any."""

    path: Path
    layout: Layout
    centroids: Centroids
    columns: int
    words: int = field(default=0, init=False)
    wordless: int = field(default=0, init=False)

    def count(self) -> tuple[int, int]:
        """Return how many texts there are, and how many batches they come in."""
        sizes = [len(texts) for texts in texts_in(self.path, self.layout)]
        return sum(sizes), len(sizes)

    def blocks(self) -> Iterator[VectorBlock]:
        step = max(1, BLOCK_CELLS // self.columns)
        for texts in texts_in(self.path, self.layout):
            for start in range(0, len(texts), step):
                vectors, words = self.centroids.of(texts[start : start + step])
                self.words += int(words.sum())
                self.wordless += int(np.count_nonzero(words == 0))
                yield VectorBlock(vectors)
