"""The journal: what was drawn is there again, whatever became of the end of the file."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malaprop.files import resume_file
from malaprop.files.resume_file import (
    Drawn,
    Header,
    Journal,
    ResumeFile,
    key_of,
    new_salt,
    outside,
    proof_of,
    read_resume_file,
    record_of,
    run_key,
    seal,
    side_path,
)
from malaprop.files.run import Job, Output
from malaprop.privacy.errors import OutputError
from malaprop.private_files import keyed_hash

SALT = new_salt()
BATCHES = {
    0: Drawn(["cold", "hot\n\r\u2028", ""], {"protected": 2}),
    7: Drawn(["\ud800 é 😀"], {}),
    3: Drawn([], {"masked": 1}),
}
TEXTS = ["true", "texts"]


def header_of(*, force: bool = False, **facts: str) -> Header:
    key = run_key(SALT)
    hashes = {f"the {name}": keyed_hash(value, key) for name, value in facts.items()}
    return Header(facts=hashes, salt=SALT, proof=proof_of(key), force=force)


def opened(final: Path, side: ResumeFile | None = None) -> Journal:
    return Journal(final, final, header_of(input="secret"), run_key(SALT), side)


def written(final: Path) -> Path:
    journal = opened(final)
    for number, drawn in BATCHES.items():
        journal.keep(number, TEXTS, drawn)
    journal.close()
    return side_path(final)


def reopened(final: Path) -> Journal:
    side = read_resume_file(final)
    assert side is not None
    return opened(final, side)


def test_what_was_kept_is_there_again(tmp_path: Path) -> None:
    final = tmp_path / "out.txt"
    path = written(final)
    assert path.name == ".out.txt.malaprop"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    journal = reopened(final)
    assert {n: journal.recall(n, TEXTS) for n in range(10) if n in journal} == BATCHES
    journal.keep(4, ["other"], Drawn(["more"], {}))
    assert journal.recall(4, ["other"]) == Drawn(["more"], {})
    assert journal.recall(7, TEXTS) == BATCHES[7]
    journal.close()
    assert set(read_resume_file(final).batches) == {*BATCHES, 4}  # type: ignore[union-attr]


def test_any_cut_leaves_the_batches_before_it(tmp_path: Path) -> None:
    final = tmp_path / "out.txt"
    path = written(final)
    data = path.read_bytes()
    ends = [place for place, byte in enumerate(data) if byte == 10]
    near = {end + step for end in ends for step in range(-20, 21)}
    for length in sorted({*range(ends[0]), *near, *range(0, len(data), 9_973)}):
        path.write_bytes(data[:length])
        side = read_resume_file(final)
        whole_lines = data[:length].count(b"\n")
        if not whole_lines:
            assert side is None
            continue
        assert side is not None
        assert list(side.batches) == list(BATCHES)[: whole_lines - 1]
        journal = reopened(final)
        journal.keep(99, TEXTS, Drawn(["after"], {}))
        assert journal.recall(99, TEXTS).texts == ["after"]
        for number in side.batches:
            assert journal.recall(number, TEXTS) == BATCHES[number]
        journal.close()
        again = read_resume_file(final)
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
    side = read_resume_file(final)
    assert (side is None) == (lines_before == 0)
    if side is not None:
        assert list(side.batches) == list(BATCHES)[: lines_before - 1]


FULL = """
import resource, sys
from pathlib import Path
from malaprop.privacy.errors import OutputError
from malaprop.files.resume_file import Drawn, Journal
from malaprop.files.resume_file import Header
path = Path(sys.argv[1])
journal = Journal(path, path, Header(facts={}, salt="0" * 32, proof=""), bytes(32))
journal.keep(0, [], Drawn(["cold"], {}))
resource.setrlimit(resource.RLIMIT_FSIZE, (199_999, 199_999))
try:
    journal.keep(1, [], Drawn(["hot"] * 50_000, {}))
except OutputError as error:
    print(error, 1 in journal)
journal.keep(2, [], Drawn(["warm"], {}))
journal.close()
"""


def test_a_disk_that_is_full_takes_half_a_line_back(tmp_path: Path) -> None:
    final = tmp_path / "out.txt"
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(final)], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(f"{final} grows larger than the disk or the limits")
    assert done.stdout.endswith("False\n")
    side = read_resume_file(final)
    assert side is not None
    journal = Journal(final, final, side.header, bytes(32), side)
    assert [number for number in range(5) if number in journal] == [0, 2]
    assert journal.recall(2, []).texts == ["warm"]
    journal.close()


def test_a_journal_without_a_batch_leaves_nothing(tmp_path: Path) -> None:
    final = tmp_path / "out.txt"
    opened(final).close()
    assert os.listdir(tmp_path) == []


def test_no_secret_stands_in_it_and_keys_differ(tmp_path: Path) -> None:
    final = tmp_path / "out.txt"
    written(final)
    side = read_resume_file(final)
    assert side is not None
    assert key_of(final, side.header) == run_key(SALT)
    assert run_key(new_salt()) != run_key(SALT)
    # In quotes, as JSON would have them: a short word alone stands in random letters now and then.
    words = (b'"secret"', b'"cold"', b'"masked"')
    for hidden in (*words, run_key(SALT), run_key(SALT).hex().encode()):
        assert hidden not in side_path(final).read_bytes()


def test_equal_batches_do_not_look_equal(tmp_path: Path) -> None:
    final = tmp_path / "out.txt"
    journal = opened(final)
    for number in range(2):
        journal.keep(number, TEXTS, BATCHES[0])
    journal.close()
    first, second = (line.split(b" ")[2] for line in side_path(final).read_bytes().splitlines()[1:])
    assert first[:1_000] != second[:1_000]


def test_a_batch_is_recalled_only_for_its_texts(tmp_path: Path) -> None:
    final = tmp_path / "out.txt"
    written(final)
    journal = reopened(final)
    for texts in (["true", "text"], ["true"], ["true", "texts", ""], ["truetexts"], []):
        with pytest.raises(OutputError, match="the input changed while an earlier run read it"):
            journal.recall(0, texts)
    assert journal.recall(0, TEXTS) == BATCHES[0]
    journal.close()


def test_a_journal_that_changed_since_it_was_looked_at_is_refused(tmp_path: Path) -> None:
    final = tmp_path / "out.txt"
    path = written(final)
    side = read_resume_file(final)
    with path.open("ab") as file:
        file.write(b"more")
    with pytest.raises(OutputError, match="was changed by another program"):
        opened(final, side)


def test_lines_of_another_kind_end_the_reading(tmp_path: Path) -> None:
    final = tmp_path / "out.txt"
    path = written(final)
    before = read_resume_file(final)
    assert before is not None
    with path.open("ab") as file:
        file.write(resume_file._line(b"strange", b"{}"))
    after = read_resume_file(final)
    assert after is not None
    assert (after.batches, after.end) == (before.batches, before.end)


LOCKED = """
import sys
from pathlib import Path
from malaprop.privacy.errors import OutputError
from malaprop.files.staging import Staging
from malaprop.files.resume_file import Journal
from malaprop.files.resume_file import Header
path = Path(sys.argv[1])
header = Header(facts={}, salt="0" * 32, proof="")
for what in (lambda: Journal(path, path, header, b""), lambda: Staging().open(path)):
    try:
        what()
    except OutputError as error:
        print(error)
"""


def test_two_runs_cannot_work_on_one_output(tmp_path: Path) -> None:
    from malaprop.files.staging import Staging

    final = tmp_path / "out.txt"
    with Staging() as stage:
        stage.open(final).write(b"ours")
        journal = opened(final)
        journal.keep(0, TEXTS, BATCHES[0])
        done = subprocess.run(
            [sys.executable, "-c", LOCKED, str(final)], capture_output=True, text=True, check=True
        )
        assert done.stdout.count("another run is at work") == 2
        assert journal.recall(0, TEXTS) == BATCHES[0]
        journal.close()
    assert final.read_bytes() == b"ours"


def test_what_a_killed_run_has_left_is_cleared_away(tmp_path: Path) -> None:
    from malaprop.files.staging import Staging

    code = (
        "import os, sys; from pathlib import Path\n"
        "from malaprop.files.staging import Staging\n"
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


def resumed(source: Path, final: Path, settings: dict[str, str] = SETTINGS) -> Output:
    output = Output(Job(str(source), str(final)), 0)
    output.resume(settings, force=False)
    return output


def begun(final: Path, *, force: bool = False) -> Header:
    header = header_of(force=force, seed="none", input="cold")
    journal = Journal(final, final, header, run_key(SALT))
    journal.keep(0, TEXTS, BATCHES[0])
    journal.close()
    return header


def test_a_crash_between_the_name_and_the_record(tmp_path: Path) -> None:
    """The output has its name, but the journal is still there: it is whole, and is not redone."""
    source, final = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text("cold")
    header = begun(final)
    assert not resumed(source, final).whole
    final.write_text("warm")
    whole = resume_file.stamp(final.stat())
    seal(final, final, whole)
    assert resumed(source, final).whole
    with pytest.raises(OutputError, match="the seed changed"):
        resumed(source, final, {"the seed": "7"})
    resume_file.write_record(final, record_of(header, run_key(SALT), outside(source), whole))
    assert resumed(source, final).whole
    Output(Job(str(source), str(final)), 0).start_over(
        dict, force=False
    )  # what is whole is in no way
    source.write_text("mild!")
    with pytest.raises(OutputError, match="the input changed"):
        resumed(source, final)


def test_a_crash_between_the_seal_and_the_name(tmp_path: Path) -> None:
    source, final = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text("cold")
    begun(final)
    seal(final, final, (4, 12345))
    outset = resumed(source, final)
    assert not outset.whole
    assert outset.side is not None
    assert list(outset.side.batches) == [0]


@pytest.mark.parametrize("force", [True, False])
def test_a_run_that_was_to_replace_a_file_still_may(tmp_path: Path, force: bool) -> None:
    source, final = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text("cold")
    final.write_text("old")
    begun(final, force=force)
    assert resumed(source, final).replace is force
