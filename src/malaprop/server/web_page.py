"""The files of the page that `/` shows: served from memory, with a tag to ask for what has changed.

They hold nothing of anybody's, so they need no key. The page itself asks the service like any
other client.
"""

import hashlib
from collections.abc import Awaitable, Callable
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePath
from typing import Final

from fastapi import FastAPI, Request
from fastapi.responses import Response

from malaprop.server.security import PAGE_POLICY

_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
_INDEX: Final = "index.html"


def add_page(app: FastAPI) -> frozenset[str]:
    """Serve the page at `/` and its parts below `/page/`; return their paths."""
    paths = set()
    for entry in (files("malaprop.server") / "page").iterdir():
        path = "/" if entry.name == _INDEX else f"/page/{entry.name}"
        app.add_api_route(path, _sender(entry), methods=["GET", "HEAD"], include_in_schema=False)
        paths.add(path)
    return frozenset(paths)


def _sender(entry: Traversable) -> Callable[[Request], Awaitable[Response]]:
    content, kind = entry.read_bytes(), _TYPES[PurePath(entry.name).suffix]
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = {"Content-Security-Policy": PAGE_POLICY, "Cache-Control": "no-cache", "ETag": tag}

    async def send(request: Request) -> Response:
        asked = request.headers.get("if-none-match", "")
        if tag in (each.strip().removeprefix("W/") for each in asked.split(",")):
            return Response(None, 304, headers)
        return Response(content, 200, headers, kind)

    return send
