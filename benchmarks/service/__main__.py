"""How fast the service answers, beside Presidio's anonymizer: `python benchmarks/service`.

wrk sends new sentences of 12 words to both, in turns, so that a busy machine slows both. CPU is
that of the server's process. The ledger is SQLite with `synchronous=FULL`, on this disk; and once
more in memory, where a commit waits for nothing and is not durable.
"""

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import ExitStack, closing, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
CACHE = FOLDER.parent / ".cache"
PORT = 8790
SECONDS = float(os.environ.get("BENCH_SECONDS", "8"))
ROUNDS = 3
CLIENTS = (1, 16)


class Server:
    """A server in a process of its own."""

    def __init__(self, command: list[str], port: int, path: str, log: Path) -> None:
        self.url, self.path = f"http://127.0.0.1:{port}", path
        with log.open("w") as stream:
            self.child = subprocess.Popen(command, stdout=stream, stderr=stream)
        for _ in range(600):
            with suppress(OSError):
                self.post({"text": "cold rain", "epsilon": 1.5})
                break
            time.sleep(0.1)
        else:
            raise SystemExit(log.read_text())

    def post(self, body: dict[str, Any]) -> bytes:
        """Send one request."""
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url + self.path, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=120) as answer:
            read: bytes = answer.read()
        return read

    def cpu(self) -> float:
        """Return the CPU seconds of the process so far."""
        fields = Path(f"/proc/{self.child.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def each(self, texts: list[str]) -> list[float]:
        """Send requests over one connection; return the milliseconds of CPU that each took."""
        taken = []
        headers = {"Content-Type": "application/json"}
        with closing(HTTPConnection(self.url.removeprefix("http://"))) as connection:
            for text in texts:
                before = self._nanoseconds()
                body = json.dumps({"text": text, "epsilon": 1.5})
                connection.request("POST", self.path, body, headers)
                connection.getresponse().read()
                taken.append(1e-6 * (self._nanoseconds() - before))
        return taken

    def _nanoseconds(self) -> int:
        threads = Path(f"/proc/{self.child.pid}/task").glob("*/schedstat")
        return sum(int(each.read_text().split()[0]) for each in threads)

    def load(self, clients: int, words: Path) -> dict[str, float]:
        """Have wrk send requests for some seconds; return what it measured, and the CPU."""
        before = self.cpu()
        command = ["wrk", "-t1", f"-c{clients}", f"-d{SECONDS:g}s"]
        command += ["-s", str(FOLDER / "new_sentences.lua"), self.url, "--", self.path, str(words)]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        measured: dict[str, float] = json.loads(out.splitlines()[-1])
        if measured["errors"]:
            raise SystemExit(f"{measured['errors']} requests failed")
        count = measured["requests"]
        return {
            "requests a second": count / measured["seconds"],
            "p50 ms": measured["p50"],
            "p99 ms": measured["p99"],
            "CPU ms a request": 1e3 * (self.cpu() - before) / count,
        }


def main() -> None:
    """Measure, and print tables."""
    from malaprop import Lexicon, Privatizer

    CACHE.mkdir(exist_ok=True)  # on a disk, where commits cost what they cost
    with ExitStack() as ends, tempfile.TemporaryDirectory(dir=CACHE) as folder:
        words = Path(folder) / "words.txt"
        known = Lexicon.open("english").words[:20_000]
        words.write_text("\n".join(w for w in known if w.isalpha() and w.isascii()))
        ours = service(PORT, folder, Path(folder))
        ends.callback(ours.child.terminate)
        theirs = Server(
            [
                *(sys.executable, "-m", "uvicorn", "--app-dir", str(FOLDER), "presidio:app"),
                *("--port", str(PORT + 1), "--no-access-log"),
            ],
            PORT + 1,
            "/anonymize",
            Path(folder) / "theirs.log",
        )
        ends.callback(theirs.child.terminate)
        servers = {"malaprop serve, with ledger": ours, "Presidio's anonymizer": theirs}
        for clients in CLIENTS:
            rounds = [
                {name: server.load(clients, words) for name, server in servers.items()}
                for _ in range(ROUNDS)
            ]
            print(f"\n{clients} client{'s' * (clients > 1)}, medians of {ROUNDS} rounds")
            for name in servers:
                for figure in rounds[0][name]:
                    middle = statistics.median(each[name][figure] for each in rounds)
                    print(f"  {name:28} {figure:20} {middle:8.2f}")
        with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
            volatile = service(PORT + 2, memory, Path(folder))
            ends.callback(volatile.child.terminate)
            one_by_one({"on disk": ours, "in memory": volatile}, words.read_text().split())
        texts = [" ".join(known[(i * 12) % 19_000 : (i * 12) % 19_000 + 12]) for i in range(10_000)]
        many(ours, Privatizer(epsilon=1.5), texts)
        print(f"memory of the service at most: {peak(ours):.0f} MB")


def service(port: int, folder: str, logs: Path) -> Server:
    """Start the service, with its database in a folder."""
    command = [sys.executable, "-m", "malaprop", "serve", "--port", str(port)]
    command += ["--database", f"sqlite:///{folder}/ledger.db", "--folder", folder]
    return Server(command, port, "/v1/privatize", logs / f"{port}.log")


def one_by_one(servers: dict[str, Server], words: list[str]) -> None:
    """Print the median CPU time of a request with a new sentence, one client."""
    sentences = [" ".join(random.choices(words, k=12)) + "." for _ in range(400)]  # noqa: S311
    for name, server in servers.items():
        taken = server.each(sentences)[100:]  # the first ones take longer
        print(f"\none by one, ledger {name}: median {statistics.median(taken):.2f} ms of CPU")


def many(server: Server, privatizer: Any, texts: list[str]) -> None:
    """Compare 10,000 texts in one request with the library's own call, in CPU time."""
    times = 10  # some calls draw for the next ones, too
    before = server.cpu()
    for _ in range(times):
        server.post({"texts": texts, "epsilon": 1.5})
    service = (server.cpu() - before) / times
    before = time.process_time()
    for _ in range(times):
        privatizer.batch(texts)
    own = (time.process_time() - before) / times
    print(f"\n10,000 texts in a request: {service:.2f} s of CPU; Privatizer.batch: {own:.2f} s")


def peak(server: Server) -> float:
    """Return the most memory that a server's process has had, in MB."""
    status = Path(f"/proc/{server.child.pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


if __name__ == "__main__":
    main()
