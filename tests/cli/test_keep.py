"""`--keep`, `--keep-file` and `--markup`, as the user of the command line meets them."""

import json
from pathlib import Path

import pytest
from tests.cli.conftest import WORDS, Breaking, Cli, assert_private, words_of

TEXT = '<p class="zyxann">Cold [NAME_1] took Aspirin: <b>hot</b> zyxcanary</p>\n'
KEEP = ("--keep", "placeholders", "--keep", "aspirin", "--markup", "html")


def test_kept_words_placeholders_and_tags_stay(cli: Cli, folder: Path) -> None:
    (folder / "in.txt").write_text(TEXT * 40)
    for report in ("r.json", "r.md"):
        ended = cli.privatize("in.txt", "-o", "out.txt", *KEEP, "--report", report, "--force")
        assert ended.code == 0
    shown = (folder / "out.txt").read_text()
    assert shown.count("<p>") == shown.count("</b>") == shown.count(" [NAME_1] ") == 40
    assert shown.count(" Aspirin: <b>") >= 40
    assert "zyx" not in shown
    assert set(words_of(shown)) - WORDS == {"p", "b", "name", "1", "aspirin"} - WORDS
    report_ = json.loads((folder / "r.json").read_text())
    counts = report_["counts"]
    assert (counts["public_markup"], counts["public_placeholders"]) == (160, 40)
    assert (counts["public_words"], counts["protected"]) == (40, 160)
    assert report_["policy"]["keep"] == ["aspirin", "placeholders"]
    assert report_["policy"]["markup"] == "html"
    assert any(each.startswith("what you declared public") for each in report_["visible"])
    assert "no others (the tags of HTML; placeholders; the kept word “aspirin”)" in ended.flat
    assert "words shown as they are, declared public 40 " in ended.flat
    page = (folder / "r.md").read_text()
    assert "| words shown as they are, declared public | 40 |" in page


def test_words_to_keep_come_from_a_file_too(cli: Cli, folder: Path) -> None:
    (folder / "list.txt").write_text("\ufeffzyxann\n\n  new york \r\n", "utf-8")
    text = b"zyxann in New York has zyxflu"
    ended = cli.privatize("-", "--keep-file", "list.txt", "--keep", "zyxflu", stdin=text)
    assert ended.code == 0
    assert ended.text.startswith("zyxann ")
    assert " New York " in ended.text
    assert ended.text.endswith(" zyxflu")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--keep", "..."), "Entry 1 of the --keep parameter"),
        (("--keep-file", "nowhere.txt"), "nowhere.txt of --keep-file cannot be read"),
        (("--keep-file", "bytes.txt"), "it is not in UTF-8"),
        (("--markup", "xml"), "--markup"),
    ],
)
def test_what_cannot_be_kept_is_refused(
    cli: Cli, folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    (folder / "bytes.txt").write_bytes(b"\xff\xfe\xff")
    (folder / "in.txt").write_text(TEXT)
    ended = cli.privatize("in.txt", "-o", "out.txt", *arguments)
    assert ended.code != 0
    assert message in ended.flat
    assert "Traceback" not in ended.err
    assert not (folder / "out.txt").exists()


@pytest.mark.usefixtures("small_batches")
def test_a_run_is_resumed_with_the_same_declarations_only(
    cli: Cli, folder: Path, breaking: Breaking
) -> None:
    (folder / "in.txt").write_text(TEXT * 45)
    command = ("in.txt", "-o", "out.txt", "--workers", "1")
    assert breaking.after(2, lambda: cli.privatize(*command, *KEEP)).code == 130
    for other in (KEEP[:4], (*KEEP, "--keep", "hot"), ()):
        refused = breaking.after(None, lambda: cli.privatize(*command, *other, "--resume"))  # noqa: B023
        assert refused.code == 1
        assert "as the treatment of texts changed" in refused.flat
    # The order of the words does not matter.
    again = ("--markup", "html", "--keep", "aspirin", "--keep", "placeholders")
    done = breaking.after(None, lambda: cli.privatize(*command, *again, "--resume"))
    assert (done.code, breaking.calls) == (0, 3)
    assert "pieces of markup shown as they are, declared public 180 " in done.flat
    assert (folder / "out.txt").read_text().count("[NAME_1]") == 45


def test_without_declarations_markup_is_text(cli: Cli, folder: Path) -> None:
    (folder / "in.txt").write_text(TEXT)
    assert cli.privatize("in.txt", "-o", "out.txt", "--kinds", "words").code == 0
    assert_private((folder / "out.txt").read_text())
