"""Hashes and encryption with a key, for what a run leaves on the disk.

The length of a batch is set by the *input*, and the number of unknown words appears in no output:
both would reveal something about the input. So each batch is encrypted: a random nonce, the data
combined (xor) with the bytes that SHAKE-256 makes of key and nonce, and a keyed hash of both, so
that no change goes unnoticed. The data is padded with blanks, since its length would show where
the batch ends.
"""

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Callable
from typing import BinaryIO, Final

import numpy as np

HASH_BYTES: Final = 16
_READ_BYTES: Final = 2**20
_NONCE_BYTES: Final = 16
_TAG_BYTES: Final = 16
_BLOCK_BYTES: Final = 2**16


def keyed_hash(value: str | bytes, key: bytes) -> str:
    """Hash a value so that only someone who knows the key can compare it with a guess."""
    data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    return hashlib.blake2b(data, key=key, digest_size=HASH_BYTES).hexdigest()


def keyed_digest(
    source: BinaryIO, key: bytes, progress: Callable[[int], None] = lambda done: None
) -> str:
    """Hash a whole file; calls `progress` with the number of bytes read so far."""
    digest = hashlib.blake2b(key=key, digest_size=HASH_BYTES)
    done = 0
    while chunk := source.read(_READ_BYTES):
        digest.update(chunk)
        done += len(chunk)
        progress(done)
    return digest.hexdigest()


def encrypted(data: bytes, key: bytes) -> bytes:
    """Encrypt JSON; return letters and digits, a multiple of 64 kB however long the data is."""
    nonce = secrets.token_bytes(_NONCE_BYTES)
    padded = data.ljust(-(-len(data) // _BLOCK_BYTES) * _BLOCK_BYTES)
    sealed = nonce + _mixed(padded, key, nonce)
    return base64.b64encode(_tag(sealed, key) + sealed)


def decrypted(text: bytes, key: bytes) -> bytes:
    """Return the data, padded with blanks; raise ValueError if it was changed."""
    try:
        data = base64.b64decode(text, validate=True)
    except binascii.Error:
        raise ValueError("this is not encrypted") from None
    tag, sealed = data[:_TAG_BYTES], data[_TAG_BYTES:]
    if not hmac.compare_digest(tag, _tag(sealed, key)):
        raise ValueError("this was encrypted with another key, or changed")
    return _mixed(sealed[_NONCE_BYTES:], key, sealed[:_NONCE_BYTES])


def _tag(sealed: bytes, key: bytes) -> bytes:
    return hashlib.blake2b(sealed, key=key, digest_size=_TAG_BYTES, person=b"journal").digest()


def _mixed(data: bytes, key: bytes, nonce: bytes) -> bytes:
    stream = hashlib.shake_256(key + nonce).digest(len(data))
    return (np.frombuffer(data, np.uint8) ^ np.frombuffer(stream, np.uint8)).tobytes()
