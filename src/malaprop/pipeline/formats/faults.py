"""Records that cannot be processed: what is wrong with them, and what becomes of them.

A fault is named by the number of its record and by its kind, never by what the record holds.
"""

from typing import Final, Literal, NamedTuple

from malaprop.core.errors import DataError

OnError = Literal["fail", "skip", "mask"]
PLACEHOLDER: Final = "[masked]"
# A record is held in memory as a whole, split into tokens: a hundred times its size. This is
# twice a novel of a thousand pages.
LONGEST_RECORD: Final = 2**23
TOO_LONG: Final = f"is longer than {LONGEST_RECORD:,} characters"
_MOST_LISTED: Final = 1_000
REMEDY: Final = '; to go on without such records, use `on_error="skip"` (or mask)'


class FaultyRecord(NamedTuple):
    """A record that could not be processed."""

    record: int
    reason: str


class FlawError(Exception):
    """A record cannot be processed: `reason` says why, and `remedy` what to do about it."""

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy


class Faults:
    """The faults of a file, counted; the first thousand are listed."""

    def __init__(self, on_error: OnError) -> None:
        self.on_error = on_error
        self.count = 0
        self.listed: list[FaultyRecord] = []

    def meet(self, record: int, flaw: FlawError, name: str = "") -> None:
        """Count a record that has a flaw; with `on_error="fail"`, raise.

        `name` is what the message calls the record, if not by its number alone.
        """
        if self.on_error == "fail":
            remedy = f": {flaw.remedy}" if flaw.remedy else ""
            raise DataError(f"{name or f'record {record}'} {flaw.reason}{remedy}{REMEDY}")
        self.count += 1
        if self.count <= _MOST_LISTED:
            self.listed.append(FaultyRecord(record, flaw.reason))


def check_text(text: str) -> None:
    """Refuse a text with a NUL or half of a surrogate pair, or one that is too long."""
    if "\0" in text:
        raise FlawError(
            "holds a NUL character", "name the file's encoding with `encoding` if it is another one"
        )
    if has_half_pairs(text):
        raise FlawError("holds half of a surrogate pair, which is not a character")
    if len(text) > LONGEST_RECORD:
        raise FlawError(TOO_LONG)


def has_half_pairs(text: str) -> bool:
    """Whether a text has surrogates, which valid Unicode never has."""
    if text.isascii():
        return False
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False
