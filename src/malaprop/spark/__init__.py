"""The engine on Spark: one job over an Arrow stream, the lexicon shipped, nothing drawn twice.

Needs the extra `spark`; `malaprop.integrations.spark` is the door.
"""

from typing import Final

FORMATS: Final = ("parquet", "csv", "tsv", "jsonl")
"""The formats that Spark reads and writes."""
