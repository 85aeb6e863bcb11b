"""A format is one class: whoever defines one finds it everywhere."""

import io
from collections.abc import Iterator
from typing import Any

import pytest
from tests.files.copies import rewrite

from malaprop.files.formats import FORMATS, Layout, file_format, format_of, registry


@pytest.fixture
def shouted() -> Iterator[None]:
    """A format of our own, for the time of a test."""
    txt: Any = registry["txt"]

    class ShoutedReader(txt, name="shouted"):  # type: ignore[call-arg, misc]
        """Lines that are written in capitals."""

        suffixes = (".loud", ".shout")

        def render(self, text: str) -> str:
            return text.upper()

    yield
    del file_format._registry["shouted"]


def test_the_formats_that_there_are() -> None:
    expected = {"txt", "csv", "tsv", "jsonl", "json", "parquet", "html", "markdown", "eml", "mbox"}
    assert set(FORMATS) == expected == set(registry)
    suffixes = [suffix for reader in registry.values() for suffix in reader.suffixes]
    assert len(set(suffixes)) == len(suffixes) > len(FORMATS)


@pytest.mark.usefixtures("shouted")
def test_a_format_is_registered_by_being_defined() -> None:
    assert format_of("notes.loud.gz") == "shouted"
    target = io.BytesIO()
    rewrite(io.BytesIO(b"a\nb\n"), target, Layout(format="shouted"), lambda texts: texts)
    assert target.getvalue() == b"A\nB\n"


def test_spark_reads_the_formats_that_it_can_split() -> None:
    assert {name for name in registry if registry[name].spark} == {"csv", "tsv", "jsonl", "parquet"}
