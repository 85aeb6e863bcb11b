"""The engine on Spark: one job over an Arrow stream, the lexicon shipped, nothing drawn twice.

Needs the extra `spark`; `malaprop.integrations.spark` is the door.
"""
