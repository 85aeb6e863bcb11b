"""Build and try a release: wheel, source, list of parts, checksums and notes, in dist/.

`make dist` runs it. The version is that of src/malaprop/_version.py, and a tag must agree with it.
The wheel is installed into an empty environment, away from this checkout, and has to work there.
"""

import hashlib
import re
import subprocess
import sys
import tempfile
import venv
import zipfile
from email import message_from_bytes
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
DIST: Final = ROOT / "dist"
LARGEST_WHEEL: Final = 32_000_000
"""Bytes. Package indexes take more, but people wait for it."""
SMOKE: Final = """
import malaprop
privatizer = malaprop.Privatizer(epsilon=1.5, redraw="people", rng=malaprop.seeded_rng(1))
release = privatizer("Anna took aspirin 500 mg on 3 March 2023.")
assert release.guarantee.epsilon == 1.5, release.guarantee
assert release.text and "Anna" not in release.text, "the text is not private"
assert malaprop.Privatizer(epsilon=1.5, readable=True)("Her blood pressure was high.").text
"""
COMMANDS: Final = (
    ("--version",),
    ("privatize", "notes.csv", "-o", "private.csv", "--column", "text", "-e", "1.5"),
    ("explain", "aspirin", "--epsilon", "1.5"),
    ("lexicon", "list"),
)


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    """Run a command and return what it prints; if it fails, show that and stop."""
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        sys.exit(
            f"{' '.join(map(str, command))} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        )
    return done.stdout


def version() -> str:
    """Return the version, which a tag of this commit must agree with."""
    if run("git", "status", "--porcelain"):
        sys.exit("Commit your changes first: a release is built of what is committed.")
    text = (ROOT / "src/malaprop/_version.py").read_text(encoding="utf-8")
    found = re.search(r'__version__ = "([^"]+)"', text)
    if found is None:
        sys.exit("src/malaprop/_version.py states no version.")
    tags = run("git", "tag", "--points-at", "HEAD", "--list", "v*").split()
    if not tags:
        print(f"No tag v{found[1]} on this commit: this is a trial, not a release.")
    elif tags != [f"v{found[1]}"]:
        sys.exit(f"The tags of this commit are {tags}, but _version.py says {found[1]}.")
    return found[1]


def release_notes(of: str) -> str:
    """Return the section of CHANGELOG.md about one version."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    notes = [section for section in sections if section.split()[0] == of]
    if len(notes) != 1:
        sys.exit(f"CHANGELOG.md needs one section about {of}; it has {len(notes)}.")
    return f"# Malaprop {notes[0]}"


def extras_of(wheel: Path) -> list[str]:
    """Return the names of the extras that a wheel declares, after a look at its size and files."""
    size = wheel.stat().st_size
    if size > LARGEST_WHEEL:
        sys.exit(f"{wheel.name} has {size:,} bytes; {LARGEST_WHEEL:,} is the limit.")
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        [metadata] = [name for name in names if name.endswith(".dist-info/METADATA")]
        fields = message_from_bytes(packed.read(metadata))
    strange = [name for name in names if not name.startswith("malaprop")]
    if strange or fields["License-Expression"] != "Apache-2.0":
        sys.exit(f"{wheel.name} has files of no module ({strange[:3]}), or no licence.")
    print(f"{wheel.name}: {size / 1e6:.1f} MB, {len(names)} files")
    return fields.get_all("Provides-Extra") or []


def try_wheel(wheel: Path, folder: Path) -> Path:
    """Install a wheel into an empty environment, use it there, and return its Python."""
    venv.create(folder / "env", with_pip=True)
    python = folder / "env/bin/python"
    install = (python, "-m", "pip", "install", "--quiet", "--constraint", ROOT / "constraints.txt")
    run(*install, wheel)
    for extra in extras_of(wheel):
        run(*install, "--dry-run", f"{wheel}[{extra}]")
        print(f"the extra {extra} resolves")
    work = folder / "work"
    work.mkdir()
    (work / "notes.csv").write_bytes((ROOT / "examples/notes.csv").read_bytes())
    run(python, "-W", "error", "-c", SMOKE, cwd=work)
    for command in COMMANDS:
        run(folder / "env/bin/malaprop", *command, cwd=work)
    rows = [(work / name).read_text().count("\n") for name in ("notes.csv", "private.csv")]
    if rows[0] != rows[1]:
        sys.exit("The private file has other rows than its source.")
    print("installed into an empty environment, and it works there")
    return python


def main() -> None:
    """Build everything into dist/, and stop at the first thing that is wrong."""
    of = version()
    DIST.mkdir(exist_ok=True)
    for old in DIST.iterdir():
        old.unlink()
    notes = release_notes(of)
    tool = (sys.executable, "-m")
    run(*tool, "build", "--outdir", DIST)  # the wheel is built from the source archive
    wheel, source = DIST / f"malaprop-{of}-py3-none-any.whl", DIST / f"malaprop-{of}.tar.gz"
    run(*tool, "twine", "check", "--strict", wheel, source)
    with tempfile.TemporaryDirectory() as folder:
        python = try_wheel(wheel, Path(folder))
        parts = DIST / f"malaprop-{of}.cdx.json"
        run(*tool, "cyclonedx_py", "environment", python, "--output-file", parts)
    where = wheel.parent.as_uri()  # of this machine: nobody else's business
    parts.write_text(parts.read_text(encoding="utf-8").replace(f"{where}/", ""), encoding="utf-8")
    (DIST / "release-notes.md").write_text(notes, encoding="utf-8")
    sums = [
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n"
        for file in (wheel, source, parts)
    ]
    (DIST / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")
    print(f"dist/ has wheel, source, {parts.name}, SHA256SUMS and release-notes.md")


if __name__ == "__main__":
    main()
