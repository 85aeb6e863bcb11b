"""The engine on Spark: one job over an Arrow stream, the lexicon shipped, nothing drawn twice.

    shipping   the lexicon and its tables, as one file for all executors
    tasks      what runs in the Python processes of the executors
    counting   counts that tasks gather
    tables     files in, files out; an output gets its name when it is whole
    engine     the job, seen from the driver

Needs the extra `malaprop[spark]`; `malaprop.spark` is the door.
"""
