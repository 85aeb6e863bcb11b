"""A real Chromium, and what a page did in it."""

import gzip
import hashlib
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import uvicorn
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

from malaprop.server.app import create_app
from malaprop.server.settings import Settings
from malaprop.server.telemetry import Log

FOLDER = Path(__file__).parent
AXE_DIGEST = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
VIEWS = ("text", "understand", "vectors", "file", "limits")
PHONE, DESK = 390, 1280
PROBLEM = (
    '{"type": "urn:malaprop:problem:internal", "title": "Something failed", "status": 500, '
    '"detail": "The log has it."}'
)
_WATCH = """
window.__violations = [];
addEventListener("securitypolicyviolation", (event) => {
  window.__violations.push(`${event.violatedDirective} ${event.blockedURI}`);
});
"""
_STORED = """async () => ({
  local: { ...localStorage }, session: { ...sessionStorage }, cookies: document.cookie,
  databases: (await indexedDB.databases()).map((each) => each.name),
  caches: await caches.keys(),
  workers: (await navigator.serviceWorker.getRegistrations()).length,
  state: history.state, address: location.href, title: document.title,
})"""


def axe() -> str:
    """Return the source of axe, as it was published."""
    source = gzip.decompress((FOLDER / "axe" / "axe.min.js.gz").read_bytes())
    assert hashlib.sha256(source).hexdigest() == AXE_DIGEST
    return source.decode()


class Site:
    """The service in a thread of this process, on a free port of the loopback."""

    def __init__(self, folder: Path, *, key_needed: bool = False) -> None:
        database = f"sqlite:///{folder}/service.db"
        settings = Settings(folder=str(folder), database=database, key_needed=key_needed)
        self.written = (folder / "log").open("w+")
        app = create_app(settings, Log(self.written))
        config = uvicorn.Config(app, port=0, log_config=None, access_log=False)
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.thread.start()
        until = time.monotonic() + 600
        while not self.server.started:
            assert time.monotonic() < until, "the service does not start"
            assert self.thread.is_alive(), "the service stopped at once"
            time.sleep(0.02)
        port = self.server.servers[0].sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"

    def log(self) -> str:
        self.written.flush()
        return Path(self.written.name).read_text()

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(600)
        self.written.close()


class Visit:
    """A page that is open, with all that it asked for and complained about."""

    def __init__(self, page: Page, site: Site) -> None:
        self.page, self.site = page, site
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.expected = 0
        """Complaints of the browser about answers that a test made fail."""
        page.set_default_timeout(600_000)
        page.add_init_script(_WATCH)
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._heard)

    def _heard(self, told: ConsoleMessage) -> None:
        if told.type == "error":
            self.complaints.append(told.text)

    def open(self, view: str = "text") -> "Visit":
        self.page.goto(f"{self.site.url}/#{view}")
        self.wait(view)
        return self

    def wait(self, view: str) -> None:
        self.page.wait_for_selector(f'html[data-shown="{view}"]', state="attached")

    def idle(self) -> None:
        self.page.wait_for_load_state("networkidle")

    def barriers(self) -> list[str]:
        """Return what axe has against the page."""
        self.page.evaluate(axe())
        found = self.page.evaluate("async () => (await axe.run()).violations")
        return [
            f"{each['id']}: {each['help']}: {[node['target'] for node in each['nodes']]}"
            for each in found
        ]

    def faint(self) -> list[str]:
        """Return texts whose contrast is too low, by a check of our own."""
        size = self.page.viewport_size
        assert size is not None
        height = self.page.evaluate("document.documentElement.scrollHeight")
        self.page.set_viewport_size({"width": size["width"], "height": height})
        told = self.page.evaluate((FOLDER / "contrast.js").read_text())
        self.page.set_viewport_size(size)
        assert told["looked"] > 5
        found: list[str] = told["found"]
        return found

    def stored(self) -> Any:
        """Return all that the page left in the browser, and its address."""
        return self.page.evaluate(_STORED)

    def check(self) -> None:
        """Refuse requests to elsewhere, violations of the policy, and errors."""
        host = urlsplit(self.site.url).netloc
        foreign = [url for url in self.requests if urlsplit(url).netloc != host]
        assert not [url for url in foreign if not url.startswith("data:")]
        assert not self.page.evaluate("window.__violations ?? []")
        assert len(self.complaints) <= self.expected, self.complaints


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start Debian's Chromium; skip the test where there is none."""
    if CHROMIUM is None:
        pytest.skip("There is no Chromium: the page is not tried (it needs the package chromium).")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def visit(
    browser: Browser, site: Site, *, width: int = DESK, dark: bool = False
) -> Iterator[Visit]:
    """Open a fresh window, as nobody used it before; afterwards, check what the page did."""
    context = browser.new_context(
        viewport={"width": width, "height": 900 if width > PHONE else 800},
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",
    )
    try:
        own = Visit(context.new_page(), site)
        yield own
        own.check()
    finally:
        context.close()
