"""The journal: what was drawn is there again, whatever became of the end of the file."""

import io
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malaprop.core.errors import OutputError
from malaprop.pipeline.files import sidefile
from malaprop.pipeline.files.journal import Drawn, Journal, seal
from malaprop.pipeline.files.resuming import go_on, outside, record_of, start_anew
from malaprop.pipeline.files.sidefile import Header, hashed, look, new_key, side_path

KEY = new_key()
HEADER = Header(facts={"the input": hashed("secret", KEY)}, key=KEY)
BATCHES = {
    0: Drawn(["cold", "hot\n\r\u2028", ""], {"protected": 2}),
    7: Drawn(["\ud800 é 😀"], {}),
    3: Drawn([], {"masked": 1}),
}


def written(final: Path) -> Path:
    journal = Journal(final, final, HEADER)
    for number, drawn in BATCHES.items():
        journal.keep(number, drawn)
    journal.close()
    return side_path(final)


def reopened(final: Path) -> Journal:
    side = look(final)
    assert side is not None
    return Journal(final, final, side.header, side)


def test_what_was_kept_is_there_again(tmp_path: Path) -> None:
    final = tmp_path / "out.txt"
    path = written(final)
    assert path.name == ".out.txt.malaprop"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    journal = reopened(final)
    assert {number: journal[number] for number in range(10) if number in journal} == BATCHES
    journal.keep(4, Drawn(["more"], {}))
    assert (journal[4], journal[7]) == (Drawn(["more"], {}), BATCHES[7])
    journal.close()
    assert set(look(final).batches) == {*BATCHES, 4}  # type: ignore[union-attr]


def test_any_cut_leaves_the_batches_before_it(tmp_path: Path) -> None:
    final = tmp_path / "out.txt"
    path = written(final)
    data = path.read_bytes()
    for length in range(len(data)):
        path.write_bytes(data[:length])
        side = look(final)
        whole_lines = data[:length].count(b"\n")
        if not whole_lines:
            assert side is None
            continue
        assert side is not None
        assert list(side.batches) == list(BATCHES)[: whole_lines - 1]
        journal = reopened(final)
        journal.keep(99, Drawn(["after"], {}))
        assert journal[99].texts == ["after"]
        for number in side.batches:
            assert journal[number] == BATCHES[number]
        journal.close()
        again = look(final)
        assert again is not None
        assert list(again.batches) == [*side.batches, 99]


@given(st.data())
def test_a_mangled_byte_is_noticed(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    final = tmp_path_factory.mktemp("journal") / "out.txt"
    path = written(final)
    content = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    lines_before = bytes(content[:place]).count(b"\n")
    side = look(final)
    assert (side is None) == (lines_before == 0)
    if side is not None:
        assert list(side.batches) == list(BATCHES)[: lines_before - 1]


FULL = """
import resource, sys
from pathlib import Path
from malaprop.core.errors import OutputError
from malaprop.pipeline.files.journal import Drawn, Journal
from malaprop.pipeline.files.sidefile import Header
path = Path(sys.argv[1])
journal = Journal(path, path, Header(facts={}, key=""))
journal.keep(0, Drawn(["cold"], {}))
resource.setrlimit(resource.RLIMIT_FSIZE, (9_999, 9_999))
try:
    journal.keep(1, Drawn(["hot"] * 5_000, {}))
except OutputError as error:
    print(error, 1 in journal)
journal.keep(2, Drawn(["warm"], {}))
journal.close()
"""


def test_a_disk_that_is_full_takes_half_a_line_back(tmp_path: Path) -> None:
    final = tmp_path / "out.txt"
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(final)], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(f"{final} grows larger than the disk or the limits")
    assert done.stdout.endswith("False\n")
    journal = reopened(final)
    assert [number for number in range(5) if number in journal] == [0, 2]
    assert journal[2].texts == ["warm"]
    journal.close()


def test_a_journal_without_a_batch_leaves_nothing(tmp_path: Path) -> None:
    final = tmp_path / "out.txt"
    Journal(final, final, HEADER).close()
    assert os.listdir(tmp_path) == []


def test_no_secret_stands_in_it_and_keys_differ(tmp_path: Path) -> None:
    assert b"secret" not in HEADER.line()
    assert hashed("secret", new_key()) != hashed("secret", KEY)
    assert sidefile.digest(io.BytesIO(b"secret"), KEY, print) == hashed("secret", KEY)


LOCKED = """
import sys
from pathlib import Path
from malaprop.core.errors import OutputError
from malaprop.pipeline.files import Staging
from malaprop.pipeline.files.journal import Journal
from malaprop.pipeline.files.sidefile import Header
path = Path(sys.argv[1])
for what in (lambda: Journal(path, path, Header(facts={}, key="")), lambda: Staging().open(path)):
    try:
        what()
    except OutputError as error:
        print(error)
"""


def test_two_runs_cannot_work_on_one_output(tmp_path: Path) -> None:
    from malaprop.pipeline.files import Staging

    final = tmp_path / "out.txt"
    with Staging() as stage:
        stage.open(final).write(b"ours")
        journal = Journal(final, final, HEADER)
        journal.keep(0, BATCHES[0])
        done = subprocess.run(
            [sys.executable, "-c", LOCKED, str(final)], capture_output=True, text=True, check=True
        )
        assert done.stdout.count("another run is at work") == 2
        assert journal[0] == BATCHES[0]
        journal.close()
    assert final.read_bytes() == b"ours"


def test_what_a_killed_run_has_left_is_cleared_away(tmp_path: Path) -> None:
    from malaprop.pipeline.files import Staging

    code = (
        "import os, sys; from pathlib import Path; from malaprop.pipeline.files import Staging\n"
        "Staging().open(Path(sys.argv[1])).write(b'x' * 10**6); os._exit(9)"
    )
    final = tmp_path / "out.txt"
    for _ in range(2):
        subprocess.run([sys.executable, "-c", code, str(final)], check=False)
        assert len(os.listdir(tmp_path)) == 1
    with Staging() as stage:
        stage.open(final).write(b"ours")
    assert os.listdir(tmp_path) == ["out.txt"]
    assert final.read_bytes() == b"ours"


SETTINGS = {"the seed": "none"}


def begun(final: Path, *, force: bool = False) -> Header:
    facts = {"the seed": hashed("none", KEY), "the input": hashed("cold", KEY)}
    header = Header(facts=facts, key=KEY, force=force)
    journal = Journal(final, final, header)
    journal.keep(0, BATCHES[0])
    journal.close()
    return header


def test_a_crash_between_the_name_and_the_record(tmp_path: Path) -> None:
    """The output has its name, but the journal is still there: it is whole, and is not redone."""
    source, final = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text("cold")
    header = begun(final)
    assert not go_on(final, source, SETTINGS, force=False).whole
    final.write_text("warm")
    whole = sidefile.stamp(final.stat())
    seal(final, final, whole)
    assert go_on(final, source, SETTINGS, force=False).whole
    with pytest.raises(OutputError, match="the seed changed"):
        go_on(final, source, {"the seed": "7"}, force=False)
    sidefile.write_record(final, record_of(header, outside(source), whole))
    assert go_on(final, source, SETTINGS, force=False).whole
    assert start_anew(final, force=False).side is None
    source.write_text("mild!")
    with pytest.raises(OutputError, match="the input changed"):
        go_on(final, source, SETTINGS, force=False)


def test_a_crash_between_the_seal_and_the_name(tmp_path: Path) -> None:
    source, final = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text("cold")
    begun(final)
    seal(final, final, (4, 12345))
    outset = go_on(final, source, SETTINGS, force=False)
    assert not outset.whole
    assert outset.side is not None
    assert list(outset.side.batches) == [0]


@pytest.mark.parametrize("force", [True, False])
def test_a_run_that_was_to_replace_a_file_still_may(tmp_path: Path, force: bool) -> None:
    source, final = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text("cold")
    final.write_text("old")
    begun(final, force=force)
    assert go_on(final, source, SETTINGS, force=False).replace is force
