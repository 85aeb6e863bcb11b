"""Take the pictures of the page that docs/howto/page.md shows, in Chromium.

    python tools/take_page_pictures.py [FOLDER]

Needs Debian's package chromium. It starts a service of its own on a free port, with an empty
ledger. Drawn words differ from run to run. Look at the pictures before you commit them.
"""

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import Page, sync_playwright

MOST_BYTES = 300_000
COLOURS = 200


def main(folder: str = "docs/howto/page") -> None:
    """Take all pictures."""
    target = Path(folder)
    target.mkdir(exist_ok=True)
    with _service() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for name, (view, dark, act) in PICTURES.items():
            page = browser.new_page(
                viewport={"width": 1120, "height": 900},
                color_scheme="dark" if dark else "light",
                reduced_motion="reduce",
            )
            page.goto(f"{url}/#{view}")
            page.wait_for_selector(f'html[data-shown="{view}"]', state="attached")
            act(page)
            page.wait_for_load_state("networkidle")
            _save(page.screenshot(), target / f"{name}.png")
        browser.close()
    total = sum(path.stat().st_size for path in target.glob("*.png"))
    print(f"{target}: {total:,} bytes")
    if total > MOST_BYTES:
        raise SystemExit(f"That is more than {MOST_BYTES:,}: take fewer colours.")


def _text(page: Page) -> None:
    page.get_by_text("show originals").click()


def _word(page: Page) -> None:
    page.locator("#own-text").evaluate("(element) => (element.rows = 5)")
    place = page.locator(".private .word").evaluate_all(
        "(words) => words.findIndex((word) => word.getAttribute('aria-label').includes('aspirin'))"
    )
    page.locator(".private .word").nth(place).click()
    page.wait_for_selector(".neighbourhood")
    page.locator(".word-panel").evaluate("(element) => element.scrollIntoView()")


def _tour(page: Page) -> None:
    page.locator(".steps button").nth(2).click()
    page.get_by_role("switch").click()
    page.locator(".tour-level").last.locator(".attack").wait_for()
    page.locator(".stage").evaluate("(element) => element.scrollIntoView()")


def _map(page: Page) -> None:
    page.wait_for_selector(".plane")


PICTURES: dict[str, tuple[str, bool, Callable[[Page], None]]] = {
    "text": ("text", False, _text),
    "word": ("text", True, _word),
    "understand": ("understand", False, _tour),
    "vectors": ("vectors", False, _map),
}
"""Name, view, whether dark, and what is done before the picture is taken."""


def _save(content: bytes, path: Path) -> None:
    picture = Image.open(io.BytesIO(content)).convert("RGB")
    few = picture.quantize(COLOURS, dither=Image.Dither.NONE)
    few.save(path, optimize=True)
    print(f"{path}: {path.stat().st_size:,} bytes")


@contextmanager
def _service() -> Iterator[str]:
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "malaprop", "serve", "--port", "0"]
        command += ["--folder", folder, "--database", f"sqlite:///{folder}/service.db"]
        secret = {"MALAPROP_LEDGER_SECRET": f"{folder}/secret"}
        running = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, env=os.environ | secret
        )
        try:
            lines = map(json.loads, running.stderr or ())
            listening = next(line for line in lines if line["event"] == "listening")
            next(line for line in lines if line["event"] == "ready")
            yield listening["url"]
        finally:
            running.terminate()
            running.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
