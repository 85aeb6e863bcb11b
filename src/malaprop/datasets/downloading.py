"""Downloads a file over http or https: it can be resumed, and never grows beyond a limit."""

import os
import re
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from malaprop.core.errors import FetchError
from malaprop.core.progress import Progress, report

TIMEOUT = 30.0
"""Seconds without a byte after which a server counts as silent."""
_AT_ONCE = 1 << 16
_AGENT = "malaprop"
_LENGTH = re.compile("([0-9]{1,18})")
_RANGE = re.compile(r"bytes ([0-9]{1,18})-[0-9]{1,18}/(?:[0-9]{1,18}|\*)")


class _WebOnly(HTTPRedirectHandler):
    """Follows redirections to http and https only: not to files of this machine."""

    def redirect_request(
        self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Any:
        """Check the new address first."""
        _check_address(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def download(
    url: str,
    part: Path,
    *,
    limit: int,
    timeout: float = TIMEOUT,
    progress: Progress | None = None,
) -> None:
    """Download an address to the file `part`; continue if a part of it is there.

    What was received stays if the connection breaks, so that the next call continues there. A
    server that cannot continue sends all again. More than `limit` bytes are refused, and removed.
    """
    _check_address(url)
    there = part.stat().st_size if part.exists() else 0
    try:
        with _answer(url, there, timeout) as answer:
            resumed = answer.status == 206 and _first_byte(answer, url) == there
            total = _length(answer, there if resumed else 0, url)
            if total > limit:
                raise FetchError(_too_large(url, limit))
            _receive(answer, part, there if resumed else 0, total, limit, url, progress)
    except HTTPError as error:
        if error.code == 416 and there:  # the part is as long as the file, or longer
            part.unlink()
            return download(url, part, limit=limit, timeout=timeout, progress=progress)
        raise FetchError(f"{url} answers {error.code} {error.reason}.") from None
    except TimeoutError:
        raise FetchError(
            f"{_host(url)} was silent for {timeout:g} seconds. Run the same command again: it "
            "continues where this one stopped."
        ) from None
    except (OSError, HTTPException, ValueError) as error:  # of addresses that are none
        reason = getattr(error, "reason", None) or error.__class__.__name__
        if isinstance(reason, TimeoutError):
            reason = f"silent for {timeout:g} seconds"
        raise FetchError(
            f"{_host(url)} cannot be reached ({reason}). Get {url} on another machine, and run  "
            "malaprop data add PATH"
        ) from None
    return None


def _answer(url: str, there: int, timeout: float) -> Any:
    headers = {"User-Agent": _AGENT, "Accept-Encoding": "identity"}
    if there:
        headers["Range"] = f"bytes={there}-"
    request = Request(url, headers=headers)  # noqa: S310  the address was checked
    return build_opener(_WebOnly).open(request, timeout=timeout)


def _receive(
    answer: Any,
    part: Path,
    start: int,
    total: int,
    limit: int,
    url: str,
    progress: Progress | None,
) -> None:
    flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if start else os.O_TRUNC)
    with open(os.open(part, flags, 0o600), "ab" if start else "wb") as file:
        size = start
        while block := answer.read1(_AT_ONCE):
            size += len(block)
            if size > limit:
                file.close()
                part.unlink()
                raise FetchError(_too_large(url, limit))
            file.write(block)
            report(progress, size, max(total, size))
    if size < total:
        raise FetchError(
            f"{_host(url)} broke off after {size:,} of {total:,} bytes. Run the same command "
            "again: it continues there."
        )


def _check_address(url: str) -> None:
    if urlsplit(url).scheme not in ("http", "https"):
        raise FetchError(f"{url} is no address on the web, and is not fetched.")


def _host(url: str) -> str:
    return urlsplit(url).hostname or url


def _length(answer: Any, start: int, url: str) -> int:
    """Return how long the file is, or 0 if the server does not say."""
    stated = _stated(answer, "Content-Length")
    return 0 if stated is None else start + int(_number_in(_LENGTH, stated, "Content-Length", url))


def _first_byte(answer: Any, url: str) -> int:
    """Return where in the file the server continues."""
    stated = _stated(answer, "Content-Range") or ""
    return int(_number_in(_RANGE, stated, "Content-Range", url))


def _stated(answer: Any, header: str) -> str | None:
    """Return the value of a header, without the spaces around it; of several, all of them."""
    values = answer.headers.get_all(header)
    return None if values is None else ",".join(value.strip(" \t") for value in values)


def _number_in(pattern: re.Pattern[str], stated: str, header: str, url: str) -> str:
    """Return the number in the value of a header; it may be as long as the server likes."""
    match = pattern.fullmatch(stated)
    if match is None:
        raise FetchError(
            f"{_host(url)} answers with a {header} that is no number of bytes. Get {url} on "
            "another machine, and run  malaprop data add PATH"
        )
    return match[1]


def _too_large(url: str, limit: int) -> str:
    return f"{url} has more than the {limit:,} bytes that are expected: it is another file."
