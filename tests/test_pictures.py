"""The pictures of the README and of the tutorials are those that their tool draws."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("presidio_analyzer")
TOOL = Path(__file__).resolve().parent.parent / "tools" / "draw_pictures.py"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = spec_from_file_location("draw_pictures", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["before-after", "tutorials/presidio-first"])
def test_a_picture_of_texts_is_what_the_tool_draws(tool: ModuleType, name: str) -> None:
    assert (tool.DOCS / f"{name}.svg").read_text("utf-8") == tool.PICTURES[name]()


def test_every_picture_stands_on_a_page(tool: ModuleType) -> None:
    pages = [TOOL.parents[1] / "README.md", *(tool.DOCS / "tutorials").glob("*.md")]
    shown = "\n".join(page.read_text("utf-8") for page in pages)
    for name in tool.PICTURES:
        assert (tool.DOCS / f"{name}.svg").is_file()
        assert f"{Path(name).name}.svg" in shown
