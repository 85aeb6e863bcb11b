"""Small archives: wheels, npm's, and hostile ones."""

import gzip
import io
import struct
import tarfile
import zipfile
from collections.abc import Iterable
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


_ZEROS = bytes(1 << 20)
MEGABYTES = 128
"""What the largest header of a bomb unpacks to."""
BOMBS = {
    "pax": "a header of more than 65,536 bytes",
    "global pax": "a header of more than",
    "long name": "a header of more than",
    "long link": "a header of more than",
    "global keys": "no file of the catalogue",
    "sparse": "sparse files",
    "sparse pax": "sparse files",
    "backwards": "damaged",
    "far": "unpacks to more",
    "directory": "a directory of more than 8,388,608 bytes",
    "zip64 directory": "a directory of more than",
}
"""Small archives that would fill the memory, and what is said of each."""


def bomb(path: Path, kind: str) -> Path:
    """Write one of the `BOMBS`."""
    if kind.endswith("directory"):
        path.write_bytes(_long_directory(kind.startswith("zip64")))
        return path
    with gzip.open(path, "wb", compresslevel=1) as packed:
        for block in _tar_bomb(kind):
            packed.write(block)
    return path


def _tar_bomb(kind: str) -> Iterable[bytes]:
    types = {"pax": b"x", "global pax": b"g", "long name": b"L", "long link": b"K"}
    if kind in types:
        return [_header(types[kind], MEGABYTES << 20), *[_ZEROS] * MEGABYTES, _header(b"0", 0)]
    if kind == "global keys":
        every = [f"{number:07d}" for number in range(120_000)]
        portions = (every[start : start + 3000] for start in range(0, len(every), 3000))
        return (_pax(b"g", dict.fromkeys(some, "")) + _header(b"0", 0) for some in portions)
    if kind == "sparse":
        start = bytearray(_header(b"S", 0))
        start[482] = 1  # more follows, and again
        entry = b"00000000001\0" * 42 + b"\1" + bytes(7)
        return [_summed(start), entry * 20_000, bytes(512)]
    if kind == "sparse pax":
        keys = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "x"}
        count = b"1000000\n".ljust(512, b"\n").replace(b"\n\n", b"\n1")
        numbers = b"1\n" * 2_000_256
        return [_pax(b"x", keys), _header(b"0", len(numbers)), b"1000000\n" + numbers[:-8], count]
    if kind == "backwards":
        return [_pax(b"x", {"size": "-1536"}), _header(b"0", 0)]
    return [_header(b"0", 1 << 33), _ZEROS]


def _pax(kind: bytes, records: dict[str, str]) -> bytes:
    """Return an extended header with records: each starts with its length, itself included."""
    content = b""
    for key, value in records.items():
        rest = f" {key}={value}\n".encode()
        content += str(len(rest) + 2).encode() + rest
    return _header(kind, len(content)) + content + bytes(-len(content) % 512)


def _header(kind: bytes, size: int) -> bytes:
    member = tarfile.TarInfo("member")
    member.type, member.size = kind, size
    return member.tobuf(tarfile.GNU_FORMAT)


def _summed(block: bytearray) -> bytes:
    """Return a header with its checksum."""
    block[148:156] = b" " * 8
    block[148:156] = f"{sum(block):06o}\0 ".encode()
    return bytes(block)


def _long_directory(zip64: bool) -> bytes:
    entries = 200_000
    entry = struct.pack("<4s4B4HL2L5H2L", b"PK\1\2", *[20, 0, 20, 0], *[0] * 4, *[0] * 3,
                        *[1, 0, 0, 0, 0], 0, 0) + b"x"  # fmt: skip
    directory = entry * entries
    size = len(directory)
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, 0 if zip64 else size, 0, 0)
    if zip64:
        directory += struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, size, 0)
        directory += struct.pack("<4sLQL", b"PK\6\7", 0, size, 1)
    return directory + end
