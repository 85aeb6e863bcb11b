"""The site of the documentation builds, with all its links, and fetches nothing from elsewhere."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def test_the_map_names_every_page_for_users() -> None:
    folders = ("tutorials", "howto", "reference", "explanation")
    pages = {path for folder in folders for path in (ROOT / "docs" / folder).glob("*.md")}
    linked = re.findall(r"\]\(([^)]+\.md)\)", (ROOT / "docs" / "README.md").read_text("utf-8"))
    assert pages <= {(ROOT / "docs" / link).resolve() for link in linked}


def test_messages_name_pages_that_exist() -> None:
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "src").rglob("*.md")]
    named = {
        name for file in files for name in re.findall(r"docs/[\w/.-]+\.md", file.read_text("utf-8"))
    }
    assert len(named) > 20
    assert not [name for name in sorted(named) if not (ROOT / name).is_file()]


@pytest.mark.skipif(shutil.which("git") is None, reason="pages are listed by git")
def test_the_site_builds_with_all_its_links() -> None:
    pytest.importorskip("zensical")
    done = subprocess.run(
        [sys.executable, "tools/build_site.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert (ROOT / "build/site/html/reference/api.html").is_file()
