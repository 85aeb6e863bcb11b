"""Build the site of the documentation: gather the pages, then let Zensical render them.

    python tools/build_site.py

The pages of the repository are gathered into build/site/pages, with links between them set right;
the site is written to build/site/html, and opens from there without a server. A link to a page or
heading that is not there fails, and so does anything that a page would fetch from elsewhere.
"""

import asyncio
import io
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx

import malaprop
from malaprop.server.app import create_app
from malaprop.server.settings import Settings
from malaprop.server.telemetry import Log

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "site"
PAGES, SITE = BUILD / "pages", BUILD / "html"
OUTSIDE = {
    "README.md": "index.md",
    "docs/README.md": "documentation.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
"""Pages that have another place on the site than below docs/."""
_LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)\s#]*)")
_FOR_TESTS = re.compile(r" +# doctest:.*|<BLANKLINE>")
_FENCE = re.compile(r"(^```.*?^```)", re.MULTILINE | re.DOTALL)


def places() -> dict[str, str]:
    """Return every file of the site: its path in the repository, and its place among the pages."""
    listed = _git_files("docs", "benchmarks/*.md", "benchmarks/*.svg", "benchmarks/**/*.md")
    data = _git_files("src/malaprop/data/*/README.md")
    return {
        **{path: path.removeprefix("docs/") for path in listed},
        **OUTSIDE,
        **{path: f"data/{Path(path).parent.name}.md" for path in data},
    }


def _git_files(*patterns: str) -> list[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return sorted(path for path in shown.stdout.splitlines() if (ROOT / path).is_file())


def gather() -> None:
    """Copy all pages to their places, with links that fit there, and add the references."""
    shutil.rmtree(BUILD, ignore_errors=True)
    known = places()
    for path, place in known.items():
        target = PAGES / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.endswith(".md"):
            target.write_text(_relinked((ROOT / path).read_text(), path, place, known))
        else:
            shutil.copyfile(ROOT / path, target)
    (PAGES / "reference" / "api.md").write_text(_python_reference())
    (PAGES / "reference" / "rest.md").write_text(_rest_reference())


def _relinked(page: str, path: str, place: str, known: dict[str, str]) -> str:
    """Return a page whose links lead from its place on the site to those of other pages.

    A link to a file that is not on the site, such as a module, becomes the file's path.
    """

    def led(link: re.Match[str]) -> str:
        there = os.path.normpath(os.path.join(os.path.dirname(path), link[1]))
        index = "README.md" if (ROOT / there).is_dir() else ""
        goal = known.get(os.path.join(there, index) if index else there)
        if goal is None and not (ROOT / there).exists():
            raise SystemExit(f"{path} links to {link[1]}, which is not there.")
        return os.path.relpath(goal, os.path.dirname(place)) if goal else "ELSEWHERE"

    def outside_code(text: str) -> str:
        text = _LINK.sub(led, text)
        return re.sub(r"\[([^\]]*)\]\(ELSEWHERE[^)]*\)", r"\1", text)

    return "".join(
        _FOR_TESTS.sub("", part) if part.startswith("```") else outside_code(part)
        for part in _FENCE.split(page)
    )


def _python_reference() -> str:
    """Return a page that names all public classes and functions, for mkdocstrings to fill."""
    names = [name for name in malaprop.__all__ if not name.startswith("_")]
    documented = [name for name in names if getattr(malaprop, name).__doc__]
    shown = "\n\n".join(f"::: malaprop.{name}" for name in sorted(documented, key=str.lower))
    return f"# Python reference\n\nEverything that `import malaprop` offers.\n\n{shown}\n"


_REST = """\
What `malaprop serve` answers to. `/openapi.json` has the same for programs. See also \
[how to run it](../howto/service.md). Errors are problems (RFC 9457): \
`application/problem+json` with a `type`, a `detail`, and the remedy.
"""


def _rest_reference() -> str:
    """Return a page on all endpoints of the service, from what it says of itself in OpenAPI."""
    schema = asyncio.run(_openapi())
    parts = schema["components"]["schemas"]
    page = [
        "# REST reference\n",
        _REST,
    ]
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            page.append(f"## {method.upper()} {path}\n\n{operation.get('description', '')}\n")
            if asked := _part_of(operation.get("requestBody", {}), parts):
                page += ["| in the request | type | default | what it is |", "|---|---|---|---|"]
                page += [_field(name, each, asked) for name, each in asked["properties"].items()]
                page.append("")
            if answered := _part_of(operation["responses"].get("200", {}), parts):
                fields = ", ".join(f"`{name}`" for name in answered.get("properties", ()))
                about = answered.get("description", "").split("\n\n")[0]
                page.append(f"**Answer.** {about} {f'Fields: {fields}.' if fields else ''}\n")
    return "\n".join(page)


async def _openapi() -> dict[str, Any]:
    service = httpx.ASGITransport(app=create_app(Settings(), Log(io.StringIO())))
    async with httpx.AsyncClient(transport=service, base_url="http://localhost") as client:
        return dict((await client.get("/openapi.json")).json())


def _part_of(body: dict[str, Any], parts: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a body of JSON by its name, or nothing."""
    named = body.get("content", {}).get("application/json", {}).get("schema", {}).get("$ref", "")
    return dict(parts.get(named.rpartition("/")[2], {}))


def _field(name: str, field: dict[str, Any], asked: dict[str, Any]) -> str:
    kinds = [_type(each) for each in field.get("anyOf", [field])]
    kind = " or ".join(each for each in kinds if each != "null")
    required = "required" if name in asked.get("required", ()) else ""
    default = field.get("default")
    shown = required if default is None else f"`{default}`"
    about = field.get("description", "").replace("\n", " ").replace("|", "\\|")
    return f"| `{name}` | {kind} | {shown} | {about} |"


def _type(field: dict[str, Any]) -> str:
    if "$ref" in field:
        return str(field["$ref"]).rpartition("/")[2]
    if "enum" in field:
        return ", ".join(f"`{each}`" for each in field["enum"])
    if field.get("type") == "array":
        return f"list of {_type(field.get('items', {}))}"
    return str(field.get("type", "any"))


class _Fetched(HTMLParser):
    """Collects the addresses that a page fetches from elsewhere as it opens."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "img", "link", "iframe", "source"):
            named = dict(attrs)
            if named.get("rel") in ("canonical", "edit"):
                return
            address = named.get("src") or named.get("href") or ""
            if re.match(r"(https?:)?//", address):
                self.found.append(address)


def fetched_from_elsewhere() -> Iterator[str]:
    """Yield what the pages of the site would fetch from other hosts."""
    for page in sorted(SITE.rglob("*.html")):
        reader = _Fetched()
        reader.feed(page.read_text())
        yield from (f"{page.relative_to(SITE)}: {address}" for address in reader.found)


def not_in_navigation() -> list[str]:
    """Return the pages to which no entry of the navigation leads."""
    config = tomllib.loads((ROOT / "zensical.toml").read_text())

    def entries(nav: object) -> Iterator[str]:
        if isinstance(nav, str):
            yield nav
        elif isinstance(nav, dict):
            for inner in nav.values():
                yield from entries(inner)
        elif isinstance(nav, list):
            for inner in nav:
                yield from entries(inner)

    pages = {str(page.relative_to(PAGES)) for page in PAGES.rglob("*.md")}
    return sorted(pages - set(entries(config["project"]["nav"])))


def build() -> None:
    """Build the site; exit with a message if a link or the navigation is wrong."""
    gather()
    if missing := not_in_navigation():
        raise SystemExit(f"Not in the navigation of zensical.toml: {', '.join(missing)}.")
    command = [str(Path(sys.executable).parent / "zensical"), "build", "--strict", "--clean"]
    quiet = os.environ | {"NO_COLOR": "1"}
    for _ in range(3):
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=False, env=quiet
        )
        if "Watcher disconnected" not in done.stderr:  # on a busy machine, now and then
            break
    if done.returncode:
        raise SystemExit(f"{done.stdout}\n{done.stderr}")
    if elsewhere := list(fetched_from_elsewhere()):
        raise SystemExit("Fetched from elsewhere:\n" + "\n".join(elsewhere))


if __name__ == "__main__":
    build()
    print(f"{SITE.relative_to(ROOT)}/index.html")
