"""Private vectors, from files of vectors and from texts."""

import base64
import hashlib
import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import numpy as np

from malaprop._version import __version__
from malaprop.centroids import Centroids
from malaprop.files import vector_formats
from malaprop.files.formats import format_of
from malaprop.files.formats.file_format import Layout
from malaprop.files.privatize import StrPath, setting_text
from malaprop.files.resume_file import Drawn, Journal
from malaprop.files.run import (
    PIPE,
    Job,
    Listener,
    Output,
    Run,
    RunProgress,
    TextJob,
    check_names,
    check_source,
    ignore,
    staged_run,
)
from malaprop.files.staging import check_output
from malaprop.files.texts import open_texts
from malaprop.files.vector_formats import (
    ARRAYS,
    FLOAT32,
    MatrixWriter,
    VectorBlock,
    VectorSource,
    VectorWriter,
    as_written,
    checked_file,
    format_named,
    open_vectors,
    read_some,
)
from malaprop.lexicon.lexicon import Lexicon
from malaprop.measure.neighbourhoods import nearest_distances
from malaprop.measure.vector_noise import check_scale, noise_and_scale
from malaprop.mechanisms.decoders import VectorMechanism
from malaprop.privacy.arrays import Floats
from malaprop.privacy.errors import DataError, InputChangedError, ParameterError
from malaprop.privacy.guarantee import Kind
from malaprop.privacy.mechanism import FreeVectors
from malaprop.privacy.metrics import require_euclidean
from malaprop.privacy.randomness import SECURE, label, secure_rng, seeded_rng
from malaprop.private_files import WriteDigest, keyed_digest
from malaprop.recipe import MechanismChoice, chosen_mechanism
from malaprop.report.page import page_file, report_path
from malaprop.report.run_report import Clock, LexiconFacts
from malaprop.report.vector_report import (
    NO_SCALE,
    EmbeddedTexts,
    VectorReport,
)

_SEEDED: Final = (
    "made with a seed: NOT PRIVATE. Whoever knows the seed can undo it; the guarantee holds only "
    "for a run without one"
)
_PAIRS: Final = "any two texts, each counting as the centroid of its words' vectors"
_PUBLIC: Final = (
    "the mechanism and its parameters",
    "the lexicon, and the map of unknown words",
    "how many texts there are, and in which order",
)


def release_files(
    source: StrPath,
    output: StrPath,
    *,
    epsilon: float | None = None,
    mechanism: MechanismChoice = "priv-emb",
    column: str | None = None,
    public: Any = None,
    scale: float | None = None,
    seed: int | None = None,
    resume: bool = False,
    force: bool = False,
    report: StrPath | None = None,
    progress: Listener | None = None,
    command: str = "",
) -> VectorReport:
    """Release a file of vectors, each with noise of its own, and return the report.

    The guarantee is between any two vectors. It does not cover what stands beside them: words in
    a text file and other columns of a table stay as they are. The file is read in blocks, and the
    output appears under its name only when it is whole. A run that was stopped can be resumed: what
    was drawn for a block of vectors is kept, and never drawn again.

    >>> import tempfile
    >>> import numpy as np
    >>> folder = Path(tempfile.mkdtemp())
    >>> np.save(folder / "true.npy", np.eye(6, dtype=np.float32))
    >>> true, private = folder / "true.npy", folder / "private.npy"
    >>> done = release_files(true, private, mechanism="laplace", epsilon=20.0, scale=1.4)
    >>> done.rows, done.released_columns, np.load(folder / "private.npy").dtype.name
    (6, 6, 'float32')

    Parameters:

    - `source`, `output`: files of one format, by the endings of their names: `.npy`, `.npz`,
      `.safetensors`, `.txt` or `.vec` (GloVe and word2vec text), `.parquet`.
    - `epsilon`: ε, the privacy loss per unit of distance. `mechanism`: the name of one that adds
      noise to vectors, which takes that ε, or one with its parameters, which has its own.
    - `column`: the array of an archive, or the column of a table, if there are several.
    - `public`: vectors that everybody may know, as an array or a file: for mechanisms that need to
      know a cloud of vectors, and to say how the noise compares with them.
    - `scale`: a typical distance of two vectors, to say how the noise compares with it. It is never
      taken from the vectors themselves.
    - `seed`: repeats a demonstration; the output is *not private*.
    - `resume`, `force`, `report`, `progress`, `command`: as for `privatize_files`.

    Raises ParameterError for parameters that do not fit, DataError for an input and OutputError
    for an output that cannot be read or written. No output is changed then; if draws were kept to
    be resumed, a note on the error says so.
    """
    run = _VectorRun(
        mechanism, epsilon, seed, public, scale, report, progress, command, resume, force
    )
    job = run.plan(source, output)
    kind = format_named(Path(job.source))
    if format_named(Path(job.target)) != kind:
        raise ParameterError(
            f"the output has the format of the input, {kind}: {job.target} says "
            f"{format_named(Path(job.target))}"
        )
    run.prepare()
    with open_vectors(Path(job.source), column) as vectors:
        run.bind(run.mechanism.for_vectors(vectors.columns, run.sample))
        public_vectors = "none" if run.sample is None else _digest(run.sample)
        settings = {"the public vectors": public_vectors, "the column": setting_text(vectors.part)}
        return run.complete(job, kind, vectors, settings)


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
    run = _VectorRun(
        mechanism, epsilon, seed, public, scale, report, progress, command, resume, force
    )
    job = run.plan(source, output)
    kind = format_named(Path(job.target))
    if kind not in ARRAYS:
        raise ParameterError(
            f"vectors of texts are written as {', '.join(ARRAYS)}: name such a file with `output`"
        )
    columns = () if column is None else (column,)
    layout = Layout(format=format or format_of(job.source), columns=columns, encoding=encoding)
    run.prepare()
    known = Lexicon.open(lexicon) if isinstance(lexicon, str) else lexicon
    require_euclidean(known, run.mechanism)
    vectors: Floats = known.vectors.astype(np.float64)
    free = run.mechanism.for_vectors(vectors.shape[1], vectors)
    own = [fact for fact in free.guarantee.public if fact.startswith("the projection")]
    promise = replace(free.guarantee, pairs=_PAIRS, public=(*_PUBLIC, *own))
    run.bind(replace(free, guarantee=promise))
    shape = asdict(layout)
    del shape["label"]
    settings = {
        "the public vectors": "none",
        "the lexicon": setting_text(known.fingerprint),
        "the columns the format or the encoding": setting_text(shape),
    }
    texts = _TextVectors(TextJob(job.source, job.target, layout), kind, known)
    return run.complete(job, kind, texts, settings)


class _TextVectors(VectorSource):
    """The centroids of texts. A matrix says how many rows it has before it has any, so the texts
    are read twice.
    """

    rows: int
    values = FLOAT32

    def __init__(self, job: TextJob, kind: str, lexicon: Lexicon) -> None:
        self._job, self._kind, self._lexicon = job, kind, lexicon
        self._centroids = Centroids(lexicon)
        self.columns = lexicon.vectors.shape[1]
        self.part = "".join(job.layout.columns)
        self._words = self._wordless = 0

    def begin(self) -> None:
        sizes = [len(texts) for texts in self._texts()]
        self.rows, self._batches = sum(sizes), len(sizes)

    @property
    def is_long(self) -> bool:
        return self._batches > 1 or super().is_long

    def _texts(self) -> Iterator[list[str]]:
        """Yield the texts, one for each record; refuse a file with a record that has none."""
        before = 0
        with open_texts(self._job) as reader:
            for batch in reader.batches():
                texts, records = batch.texts, batch.records
                if len(texts) != records:
                    raise DataError(
                        f"one of the records {before + 1:,} to {before + records:,} has no text, "
                        "so that it would have no vector: remove it, or put a dash in its place"
                    )
                before += records
                yield texts

    def blocks(self) -> Iterator[VectorBlock]:
        step = max(1, vector_formats.BLOCK_CELLS // self.columns)
        for texts in self._texts():
            for start in range(0, len(texts), step):
                vectors, words = self._centroids.of(texts[start : start + step])
                self._words += int(words.sum())
                self._wordless += int(np.count_nonzero(words == 0))
                yield VectorBlock(vectors)

    def writer(self, target: BinaryIO, columns: int) -> VectorWriter:
        return MatrixWriter(target, self._kind, "vectors", FLOAT32, (self.rows, columns))

    def facts(self) -> dict[str, Any]:
        texts = EmbeddedTexts(
            lexicon=LexiconFacts.of(self._lexicon),
            words=self._words,
            wordless=self._wordless,
            nearest_words=nearest_distances(self._lexicon)[1],
        )
        return {"texts": texts}


@dataclass
class _VectorRun:
    """What runs over vectors share: the mechanism, its noise, and the way from source to report."""

    _choice: MechanismChoice
    _epsilon: float | None
    _seed: int | None
    _public: Any
    _scale: float | None
    _report: StrPath | None
    _progress: Listener | None
    _command: str
    _resume: bool
    _force: bool

    def __post_init__(self) -> None:
        self._clock, self._listener = Clock(self._command), self._progress or ignore
        self._page = None if self._report is None else report_path(Path(self._report))
        check_scale(self._scale)
        if isinstance(self._public, str | os.PathLike):
            checked_file(Path(self._public))

    def plan(self, source: StrPath, target: StrPath) -> Job:
        """Refuse names that would overwrite what is read, or what is there already."""
        job = Job(os.fspath(source), os.fspath(target))
        if PIPE in (job.source, job.target):
            raise ParameterError(
                "vectors are read from a file and written to a file, not to a pipe"
            )
        check_source(job.source)
        if job.status() is None:
            raise ParameterError(
                f"{job.source} is not a regular file: save its content to one first"
            )
        check_names([job], self._page)
        for path in filter(None, (Path(job.target), self._page)):
            # What is there may be what a run that is resumed has left, or has completed.
            check_output(path, force=self._force or self._resume)
        return job

    def prepare(self) -> None:
        """Make the mechanism, which must add noise to vectors, and read the public sample."""
        chosen = chosen_mechanism(self._choice, self._epsilon)
        if not isinstance(chosen, VectorMechanism):
            raise ParameterError(
                f"{type(chosen).__name__} replaces words, and releases no vectors: choose one that "
                "adds noise to them with `mechanism`, such as priv-emb or laplace"
            )
        self.mechanism = chosen
        self._rng = secure_rng() if self._seed is None else seeded_rng(self._seed)
        self._listener(RunProgress(stage="preparing", note=f"preparing {chosen.name}"))
        self.sample: Floats | None = None
        if isinstance(self._public, str | os.PathLike):
            self.sample = read_some(Path(self._public))
        elif self._public is not None:
            self.sample = np.asarray(self._public)

    def bind(self, free: FreeVectors) -> None:
        """Take the noise, and say what the user should know about it."""
        self.free = free
        self._compared = noise_and_scale(free, scale=self._scale, public=self.sample)
        self._cautions = []
        if free.guarantee.kind is Kind.NONE:
            self._cautions.append(f"NOTHING IS GUARANTEED: {free.guarantee.reason}")
        if label(self._rng) != SECURE:
            self._cautions.append(_SEEDED)
        if self._compared is None and free.noise_length is not None:
            self._cautions.append(NO_SCALE)
        for warning in (*self._cautions, *(self._compared.warnings if self._compared else ())):
            self._listener(RunProgress(stage="warning", note=warning))

    def complete(
        self, job: Job, kind: str, source: VectorSource, settings: dict[str, str]
    ) -> VectorReport:
        """Write a private vector for each vector of a source, and return the report."""
        facts: dict[str, Any] = {
            "guarantee": self.free.guarantee,
            "randomness": label(self._rng),
            "mechanism": self.mechanism.to_dict(),
            "input": job.source,
            "output": job.target,
            "format": kind,
            "part": source.part,
            "columns": source.columns,
            "released_columns": self.free.onto,
            "beside": source.beside,
            "left_out": source.left_out,
            "scale": self._compared,
        }
        settings |= {
            "the version of Malaprop": f"{__version__} {vector_formats.BLOCK_CELLS}",
            "the mechanism or its parameters": setting_text(self.mechanism.to_dict()),
            "the seed": "none" if self._seed is None else str(self._seed),
        }
        with staged_run(
            [job],
            lambda output: settings,
            self._listener,
            report=self._page,
            resume=self._resume,
            force=self._force,
        ) as run:
            if not run.left:
                return VectorReport(occasion=self._clock.occasion(), rows=0, already=True, **facts)
            facts |= self._draw(run, run.outputs[0], source)
            report = VectorReport(
                occasion=self._clock.occasion(), cautions=(*self._cautions, *run.cautions), **facts
            )
            if run.report and self._page:
                run.report.write(page_file(report.page(), self._page, report.to_dict()))
        return report

    def _draw(self, run: Run, output: Output, source: VectorSource) -> dict[str, Any]:
        """Write the private vectors; return what the report says about them."""
        key = run.digest_key()
        target = cast(BinaryIO, output.target)
        written = WriteDigest(target, key) if key else None
        source.begin()
        run.begin(output, keep=source.is_long)
        writer = source.writer(cast(BinaryIO, written or target), self.free.onto)
        name, done = Path(output.job.source).name, 0

        def tell() -> None:
            event = RunProgress(stage="drawing", note=name, done=done, words=done, unit="vectors")
            self._listener(replace(event, total=source.rows))

        with ExitStack() as failure:
            failure.callback(writer.abandon)
            tell()
            for number, block in enumerate(source.blocks()):
                bad = np.logical_not(np.isfinite(block.vectors).all(axis=1))
                if bad.any():
                    raise DataError(
                        f"row {done + int(np.argmax(bad)) + 1:,} of {name} has NaN or infinity: "
                        "remove it, or fill it in"
                    )
                private = self._block(number, block.vectors, source.values, output.journal)
                writer.write(block, private)
                done += len(block.vectors)
                tell()
            if source.rows is not None and done != source.rows:
                raise InputChangedError(
                    f"{name} has {done:,} vectors where {source.rows:,} were expected"
                )
            writer.finish()
            failure.pop_all()
        facts = {"rows": done, **source.facts()}
        if key and written:
            with output.job.open_source() as file:
                facts |= {
                    "input_digest": keyed_digest(file, key),
                    "output_digest": written.of_all(),
                }
        output.check_input()
        return facts

    def _block(
        self, number: int, vectors: Floats, values: "np.dtype[Any]", journal: Journal | None
    ) -> Floats:
        """Return the private vectors of a block as they are written, drawn now or before."""
        origin = [] if journal is None else [_digest(vectors)]
        if journal is None or number not in journal:
            drawn = as_written(self.free.release(vectors, self._rng), values)
            if journal is not None:
                encoded = base64.b64encode(drawn.data.cast("B")).decode()
                journal.keep(number, origin, Drawn([encoded], {"columns": drawn.shape[1]}))
            return np.asarray(drawn, dtype=np.float64)
        if label(self._rng) != SECURE:
            self.free.release(vectors, self._rng)  # so that a seed goes on where it was
        [text], counts = journal.recall(number, origin)
        numbers = np.frombuffer(base64.b64decode(text or ""), values)
        return numbers.reshape(-1, counts["columns"]).astype(np.float64)


def _digest(vectors: Floats) -> str:
    """Return what tells vectors from others; what is kept of it has a key."""
    data = np.ascontiguousarray(vectors, dtype=np.float64)
    return f"{data.shape} {hashlib.blake2b(data.data.cast('B')).hexdigest()}"
