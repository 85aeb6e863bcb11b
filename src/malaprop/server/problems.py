"""Errors in one form (RFC 9457), which names field and remedy and never holds the caller's text.

A message of the library may quote a parameter, and pydantic's quote the input: neither is sent
before everything that a caller could have written is out of it.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.responses import Response

from malaprop.privacy.errors import (
    AccountError,
    BudgetError,
    LedgerError,
    MalapropError,
    MetricError,
    ParameterError,
    RequestError,
)
from malaprop.server.models import FIELDS

MEDIA_TYPE: Final = "application/problem+json"
_TITLES: Final = {
    "invalid-request": (422, "The request is not valid"),
    "not-json": (400, "The body is not JSON"),
    "not-http": (400, "The request is not HTTP"),
    "no-key": (401, "A key is needed"),
    "over-budget": (402, "The privacy budget does not allow this release"),
    "forbidden": (403, "This is not allowed"),
    "not-found": (404, "There is nothing here"),
    "wrong-method": (405, "This method is not allowed here"),
    "slow": (408, "The request took too long to arrive"),
    "conflict": (409, "The state of the job does not allow this"),
    "gone": (410, "This is gone"),
    "too-large": (413, "The request is too large"),
    "wrong-media-type": (415, "The body has another media type than is needed"),
    "key-reused": (422, "The idempotency key belongs to another request"),
    "rate-limited": (429, "Too many requests"),
    "too-many-files": (429, "Too many files"),
    "internal": (500, "Something went wrong in the service"),
    "busy": (503, "The service is busy"),
}
PROBLEMS: Final = tuple(_TITLES)
"""The names that end the `type` of a problem."""
_RETRY: Final = "Retry-After"


class Problem(HTTPException):
    """An error that is answered as a problem document.

    `detail` is for people and `errors` for programs; neither may hold what the caller wrote.
    """

    def __init__(
        self,
        name: str,
        detail: str,
        *,
        errors: Sequence[Mapping[str, str]] = (),
        retry_after: float | None = None,
        headers: Mapping[str, str] | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> None:
        status, self.title = _TITLES[name]
        retry = {} if retry_after is None else {_RETRY: str(max(1, round(retry_after)))}
        super().__init__(status, detail, {**retry, **(headers or {})})
        self.name, self.errors, self.more = name, list(errors), dict(more or {})

    def document(self) -> dict[str, Any]:
        """Return the document, ready for JSON."""
        return {
            "type": f"urn:malaprop:problem:{self.name}",
            "title": self.title,
            "status": self.status_code,
            "detail": self.detail,
            **({"errors": self.errors} if self.errors else {}),
            **self.more,
        }

    def response(self) -> Response:
        """Return the answer to send."""
        body = json.dumps(self.document(), ensure_ascii=False)
        return Response(body, self.status_code, dict(self.headers or {}), MEDIA_TYPE)


def invalid(field: str, detail: str) -> Problem:
    """Return the problem of one field."""
    return Problem("invalid-request", f"{field}: {detail}", errors=[_error(field, detail)])


def busy(detail: str, seconds: float = 1.0) -> Problem:
    """Return the answer to what the service has no room for at present."""
    return Problem("busy", f"{detail} Try again in a moment.", retry_after=seconds)


def _error(field: str, detail: str) -> dict[str, str]:
    return {"field": field, "detail": detail}


# From pydantic's errors to sentences. Their own messages and places can quote the input.

_SENTENCES: Final = {
    "missing": "is needed",
    "extra_forbidden": "is no field of this request",
    "string_type": "must be a string",
    "string_unicode": "must be a string of valid Unicode, without lone surrogates",
    "string_too_short": "must have {min_length} or more characters",
    "string_too_long": "must have {max_length} or fewer characters",
    "string_pattern_mismatch": "has a form that is not allowed",
    "bool_type": "must be true or false",
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "finite_number": "must be a finite number",
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be {ge} or more",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be {le} or less",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "too_long": "must have {max_length} or fewer items",
    "too_short": "must have {min_length} or more items",
    "literal_error": "must be one of {expected}",
    "value_error": "{error}",
}


def of_validation(errors: Iterable[Mapping[str, Any]], names: frozenset[str]) -> Problem:
    """Return the problem of a body that does not fit; `names` are those of all known fields."""
    found = []
    for error in errors:
        kind, context = str(error.get("type", "")), error.get("ctx") or {}
        if kind == "json_invalid":
            return Problem("not-json", "The body must be one JSON document, in UTF-8.")
        detail = _SENTENCES.get(kind, "has a value that is not allowed").format_map(_Shown(context))
        found.append(_error(_place(error.get("loc") or (), names), detail))
    said = "; ".join(dict.fromkeys(f"{each['field']} {each['detail']}" for each in found[:_TOLD]))
    return Problem("invalid-request", f"{said}.", errors=found[:_TOLD])


_TOLD: Final = 20  # errors of one request that are listed


class _Shown(dict[str, Any]):
    """The facts of an error: limits and the texts of our own validators, nothing of the input."""

    def __missing__(self, key: str) -> str:
        return "another value"


def _place(location: Sequence[Any], names: frozenset[str]) -> str:
    """Write where an error is, as in `texts[3]`; a key that is not ours is not shown."""
    place = ""
    for part in location:
        if isinstance(part, int):
            place += f"[{part}]"
        elif part in names:
            place += f"{'.' * bool(place)}{part}"
        elif part not in ("body", "str") and not _is_branch(part):
            place += f"{'.' * bool(place)}(unknown)"
    return place or "the body"


def _is_branch(part: str) -> bool:
    """Whether pydantic, not the caller, wrote a part: the branch of a union."""
    return bool(re.fullmatch(r"(list|dict|literal|function-\w+|constrained-\w+)\[.*\]", part))


# From the library's errors.


@contextmanager
def library_errors(*written: str) -> Iterator[None]:
    """Turn what the library refuses into problems: see `of_library`."""
    try:
        yield
    except MalapropError as error:
        raise of_library(error, *written) from None


_NAMED: Final = re.compile(r"[`'](\w+)[`']")
_QUOTED: Final = re.compile(r"\s*Got .*$|\s*Did you mean .*$", re.DOTALL)


def of_library(error: MalapropError, *written: str) -> Problem:
    """Return the problem of what the library refuses; `written` is all that the caller wrote.

    A message that holds any of that is replaced: better no help than a quotation.
    """
    if isinstance(error, BudgetError):
        amounts = {"price": error.price, "limit": error.limit, "remaining": error.remaining}
        told = {name: f"{amount:f}" for name, amount in amounts.items()}
        return Problem("over-budget", str(error), more={"scope": error.scope, **told})
    if isinstance(error, RequestError):
        return Problem(
            "key-reused",
            "This Idempotency-Key was used with another body: send a new one with a new request.",
        )
    if isinstance(error, AccountError):
        return Problem("forbidden", str(error))
    if isinstance(error, LedgerError):
        return busy("The ledger cannot be used, so nothing is released.", 5.0)
    if not isinstance(error, ParameterError | MetricError):
        return Problem("internal", "The service could not do this. Its log says where it failed.")
    message = _QUOTED.sub("", str(error)).strip()
    named = next((each for each in _NAMED.findall(message) if each in FIELDS), None)
    if any(text and text in message for text in written):
        which = named or "A parameter"
        message = f"{which} has a value that is not allowed. See the documentation of the API."
    return Problem("invalid-request", message, errors=[_error(named, message)] if named else [])
