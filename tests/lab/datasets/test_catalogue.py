"""The catalogue itself: complete, consistent, and nothing that pip could be led astray by."""

import re
from pathlib import Path

import pytest

from malaprop.lab.datasets import Dataset, catalogue
from malaprop.lab.datasets.readers import TableLayout, readers

ENTRIES = list(catalogue().values())


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_an_entry_says_what_a_reader_needs(entry: Dataset) -> None:
    assert re.fullmatch(r"[a-z0-9-]+", entry.name)
    assert entry.what
    assert entry.licence
    assert re.search(r"[A-Z]", entry.citation)
    assert entry.rows > 0
    assert entry.reader in readers
    assert entry.reader != "table" or TableLayout(**entry.options).columns
    assert entry.files


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_files_have_digests_and_one_origin(entry: Dataset) -> None:
    for file in entry.files:
        assert re.fullmatch(r"[0-9a-f]{64}", file.sha256)
        assert file.size > 0
        assert re.fullmatch(r"[A-Za-z0-9_.-]+", file.name)  # it becomes a path
        assert not file.name.startswith(".")
        assert sum(map(bool, (file.url, file.pip, file.npm, file.page))) == 1
        assert file.member or not (file.pip or file.npm)
        assert not file.url or file.url.startswith("https://")
        assert not file.pip or re.fullmatch(r"[A-Za-z0-9-]+==[0-9.]+", file.pip)
        assert not file.npm or re.fullmatch(r"(@[a-z0-9]+/)?[a-z0-9-]+@[0-9.]+", file.npm)


def test_no_two_files_have_one_digest() -> None:
    digests = [file.sha256 for entry in ENTRIES for file in entry.files]
    assert len(set(digests)) == len(digests)


def test_the_page_lists_all_sets_with_their_rows() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "data.md").read_text("utf-8")
    for entry in ENTRIES:
        row = rf"^\| `{entry.name}` \| {re.escape(entry.what)} \| {entry.rows:,} \|"
        assert re.search(row, page, re.MULTILINE), entry.name
