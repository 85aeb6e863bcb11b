"""Errors on Spark, without a word of the data."""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

from malaprop.core import errors
from malaprop.core.errors import (
    DataError,
    MalapropError,
    MissingExtraError,
    OutputError,
    ParameterError,
)

Result = TypeVar("Result")

JAVA: Final = (
    "Spark needs Java 17: install it (Debian: openjdk-17-jre-headless), and let JAVA_HOME, if "
    "it is set, name the folder that it is in"
)
_RAISED: Final = re.compile(r"malaprop\.core\.errors\.(\w+Error): ([^\n]+)")
_LACKING: Final = re.compile(r"ModuleNotFoundError: No module named '(malaprop|pandas|pyarrow)\b")
_UNREACHED: Final = "Spark cannot reach the cluster or the file system: check its address"
_UNREAD: Final = (
    "a Parquet file of the input is corrupt, or its columns have other types than those of the "
    "other files: privatize it by itself"
)
_UNWRITTEN: Final = "Spark cannot write the output: check the path, its permissions and the disk"

# By Spark's or Java's name for it; the first match counts.
_KNOWN: Final[dict[str, tuple[type[MalapropError], str]]] = {
    "JAVA_GATEWAY_EXITED": (MalapropError, JAVA),
    "PATH_NOT_FOUND": (
        ParameterError,
        "Spark does not find the input: give it a full path or URL that all machines reach",
    ),
    "UNABLE_TO_INFER_SCHEMA": (ParameterError, "there is no Parquet file in the input: check it"),
    "CANNOT_MERGE_SCHEMAS": (DataError, _UNREAD),
    "CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE": (DataError, _UNREAD),
    "FAILED_READ_FILE": (DataError, _UNREAD),
    "CANNOT_READ_FILE_FOOTER": (DataError, _UNREAD),
    "SchemaColumnConvertNotSupportedException": (DataError, _UNREAD),
    "ParquetDecodingException": (DataError, _UNREAD),
    "UnknownHostException": (MalapropError, _UNREACHED),
    "ConnectException": (MalapropError, _UNREACHED),
    "NoRouteToHostException": (MalapropError, _UNREACHED),
    "AccessControlException": (OutputError, _UNWRITTEN),
    "AccessDeniedException": (OutputError, _UNWRITTEN),
}


def without_text(work: Callable[[], Result]) -> Result:
    """Do some work; replace Spark's error messages, which may quote the data, by our own."""
    try:
        return work()
    except MalapropError as error:
        told = error
    except Exception as error:
        told = _translated(error)
    # Raised outside the handler and without its context, which holds the data, too.
    told.__context__ = None
    raise told


def _translated(error: Exception) -> MalapropError:
    """Return the error that a task raised, or one with Spark's name for what went wrong."""
    if raised := _RAISED.search(str(error)):
        kind = getattr(errors, raised[1], MalapropError)
        if issubclass(kind, MalapropError) and kind is not MissingExtraError:
            return kind(raised[2])
    if lacking := _LACKING.search(str(error)):
        return MalapropError(
            f"the Python of an executor lacks {lacking[1]}: run  pip install '.[spark]'  in a "
            "clone of Malaprop on all machines, and let PYSPARK_PYTHON name that Python"
        )
    return _named(error)


def _named(error: Exception) -> MalapropError:
    names = list(dict.fromkeys(_names(error))) or [type(error).__name__]
    parts = {part for name in names for part in name.split(".")}
    for known, (kind, message) in _KNOWN.items():
        if known in parts:
            return kind(f"{message} ({', '.join(names)})")
    return MalapropError(
        f"Spark has failed ({', '.join(names)}); what it says itself may quote the data, and is "
        "in the logs of its driver and executors where these are on"
    )


def _names(error: Exception) -> Iterator[str]:
    """Yield Spark's and Java's names for an error and its causes: conditions and classes."""
    if condition := getattr(error, "getCondition", lambda: None)():
        yield str(condition)
    # py4j's own name for what Java has thrown, or pyspark's.
    thrown: Any = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    while thrown is not None:
        yield str(thrown.getClass().getName())
        try:
            condition = thrown.getCondition()
        except Exception:  # it is none of Spark's own
            condition = None
        if condition:
            yield str(condition)
        thrown = thrown.getCause()
