"""A PostgreSQL of the tests' own: a cluster in a folder, on a socket, that can be killed."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import psycopg
from psycopg import sql

_BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
_USER = "postgres"
_ROOM = 2**29
LACKING = "there is no PostgreSQL: install the package postgresql to test the ledger on it"


def binaries() -> Path | None:
    """Where the programs of PostgreSQL are; None without them."""
    for folder in _BINARIES:
        if (folder / "initdb").exists():
            return folder
    found = shutil.which("initdb")
    return Path(found).parent if found else None


class Cluster:
    """A server that listens on a socket in its folder, and nowhere else."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self._folder, self._programs = folder, programs
        # The server refuses to be run by root.
        self._as = {"user": _USER, "group": _USER, "extra_groups": []} if os.getuid() == 0 else {}
        if self._as:
            shutil.chown(folder, _USER, _USER)
        self._names = count()
        self._call("initdb", "--auth=trust", "--username=ledger", "--no-sync", "-D", self._data)

    @property
    def _data(self) -> str:
        return str(self._folder / "data")

    def _call(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self._programs / program, *arguments],
            check=True,
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **self._as,  # type: ignore[call-overload]
        )

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        options = f"-k {self._folder} -c listen_addresses=''"
        self._call(
            "pg_ctl", "start", "-w", "-t", "600", "-D", self._data, "-o", options, "-l", "/dev/null"
        )

    def kill(self) -> None:
        """Kill the server, as a power cut would end it, and wait until it is gone."""
        process = int((self._folder / "data" / "postmaster.pid").read_text().split()[0])
        os.kill(process, signal.SIGKILL)
        socket = self._folder / ".s.PGSQL.5432"
        # Its children see that it is gone, and end; only then a new one may start. (Its own tool
        # to stop it would wait for a zombie, where nobody reaps those.)
        while _children(self._data):
            time.sleep(0.005)
        for left in (socket, socket.with_name(f"{socket.name}.lock")):
            left.unlink(missing_ok=True)
        with suppress(FileNotFoundError):
            (self._folder / "data" / "postmaster.pid").unlink()

    def database(self) -> str:
        """Make an empty database; return its address.

        It is a schema of its own: to make and remove hundreds of files takes long on some disks.
        """
        name = f"ledger{next(self._names)}"
        url = f"postgresql://ledger@/postgres?host={self._folder}"
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(name)))
        return f"{url}&options=-csearch_path%3D{name}"

    def own_database(self) -> str:
        """Make an empty database of its own, which can be copied; return its address."""
        name = f"ledger{next(self._names)}"
        self._call("createdb", "-h", str(self._folder), "-U", "ledger", name)
        return f"postgresql://ledger@/{name}?host={self._folder}"

    def copied(self, url: str) -> str:
        """Copy a database that nobody uses; return the copy's address."""
        name = f"ledger{next(self._names)}"
        old = url.partition("@/")[2].partition("?")[0]
        self._call("createdb", "-h", str(self._folder), "-U", "ledger", "-T", old, name)
        return url.replace(f"/{old}?", f"/{name}?")


def _children(data: str) -> list[int]:
    """The processes of a server, by the folder that they work in."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if os.readlink(process / "cwd") == data:
                found.append(int(process.name))
    return found


def cluster_folder() -> Path:
    """Make a folder for a cluster, in memory if there is enough: its thousand files come and go.

    It is not in pytest's folder, which no other user may enter.
    """
    memory = Path("/dev/shm")  # noqa: S108  only the tests' own data
    roomy = memory.is_dir() and shutil.disk_usage(memory).free > _ROOM
    return Path(tempfile.mkdtemp(prefix="malaprop-pg-", dir=memory if roomy else None))


@contextmanager
def cluster() -> Iterator[Cluster | None]:
    """Yield a running cluster; None where there is no PostgreSQL."""
    programs = binaries()
    if programs is None:
        yield None
        return
    folder = cluster_folder()
    try:
        made = Cluster(folder, programs)
        made.start()
        try:
            yield made
        finally:
            made.kill()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
