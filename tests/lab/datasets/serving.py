"""A catalogue of made-up data sets, and a server on this machine that misbehaves on demand."""

import hashlib
import json
import threading
import time
import tomllib
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from malaprop.lab.datasets.entries import CATALOGUE, catalogue

MODULE = "malaprop.lab.datasets.entries"
ENTRIES = tomllib.loads(CATALOGUE.read_text("utf-8"))
Write = Callable[..., None]


def described(name: str, content: bytes, **where: str) -> dict[str, Any]:
    """Return a file of the catalogue with this content."""
    return {"name": name, "sha256": hashlib.sha256(content).hexdigest(), "size": len(content)} | {
        **where
    }


@pytest.fixture
def write_catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Write a catalogue with one entry, which replaces the real one."""

    def write(name: str, files: list[dict[str, Any]], like: str = "cr", **more: Any) -> None:
        """Write an entry that is read as another one is."""
        entry = {"what": "w", "rows": 1, "licence": "l", "citation": "c"} | more
        entry |= {key: ENTRIES[like][key] for key in ("reader", "options") if key in ENTRIES[like]}
        lines = [f"[{name}]", *(f"{key} = {_toml(value)}" for key, value in entry.items())]
        lines.append(f"files = [{', '.join(map(_toml, files))}]")
        path = tmp_path / "catalogue.toml"
        path.write_text("\n".join(lines), encoding="utf-8")
        monkeypatch.setattr(f"{MODULE}.CATALOGUE", path)
        catalogue.cache_clear()

    yield write
    catalogue.cache_clear()


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return (
            "{ " + ", ".join(f"{_toml(key)} = {_toml(each)}" for key, each in value.items()) + " }"
        )
    return json.dumps(value)


class Server:
    """What a server sends, and what it was asked for."""

    def __init__(self) -> None:
        self.content = b""
        self.cut: int | None = None
        self.ranges = True
        self.silent = 0.0
        self.stated: int | str | None = None
        self.range: str | None = None
        self.redirect = ""
        self.code = 200
        self.asked: list[str] = []
        self.address = ""


@pytest.fixture
def server() -> Iterator[Server]:
    """Serve one file on this machine."""
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = self.headers.get("Range", "")
            state.asked.append(asked)
            if state.redirect:
                self.send_response(302)
                self.send_header("Location", state.redirect)
                self.end_headers()
                return
            if state.code != 200:
                self.send_error(state.code)
                return
            start = int(asked[6:-1]) if asked and state.ranges else 0
            if start >= len(state.content) > 0:
                self.send_error(416)
                return
            self._send(state.content[start:], start, bool(asked) and state.ranges)

        def _send(self, body: bytes, start: int, resumed: bool) -> None:
            self.send_response(206 if resumed else 200)
            if resumed:
                last = len(state.content)
                usual = f"bytes {start}-{last - 1}/{last}"
                self.send_header("Content-Range", usual if state.range is None else state.range)
            self.send_header("Content-Length", str(state.stated or len(body)))
            self.end_headers()
            cut, state.cut = state.cut, None
            self.wfile.write(body if cut is None else body[:cut])
            self.wfile.flush()
            time.sleep(state.silent)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    served = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.address = f"http://127.0.0.1:{served.server_port}/data"
    thread = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield state
    served.shutdown()
    served.server_close()
    thread.join()
