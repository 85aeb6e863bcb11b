"""How messages name the columns of a file.

The names of columns are not text, unless a file has no header: then its first line is taken for
one, and a message that quotes it would quote the text. So names are shown only if all of them
look like names: a letter or underscore, then letters, digits and `_ - . : / [ ]`, no spaces, at
most 40 characters, no name twice. A line of data shows only if each of its fields is such a word.
"""

import re
from collections.abc import Iterable
from typing import Final

from malaprop.core.suggest import did_you_mean

_NAME: Final = re.compile(r"[^\W\d][\w\-.:/\[\]]{0,39}")
_MOST_SHOWN: Final = 20
UNSHOWN: Final = "not shown, as this may be text"


def is_inside(wanted: str, columns: Iterable[str]) -> bool:
    """Whether a name is a route into one of the columns, as in JSON lines.

    >>> is_inside("turns[].text", ["id", "turns"])
    True
    """
    return any(wanted.startswith((f"{name}.", f"{name}[]")) for name in columns)


INSIDE: Final = (
    "; texts inside structs and lists of Parquet cannot be named: put them into a column of their "
    "own"
)


def there_are(columns: Iterable[str], wanted: str, noun: str = "column") -> str:
    """Say how many columns there are, and which; suggest the one that may have been meant.

    >>> there_are(["id", "text"], "txt")
    "2 columns: id, text. Did you mean 'text'?"
    >>> there_are(["Mary had a lamb", "42"], "txt")
    '2 columns (not shown, as this may be text)'
    """
    names = list(columns)
    count = f"{len(names):,} {noun}" + "s" * (len(names) != 1)
    if not names:
        return count
    if len(set(names)) < len(names) or not all(map(_NAME.fullmatch, names)):
        return f"{count} ({UNSHOWN})"
    shown = ", ".join(names[:_MOST_SHOWN])
    more = f" and {len(names) - _MOST_SHOWN:,} more" if len(names) > _MOST_SHOWN else ""
    hint = did_you_mean(wanted, names)
    return f"{count}: {shown}{more}" + (f".{hint}" if hint else "")
