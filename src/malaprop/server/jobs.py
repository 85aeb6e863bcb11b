"""Files: an upload, a run in a process of its own, a result to download, and their removal.

Each job has a folder that only the service's user can read. What happens to it is in that folder,
so all worker processes see it, and a job that was stopped, with the service or by a crash, is
resumed: what was drawn for a text is kept, and never drawn or debited again. Whoever works on a job
holds its lock.
"""

import asyncio
import fcntl
import json
import math
import os
import re
import secrets
import shutil
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Literal

from malaprop import private_files
from malaprop.privacy.errors import LedgerError
from malaprop.server.models import FileRequest
from malaprop.server.problems import Problem
from malaprop.server.security import Caller
from malaprop.server.settings import Settings
from malaprop.server.telemetry import Log, Metrics

State = Literal["waiting", "queued", "running", "done", "failed"]
_ENDED: Final = ("done", "failed")
_LOOK_SECONDS: Final = 0.5  # between looks for work of other workers, and for cancellations
_KEY_SECONDS: Final = 2.0  # between looks whether the key of a run was revoked
_TROUBLE_SECONDS: Final = 10.0  # after what should not happen, such as a full disk
_SWEEP_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 20.0  # for a run to keep what can be resumed
_ID_BYTES: Final = 16
_ID: Final = re.compile(rf"[0-9a-f]{{{2 * _ID_BYTES}}}")


class Job:
    """A job in its folder. Another worker process may change it at any time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.id = folder.name

    @property
    def request(self) -> dict[str, Any]:
        """What was asked for, by whom and when."""
        return self._read("request.json")

    @property
    def state(self) -> dict[str, Any]:
        """How far it is."""
        return self._read("state.json")

    @property
    def is_cancelled(self) -> bool:
        """Whether it was cancelled, and only waits for its removal."""
        return (self.folder / "cancelled").exists()

    @property
    def owner(self) -> str:
        """The id of the key that it was made with."""
        return str(self.request.get("owner"))

    @property
    def left_at(self) -> float:
        """When it was left alone, also if a crash has left parts of it; endless while it runs."""
        try:
            state = self.state
            return math.inf if state["state"] == "running" else float(state["at"])
        except (Problem, ValueError, KeyError):
            return self.folder.stat().st_mtime

    def is_ours(self, caller: Caller) -> bool:
        """Whether it is the caller's."""
        return self.owner == caller.id

    def file(self, what: Literal["input", "output"]) -> Path:
        """Return the path of its input or output, with the ending of its format."""
        return self.folder / f"{what}{self.request['ending']}"

    def write_request(self, request: dict[str, Any]) -> None:
        """Keep what was asked for."""
        self._write("request.json", request)

    def write_report(self, report: dict[str, Any]) -> None:
        """Keep the report of the run."""
        self._write("report.json", report)

    @property
    def told_report(self) -> dict[str, Any]:
        """The report of the run."""
        return self._read("report.json")

    def write_state(self, state: State, **facts: Any) -> None:
        """Replace the state in one step."""
        self._write("state.json", {"state": state, "at": time.time(), **facts})

    def view(self) -> dict[str, Any]:
        """Return what its owner is told."""
        state = self.state
        return {
            "id": self.id,
            "state": state["state"],
            "created": self.request["created"],
            "changed": state["at"],
            "progress": state.get("progress"),
            "problem": state.get("problem"),
        }

    def _read(self, name: str) -> dict[str, Any]:
        try:
            read: dict[str, Any] = json.loads((self.folder / name).read_bytes())
        except FileNotFoundError:  # removed meanwhile
            raise _nothing() from None
        return read

    def _write(self, name: str, content: dict[str, Any]) -> None:
        part = self.folder / f".{name}.{secrets.token_hex(4)}"
        try:
            with os.fdopen(private_files.create(part), "wb") as file:
                private_files.write_through(file, json.dumps(content).encode())
            os.replace(part, self.folder / name)
        except FileNotFoundError:
            raise _nothing() from None

    @contextmanager
    def locked(self) -> Iterator[int | None]:
        """Yield the descriptor of the lock, which a child may inherit; None if another has it."""
        try:
            descriptor = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        except FileNotFoundError:
            yield None
            return
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            yield None
            return
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def remove(self) -> None:
        """Remove all that there is of it."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _nothing() -> Problem:
    return Problem("not-found", "There is no such file, or it has been removed.")


class Jobs:
    """The file jobs of a service."""

    def __init__(self, settings: Settings, log: Log, metrics: Metrics) -> None:
        self._settings, self._log, self._metrics = settings, log, metrics
        self.is_valid: Callable[[str], bool] = lambda key: True
        """Whether a key may still be used."""
        self._limits = settings.limits
        self._folder = settings.state / "files"
        self._wake = asyncio.Event()
        self._stopping = False
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin to look for work, and for what is old."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._tasks = [asyncio.create_task(self._work()), asyncio.create_task(self._sweep())]

    async def stop(self) -> None:
        """Stop the run that is under way; it will be resumed at the next start."""
        self._stopping = True
        self._wake.set()
        work, sweep = self._tasks
        sweep.cancel()
        await asyncio.gather(work, sweep, return_exceptions=True)

    # What the endpoints call.

    def create(self, request: FileRequest, caller: Caller) -> Job:
        """Make a job that waits for its file."""
        open_ = sum(job.state["state"] not in _ENDED for job in self.of(caller))
        if open_ >= self._limits.files:
            raise Problem(
                "too-many-files",
                f"You have {open_} files here that are not done. Cancel one, or wait.",
                retry_after=30.0,
            )
        job = Job(self._folder / secrets.token_hex(_ID_BYTES))
        job.folder.mkdir(mode=0o700)
        packed = f".{request.compression}" if request.compression else ""
        job.write_request(
            {
                "options": request.model_dump(),
                "ending": f".{request.format}{packed}",
                "owner": caller.id,
                "created": time.time(),
            }
        )
        job.write_state("waiting")
        return job

    def of(self, caller: Caller) -> list[Job]:
        """Return the caller's jobs, oldest first."""
        mine = []
        for job in self._all():
            with suppress(Problem):
                if job.is_ours(caller) and not job.is_cancelled:
                    mine.append((job.request["created"], job))
        return [job for _, job in sorted(mine, key=lambda pair: pair[0])]

    def find(self, id_: str, caller: Caller) -> Job:
        """Return a job of the caller's; another's is not there for them."""
        if not _ID.fullmatch(id_):
            raise _nothing()
        job = Job(self._folder / id_)
        if not job.is_ours(caller) or job.is_cancelled:
            raise _nothing()
        return job

    async def upload(self, job: Job, chunks: AsyncIterator[bytes]) -> None:
        """Write the file as it comes; whole, it is queued."""
        with job.locked() as lock:
            if lock is None or job.state["state"] != "waiting":
                raise Problem("conflict", "This file was uploaded already, or is being uploaded.")
            part = job.folder / "upload"
            part.unlink(missing_ok=True)
            with os.fdopen(private_files.create(part), "wb") as file:
                async for chunk in chunks:
                    file.write(chunk)
                await asyncio.to_thread(private_files.write_through, file, b"")
            os.replace(part, job.file("input"))
            job.write_state("queued")
        self._wake.set()

    def cancel(self, job: Job) -> None:
        """Remove a job; stop it if it runs."""
        with suppress(OSError):
            (job.folder / "cancelled").touch(mode=0o600)
        with job.locked() as lock:
            if lock is not None:
                job.remove()
        self._wake.set()

    def result(self, job: Job) -> Path:
        """Return the path of the private file."""
        if job.state["state"] != "done":
            raise Problem("conflict", "The private file is not there: see the state of the job.")
        return job.file("output")

    def report(self, job: Job) -> dict[str, Any]:
        """Return the report of the run."""
        self.result(job)
        return job.told_report

    # Work.

    def _all(self) -> Iterator[Job]:
        with suppress(FileNotFoundError):
            for entry in os.scandir(self._folder):
                if _ID.fullmatch(entry.name):  # others may lie here, too
                    yield Job(Path(entry.path))

    def _queued(self) -> list[Job]:
        found = []
        for job in self._all():
            with suppress(Problem, ValueError, KeyError):
                if job.state["state"] in ("queued", "running") or job.is_cancelled:
                    found.append((job.request["created"], job))
        return [job for _, job in sorted(found, key=lambda pair: pair[0])]

    async def _work(self) -> None:
        while not self._stopping:
            seconds = _LOOK_SECONDS
            try:
                for job in await asyncio.to_thread(self._queued):
                    await self._take(job)
            except Exception as error:  # the next look may find a disk that has room again
                self._log.failure(error)
                seconds = _TROUBLE_SECONDS
            self._wake.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), seconds)

    async def _take(self, job: Job) -> None:
        with job.locked() as lock:
            if lock is None or self._stopping:
                return
            if job.is_cancelled:
                job.remove()
                return
            try:
                await self._run(job, lock)
            except Problem:  # it was removed meanwhile
                return
            except Exception as error:
                self._log.failure(error, job=job.id)
                self._end(job, "failed", problem=_failed("internal").document())

    async def _run(self, job: Job, lock: int) -> None:
        if job.state["state"] not in ("queued", "running"):
            return
        if not await self._may_run(job):
            self._end(job, "failed", problem=_revoked().document())
            return
        job.write_state("running")
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "malaprop.server.file_run",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,  # a traceback may quote the file
            pass_fds=(lock,),
            start_new_session=True,  # the terminal's interrupt is for the service
        )
        assignment = {"folder": str(job.folder), "settings": self._settings.to_json()}
        watch = asyncio.create_task(self._watch(job, child))
        try:
            ended = await _talk(job, child, assignment)
        finally:
            watch.cancel()
        await child.wait()
        if job.is_cancelled:
            job.remove()
            self._metrics.count("malaprop_file_jobs_total", ended="cancelled")
        elif self._stopping and ended is None:
            job.write_state("queued")
        elif ended is None and not await self._may_run(job):
            self._end(job, "failed", problem=_revoked().document())
        elif ended is None:  # killed, perhaps for its memory
            self._end(job, "failed", problem=_failed("internal").document())
        else:
            if "log" in ended:
                self._log.write("failure", level="error", job=job.id, **ended.pop("log"))
            self._end(job, **ended)

    async def _watch(self, job: Job, child: asyncio.subprocess.Process) -> None:
        """End a run that was cancelled, whose key was revoked, or whose service stops."""
        looked = time.monotonic()
        while not (self._stopping or job.is_cancelled):
            if time.monotonic() - looked > _KEY_SECONDS:
                looked = time.monotonic()
                if not await self._may_run(job):
                    break
            await asyncio.sleep(_LOOK_SECONDS)
        with suppress(ProcessLookupError):
            child.terminate()
            await asyncio.sleep(_STOP_SECONDS)
            os.killpg(child.pid, signal.SIGKILL)

    async def _may_run(self, job: Job) -> bool:
        """Whether the key of a job may still be used. If nobody can tell, no ledger is there."""
        try:
            return await asyncio.to_thread(self.is_valid, job.owner)
        except LedgerError:
            return True

    def _end(self, job: Job, state: Literal["done", "failed"], **facts: Any) -> None:
        self._metrics.count("malaprop_file_jobs_total", ended=state)
        with suppress(Problem):
            job.write_state(state, **facts)
            job.file("input").unlink(missing_ok=True)
        self._log.write("job", job=job.id, ended=state)

    async def _sweep(self) -> None:
        """Remove what was left alone for long."""
        while True:
            try:
                await asyncio.to_thread(self.remove_old, time.time())
            except Exception as error:  # the next time may be better
                self._log.failure(error)
            await asyncio.sleep(_SWEEP_SECONDS)

    def remove_old(self, now: float) -> None:
        """Remove jobs that nothing has happened to for long."""
        oldest = now - 3600.0 * self._limits.kept_hours
        for job in self._all():
            with suppress(FileNotFoundError), job.locked() as lock:
                if lock is not None and job.left_at < oldest:
                    job.remove()


def _failed(name: str) -> Problem:
    return Problem(name, "The run failed in a way that it should not. The service's log says more.")


def _revoked() -> Problem:
    return Problem("forbidden", "The key that this file was sent with was revoked, or has expired.")


async def _talk(
    job: Job, child: asyncio.subprocess.Process, assignment: dict[str, Any]
) -> dict[str, Any] | None:
    """Give a child its work, keep what it tells about its progress, and return how it ended."""
    if child.stdin is None or child.stdout is None:
        raise RuntimeError("the child has no pipes")
    child.stdin.write(json.dumps(assignment).encode() + b"\n")  # and stays open while we live
    ended = None
    async for line in child.stdout:
        told = json.loads(line)
        if told["state"] == "running":
            job.write_state(**told)
        else:
            ended = told
    return ended
