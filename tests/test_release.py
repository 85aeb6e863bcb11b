"""Releases: what may be published of them."""

import json
import math
import pickle

from hypothesis import given
from tests.files.small import ROUGH, SMALL, TEXTS

from malaprop import TEM, Privatizer
from malaprop.text.treatment import TAGS

OWNER_ONLY = {"wordless", "mostly_signs", *TAGS} - {"masked"}


@given(TEXTS)
def test_a_release_can_be_published(text: str) -> None:
    release = Privatizer(SMALL, ROUGH)(text)
    published = release.to_dict()
    assert json.loads(json.dumps(published, allow_nan=False)) == published
    assert set(published) == {
        *("text", "guarantee", "counts", "mechanism", "lexicon", "policy", "randomness"),
        *("warnings", "malaprop"),
    }
    assert set(published["counts"]) == {"protected", "masked"}  # type: ignore[call-overload]
    assert not OWNER_ONLY & set(json.dumps(published["counts"]).replace('"', " ").split())
    assert str(release) == release.text
    assert repr(release).count("in_lexicon") == 0


def test_a_release_with_an_infinite_threshold_is_json_too() -> None:
    published = Privatizer(SMALL, TEM(epsilon=1.0, gamma=math.inf))("cold").to_dict()
    assert json.loads(json.dumps(published, allow_nan=False))["guarantee"]["cap"] is None


def test_a_release_travels_between_processes() -> None:
    release = Privatizer(SMALL, ROUGH)("cold hot")
    assert pickle.loads(pickle.dumps(release)) == release  # noqa: S301


def test_releases_do_not_share_what_they_say() -> None:
    one, other = Privatizer(SMALL, ROUGH).many(["cold", "hot"])
    dict(one.policy).clear()
    assert one.policy == other.policy
    assert one.policy is not other.policy
