"""Leaves passwords out of what is reported."""

import re

# What stands before @ in the authority of a URL; a password may itself hold slashes.
_USER = re.compile(r"(://)(?:[^/@\s]*|[^/@:\s]*:(?!\d+/)[^@\s]*)@")


def without_passwords(text: str) -> str:
    """Remove users and passwords from a command line, a path or a URL.

    >>> without_passwords("s3a://KEY:SEC/RET@bucket/notes hdfs://host:9000/a@b")
    's3a://bucket/notes hdfs://host:9000/a@b'
    """
    return _USER.sub(r"\1", text)
