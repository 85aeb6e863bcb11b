"""Small archives: wheels, npm's, and hostile ones."""

import io
import tarfile
import zipfile
from pathlib import Path


def wheel(folder: Path, name: str, version: str, files: dict[str, bytes]) -> Path:
    """Write a wheel that pip accepts."""
    path = folder / f"{name}-{version}-py3-none-any.whl"
    about = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in files.items():
            archive.writestr(member, content)
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        archive.writestr(f"{about}/METADATA", metadata)
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")
    return path


def tgz(path: Path, files: dict[str, bytes], links: dict[str, str] | None = None) -> Path:
    """Write a tar archive, with symbolic links if there are any."""
    with tarfile.open(path, "w:gz") as archive:
        for member, content in files.items():
            header = tarfile.TarInfo(member)
            header.size = len(content)
            archive.addfile(header, io.BytesIO(content))
        for member, target in (links or {}).items():
            header = tarfile.TarInfo(member)
            header.type, header.linkname = tarfile.SYMTYPE, target
            archive.addfile(header)
    return path
