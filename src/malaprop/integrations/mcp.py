"""Tools for language models, over the Model Context Protocol: needs the extra `mcp`.

`malaprop mcp --epsilon 1.5` serves them on standard input and output.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from threading import Lock
from typing import Any, NoReturn, ParamSpec, TypeVar

from malaprop._version import __version__
from malaprop.files.workers import internal_error
from malaprop.measure.calibration import calibrate as calibrate_mechanism
from malaprop.privacy.errors import MalapropError, MissingExtraError, ParameterError
from malaprop.privatizer import Privatizer
from malaprop.report.explanation import explain as explain_word

try:
    from mcp.server import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
    from pydantic import ValidationError
except ImportError:
    raise MissingExtraError("mcp", "mcp", "A server of tools for language models") from None

_INSTRUCTIONS = (
    "Malaprop replaces the words of texts by similar ones, with a proof of how little the result "
    "tells of each word. Privatize a text once, and pass on the result only: every further call "
    "for the same text is another release, and their losses add up. The ε is the operator's."
)
_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def server(privatizer: Privatizer) -> MCPServer[Any]:
    """Return a server whose tools use one privatizer: `privatize`, `explain` and `calibrate`.

    The ε of `privatize` is the privatizer's: a model cannot choose another one. Errors and logs
    hold no text of a caller's.
    """
    # At INFO, the server would log what tools fail with.
    made = _Server("malaprop", version=__version__, instructions=_INSTRUCTIONS, log_level="WARNING")
    lock = Lock()  # tools run in threads

    @made.tool()
    @_without_text
    def privatize(texts: list[str]) -> dict[str, Any]:
        """Return private texts, in order. Each call is a new release: call once for each text."""
        with lock:
            releases = privatizer.many(texts)
        warnings = [*privatizer.warnings, *(w for each in releases for w in each.warnings)]
        return {
            "texts": [release.text for release in releases],
            "guarantee": str(privatizer.guarantee),
            "randomness": privatizer.randomness,
            "warnings": list(dict.fromkeys(warnings)),
            "mechanism": dict(privatizer.mechanism.to_dict()),
            "lexicon": dict(privatizer.lexicon.to_dict()),
        }

    @made.tool()
    @_without_text
    def explain(word: str, epsilon: float | None = None) -> dict[str, Any]:
        """Say what one word may become, and what an observer infers; at the server's ε, or another.

        `becomes` lists the likeliest replacements with their probabilities.
        """
        mechanism = privatizer.mechanism
        if epsilon is not None:
            mechanism = replace(mechanism, epsilon=epsilon)
        options = privatizer.policy.options()
        return explain_word(
            word, mechanism=mechanism, lexicon=privatizer.lexicon, **options
        ).to_dict()

    @made.tool()
    @_without_text
    def calibrate(kept: float | None = None, success: float | None = None) -> dict[str, Any]:
        """Find the largest ε that keeps to one target; it takes some seconds.

        `kept`: at most this share of words stays unchanged. `success`: an observer who knows how
        frequent words are guesses at most this share right. The server's own ε stays.
        """
        if (kept is None) == (success is None):
            raise ParameterError("calibrate takes one target: `kept` or `success`.")
        found = calibrate_mechanism(
            privatizer.mechanism, privatizer.lexicon, kept=kept, success=success
        )
        plain = found.to_dict()
        return {name: plain[name] for name in ("epsilon", "target", "value", "exact")}

    return made


def serve(privatizer: Privatizer) -> None:
    """Serve the tools on standard input and output, until the input ends."""
    server(privatizer).run("stdio")


class _Server(MCPServer[Any]):
    async def call_tool(self, *call: Any, **options: Any) -> Any:
        """Call a tool; name arguments that do not fit, where mcp would quote their values."""
        try:
            return await super().call_tool(*call, **options)
        except UnexpectedToolError:
            raise
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            names = sorted({str(each["loc"][0]) for each in error.__cause__.errors()})
        raise ToolError(f"Arguments that do not fit the tool's schema: {', '.join(names)}.")


def _without_text(
    tool: Callable[_Parameters, _Result],
) -> Callable[_Parameters, _Result]:
    """Have a tool fail with our own errors alone: the messages of others may quote a text."""

    @wraps(tool)
    def checked(*args: _Parameters.args, **options: _Parameters.kwargs) -> _Result:
        try:
            return tool(*args, **options)
        except MalapropError as error:
            told = str(error)
        except Exception as error:
            told = internal_error(error, "a tool")
        _fail(told)

    return checked


def _fail(message: str) -> NoReturn:
    raise ToolError(message)  # outside the handler: no context, which would hold the text
