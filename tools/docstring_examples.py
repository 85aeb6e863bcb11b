"""An extension of griffe: examples in docstrings become blocks of code on the site.

mkdocstrings takes a docstring for Markdown, in which `>>>` would be a quotation.
"""

from typing import Any

from griffe import Extension, Object


def fenced(text: str) -> str:
    """Return a docstring with fences around its examples, each up to the next empty line.

    >>> print(fenced("One.\\n\\n>>> 1 + 1\\n2").replace("`", "'"))
    One.
    <BLANKLINE>
    '''pycon
    >>> 1 + 1
    2
    '''
    """
    lines, inside = [], False
    for line in text.splitlines():
        begins = line.startswith(">>> ")
        if begins and not inside:
            lines.append("```pycon")
        elif inside and not line.strip():
            lines.append("```")
        inside = begins or (inside and bool(line.strip()))
        lines.append(line)
    return "\n".join([*lines, *(["```"] if inside else [])])


class Examples(Extension):
    """Fences the examples of all docstrings as they are collected."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Fence the examples in an object's docstring."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
