"""Passwords in URLs are not reported."""

import pytest

from malaprop.private_files import without_passwords


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("spark://ann:zyxpass@host:7077", "spark://host:7077"),
        ("s3a://KEY:zyx/pass@bucket/a", "s3a://bucket/a"),
        ("hdfs://host:9000/a@b", "hdfs://host:9000/a@b"),
        ("https://zyxpass@host/a@b", "https://host/a@b"),
        ("notes@home.txt", "notes@home.txt"),
    ],
)
def test_passwords_are_not_reported(url: str, shown: str) -> None:
    assert without_passwords(f"malaprop privatize {url} -o b") == f"malaprop privatize {shown} -o b"
