"""What a run reports while it lasts."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Stage = Literal["preparing", "warning", "checking", "drawing", "naming"]


@dataclass(frozen=True, kw_only=True)
class RunProgress:
    """An event in a run.

    - `preparing`: the mechanism is bound to the lexicon, which may take a while;
    - `warning`: `note` is something that the user should know before or after the work;
    - `checking`: an input is compared with that of the run to resume, `done` of `total` bytes;
    - `drawing`: `done` of `total` bytes of all inputs are copied, with `words` private words;
    - `naming`: all outputs are on the disk and get their names: it is too late to stop.

    For vectors, `done`, `total` and `words` count those, and `unit` says so.

    `note` says in a few words what is being worked on. `total` is None where it is not known.
    """

    stage: Stage
    note: str = ""
    done: int = 0
    total: int | None = None
    words: int = 0
    unit: str = "words"


Listener = Callable[[RunProgress], None]
"""Called with each event of a run."""


def ignore(progress: RunProgress) -> None:
    """Do nothing: the default listener."""
