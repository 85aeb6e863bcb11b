"""Files in, private files out: the formats, the run with its workers, what can be resumed."""

from typing import Final

UNWRITTEN: Final = "no output file was written"
"""Added as a note to what stops a run."""
KEPT: Final = (
    "what was drawn is kept: resume with the same parameters and `resume=True`, or start over with "
    "`force=True`"
)
"""Added as a note, too, if there is something to resume."""
PARTLY: Final = (
    "go on with the same parameters and `resume=True`, which leaves complete outputs as they are"
)
"""Added as a note to what stops a run over a folder."""
