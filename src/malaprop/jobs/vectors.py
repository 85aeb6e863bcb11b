"""Vectors in, private vectors out: the call behind `malaprop release`."""

from pathlib import Path
from typing import Any

from malaprop.core.errors import ParameterError
from malaprop.core.randomness import label
from malaprop.jobs.files import StrPath
from malaprop.jobs.progress import Listener, RunProgress, ignore
from malaprop.jobs.vector_output import staged_output
from malaprop.jobs.vector_run import (
    cautions,
    check_comparison,
    generator,
    is_long,
    public_sample,
    settings_of,
    vector_job,
    vector_mechanism,
)
from malaprop.measure.scale import noise_and_scale
from malaprop.pipeline.choosing import MechanismChoice
from malaprop.pipeline.report import Clock
from malaprop.pipeline.vectors.opening import format_named, open_vectors
from malaprop.report.vectors import VectorReport


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
    clock, listener = Clock(command), progress or ignore
    check_comparison(public, scale)
    job = vector_job(source, output, report, force=force, resume=resume)
    kind = _format(job.source, job.target)
    made, rng = vector_mechanism(mechanism, epsilon), generator(seed)
    listener(RunProgress(stage="preparing", note=f"preparing {made.name}"))
    sample = public_sample(public)
    with open_vectors(Path(job.source), column) as opened:
        free = made.for_vectors(opened.columns, sample)
        compared = noise_and_scale(free, scale=scale, public=sample)
        said = cautions(free, rng, scaled=compared is not None or free.noise_length is None)
        for warning in (*said, *(compared.warnings if compared else ())):
            listener(RunProgress(stage="warning", note=warning))
        facts: dict[str, Any] = {
            "guarantee": free.guarantee,
            "randomness": label(rng),
            "mechanism": made.to_dict(),
            "input": job.source,
            "output": job.target,
            "format": kind,
            "part": opened.part,
            "columns": opened.columns,
            "released_columns": free.onto,
            "beside": opened.beside,
            "left_out": opened.left_out,
            "scale": compared,
        }
        settings = settings_of(made, seed, sample, the_column=opened.part)
        with staged_output(job, report, listener, settings, resume=resume, force=force) as target:
            if target.whole:
                return VectorReport(occasion=clock.occasion(), rows=0, already=True, **facts)
            rows = target.draw(
                opened.blocks(),
                opened.writer(target.target, free.onto),
                free,
                rng,
                opened.rows,
                opened.values,
                keep=is_long(opened.rows, opened.columns),
            )
            before, after = target.digests()
            return target.tell(
                VectorReport(
                    occasion=clock.occasion(),
                    rows=rows,
                    cautions=(*said, *target.cautions),
                    input_digest=before,
                    output_digest=after,
                    **facts,
                )
            )


def _format(source: str, target: str) -> str:
    """Return the format of both files; refuse an output whose name says another one."""
    kind = format_named(Path(source))
    if format_named(Path(target)) != kind:
        raise ParameterError(
            f"the output has the format of the input, {kind}: {target} says "
            f"{format_named(Path(target))}"
        )
    return kind
