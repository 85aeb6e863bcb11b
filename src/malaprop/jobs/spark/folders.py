"""Folders that Spark reads and makes: what a name means, and what may be replaced."""

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from py4j.protocol import Py4JJavaError

from malaprop.core.errors import OutputError, ParameterError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SPECIAL: Final = re.compile(r"([\\{}\[\]*?])")
_FINISHED: Final = "_SUCCESS"
"""What Spark puts into a folder when it is whole."""


def literal(path: str) -> str:
    """Escape a path so that Spark takes nothing in it for a pattern, as `[1]` would be."""
    return _SPECIAL.sub(r"\\\1", path)


def places_of(spark: "SparkSession", source: str) -> list[str]:
    """Return the folders or files that a name means: the one of that name, else its matches."""
    files, place = _at(spark, source)
    if files.exists(place):
        return [str(place.toString())]
    matches = files.globStatus(place) or []
    if not matches:
        raise ParameterError(
            "Spark does not find the input: give it a full path or URL that all machines reach"
        )
    return [str(status.getPath().toString()) for status in matches]


def check_apart(spark: "SparkSession", places: list[str], target: str) -> None:
    """Refuse an output that is, contains or lies in an input."""
    made = _real(spark, target)
    for place in places:
        read = _real(spark, place)
        if made.startswith(read) or read.startswith(made):
            raise ParameterError(
                f"{target} is the input, or one of them lies in the other: choose another output"
            )


@contextmanager
def staged(spark: "SparkSession", target: str, *, force: bool) -> Iterator[str]:
    """Yield a folder to write to; it gets its name only if all goes well.

    Only its owner may enter it, before and after, where the file system has permissions: Spark's
    own files take no notice of those of the input.
    """
    files, final = _at(spark, target)
    part = _path(spark, final.getParent(), f".malaprop-{secrets.token_hex(8)}.partial")
    _check_free(spark, target, force=force)
    whole = _path(spark, part, "whole")
    try:
        _make(spark, part, target)
        yield whole.toString()
        _close(spark, whole)
        _check_free(spark, target, force=force)  # somebody else may have made it meanwhile
        if files.exists(final):
            files.delete(final, True)
        if not files.rename(whole, final):
            raise OutputError(f"{target} cannot be written: the finished folder cannot be renamed")
    finally:
        files.delete(part, True)


def _close(spark: "SparkSession", folder: Any) -> None:
    """Close a folder to everybody but its owner, if the file system can."""
    jvm: Any = spark._jvm
    files = folder.getFileSystem(spark._jsc.hadoopConfiguration())
    with suppress(Py4JJavaError):
        files.setPermission(folder, jvm.org.apache.hadoop.fs.permission.FsPermission("700"))


def _make(spark: "SparkSession", part: Any, target: str) -> None:
    """Make a folder for unfinished output: an early test of whether the output can be written."""
    made = False
    with suppress(Py4JJavaError):
        files = part.getFileSystem(spark._jsc.hadoopConfiguration())
        made = files.mkdirs(part)
        _close(spark, part)
    if not made:
        raise OutputError(
            f"{target} cannot be written: no folder can be made beside it; check the path and the "
            "permissions"
        )


def _check_free(spark: "SparkSession", target: str, *, force: bool) -> None:
    """Refuse a name that is taken; `force` replaces only what Spark made."""
    files, final = _at(spark, target)
    if not files.exists(final):
        return
    if not force:
        raise OutputError(f"{target} exists already: choose another name, or use `force=True`")
    if not files.getFileStatus(final).isDirectory():
        raise OutputError(f"{target} is a file, and the output a folder: choose another name")
    if len(files.listStatus(final)) and not files.exists(_path(spark, final, _FINISHED)):
        raise OutputError(
            f"{target} is not what an earlier job has made, as there is no {_FINISHED} in it, so "
            "that `force=True` does not replace it: choose another name, or delete it yourself"
        )


def _at(spark: "SparkSession", path: str) -> tuple[Any, Any]:
    """Return the file system of a path, and the full path."""
    place = _path(spark, path)
    files = place.getFileSystem(spark._jsc.hadoopConfiguration())
    return files, files.makeQualified(place)


def _path(spark: "SparkSession", *parts: Any) -> Any:
    jvm: Any = spark._jvm
    return jvm.org.apache.hadoop.fs.Path(*parts)


def _real(spark: "SparkSession", path: str) -> str:
    """Return a full path that ends in a slash; on this machine, without symbolic links."""
    place = _at(spark, path)[1]
    uri = place.toUri()
    name = str(place.toString())
    if uri.getScheme() == "file":
        name = f"file:{os.path.realpath(uri.getPath())}"
    return name.rstrip("/") + "/"
