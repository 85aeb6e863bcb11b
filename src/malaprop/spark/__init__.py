"""The engine on Spark: one job over an Arrow stream, the lexicon shipped, nothing drawn twice.

    shipping   the lexicon and its tables, as one file for all executors
    tasks      what runs in the Python processes of the executors
    counting   counts that tasks gather
    folders    what may be read and replaced; an output gets its name when it is whole
    tables     files in, files out
    engine     the job, seen from the driver
    failures   what went wrong, without a word of the data

Needs the extra `spark`; `malaprop.integrations.spark` is the door.
"""

from typing import Final

FORMATS: Final = ("parquet", "csv", "tsv", "jsonl")
"""The formats that Spark reads and writes."""
