"""What a run was measured on."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

from folders import BENCHMARKS

PACKAGES = ("numpy", "scipy", "randomgen", "pyarrow")


def describe() -> dict[str, str]:
    """Processor, cores, memory, system and versions."""
    return {
        "processor": _processor(),
        "cores": str(
            len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        ),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 1e9:.0f} GB",
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "Python": platform.python_version(),
        "Malaprop": f"{version('malaprop')}, commit {_commit()}",
        "packages": ", ".join(f"{name} {version(name)}" for name in PACKAGES),
        "BLAS threads": os.environ.get("OPENBLAS_NUM_THREADS", "as many as cores"),
    }


def _processor() -> str:
    """Model and the vector instructions that matter."""
    info = Path("/proc/cpuinfo")
    if not info.exists():
        return platform.processor() or platform.machine()
    facts = dict(line.split(":", 1) for line in info.read_text().splitlines() if ":" in line)
    facts = {name.strip(): value.strip() for name, value in facts.items()}
    flags = facts.get("flags", "").split()
    known = [name for name in ("avx2", "avx512f") if name in flags]
    return f"{facts.get('model name', platform.machine())} ({', '.join(known) or 'no AVX2'})"


def _commit() -> str:
    def git(*arguments: str) -> str:
        command = ["git", "-C", str(BENCHMARKS), *arguments]
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()

    changed = " with changes" if git("status", "--porcelain", "--", "../src") else ""
    return (git("log", "-1", "--format=%h", "--", "../src") or "unknown") + changed
