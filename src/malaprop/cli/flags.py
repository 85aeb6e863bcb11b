"""From the parameters that the library names in its messages to flags of the command line.

The library writes a parameter as Python does, in backticks: `force=True`, `format="tsv"`, `output`.
"""

import re
from typing import Final

FLAGS: Final = {
    "column": "--column",
    "columns": "--column",
    "context": "--context",
    "dates": "--dates",
    "delimiter": "--delimiter",
    "document": "--document",
    "encoding": "--encoding",
    "epsilon": "--epsilon",
    "epsilons": "--epsilon",
    "force": "--force",
    "format": "--format",
    "keep": "--keep",
    "kept": "--kept",
    "label": "--label",
    "labels": "--label",
    "kind_epsilon": "--kind-epsilon",
    "kinds": "--kinds",
    "lexicon": "--lexicon",
    "markup": "--markup",
    "mechanism": "--mechanism",
    "mechanisms": "--mechanism",
    "most": "--most",
    "occurrences": "--occurrences",
    "on_error": "--on-error",
    "output": "-o",
    "prior": "--prior",
    "public": "--public",
    "punctuation": "--punctuation",
    "repeat": "--repeat",
    "report": "--report",
    "resume": "--resume",
    "runs": "--runs",
    "sample": "--sample",
    "scale": "--scale",
    "seed": "--seed",
    "steps": "--step",
    "success": "--success",
    "unknown": "--unknown",
    "workers": "--workers",
    "worst": "--worst",
}
"""The flag for each parameter of the calls on files that a message may name."""

_PARAMETER: Final = re.compile(r"`(\w+)(?:=(True|\"[^`\"]*\"))?`")


def in_flags(message: str) -> str:
    """Return a message of the library as the command line says it.

    >>> in_flags('resume with `resume=True`, or use `on_error="skip"` (or mask)')
    'resume with --resume, or use --on-error skip (or mask)'
    """
    return _PARAMETER.sub(_flag, message)


def _flag(parameter: re.Match[str]) -> str:
    name, value = parameter.groups()
    if name not in FLAGS:
        return parameter[0]
    return FLAGS[name] if value in (None, "True") else f"{FLAGS[name]} {value[1:-1]}"
