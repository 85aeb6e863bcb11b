"""Files in, private files out: planning, the run and its progress; on this machine or on Spark.

files      privatize_files: what a program or the command line calls
planning   from inputs and an output to jobs, one file in and one file out each
names      outputs that are inputs, or would overwrite a hidden file, are refused
job        one input, one output
output     an output from what an earlier run left of it to its record
run        all outputs of a run, through the loop in `malaprop.files.workers`
progress   what a run tells while it lasts
vectors    release_files: vectors in, private vectors out
embedding  embed_files: texts in, private vectors out
vector_run what these two share: the job and the mechanism
vector_output  their output: drawn block by block, and resumed
reporting  the file of a report, for engines that write no other file themselves
spark/     the same on a cluster
"""

from typing import Final

UNWRITTEN: Final = "no output file was written"
"""Added as a note to what stops a run."""
KEPT: Final = (
    "what was drawn is kept: resume with the same parameters and `resume=True`, or start over with "
    "`force=True`"
)
"""Added as a note, too, if there is something to resume."""
