"""A watch over a process: what reading a lexicon must not do ends it at once."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SEEN = 97
"""How the process ends if it runs or imports code, or opens what is not the lexicon's."""
_CODE = ("exec", "compile", "import", "marshal.", "pickle.", "code.", "function.", "ctypes.")
_SYSTEM = ("os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "subprocess.", "pty.")
_NETWORK = ("socket.", "urllib.", "http.", "ftplib.", "smtplib.")
_PATHS = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink")
_CHANGES = ("os.truncate", "os.chmod", "os.chown", "os.putenv", "os.setxattr")
_FORBIDDEN = _CODE + _SYSTEM + _NETWORK + _CHANGES


def watch(folder: Path) -> None:
    """From now on, end the process at whatever reading a lexicon must not do."""
    allowed = (str(folder / "work") + os.sep, str(folder / "home") + os.sep, str(folder / "case"))
    own = str(Path(__file__).parents[2] / "src") + os.sep

    def paths(event: str, arguments: tuple[Any, ...]) -> Iterator[str]:
        if event == "open":
            path, flags = arguments[0], arguments[2]
            writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            if isinstance(path, str | bytes) and (writes or not os.fsdecode(path).startswith(own)):
                yield os.fsdecode(path)
        elif event in _PATHS and arguments[-1] == -1:  # not relative to an open folder
            yield from (os.fsdecode(path) for path in arguments if isinstance(path, str | bytes))

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        outside = any(not f"{path}{os.sep}".startswith(allowed) for path in paths(event, arguments))
        if event.startswith(_FORBIDDEN) or outside:
            os.write(2, f"{event} {str(arguments)[:200]}\n".encode())
            os._exit(SEEN)

    sys.addaudithook(hook)
