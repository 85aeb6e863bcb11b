"""docs/explanation/examples.md is what its tool writes."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

TOOL = Path(__file__).resolve().parent.parent / "tools" / "build_examples.py"


def test_the_examples_are_those_of_the_tool() -> None:
    spec = spec_from_file_location("build_examples", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text("utf-8") == module.page()
