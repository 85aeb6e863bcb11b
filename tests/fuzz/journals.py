"""Fuzz the journal: a damaged one gives back what was drawn, or nothing, or is refused."""

import os
import random
import tempfile
import zlib
from collections import Counter
from pathlib import Path

from tests.fuzz.mutations import mutated

from malaprop.files.resume_file import (
    Drawn,
    Header,
    Journal,
    ResumeFile,
    key_of,
    new_salt,
    proof_of,
    read_resume_file,
    run_key,
    seal,
    side_path,
)
from malaprop.files.run import Job, Output
from malaprop.privacy.errors import MalapropError
from malaprop.private_files import keyed_hash

_SETTINGS = {"the mechanism": "tem"}
_TEXTS = {number: [f"true {number}", "text"] for number in range(4)}
_DRAWN = {
    number: Drawn([f"drawn {number} é\n\ud800", ""], {"protected": number}) for number in _TEXTS
}


def fuzz(cases: int, seed: int) -> dict[str, int]:
    """Damage as many journals; return how many batches were recalled, how many refused."""
    figures: Counter[str] = Counter()
    choices = random.Random(seed)
    before = os.environ.get("MALAPROP_STATE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MALAPROP_STATE"] = str(Path(folder) / "state")
        try:
            whole, key = _made(Path(folder) / "out.txt")
            for _ in range(cases):
                figures[_check(Path(folder), whole, key, choices)] += 1
        finally:
            _set_back(before)
    return dict(figures)


def _set_back(before: str | None) -> None:
    if before is None:
        del os.environ["MALAPROP_STATE"]
    else:
        os.environ["MALAPROP_STATE"] = before


def _made(final: Path) -> tuple[bytes, bytes]:
    """Return a journal as a run leaves it, and the key of that run."""
    salt = new_salt()
    key = run_key(salt)
    facts = {name: keyed_hash(value, key) for name, value in _SETTINGS.items()}
    header = Header(facts=facts, salt=salt, proof=proof_of(key))
    journal = Journal(final, final, header, key)
    for number, drawn in _DRAWN.items():
        journal.keep(number, _TEXTS[number], drawn)
    journal.close()
    seal(final, final, (1, 2))
    return side_path(final).read_bytes(), key


def _check(folder: Path, whole: bytes, key: bytes, choices: random.Random) -> str:
    final = folder / "out.txt"
    (folder / "in.txt").write_bytes(b"x")
    damaged = mutated(whole, choices) if choices.random() < 0.5 else _consistent(whole, choices)
    side_path(final).unlink(missing_ok=True)
    side_path(final).write_bytes(damaged)
    try:
        Output(Job(str(folder / "in.txt"), str(final)), 0).resume(_SETTINGS, force=False)
        side = read_resume_file(final)
        if side is None:
            return "nothing to resume"
        return _recalled(final, side, key_of(final, side.header))
    except MalapropError:
        return "refused"


def _recalled(final: Path, side: ResumeFile, key: bytes) -> str:
    journal = Journal(final, final, side.header, key, side)
    try:
        for number in side.batches:
            if number in _TEXTS:
                assert journal.recall(number, _TEXTS[number]) == _DRAWN[number]
    finally:
        journal.close()
    return f"{len(side.batches)} batches recalled"


def _consistent(whole: bytes, choices: random.Random) -> bytes:
    """Damage lines, and give them the checksums that belong to what they say then."""
    lines = whole.splitlines(keepends=True)
    for _ in range(choices.randint(1, 2)):
        place = choices.randrange(len(lines))
        rest = mutated(lines[place].rstrip(b"\n").partition(b" ")[2], choices)
        rest = rest.replace(b"\n", b" ")
        lines[place] = b"%08x %s\n" % (zlib.crc32(rest), rest)
    if choices.random() < 0.3:
        choices.shuffle(lines)
    return b"".join(lines)
