"""The exceptions that Malaprop raises.

    MalapropError
    ├── ParameterError (ValueError)   a parameter outside its range
    ├── MetricError    (ValueError)   a distance that is not a metric, or does not fit a mechanism
    ├── LexiconError   (ValueError)   words or vectors that do not form a lexicon
    ├── DataError      (ValueError)   a record, a column or an encoding that cannot be read
    │   └── InputChangedError         an input that changed while it was read
    ├── FetchError                    a data set that cannot be fetched
    ├── OutputError                   an output that already exists, or cannot be written
    ├── SecretError                   the user's secret cannot be read or kept
    └── MissingExtraError (ImportError)  an optional package that is not installed

A message names the object, the constraint, the value and the remedy. It never contains the
user's text: records are identified by number, columns only by the name that the user gave.
Whoever shows a message, or a name, makes it `printable`.
"""

import json


class MalapropError(Exception):
    """The root of all errors that Malaprop raises on purpose."""


class ParameterError(MalapropError, ValueError):
    """A parameter is outside its range."""


class MetricError(MalapropError, ValueError):
    """A distance is not a metric, or not the metric that a mechanism needs."""


class LexiconError(MalapropError, ValueError):
    """Words and vectors do not form a lexicon, or there is no such lexicon."""


class DataError(MalapropError, ValueError):
    """Input data cannot be read in the format or encoding that was declared."""


class InputChangedError(DataError):
    """An input changed while it was read, so what was drawn may belong to texts that are gone."""


class FetchError(MalapropError):
    """A data set cannot be fetched: no way to its owner, or not what was expected."""


class OutputError(MalapropError):
    """An output already exists or cannot be written."""


class SecretError(MalapropError):
    """The user's secret, from which the keys of hashes are derived, cannot be read or kept."""


EXTRAS = {
    "evaluate": "scikit-learn matplotlib",
    "plots": "matplotlib",
    "safetensors": "safetensors",
    "sklearn": "scikit-learn",
    "spark": "'pyspark[sql]>=4.0,<5' 'pandas>=2.2,<3'",
}
"""The packages of each extra, as pip takes them. No index has Malaprop itself."""


class MissingExtraError(MalapropError, ImportError):
    """An optional package is not installed; the message names the command that installs it."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        self.command = f"pip install {EXTRAS[extra]}"
        super().__init__(f"{purpose} needs the package {package}: run  {self.command}")


def printable(text: str, *, lines: bool = False) -> str:
    r"""Return a text that commands no terminal: what cannot be seen is escaped as JSON does.

    Names and words come from users, files and strangers. Control characters in them could set the
    title of a terminal, forge lines, or turn the direction of writing around. With `lines`, line
    feeds stay. JSON that is made printable has the same value.

    >>> print(printable("notes\x1b]0;x\x07\n.csv"))
    notes\u001b]0;x\u0007\n.csv
    """
    seen = text.replace("\n", "") if lines else text
    if seen.isprintable():
        return text
    kept = "\n" if lines else ""
    return "".join(c if c.isprintable() or c in kept else json.dumps(c)[1:-1] for c in text)
