"""Outputs that appear under their names only when they are whole, or not at all.

What is written goes into a hidden file in the folder of the final name, which only its owner may
read. When all is done, each such file is flushed to the disk, and only then all of them get their
permissions and names.
"""

import contextlib
import io
import os
import stat
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, Final

from malaprop import private_files
from malaprop.files.resume_file import Stamp, stamp
from malaprop.privacy.errors import OutputError

_BUFFER: Final = 2**18


def partial_path(final: Path) -> Path:
    """Return the path of an output until it is whole.

    The same for each run, so that the next one finds what a killed one has left behind.
    """
    name = blake2b(os.fsencode(final.name), digest_size=8).hexdigest()
    return final.with_name(f".malaprop-{name}.partial")


class _Partial:
    """An unfinished output: a hidden file beside its final name."""

    def __init__(
        self, path: Path, final: Path, limits: Sequence[private_files.Access], *, force: bool
    ) -> None:
        self.path, self.final, self._limits, self._force = path, final, limits, force
        self._hidden = partial_path(final)
        self._file: io.BufferedWriter | None = None
        self._flushed: Stamp | None = None

    def open(self) -> BinaryIO:
        """Create the hidden file, which only its owner may read."""
        with private_files.output_errors(self.path):
            descriptor = private_files.create_locked(self._hidden, self.path)
        self._file = io.BufferedWriter(private_files.PartialFile(descriptor, self.path), _BUFFER)
        return self._file

    def complete(self) -> Stamp:
        """Flush the file to the disk; it stays open, and so locked."""
        file = self._file
        with private_files.output_errors(self.path):
            if file and not file.closed:
                file.flush()
                written = stamp(os.fstat(file.fileno()))
                if written != self._flushed:
                    os.fsync(file.fileno())
                    self._flushed = written
            return stamp(os.stat(self._hidden))

    def publish(self) -> bool:
        """Give the file its permissions and its final name; return whether that name is new."""
        with private_files.output_errors(self.path), self._opened() as descriptor:
            limits = [*self._limits]
            with contextlib.suppress(FileNotFoundError):  # the file that is replaced
                limits.append(private_files.Access.of(os.lstat(self.final)))
            mode = private_files.narrowest(limits, os.fstat(descriptor).st_gid)
            # Without its owner's rights, what a crash leaves could not be cleared away.
            private_files.set_mode(descriptor, mode | private_files.PRIVATE)
            new = self._name()
            private_files.set_mode(descriptor, mode)
            return new

    @contextlib.contextmanager
    def _opened(self) -> Iterator[int]:
        """Yield a descriptor of the file, even if its writer has closed it."""
        if self._file and not self._file.closed:
            yield self._file.fileno()
            return
        descriptor = private_files.open_ours(self._hidden, os.O_RDWR)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _name(self) -> bool:
        try:
            self._take_name()
        except FileExistsError:
            if not self._force:
                raise _exists(self.path) from None
            os.replace(self._hidden, self.final)
            return False
        return True

    def _take_name(self) -> None:
        """Give the file its name if no other has it; unlike a rename, a link can tell."""
        try:
            os.link(self._hidden, self.final)
        except OSError as error:
            if error.errno not in private_files.NO_LINKS:
                raise
            # Without links, an empty file holds the name until the rename.
            os.close(private_files.create(self.final))
            try:
                os.replace(self._hidden, self.final)
            except BaseException:
                private_files.remove(self.final)
                raise
        else:
            os.unlink(self._hidden)

    def discard(self) -> None:
        """Remove the hidden file, without flushing its buffer."""
        if self._file:
            with contextlib.suppress(OSError):
                self._file.raw.close()
        with contextlib.suppress(OSError, OutputError):
            # That of a run that is at work is locked.
            private_files.remove_stale(self._hidden, self.path)


class Staging:
    """A context in which outputs are written; they appear together at its end.

        with Staging() as stage:
            target = stage.open(Path("out.csv"), force=False)
            target.write(...)

    The stage closes its files. If the context is left by an exception, of any kind, or if an
    output cannot be completed, none appears and nothing is left behind; names that were taken
    keep their files. Only when a name cannot be given after others have been given, those of
    them that replaced a file (`force`) stay.

    A name that is a symbolic link stays one: the file that it points to is created or replaced.
    An output has the permissions of a new file, but none that a limit lacks, or a file that it
    replaces.
    """

    def __init__(self) -> None:
        self._partials: list[_Partial] = []

    def __enter__(self) -> "Staging":
        return self

    def __exit__(self, *error: object) -> None:
        try:
            if error[0] is None:
                self._publish()
        finally:
            for partial in self._partials:
                partial.discard()
            self._partials.clear()

    def open(
        self, path: Path, *, force: bool = False, limits: Sequence[private_files.Access] = ()
    ) -> BinaryIO:
        """Open an output; refuse an existing one unless `force` is set.

        Its permissions will be within all `limits`.
        """
        final = private_files.resolved(path)
        check_output(path, force=force)
        if any(partial.final == final for partial in self._partials):
            raise OutputError(f"two outputs have the name {path}: choose another one with `output`")
        partial = _Partial(path, final, limits, force=force)
        # Known to the stage before it exists, so that an interrupt finds it.
        self._partials.append(partial)
        try:
            return partial.open()
        except OutputError:
            self._partials.remove(partial)
            raise

    def complete(self) -> dict[Path, Stamp]:
        """Flush all outputs to the disk; return their stamps by name."""
        return {partial.path: partial.complete() for partial in self._partials}

    def _publish(self) -> None:
        for partial in self._partials:
            partial.complete()
        with contextlib.ExitStack() as withdrawal:
            for partial in self._partials:
                if partial.publish():
                    withdrawal.callback(private_files.remove, partial.final)
            withdrawal.pop_all()
        for folder in {partial.final.parent for partial in self._partials}:
            private_files.sync_folder(folder)


def check_output(path: Path, *, force: bool) -> None:
    """Refuse an output that could only fail at the end."""
    final = private_files.resolved(path)
    with private_files.output_errors(path):
        if not final.parent.exists():
            raise OutputError(f"there is no folder {path.parent}: create it first")
        try:
            mode = os.lstat(final).st_mode
        except FileNotFoundError:
            return
    if stat.S_ISDIR(mode):
        raise OutputError(f"{path} is a folder: name a file in it")
    if not stat.S_ISREG(mode):
        raise OutputError(f'{path} is not a regular file: to write into a pipe, use `output="-"`')
    if not force:
        raise _exists(path)


def _exists(path: Path) -> OutputError:
    return OutputError(
        f"{path} exists already: choose another name, or replace it with `force=True`"
    )
